"""``evaluate``: a suite on its own documents, or on the store of the user, and whether a release may go out."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Annotated, Any

from msgspec.structs import replace

from clearcite.bench.ablation_table import read_ablation
from clearcite.bench.answering import OPERATOR
from clearcite.bench.artifact import files_of, require_writable, summary, write_artifact
from clearcite.bench.audited import require_fresh, traces_of, write_traces
from clearcite.bench.disclosure import leaking_files
from clearcite.bench.evaluate import Evaluation, Subject, evaluate, identity_of
from clearcite.bench.fault_map import read_fault_map
from clearcite.bench.fixture_run import fixture_run
from clearcite.bench.ingestion import health_lines
from clearcite.bench.judged import Tell
from clearcite.bench.latency import latency_lines
from clearcite.bench.run_file import bounded, read_run, require_comparable
from clearcite.bench.suite import Suite
from clearcite.bench.suite_file import Names, read_suite
from clearcite.errors import InputError, did_you_mean
from clearcite.interfaces.cli import common
from clearcite.interfaces.cli.commands import Argument, Command, Option
from clearcite.interfaces.cli.common import POLICY, STORE, note, say
from clearcite.interfaces.cli.faults import FAILURE, faults_for
from clearcite.interfaces.cli.progress import progress
from clearcite.wiring import directory_in_force, engine_on

HELP = """Judge a suite layer by layer, and say whether a release may go out.

SUITE is a cited-qa fixture (JSON: documents, questions and what must come out), or questions about your own store
(TOML or YAML; docs/how-to/evaluate.md says how to write one). PASS exits with 0 and BLOCK with 1; a suite that does not
keep its contract exits with 2. --out keeps the run, report.html among its files: codes and numbers only.

Examples:

  clearcite evaluate suite.yaml --policy policy.toml

  clearcite evaluate suite.json --failure retrieval_error --out report

  clearcite evaluate suite.yaml --baseline baseline.json
"""

DRILL = Annotated[Path | None, Option("--drill", help="A drill.json, whose faults report.html shall show.")]
ABLATION = Annotated[
    Path | None, Option("--ablation", help="An ablation.json, whose differences report.html shall show.")
]
BASELINE = Annotated[
    Path | None, Option("--baseline", help="A run.json or blessed baseline of the same suite and documents.")
]
WITHHELD = "a string that the suite says may be shown nowhere would stand in"

AUDIT = Annotated[
    bool,
    Option(
        "--audit",
        help="Also keep the protected traces, in audit/ of --out (must be new); they name documents and people.",
    ),
]

REPORT = Annotated[str | None, Option("--format", help="text (the default, also when piped) or json.")]
USE_TOPIC = Annotated[
    bool, Option("--use-topic", help="Rank by the topic that the suite gives its questions.")
]


def run_evaluation(
    suite: Annotated[Path, Argument(help="A cited-qa fixture (JSON), or a suite of your own (TOML, YAML).")],
    failure: FAILURE = None,
    use_topic: USE_TOPIC = False,
    baseline: BASELINE = None,
    out: Annotated[Path | None, Option("--out", help="A folder for the report's files.")] = None,
    audit: AUDIT = False,
    drill: DRILL = None,
    ablation: ABLATION = None,
    policy: POLICY = None,
    store: STORE = None,
    format: REPORT = None,  # noqa: A002 - the flag's name
) -> int:
    form = "text" if format is None else common.chosen_format(format)
    if audit and out is None:
        raise InputError("--audit needs a folder: --out FOLDER.")
    require_writable(out)
    if audit and out is not None:
        require_fresh(out)
    faults = faults_for(failure)
    earlier = None if baseline is None else read_run(baseline)
    drilled = None if drill is None else read_fault_map(bounded(drill))
    ablated = None if ablation is None else read_ablation(bounded(ablation))
    with on_suite(suite, faults, store, policy) as (asked, cases), _telling() as tell:
        run = (replace(asked, tell=tell), cases)
        for other in (drilled, ablated):
            if other is not None:
                require_comparable(identity_of(*run), other.state)
        found = evaluate(*run, use_topic=use_topic, baseline=earlier)
        files = files_of(replace(found, drilled=drilled, ablated=ablated))
        traces = traces_of(run[0].engine, found.runs) if audit else {}
    if must_be_withheld(files, run[1]):
        return 1
    if out is not None:
        write_artifact(files, out)
        write_traces(traces, out)
    if form == "json":
        common.print_json(_as_json(found))
    else:
        say(summary(found))
        for line in (*latency_lines(found.runs), *health_lines(found.sources)):
            say(line, "dim")
        for item in found.findings:
            say(f"{item.where}: {item.rate} ({item.detail}), stage {item.stage}; to act: {item.owner}")
    return 0 if found.verdict == "PASS" else 1


def must_be_withheld(files: Mapping[str, bytes], suite: Suite) -> bool:
    """Whether a file holds what the suite says may be shown nowhere; then it is said and nothing may be written."""
    leaking = leaking_files(files, suite)
    if leaking:
        note(f"BLOCK: {WITHHELD} {', '.join(leaking)}. Nothing was written.", "red")
    return bool(leaking)


@contextmanager
def _telling() -> Iterator[Tell]:
    with progress() as bar:
        task = bar.add_task("evaluate", total=None)
        yield lambda what, done, of: bar.update(task, description=what, completed=done, total=of)


def on_suite(
    path: Path, faults: Mapping[str, Exception], store: str | None, policy: str | None
) -> AbstractContextManager[tuple[Subject, Suite]]:
    """A suite and what it is asked of: its own documents for a fixture, else the user's store."""
    return _on_fixture(path, faults) if path.suffix == ".json" else _on_store(path, faults, store, policy)


@contextmanager
def _on_fixture(path: Path, faults: Mapping[str, Exception]) -> Iterator[tuple[Subject, Suite]]:
    with fixture_run(path, common.settings_for(None), faults) as run:
        yield Subject(engine=run.engine, settings=run.settings, statements=run.statements), run.suite


@contextmanager
def _on_store(
    path: Path, faults: Mapping[str, Exception], store: str | None, policy: str | None
) -> Iterator[tuple[Subject, Suite]]:
    """The live generation of the user's store, looked at so that no trace is left in it."""
    settings = common.settings_for(store)
    with engine_on(settings) as engine:
        live = next((item.name for item in engine.generations() if item.is_live), None)
    if live is None:
        raise InputError("The store answers from no index yet. Fill it with: clearcite ingest FOLDER")
    with engine_on(settings, faults, generation=live) as engine:
        names = Names(resolve=resolving(settings, policy), documents=engine.operator(OPERATOR).known())
        suite, _ = read_suite(path, names)
        yield Subject(engine=engine, settings=settings), suite


def resolving(settings: Any, policy: str | None) -> Any:
    """The policy is read when a case names a subject: a suite of tenants and groups needs none."""
    known: dict[str, Any] = {}

    def resolve(name: str) -> Any:
        if not known:
            known["directory"] = directory_in_force(settings, policy)
        directory = known["directory"]
        try:
            return directory.resolve(name)
        except InputError as error:
            raise InputError(error.message + did_you_mean([name], directory.names())) from error

    return resolve


def _as_json(found: Evaluation) -> dict[str, Any]:
    measures = {name: {"value": rate.decimal(), "n": rate.n} for name, rate in found.measures.items()}
    return {"verdict": found.verdict, "gates": found.gates, "measures": measures, "scores": found.scores}


COMMANDS = {"evaluate": Command(run_evaluation, HELP)}
