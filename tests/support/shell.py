"""The command line as a user meets it: in this process for speed, or as a process of its own where that matters."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

COMMANDS = (
    *("init", "migrate", "status", "doctor", "demo", "ingest", "ask", "search", "list", "show", "delete"),
    "reinstate",
    *("inspect", "verify", "reconcile", "purge", "sweep", "backup", "restore", "integrity"),
    *("audit head", "audit export", "audit checker"),
    *("audit verify", "evaluate", "diff", "bless", "score", "drill", "export-cases", "scope-check", "ablate"),
    *("sync", "approve", "source remove", "work"),
    *(f"index {name}" for name in ("list", "build", "panel", "shadow", "promote", "rollback", "retire")),
    *("collection set", "collection remove", "collection list", "policy sync", "policy show", "explain"),
)


@dataclass(frozen=True)
class Done:
    """What a command left: its exit code and both streams."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[Any]:
        """Standard output as JSON lines."""
        return [json.loads(line) for line in self.out.split("\n") if line]

    @property
    def json(self) -> Any:
        (value,) = self.lines
        return value


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def clearcite(folder: Path, *args: str, terminal: bool = False) -> Done:
    """Run a command in a folder, in this process. The terminal is one without styles."""
    from clearcite.interfaces.cli.main import run

    out, err = (_Terminal() if terminal else io.StringIO()), io.StringIO()
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        patch.dict(os.environ, {"TERM": "dumb"}),
    ):
        code = run(list(args))
    return Done(code, out.getvalue(), err.getvalue())


def process(
    folder: Path,
    *args: str,
    env: Mapping[str, str] | None = None,
    python: Sequence[str] = ("-m", "clearcite"),
) -> Done:
    """Run ``python -m clearcite`` in a process of its own; its streams are read as UTF-8, whatever the locale."""
    done = subprocess.run(
        [sys.executable, *python, *args],
        cwd=folder,
        env={**os.environ, **(env or {})},
        capture_output=True,
        timeout=300,
        check=False,
    )
    return Done(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))


def write(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Files by their names, folders made where they are missing."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return folder


def fed(*records: Mapping[str, Any]) -> str:
    """Records as a feed."""
    return "".join(json.dumps(record) + "\n" for record in records)


def everything(folder: Path, group: str = "staff", tenant: str = "default") -> list[Any]:
    """What a reader can list."""
    return clearcite(folder, "list", "--tenant", tenant, "--group", group, "--limit", "10000").lines


def without(value: Any, names: Iterable[str]) -> Any:
    return {key: item for key, item in value.items() if key not in set(names)}
