"""Every number the answer path decides by, with where it comes from. Integers; thousandths unless said otherwise.

Fitted numbers come from `bench/quality.py --fit` on development data only; it prints what it used.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimWeights:
    """How much each feature of a unit says that it answers; see ``text.candidates``."""

    cover: int = 0
    around: int = 0
    kind: int = 0
    coded: int = 0
    named: int = 0
    plain: int = 0
    near: int = 0
    length: int = 0
    early: int = 0
    place: int = 0
    cosine: int = 0
    titled: int = 0

    def of(self, feature: str) -> int:
        return int(getattr(self, feature))


LEXICAL_CLAIMS = ClaimWeights(
    cover=4500, around=2100, coded=2200, named=700, plain=1000, kind=2000, near=1600, early=1700, place=1700
)
SEMANTIC_CLAIMS = ClaimWeights(
    around=2800, coded=3800, plain=2300, kind=2100, early=2000, cosine=5400, titled=7100
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimLimits:
    """How much an extractive answer says.

    ``margin``: a further claim may score this much less than the best. ``same``: share of common terms above
    which two claims repeat each other. ``longest``: words of a claim that is not the first.
    """

    most: int = 3
    words: int = 100
    longest: int = 60
    margin: int = 4000
    same: int = 600


CLAIM_LIMITS = ClaimLimits()


@dataclass(frozen=True, kw_only=True, slots=True)
class ConflictLimits:
    """When two statements are held to disagree.

    ``passages``: how far down the ranking sides are looked for. ``margin``: how much less than the best statement a
    side may score as an answer; ``anchors``: how many of the best are tried. ``apart``: share of the question that
    only one side may cover. ``shared``: common words (of the fewer) that make one thing without an embedder;
    ``alike``: mean of common words and cosine that make it with one; ``shared_at_least``: fewer common words than
    this are never one thing.
    """

    passages: int = 12
    margin: int = 4000
    anchors: int = 2
    apart: int = 250
    shared: int = 700
    shared_at_least: int = 300
    alike: int = 600


CONFLICT_LIMITS = ConflictLimits()

STANDING: Mapping[str, int] = MappingProxyType({"documentation": 3, "policy": 3, "blog": 2, "forum": 1})
"""Whose word holds for what *should* be, by source type."""


def standing(source_type: str) -> int:
    """Types not named stand with blogs."""
    return STANDING.get(source_type, STANDING["blog"])
