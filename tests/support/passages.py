"""Passages of small documents without a store: parsed and cut as ingestion does it, ranked in the order given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from clearcite.adapters.parsers.formats import LocalParser
from clearcite.answer.conflicts import find_conflicts
from clearcite.answer.plan import plan_query
from clearcite.answer.resolve import resolve_conflicts
from clearcite.domain.answer import Disagreement
from clearcite.domain.corpus import Description, DocumentKey
from clearcite.domain.digest import sha256_text
from clearcite.domain.retrieval import Passage, Plan, Question, Ranked
from clearcite.ingest.chunk import chunk_document
from clearcite.text.analysis import Analyzer
from clearcite.text.phrases import PhraseSet

ANALYZER = Analyzer(("en", "pt"))


def passages(document: str, written: str, *, source: str = "s", **more: Any) -> list[Passage]:
    """``written``: "title | heading | text". ``valid_from`` is the passage's; the rest describes the document."""
    title, heading, text = (part.strip(" ") for part in written.split(" | ", 2))
    whole = f"# {title}\n\n## {heading}\n\n{text}\n"
    parsed = next(iter(LocalParser().parse_many([(whole.encode(), "text/markdown")])))
    if isinstance(parsed, Exception):
        raise parsed
    key = DocumentKey(tenant_id="t", source_id=source, document_id=document)
    sha = sha256_text(whole)
    valid_from = more.pop("valid_from", None)
    description = Description(source_uri=document, source_version="1", title=title, **more)
    return [
        Passage(
            chunk_id=chunk.chunk_id,
            key=key,
            revision=sha[:16],
            content_sha256=sha,
            title=title,
            text=chunk.text,
            start=chunk.start,
            end=chunk.end,
            sha256=chunk.sha256,
            context=chunk.context,
            heading=chunk.heading,
            page=chunk.page,
            kind=chunk.kind,
            units=chunk.units,
            description=description,
            valid_from=valid_from,
            valid_to=None,
            normal_sha256=sha,
            language=chunk.language,
        )
        for chunk in chunk_document(parsed, key, sha, title=title, words=180)
    ]


def plan_for(question: str, **changes: Any) -> Plan:
    return replace(plan_query(Question(text=question), ANALYZER, PhraseSet(()), 100), **changes)


def found(question: str, *documents: Sequence[Passage], **changes: Any) -> tuple[Disagreement, ...]:
    """What ``find_conflicts`` finds in the passages of the documents, ranked in the order given."""
    ranked = [passage for document in documents for passage in document]
    return find_conflicts(
        plan_for(question, **changes),
        tuple(Ranked(passage=passage, score=1000 - at) for at, passage in enumerate(ranked)),
        ANALYZER,
    )


def decided(question: str, *documents: Sequence[Passage], **changes: Any) -> tuple[Disagreement, ...]:
    return resolve_conflicts(plan_for(question, **changes), found(question, *documents, **changes))
