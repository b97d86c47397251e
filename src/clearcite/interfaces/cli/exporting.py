"""``export-cases``: what our own engine returned, in the form that judges any retrieval system."""

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

from clearcite.bench.exporting import export_cases, export_traces, relevance_of
from clearcite.bench.limits import GateLimits
from clearcite.bench.suite_file import Names, read_suite
from clearcite.errors import InputError
from clearcite.interfaces.cli.commands import Argument, Command, Option
from clearcite.interfaces.cli.common import AS, POLICY, STORE, counted, note, operator_for, settings_for
from clearcite.interfaces.cli.evaluating import on_suite, resolving
from clearcite.wiring import engine_on

HELP = """Write what questions returned, as cases of scope-check.

The questions of a suite are asked now; with --traces those that were asked already are taken as they were recorded,
with who could read what then. SUITE then says which documents are relevant to which of these questions; the others are
not scored, and leaks of all of them show. For operators: a case holds ids of documents that its asker may not read. The
file is readable for you alone.

Examples:

  clearcite export-cases suite.toml --operator-view | clearcite scope-check -

  clearcite export-cases suite.toml --traces 500 --operator-view --out cases.jsonl
"""

TRACES = Annotated[
    int | None, Option("--traces", help="The newest so many recorded questions, instead of asking the suite.")
]


def run_export(
    suite: Annotated[
        Path | None,
        Argument(help="A suite: TOML, YAML, or a cited-qa fixture (JSON); with --traces it may be left out."),
    ] = None,
    traces: TRACES = None,
    operator_view: Annotated[
        bool, Option("--operator-view", help="Yes, write ids of hidden documents. A guard against mistakes.")
    ] = False,
    out: Annotated[Path | None, Option("--out", help="A new file; standard output where not given.")] = None,
    as_: AS = None,
    policy: POLICY = None,
    store: STORE = None,
) -> int:
    if not operator_view:
        raise InputError("Cases hold ids of hidden documents. To write them anyway, add --operator-view.")
    if out is not None:
        _require_new(out)
    who = (as_, policy, store)
    cases = _of_suite(suite, store, policy) if traces is None else _of_traces(suite, traces, who)
    text = "".join(f"{json.dumps(case, ensure_ascii=False)}\n" for case in cases)
    if out is None:
        sys.stdout.write(text)
    else:
        _write(out, text)
    note(f"{counted(len(cases), 'case')} exported.")
    return 0


def _of_suite(suite: Path | None, store: str | None, policy: str | None) -> list[dict[str, Any]]:
    if suite is None:
        raise InputError(
            "SUITE is missing: name a suite to ask, or take recorded questions with --traces 500."
        )
    with on_suite(suite, {}, store, policy) as (subject, asked):
        cases = list(export_cases(subject.engine, asked, time.time_ns() // 1_000))
    if not cases:
        raise InputError("Nothing is searched for any question of this suite: there is no case to write.")
    return cases


def _of_traces(
    suite: Path | None, most: int, who: tuple[str | None, str | None, str | None]
) -> list[dict[str, Any]]:
    """``who``: the operator's name, the policy and the store, as they were given."""
    if most < 1:
        raise InputError("--traces must be 1 or more.")
    if suite is not None and suite.suffix == ".json":
        raise InputError("Recorded questions are of your own store: judge them by a suite in TOML or YAML.")
    name, policy, store = who
    settings = settings_for(store)
    with engine_on(settings) as engine:
        operator = engine.operator(operator_for(settings, name, policy))
        judged, limits = None, GateLimits()
        if suite is not None:
            names = Names(resolve=resolving(settings, policy), documents=operator.known())
            judged, _ = read_suite(suite, names)
            limits = judged.limits
        relevant = {} if judged is None else relevance_of(judged)
        made = list(export_traces(operator, operator.newest(most), relevant, limits.k))
    _say_left_out(item for item in made if isinstance(item, str))
    cases = [item for item in made if not isinstance(item, str)]
    if not cases:
        raise InputError("No recorded question can be exported: ask something, or take more with --traces.")
    return cases


def _say_left_out(reasons: Iterable[str]) -> None:
    for reason, count in sorted(Counter(reasons).items()):
        note(f"{counted(count, 'recorded question')} left out: {reason}.")


def _require_new(file: Path) -> None:
    """Before anything is asked."""
    if file.exists():
        raise InputError(f"{file} exists; name a new file with --out.")
    if not file.parent.is_dir():
        raise InputError(f"{file} cannot be written: there is no folder {file.parent}.")


def _write(file: Path, text: str) -> None:
    try:
        with open(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8") as out:
            out.write(text)
    except FileExistsError:
        raise InputError(f"{file} exists; name a new file with --out.") from None
    except OSError as error:
        raise InputError(f"{file} cannot be written: {error.strerror}.") from error


COMMANDS = {"export-cases": Command(run_export, HELP)}
