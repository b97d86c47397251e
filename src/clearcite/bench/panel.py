"""The panel of a generation, measured: its answers to a suite, and the documents it serves."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field

from clearcite.bench.answering import OPERATOR, CaseRun, run_suite
from clearcite.bench.judge import disclosures
from clearcite.bench.suite import Suite, SuiteCase
from clearcite.domain.access import Micros
from clearcite.domain.corpus import DocumentKey
from clearcite.domain.generations import Generation
from clearcite.domain.panel import MOST_FINDINGS, Finding, Panel, Rate, finding
from clearcite.engine import Engine
from clearcite.errors import InputError
from clearcite.ingest.enrich import derive_title
from clearcite.operator import Operator
from clearcite.ports import StoredDocument

Judged = Iterator[tuple[str, bool, str, str]]
"""A rate, whether it is right here, where, and what is wrong if it is not."""


def measure(engine: Engine, generation: str, suite: Suite, least: Mapping[str, int], now: Micros) -> Panel:
    """``engine`` looks at the generation and keeps its traces apart; ``least`` in thousandths, one for each rate.

    Raises InputError for a generation that is not active.
    """
    operator = engine.operator(OPERATOR)
    generations = {item.name: item for item in operator.generations() if item.state == "active"}
    if generation not in generations:
        raise InputError("There is no such generation, or it is retired.")
    runs = run_suite(engine, suite)
    return panel_of(operator, generations[generation], (suite, least), runs, now)


def panel_of(
    operator: Operator,
    generation: Generation,
    asked: tuple[Suite, Mapping[str, int]],
    runs: Iterable[CaseRun],
    now: Micros,
) -> Panel:
    """The panel of a generation whose answers are there already; ``operator`` looks at it. ``asked``: the suite
    with its least rates, see ``measure``."""
    suite, least = asked
    tally = _Tally()
    shown: set[DocumentKey] = set()
    for case, run in zip(suite.cases, runs, strict=True):
        tally.add(_of_case(case, run))
        shown |= {place.document for place in (*run.cited, *run.retrieved)} | set(run.candidates)
    tally.add(_freshness(operator, sorted(shown), now))
    tally.add(_titles(operator.contents()))
    tally.add(_indexed(generation, operator))
    return Panel(
        generation=generation.name,
        live=next(item.name for item in operator.generations() if item.is_live),
        suite=suite.sha256,
        rates={name: tally.rate(name, least[name]) for name in least},
        findings=tuple(tally.findings),
    )


class _Tally(Struct):
    right: dict[str, int] = field(default_factory=dict)
    all: dict[str, int] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def add(self, judged: Judged) -> None:
        for rate, is_right, where, detail in judged:
            self.all[rate] = self.all.get(rate, 0) + 1
            self.right[rate] = self.right.get(rate, 0) + is_right
            if not is_right and sum(item.rate == rate for item in self.findings) < MOST_FINDINGS:
                self.findings.append(finding(rate, where, detail))

    def rate(self, name: str, least: int) -> Rate:
        return Rate(right=self.right.get(name, 0), all=self.all.get(name, 0), least=least)


def _of_case(case: SuiteCase, run: CaseRun) -> Judged:
    oracle, status = case.oracle, run.public.status
    where = f"case {case.id}"
    if oracle.relevant:
        first = [place.document for place in run.retrieved[:2]]
        is_found = bool(set(first) & set(oracle.relevant))
        yield "recall_at_2", is_found, where, "no expected document among the first two passages"
    if oracle.relevant and oracle.status == "answered" and not case.asked.search:
        is_cited = bool(run.cited) and run.cited[0].document in oracle.relevant
        wrong = "the first citation is another one" if run.cited else "nothing is cited"
        yield "citation_precision_at_1", is_cited, where, f"{wrong} ({status})"
    if oracle.status == "insufficient_evidence":
        yield "expected_empty_rate", status == oracle.status, where, f"{status} without evidence"
    else:
        yield "expected_status_rate", status == oracle.status, where, f"{status} instead of {oracle.status}"
    codes = disclosures(case, run)
    yield "nothing_forbidden", not codes, where, ", ".join(codes)


def _freshness(operator: Operator, shown: Sequence[DocumentKey], now: Micros) -> Judged:
    for key in shown:
        is_current = operator.is_current(key, now)
        yield "freshness", is_current, _name(key), "cited or a candidate, and not the state that is in force"


def _titles(documents: Iterator[StoredDocument]) -> Judged:
    """A title made of the file's name stands where neither the source nor the text gave one."""
    for item in documents:
        has_title = item.description.title is not None or item.title != derive_title(item.key.shown_id)
        yield "titled", has_title, _name(item.key), "neither a title nor a heading"


def _indexed(generation: Generation, operator: Operator) -> Judged:
    status = operator.status()
    rows = [row for row in status["failing"] if row["generation"] == generation.name]
    rows += [row for row in status["quarantine"] if row.get("generation", generation.name) == generation.name]
    for row in rows:
        name = f"{row['tenant_id']}/{row['source_id']}/{row['document_id']}"
        yield "indexed", False, name, str(row["reason"])
    for _ in range(max(0, generation.waiting + generation.given_up - len(rows))):
        yield "indexed", False, generation.name, "an event that was not taken in yet"
    for _ in range(generation.served):
        yield "indexed", True, "", ""


def _name(key: DocumentKey) -> str:
    return f"{key.tenant_id}/{key.source_id}/{key.document_id}"
