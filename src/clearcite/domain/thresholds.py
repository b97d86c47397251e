"""Every number the answer path decides by, with where it comes from. Integers; thousandths unless said otherwise.

Fitted numbers come from `bench/quality.py --fit` on development data only; it prints what it used.
"""

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct


class ClaimWeights(Struct, frozen=True, kw_only=True):
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


class ClaimLimits(Struct, frozen=True, kw_only=True):
    """How much an extractive answer says.

    ``margin``: a further claim may score this much less than the best; ``heard``: as much less
    may the best of a source of higher standing score to be cited all the same, and ``close`` to go first. ``same``:
    share of common terms above which two claims repeat each other. ``longest``: words of a claim but the first.
    """

    most: int = 3
    words: int = 100
    longest: int = 60
    margin: int = 4000
    heard: int = 9000
    close: int = 2500
    same: int = 600


CLAIM_LIMITS = ClaimLimits()


class ConflictLimits(Struct, frozen=True, kw_only=True):
    """When two statements are held to disagree. Chosen on pairs of small documents (`tests/data/conflict_cases.toml`),
    so that no pair that only looks like a disagreement is one.

    ``passages``: how far down the ranking sides are looked for. ``margin``: how much less than the best unit the side
    that is contradicted may score as an answer, as for a further claim; ``cover``: how much of the best coverage of
    the question it must have. ``beside_margin``, ``beside_cover``: the same for what contradicts it, which may use
    other words. ``apart``: share of the question that only one of the two may say. ``shared``: common words, of those
    of the shorter; ``shared_exactly``: the same for yes or no and for codes, where one word more may be the reason.
    """

    passages: int = 12
    margin: int = 4000
    cover: int = 700
    beside_margin: int = 8000
    beside_cover: int = 400
    apart: int = 250
    shared: int = 600
    shared_exactly: int = 800


CONFLICT_LIMITS = ConflictLimits()

STANDING: Mapping[str, int] = MappingProxyType({"documentation": 3, "policy": 3, "blog": 2, "forum": 1})
"""Whose word holds for what *should* be, by source type. Other types stand by their authority alone."""
AUTHORITY_GAP = 20
"""Less than a fifth of the scale apart, two authorities decide nothing."""
