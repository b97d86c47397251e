"""A git repository that a test writes, commit by commit, with the times it says."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

FIRST = 1_700_000_000


@dataclass
class Repository:
    path: Path
    clock: int = FIRST

    def run(self, *args: str) -> str:
        when = f"{self.clock} +0000"
        names = {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when, "GIT_CONFIG_GLOBAL": os.devnull}
        identity = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main")
        done = subprocess.run(
            ["git", *identity, *args],
            cwd=self.path,
            env={**os.environ, **names},
            capture_output=True,
            check=True,
            text=True,
        )
        return done.stdout.strip()

    def commit(self, files: dict[str, str | bytes | None]) -> str:
        """Write files (None removes one), commit, and give the commit's id; a day passes."""
        for name, content in files.items():
            path = self.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if content is None:
                path.unlink()
            else:
                path.write_bytes(content.encode() if isinstance(content, str) else content)
        self.run("add", "-A")
        self.run("commit", "-q", "--allow-empty", "-m", "x")
        self.clock += 86_400
        return self.run("rev-parse", "HEAD")


def repository(path: Path) -> Repository:
    path.mkdir(parents=True, exist_ok=True)
    made = Repository(path)
    made.run("init", "-q")
    return made
