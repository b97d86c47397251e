"""One case and what came back of it → codes of what is wrong, and how far each expected fact got.

A fact counts at a stage when one passage, or one citation, of its document covers the statement's characters. Codes
and counts are all that leaves: no text, no title, no canary.
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from clearcite.bench.answering import CaseRun
from clearcite.bench.scoring import Grounds, Statements, scores_of
from clearcite.bench.suite import ExpectedFact, SuiteCase
from clearcite.domain.answer import AnswerStatus, PublicSearch
from clearcite.domain.corpus import DocumentKey, Place
from clearcite.wire import canonical
from clearcite.wire.convert import to_json

WHOLE, NOTHING = "1.000000", "0.000000"
STAGES = ("retrieval", "context", "citation")
NOT_READABLE = "relevant_documents_not_readable"
"""The suite expects documents of which the asker may read none: a grant that is missing, or a wrong expectation."""


class CaseResult(Struct, frozen=True, kw_only=True):
    """``found``: the expected facts that were there, by stage. ``codes``: why the case fails; empty if it passes.

    ``scores``: decimals of six places by name, None where there was nothing to measure; see ``scoring``."""

    case_id: str
    slice: str
    tenant: str
    cohort: str
    critical: bool
    expected: AnswerStatus
    status: AnswerStatus
    wanted: int
    found: Mapping[str, int]
    disclosures: int
    degraded: bool
    codes: tuple[str, ...]
    scores: Mapping[str, str | None]

    @property
    def passes(self) -> bool:
        return not self.codes


def judge(case: SuiteCase, run: CaseRun, grounds: Grounds) -> CaseResult:
    oracle, statements = case.oracle, grounds.statements
    wanted = {fact.fact_id for fact in oracle.facts}
    reached = {
        "retrieval": covered(run.retrieved, statements),
        "context": covered(run.selected, statements),
        "citation": covered(run.cited, statements),
    }
    shown = [*disclosures(case, run), *unauthorized(run, grounds.readable)]
    scores = scores_of(case, run, grounds)
    codes = []
    if run.public.status != oracle.status:
        codes.append("status_mismatch")
    for stage in STAGES:
        if wanted - reached[stage]:
            codes.append(f"{stage}_fact_missing")
    if reached["citation"] - wanted:
        codes.append("unexpected_fact_cited")
    if scores.get("nugget_recall") not in (None, WHOLE):
        codes.append("nugget_missing")
    if oracle.relevant and not oracle.facts and run.citations and scores["citation_recall"] == NOTHING:
        codes.append("no_relevant_document_cited")
    # A search says and cites nothing: what it found is all there is to judge.
    if case.asked.search and scores[f"recall@{grounds.k}"] == NOTHING:
        codes.append("no_relevant_document_found")
    if oracle.relevant and not oracle.facts and not grounds.readable.intersection(oracle.relevant):
        codes.append(NOT_READABLE)
    if not all(grounds.held):
        codes.append("citation_does_not_hold")
    codes += shown
    return CaseResult(
        case_id=case.id,
        slice=case.slice,
        tenant=case.tenant,
        cohort=case.cohort,
        critical=case.critical,
        expected=oracle.status,
        status=run.public.status,
        wanted=len(wanted),
        found={stage: len(wanted & reached[stage]) for stage in STAGES},
        disclosures=len(shown),
        degraded=run.degraded,
        codes=tuple(codes),
        scores=scores,
    )


def covered(places: Iterable[Place], statements: Statements) -> set[str]:
    """The facts whose statement lies within one of the places."""
    return {
        fact_id
        for place in places
        for fact_id, start, end in statements.get(place.document, ())
        if place.start <= start and end <= place.end
    }


def statements_in(text: str, facts: Iterable[ExpectedFact]) -> list[tuple[str, int, int]]:
    """Every occurrence of each statement in a document's canonical text."""
    found = []
    for fact in facts:
        at = text.find(fact.statement)
        while at >= 0:
            found.append((fact.fact_id, at, at + len(fact.statement)))
            at = text.find(fact.statement, at + 1)
    return found


def disclosures(case: SuiteCase, run: CaseRun) -> list[str]:
    """What shows that must not: a forbidden document at any stage, or a canary in the public bytes."""
    forbidden = set(case.oracle.forbidden)
    codes = []
    if forbidden & {place.document for place in run.cited}:
        codes.append("forbidden_document_cited")
    if forbidden & {place.document for place in (*run.retrieved, *run.selected)}:
        codes.append("forbidden_document_retrieved")
    if forbidden & set(run.candidates):
        codes.append("forbidden_candidate")
    if case.oracle.canaries and _shows(run, case.oracle.canaries):
        codes.append("forbidden_text")
    names = {document.document_id for document in forbidden}
    shown = run.public.hits if isinstance(run.public, PublicSearch) else run.citations
    if any(item.document_id in names for item in shown):
        codes.append("forbidden_document_id")
    return codes


def _shows(run: CaseRun, canaries: Iterable[str]) -> bool:
    """Whether one stands in the public bytes, or in a text of them before it was escaped."""
    plain = to_json(run.public)
    public, texts = canonical(plain).decode("utf-8"), list(_strings(plain))
    return any(canary in public or any(canary in text for text in texts) for canary in canaries)


def unauthorized(run: CaseRun, readable: frozenset[DocumentKey]) -> list[str]:
    """Documents at any stage that whoever asks may not read: a candidate has already crossed the border."""
    stages = {
        "unauthorized_candidate": run.candidates,
        "unauthorized_retrieved": tuple(place.document for place in (*run.retrieved, *run.selected)),
        "unauthorized_cited": tuple(place.document for place in run.cited),
    }
    return [code for code, documents in stages.items() if set(documents) - readable]


def _strings(value: object) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, Sequence):
        for item in value:
            yield from _strings(item)
