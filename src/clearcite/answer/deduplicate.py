"""Copies count once, and superseded text does not count; both after the access check, before the budget.

Mirrors share a canonical document id and the same normalised text, or one source. The kept copy is the one of
highest authority among those the caller may read, then the smallest id; one that a caller has been shown before
goes before all others.
"""

from collections.abc import Callable, Iterable

from clearcite.domain.corpus import DocumentKey
from clearcite.domain.retrieval import Dropped, Passage, Ranked

FIRST_WORDS = 8
_Order = tuple[bool, int, DocumentKey, int]
Deduplicated = tuple[tuple[Ranked, ...], tuple[Dropped, ...]]


def deduplicate(ranked: tuple[Ranked, ...], shown: frozenset[str] = frozenset()) -> Deduplicated:
    """Keep one copy of each document and of each text, in rank order. ``shown``: chunks that must be kept."""
    known = {item.passage.key for item in ranked if item.passage.chunk_id in shown}
    kept_document = _kept_documents((item.passage for item in ranked), known)
    best = _best_of_text((item.passage for item in ranked if kept_document(item.passage)), shown)
    kept: list[Ranked] = []
    dropped: list[Dropped] = []
    for item in ranked:
        passage = item.passage
        if passage.chunk_id in best:
            kept.append(item)
        else:
            dropped.append(Dropped(chunk_id=passage.chunk_id, reason="canonical_duplicate"))
    return tuple(kept), tuple(dropped)


def _order(passage: Passage, is_shown: bool) -> _Order:
    return (not is_shown, -passage.description.authority, passage.key, passage.start)


def _kept_documents(passages: Iterable[Passage], known: set[DocumentKey]) -> Callable[[Passage], bool]:
    """Which documents survive: the first, in ``_order``, of each group of mirrors."""
    members: dict[tuple[str, ...], list[Passage]] = {}
    for passage in passages:
        for group in _groups(passage):
            members.setdefault(group, []).append(passage)
    lost: set[DocumentKey] = set()
    for some in members.values():
        if len(some) > 1:
            kept = min(_order(passage, passage.key in known) for passage in some)[2]
            lost.update(passage.key for passage in some if passage.key != kept)
    return lambda passage: not lost or passage.key not in lost


def _groups(passage: Passage) -> list[tuple[str, ...]]:
    """The groups of mirrors a document belongs to: equal normalised text, or one canonical id in one source."""
    key, canonical = passage.key, passage.description.canonical_document_id
    groups: list[tuple[str, ...]] = (
        [("text", key.tenant_id, passage.normal_sha256)] if passage.normal_sha256 else []
    )
    if canonical is not None:
        groups.append(("source", key.tenant_id, key.source_id, canonical))
    return groups


def _text_key(passage: Passage) -> str:
    """Case and white space do not make another text."""
    return " ".join(passage.text.casefold().split())


def _beginning(passage: Passage) -> str:
    """The first words, which two texts of one key share."""
    return " ".join(passage.text.split(None, FIRST_WORDS)[:FIRST_WORDS]).casefold()


def _best_of_text(passages: Iterable[Passage], shown: frozenset[str]) -> frozenset[str]:
    """The ids of the chunks that are kept: one for each normalised passage text."""
    alike: dict[str, list[Passage]] = {}
    for passage in passages:
        alike.setdefault(_beginning(passage), []).append(passage)
    kept: set[str] = set()
    for some in alike.values():
        if len(some) == 1:  # nothing else begins like it: no need to look at all of it
            kept.add(some[0].chunk_id)
            continue
        best: dict[str, tuple[_Order, str]] = {}
        for passage in some:
            mine = (_order(passage, passage.chunk_id in shown), passage.chunk_id)
            text = _text_key(passage)
            best[text] = min(best.get(text, mine), mine)
        kept.update(chunk for _, chunk in best.values())
    return frozenset(kept)
