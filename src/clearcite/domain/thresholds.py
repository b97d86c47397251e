"""Every number the answer path decides by, with where it comes from. Integers; thousandths unless said otherwise.

Fitted numbers come from `bench/quality.py --fit` on development data only; it prints what it used.
"""

from dataclasses import dataclass


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
