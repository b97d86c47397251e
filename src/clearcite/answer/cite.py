"""Drafts → claims: every quote is bound to a passage that was selected, and to the bytes it names."""

from collections.abc import Mapping, Sequence

from clearcite.domain.answer import Claim, Disagreement
from clearcite.domain.retrieval import Evidence, Passage

MIN_QUOTE = 2
"""A quote shorter than this many code points anchors nothing."""


def cite(drafts: Sequence[Claim], evidence: Sequence[Evidence]) -> tuple[Claim, ...]:
    """Keep the drafts whose every quote stands inside selected evidence; a writer may name nothing else."""
    known = {item.passage.chunk_id: item.passage for item in evidence}
    return tuple(draft for draft in drafts if draft.quotes and _is_bound(draft, known))


def bound_sides(
    disagreements: Sequence[Disagreement], evidence: Sequence[Evidence]
) -> tuple[Disagreement, ...]:
    """The disagreements all of whose sides are bound to selected evidence."""
    known = {item.passage.chunk_id: item.passage for item in evidence}
    return tuple(d for d in disagreements if all(_is_bound(side.claim, known) for side in d.sides))


def _is_bound(claim: Claim, known: Mapping[str, Passage]) -> bool:
    for quote in claim.quotes:
        passage = quote.passage
        inside = passage.start <= quote.start < quote.end <= passage.end
        if known.get(passage.chunk_id) != passage or not inside or len(quote.text.strip()) < MIN_QUOTE:
            return False
    return claim.support == "entailed" or claim.text == "\n".join(quote.text for quote in claim.quotes)
