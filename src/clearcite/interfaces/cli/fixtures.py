"""``evaluate``, and ``--fixture`` of ``demo``, ``ask`` and ``inspect``: on a suite's own documents."""

from pathlib import Path
from typing import Annotated, Any

from clearcite.bench.answering import OPERATOR
from clearcite.bench.artifact import summary, write_artifact
from clearcite.bench.evaluate import Evaluation, evaluate
from clearcite.bench.fixture_run import fixture_run
from clearcite.bench.suite import Asked
from clearcite.engine import Engine, Reply
from clearcite.errors import InputError
from clearcite.interfaces.cli import common
from clearcite.interfaces.cli.answers import show_answer
from clearcite.interfaces.cli.commands import Argument, Command, Option
from clearcite.interfaces.cli.common import say
from clearcite.interfaces.cli.faults import FAILURE, faults_for
from clearcite.wire import to_json

EVALUATE_HELP = """Judge a suite layer by layer, and say whether a release may go out.

SUITE is a cited-qa fixture: documents, questions and what must come out. PASS exits with 0 and BLOCK with 1; a suite
that does not keep its contract exits with 2. --out keeps run.json, cases.jsonl and summary.md: codes and numbers only.

Examples:

  clearcite evaluate suite.json

  clearcite evaluate suite.json --failure retrieval_error --out report
"""

REPORT = Annotated[str | None, Option("--format", help="text (the default, also when piped) or json.")]
USE_TOPIC = Annotated[
    bool, Option("--use-topic", help="Rank by the topic that the suite gives its questions.")
]


def run_evaluation(
    suite: Annotated[Path, Argument(help="A cited-qa fixture (JSON).")],
    failure: FAILURE = None,
    use_topic: USE_TOPIC = False,
    out: Annotated[Path | None, Option("--out", help="A folder for the report's files.")] = None,
    format: REPORT = None,  # noqa: A002 - the flag's name
) -> int:
    form = "text" if format is None else common.chosen_format(format)
    with fixture_run(suite, common.settings_for(None), faults_for(failure)) as run:
        found = evaluate(run.engine, run.suite, run.statements, use_topic=use_topic)
    if out is not None:
        write_artifact(found, out)
    if form == "json":
        common.print_json({"verdict": found.verdict, "gates": found.gates, "measures": _measures(found)})
    else:
        say(summary(found))
    return 0 if found.verdict == "PASS" else 1


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


def _measures(found: Evaluation) -> dict[str, Any]:
    return {name: {"value": rate.decimal(), "n": rate.n} for name, rate in found.measures.items()}


COMMANDS = {"evaluate": Command(run_evaluation, EVALUATE_HELP)}
