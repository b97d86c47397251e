"""Each citation resolved again from the canonical bytes, as whoever asked: what a reader who follows it would find."""

from collections.abc import Mapping

from clearcite.bench.answering import CaseRun
from clearcite.domain.answer import Citation
from clearcite.domain.corpus import DocumentKey, Place
from clearcite.domain.digest import sha256_text
from clearcite.operator import Operator
from clearcite.ports import StoredDocument

Texts = Mapping[DocumentKey, StoredDocument | None]


def citations_that_hold(
    run: CaseRun, readable: frozenset[DocumentKey], operator: Operator
) -> tuple[bool, ...]:
    """One verdict a citation, in the order of the response."""
    places = {(place.document.shown_id, place.start, place.end): place for place in run.cited}
    texts = {place.document: operator.stored(place.document) for place in run.cited}
    return tuple(
        _holds(item, places.get((item.document_id, item.span.start, item.span.end)), readable, texts)
        for item in run.citations
    )


def _holds(item: Citation, place: Place | None, readable: frozenset[DocumentKey], texts: Texts) -> bool:
    if place is None or place.document not in readable:
        return False
    stored = texts[place.document]
    if stored is None or sha256_text(stored.text) != item.document_sha256:
        return False
    cited = stored.text[item.span.start : item.span.end]
    return cited == item.cited_text != "" and sha256_text(cited) == item.sha256
