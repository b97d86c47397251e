"""The cited-qa fixture 2.0: a suite in one JSON file, with its documents, its questions and what must come out.

A question has two kinds of fields. ``RUNTIME`` lists the ones the answerer may see; the rest
are the oracle's. Everything is checked before anything runs, and all faults are reported together.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Struct

from clearcite.domain.answer import AnswerStatus
from clearcite.errors import InputError
from clearcite.wire import loads
from clearcite.wire.convert import Limits, read, refusal

MAX_BYTES = 2_000_000
MAX_DEPTH = 64
MAX_STRING = 100_000
MAX_LIST = 512
MIN_CANARY = 4

Text = Annotated[str, Limits(least=1, most=MAX_STRING)]
Names = Annotated[tuple[Text, ...], Limits(most=MAX_LIST)]
SomeNames = Annotated[tuple[Text, ...], Limits(least=1, most=MAX_LIST)]
Stage = Annotated[int, Limits(least=1, most=1000)]
Share = float
"""A number from 0 to 1; ``_share_faults`` holds the bounds, for a float has no length."""

_SNAKE = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


class FixturePipeline(Struct, frozen=True, kw_only=True):
    """Labels of the pipeline that the fixture was written for, and its limits."""

    pipeline_revision: Text
    retrieval_revision: Text
    rerank_revision: Text
    context_policy_revision: Text
    answer_policy_revision: Text
    retrieval_limit: Stage
    context_limit: Stage
    max_context_chars: Annotated[int, Limits(least=1, most=1_000_000)]


class FixturePolicy(Struct, frozen=True, kw_only=True):
    """What the fixture asks of a run; a fixture is judged by this and nothing else."""

    suite_revision: Text
    harness_revision: Text
    min_case_pass_rate: Share
    min_critical_case_pass_rate: Share
    min_status_accuracy: Share
    min_retrieval_fact_recall: Share
    min_context_fact_recall: Share
    min_citation_fact_recall: Share
    max_non_disclosure_violations: Annotated[int, Limits(least=0)]


class FixtureFact(Struct, frozen=True, kw_only=True):
    """A statement that stands verbatim in the text of its document."""

    id: Text
    topic: Text
    statement: Text
    value: Annotated[str, Limits(most=MAX_STRING)]
    unit: Annotated[str, Limits(most=MAX_STRING)]


class FixtureDocument(Struct, frozen=True, kw_only=True):
    id: Text
    canonical_document_id: Text
    title: Text
    text: Text
    tenant_id: Text
    acl: SomeNames
    status: Literal["published", "draft", "archived"]
    effective_from: Text
    effective_to: Text | None
    source_revision: Text
    authority: Annotated[int, Limits(least=0, most=100)]
    facts: Annotated[tuple[FixtureFact, ...], Limits(least=1, most=128)]


class FixtureQuery(Struct, frozen=True, kw_only=True):
    id: Text
    text: Text
    tenant_id: Text
    subject_groups: SomeNames
    authorization_revision: Text
    as_of: Text
    route: Literal["knowledge", "tool_required"]
    topic: Text
    slice: Text
    critical: bool
    expected_status: AnswerStatus
    expected_fact_ids: Names
    forbidden_document_ids: Names
    forbidden_output_substrings: Names


class Fixture(Struct, frozen=True, kw_only=True):
    schema_version: Literal["2.0"]
    pipeline: FixturePipeline
    evaluation_policy: FixturePolicy
    documents: Annotated[tuple[FixtureDocument, ...], Limits(least=1, most=256)]
    queries: Annotated[tuple[FixtureQuery, ...], Limits(least=1, most=512)]


def read_fixture(path: Path) -> tuple[Fixture, bytes]:
    """The fixture of a file, and its bytes for the hash. Raises InputError, which names no path."""
    try:
        with path.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise InputError(f"the fixture cannot be read: {error.strerror}") from None
    return parse_fixture(raw), raw


def parse_fixture(raw: bytes) -> Fixture:
    """Raises InputError with every fault of the fixture."""
    value = loads(raw, max_bytes=MAX_BYTES, max_depth=MAX_DEPTH)
    faults: list[str] = []
    fixture: Fixture = read(Fixture, value, lambda path, fault: faults.append(f"{path}: {fault}"))
    if not faults:
        faults = list(_faults(fixture))
    if faults:
        raise refusal("the fixture", faults)
    return fixture


def _faults(fixture: Fixture) -> Iterator[str]:
    yield from _share_faults(fixture.evaluation_policy)
    yield from _repeated("$.documents", "document id", [one.id for one in fixture.documents])
    facts = [fact.id for one in fixture.documents for fact in one.facts]
    yield from _repeated("$.documents", "fact id", facts)
    yield from _repeated("$.queries", "query id", [one.id for one in fixture.queries])
    for number, document in enumerate(fixture.documents):
        yield from _document_faults(f"$.documents[{number}]", document)
    by_id = {one.id: one for one in fixture.documents}
    for number, query in enumerate(fixture.queries):
        yield from _query_faults(f"$.queries[{number}]", query, by_id, set(facts))
    if not any(query.critical for query in fixture.queries):
        yield "$.queries: at least one must be critical"
    if not any(query.expected_fact_ids for query in fixture.queries):
        yield "$.queries: at least one must expect a fact"


def _share_faults(policy: FixturePolicy) -> Iterator[str]:
    for name in FixturePolicy.__struct_fields__:
        if name.startswith("min_") and not 0 <= getattr(policy, name) <= 1:
            yield f"$.evaluation_policy.{name}: must lie between 0 and 1"


def _document_faults(path: str, document: FixtureDocument) -> Iterator[str]:
    yield from _order_faults(f"{path}.acl", document.acl)
    start, end = _day(document.effective_from), _day(document.effective_to)
    if start is None:
        yield f"{path}.effective_from: must be a date such as 2026-07-22"
    if document.effective_to is not None and end is None:
        yield f"{path}.effective_to: must be a date such as 2026-07-22, or null"
    if start is not None and end is not None and end <= start:
        yield f"{path}.effective_to: must be later than effective_from"
    for number, fact in enumerate(document.facts):
        if fact.statement not in document.text:
            yield f"{path}.facts[{number}].statement: must stand verbatim in the text"
        if not _SNAKE.fullmatch(fact.topic):
            yield f"{path}.facts[{number}].topic: must be snake_case"


def _query_faults(
    path: str, query: FixtureQuery, documents: Mapping[str, FixtureDocument], facts: set[str]
) -> Iterator[str]:
    for name in (
        "subject_groups",
        "expected_fact_ids",
        "forbidden_document_ids",
        "forbidden_output_substrings",
    ):
        yield from _order_faults(f"{path}.{name}", getattr(query, name))
    if _day(query.as_of) is None:
        yield f"{path}.as_of: must be a date such as 2026-07-22"
    for name in ("slice", "topic"):
        if not _SNAKE.fullmatch(getattr(query, name)):
            yield f"{path}.{name}: must be snake_case"
    if query.route == "tool_required" and query.expected_status != "tool_required":
        yield f"{path}.expected_status: the route tool_required must expect that status"
    if not facts.issuperset(query.expected_fact_ids):
        yield f"{path}.expected_fact_ids: names an unknown fact"
    if not documents.keys() >= set(query.forbidden_document_ids):
        yield f"{path}.forbidden_document_ids: names an unknown document"
    forbidden = [documents[name] for name in query.forbidden_document_ids if name in documents]
    for number, canary in enumerate(query.forbidden_output_substrings):
        place = f"{path}.forbidden_output_substrings[{number}]"
        if len(canary) < MIN_CANARY:
            yield f"{place}: must have at least {MIN_CANARY} characters"
        elif not any(canary in text for one in forbidden for text in strings_of(one)):
            yield f"{place}: stands in no field of a forbidden document"


def strings_of(document: FixtureDocument) -> Iterator[str]:
    """Every string of a document: a canary may stand in any of them."""
    yield from (document.id, document.canonical_document_id, document.title, document.text)
    yield from (document.tenant_id, document.source_revision, *document.acl)
    for fact in document.facts:
        yield from (fact.id, fact.topic, fact.statement, fact.value, fact.unit)


def _order_faults(path: str, names: Sequence[str]) -> Iterator[str]:
    if list(names) != sorted(set(names)):
        yield f"{path}: must be sorted, each item once"


def _repeated(path: str, what: str, ids: Iterable[str]) -> Iterator[str]:
    seen: set[str] = set()
    for name in ids:
        if name in seen:
            yield f"{path}: a {what} stands twice"
        seen.add(name)


def _day(text: str | None) -> date | None:
    if text is None or not re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


RUNTIME = ("id", "text", "tenant_id", "subject_groups", "authorization_revision", "as_of", "route", "topic")
"""What the answerer may see of a question: an allow-list, so that a new oracle field stays an oracle's."""
