"""The only place that builds what leaves the engine: PublicAnswer and PublicSearch.

Everything here is a function of the claims, the readable documents they quote, and the trace id.
"""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence

from clearcite.domain.access import Micros
from clearcite.domain.answer import (
    MESSAGES,
    Answer,
    Citation,
    Claim,
    Disagreement,
    PublicAnswer,
    PublicConflict,
    PublicHit,
    PublicSearch,
    Quote,
    Span,
    Statement,
)
from clearcite.domain.corpus import DocumentKey
from clearcite.domain.digest import sha256_text
from clearcite.domain.retrieval import Passage, Ranked

SNIPPET = 240


def publish(answer: Answer, document_hashes: Mapping[DocumentKey, str], trace_id: str) -> PublicAnswer:
    """Project a checked answer. ``document_hashes``: SHA-256 of the canonical text of each quoted document."""
    numbers = _Numbers(document_hashes)
    if answer.status == "answered":
        statements = tuple(numbers.statement(claim) for claim in answer.claims)
        conflicts = tuple(_conflict(item, numbers) for item in answer.disagreements)
    elif answer.status == "conflict":
        statements = ()
        conflicts = tuple(_conflict(item, numbers) for item in answer.disagreements)
    else:
        statements, conflicts = (), ()
    return PublicAnswer(
        status=answer.status,
        trace_id=trace_id,
        message=MESSAGES[answer.status],
        confidence=answer.confidence if answer.status == "answered" else None,
        answer=statements,
        citations=tuple(numbers.citations),
        conflicts=conflicts,
    )


def publish_search(ranked: Sequence[Ranked], trace_id: str, following: str | None) -> PublicSearch:
    hits = tuple(_hit(n, item.passage) for n, item in enumerate(ranked, start=1))
    return PublicSearch(status="answered", trace_id=trace_id, hits=hits, next=following)


def instant_text(value: Micros | None) -> str | None:
    """RFC 3339 in UTC, with as many digits as it needs."""
    if value is None:
        return None
    moment = dt.datetime.fromtimestamp(value // 1_000_000, dt.UTC)
    text = moment.strftime("%Y-%m-%dT%H:%M:%S")
    rest = value % 1_000_000
    return f"{text}.{rest:06d}".rstrip("0") + "Z" if rest else text + "Z"


class _Numbers:
    """Citations numbered by first use; one number for one span."""

    def __init__(self, document_hashes: Mapping[DocumentKey, str]) -> None:
        self._hashes = document_hashes
        self._number: dict[tuple[object, ...], int] = {}
        self.citations: list[Citation] = []

    def statement(self, claim: Claim) -> Statement:
        numbers = [self._cite(quote, claim) for quote in claim.quotes]
        return Statement(text=claim.text, citations=tuple(dict.fromkeys(numbers)))

    def _cite(self, quote: Quote, claim: Claim) -> int:
        passage = quote.passage
        key = (passage.key, quote.start, quote.end, claim.support)
        if key not in self._number:
            self._number[key] = len(self.citations) + 1
            self.citations.append(self._citation(quote, claim))
        return self._number[key]

    def _citation(self, quote: Quote, claim: Claim) -> Citation:
        passage, description = quote.passage, quote.passage.description
        return Citation(
            n=len(self.citations) + 1,
            document_id=passage.key.shown_id,
            title=passage.title,
            uri=description.source_uri,
            revision=passage.revision,
            cited_text=quote.text,
            fact_id=_fact_id(quote),
            span=Span(start=quote.start, end=quote.end),
            page=passage.page,
            heading=passage.heading,
            sha256=sha256_text(quote.text),
            document_sha256=self._hashes[passage.key],
            valid_from=instant_text(passage.valid_from),
            valid_to=instant_text(passage.valid_to),
            product_version=description.product_version,
            support=claim.support,
        )


def _fact_id(quote: Quote) -> str | None:
    for fact in quote.passage.description.facts:
        if fact.statement in quote.text:
            return fact.fact_id
    return None


def _conflict(item: Disagreement, numbers: _Numbers) -> PublicConflict:
    sides: Iterable[Statement] = (numbers.statement(side.claim) for side in item.sides)
    return PublicConflict(topic=item.topic, kind=item.kind, resolved_by=item.resolved_by, sides=tuple(sides))


def _hit(n: int, passage: Passage) -> PublicHit:
    return PublicHit(
        n=n,
        document_id=passage.key.shown_id,
        title=passage.title,
        uri=passage.description.source_uri,
        revision=passage.revision,
        span=Span(start=passage.start, end=passage.end),
        snippet=_snippet(passage.text),
        heading=passage.heading,
        page=passage.page,
    )


def _snippet(text: str) -> str:
    """The first words of a passage on one line. A line that only draws a table is no words."""
    flat = " ".join(" ".join(line for line in text.split("\n") if not _draws_a_table(line)).split())
    if len(flat) <= SNIPPET:
        return flat
    cut = flat.rfind(" ", 0, SNIPPET)
    return flat[: cut if cut > 0 else SNIPPET] + " …"


def _draws_a_table(line: str) -> bool:
    """The line under the head of a Markdown table."""
    return "|" in line and "-" in line and not line.strip("|-: \t")
