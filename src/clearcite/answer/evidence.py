"""Ranked → Evidence: what the writer sees, within a budget, with both sides of every disagreement."""

from collections import Counter

from msgspec import Struct

from clearcite.domain.answer import Disagreement
from clearcite.domain.retrieval import Dropped, Evidence, Ranked

PER_DOCUMENT = 3
"""Passages of one document before those of others; the rest of it comes after them."""


class Budget(Struct, frozen=True, kw_only=True):
    """At most ``passages``, and at most ``characters`` of title and text together."""

    passages: int
    characters: int


class Chosen(Struct, frozen=True, kw_only=True):
    evidence: tuple[Evidence, ...]
    dropped: tuple[Dropped, ...]


def diversify(ranked: tuple[Ranked, ...]) -> tuple[Ranked, ...]:
    """Let no document crowd out the others: its passages beyond the third go to the end, in order."""
    seen: Counter[object] = Counter()
    first: list[Ranked] = []
    later: list[Ranked] = []
    for item in ranked:
        seen[item.passage.key] += 1
        (first if seen[item.passage.key] <= PER_DOCUMENT else later).append(item)
    return tuple(first + later)


def fit_budget(ranked: tuple[Ranked, ...], disagreements: tuple[Disagreement, ...], budget: Budget) -> Chosen:
    """Take passages in rank order while they fit; the sides of a disagreement are taken before all others."""
    needed = {
        quote.passage.chunk_id
        for disagreement in disagreements
        for side in disagreement.sides
        for quote in side.claim.quotes
    }
    kept: list[Ranked] = []
    dropped: list[Dropped] = []
    characters = 0
    for item in sorted(ranked, key=lambda entry: entry.passage.chunk_id not in needed):
        size = len(item.passage.title) + len(item.passage.text)
        if len(kept) >= budget.passages and item.passage.chunk_id not in needed:
            dropped.append(Dropped(chunk_id=item.passage.chunk_id, reason="context_limit"))
        elif characters + size > budget.characters and item.passage.chunk_id not in needed:
            dropped.append(Dropped(chunk_id=item.passage.chunk_id, reason="character_budget"))
        else:
            kept.append(item)
            characters += size
    chosen = {item.passage.chunk_id for item in kept}
    in_order = [item for item in ranked if item.passage.chunk_id in chosen]
    evidence = tuple(Evidence(number=n, ranked=item) for n, item in enumerate(in_order, start=1))
    return Chosen(evidence=evidence, dropped=tuple(dropped))
