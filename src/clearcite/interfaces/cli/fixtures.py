"""``--fixture`` of ``demo``, ``ask`` and ``inspect``: on a suite's own documents."""

from pathlib import Path
from typing import Any

from clearcite.bench.answering import OPERATOR
from clearcite.bench.fixture_run import fixture_run
from clearcite.bench.suite import Asked
from clearcite.engine import Engine, Reply
from clearcite.errors import InputError
from clearcite.interfaces.cli import common
from clearcite.interfaces.cli.answers import show_answer
from clearcite.interfaces.cli.common import say
from clearcite.interfaces.cli.faults import faults_for
from clearcite.wire.convert import to_json


def ask_fixture(path: Path, query_id: str | None, failure: str | None, form: str) -> int:
    """``ask --fixture``: the public response in an envelope that holds nothing else."""
    reply = _with_query(path, query_id, failure, _ask)
    if form == "json":
        common.print_json({"mode": "ask", "result": reply.public})
    else:
        show_answer(reply.public)
    return int(reply.exit_code)


def inspect_fixture(path: Path, query_id: str | None, failure: str | None) -> int:
    """``inspect --fixture``: the protected trace of the same question."""

    def traced(engine: Engine, asked: Asked) -> dict[str, Any]:
        operator = engine.operator(OPERATOR)
        trace = operator.inspect(_ask(engine, asked).public.trace_id)
        return {"trace": to_json(trace), "reasons": operator.reasons(trace)}

    common.print_json({"mode": "inspect", "result": _with_query(path, query_id, failure, traced)})
    return 0


def demo_fixture(path: Path, query_id: str | None, failure: str | None) -> int:
    """``demo --fixture``: every question of a fixture, or one, as people would see it."""
    with fixture_run(path, common.settings_for(None), faults_for(failure)) as run:
        for case in run.suite.cases if query_id is None else (run.case(query_id),):
            say(f"── {case.id}: {case.asked.text}", "bold cyan")
            show_answer(_ask(run.engine, case.asked).public)
            say()
    return 0


def _with_query(path: Path, query_id: str | None, failure: str | None, use: Any) -> Any:
    if query_id is None:
        raise InputError("With --fixture, name one of its queries with --query-id.")
    with fixture_run(path, common.settings_for(None), faults_for(failure)) as run:
        return use(run.engine, run.case(query_id).asked)


def _ask(engine: Engine, asked: Asked) -> Reply:
    return engine.reply(asked.text, asked.principal, **asked.options())
