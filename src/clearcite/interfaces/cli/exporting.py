"""``export-cases``: what our own engine returned, in the form that judges any retrieval system."""

import json
import os
import sys
import time
from pathlib import Path
from typing import Annotated

from clearcite.bench.exporting import export_cases
from clearcite.errors import InputError
from clearcite.interfaces.cli.commands import Argument, Command, Option
from clearcite.interfaces.cli.common import POLICY, STORE, note
from clearcite.interfaces.cli.evaluating import on_suite

HELP = """Write what a suite's questions returned, as cases of scope-check.

For operators: a case holds ids of documents that its asker may not read. The file is readable for you alone.

Examples:

  clearcite export-cases suite.toml --operator-view | clearcite scope-check -

  clearcite export-cases suite.toml --operator-view --out cases.jsonl
"""


def run_export(
    suite: Annotated[Path, Argument(help="A suite: TOML, YAML, or a cited-qa fixture (JSON).")],
    operator_view: Annotated[
        bool, Option("--operator-view", help="Yes, write ids of hidden documents. A guard against mistakes.")
    ] = False,
    out: Annotated[Path | None, Option("--out", help="A new file; standard output where not given.")] = None,
    policy: POLICY = None,
    store: STORE = None,
) -> int:
    if not operator_view:
        raise InputError("Cases hold ids of hidden documents. To write them anyway, add --operator-view.")
    with on_suite(suite, {}, store, policy) as (subject, asked):
        now = time.time_ns() // 1_000
        lines = [json.dumps(case, ensure_ascii=False) for case in export_cases(subject.engine, asked, now)]
    text = "".join(f"{line}\n" for line in lines)
    if out is None:
        sys.stdout.write(text)
    else:
        _write(out, text)
    note(f"{len(lines)} cases exported.")
    return 0


def _write(file: Path, text: str) -> None:
    try:
        with open(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8") as out:
            out.write(text)
    except FileExistsError:
        raise InputError(f"{file} exists; name a new file with --out.") from None
    except OSError as error:
        raise InputError(f"{file} cannot be written: {error.strerror}.") from error


COMMANDS = {"export-cases": Command(run_export, HELP)}
