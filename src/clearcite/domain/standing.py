"""Whose word holds for what should be."""

from clearcite.domain.corpus import Description
from clearcite.domain.thresholds import AUTHORITY_GAP, STANDING


def stands_over(one: Description, other: Description) -> bool:
    """By source type, unless the authority given to the two says the opposite; by authority for other types."""
    ours, theirs = STANDING.get(one.source_type), STANDING.get(other.source_type)
    gap = one.authority - other.authority
    if ours is None or theirs is None:
        return gap >= AUTHORITY_GAP
    return ours > theirs and gap >= 0
