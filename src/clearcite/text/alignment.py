"""Word by word: how near the words of a question come to those of a text, each in the sense it has where it stands.

Two texts can be near as wholes although one word of the question has no counterpart in the other: that is how a near
miss looks. A word falls short by what its nearest word of the text lacks to ``NEAR_ENOUGH``; a code or a name that is
not there falls short whatever stands in its place.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from clearcite.text.analysis import is_covered
from clearcite.text.candidates import Asked, Candidate, in_context
from clearcite.text.coverage import Need, missing, wanted
from clearcite.text.kinds import is_untyped
from clearcite.text.phrases import folded_words
from clearcite.text.similarity import Similarity
from clearcite.text.units import values

NEAR_ENOUGH = 600
"""Thousandths of a cosine from which on words say the same, or as good as that."""
UNREAD = 300
"""What a word counts that the embedder does not give: beyond its limit, or of a script it takes apart."""
OTHER_NAME = 300
"""What a code or a proper name counts at most that the text does not have: to an encoder any two are near the same."""
OTHER_KIND = 100
"""By how much a text is farther that holds nothing of the kind asked for: its neighbour may."""
FOURTH = 3


class Aligned(Struct, frozen=True, kw_only=True):
    """``nearest``: the candidate of which least is wanting, one of the kind asked for if it is as good as near.
    Thousandths of the weight of all needs that count:

    ``adrift``: what falls short of words that it does not have; ``ahead``: how much less than of the fourth best.
    """

    nearest: Candidate
    adrift: int
    ahead: int


def align(asked: Asked, similarity: Similarity, found: Sequence[Candidate]) -> Aligned:
    """Of equals the first counts. ``found`` and the needs are not empty."""
    met = [similarity.met_by(in_context(item)) for item in found]
    counted = [wanted(asked.needs, item.terms | item.context) for item in found]
    wanting = [
        _wanting(needs, needs, item, one) for needs, item, one in zip(counted, found, met, strict=True)
    ]
    chosen = [
        short + OTHER_KIND * lacks_kind(asked, item) for short, item in zip(wanting, found, strict=True)
    ]
    at = chosen.index(min(chosen))
    nearest = found[at]
    lacking = missing(counted[at], nearest.terms | nearest.context)
    return Aligned(
        nearest=nearest,
        adrift=_wanting(lacking, counted[at], nearest, met[at]),
        ahead=sorted(wanting)[min(FOURTH, len(found) - 1)] - wanting[at],
    )


def lacks_kind(asked: Asked, item: Candidate) -> bool:
    """Whether a month, a percentage, somebody was asked for, and the text holds nothing of the kind."""
    header, _, _ = item.text.rpartition("\n")
    above = "\n".join((*item.passage.heading[-1:], header)) if item.unit.kind == "table_row" else ""
    return is_untyped(asked.plan.question, item.text, values(item.text, item.passage.language), above)


def _wanting(some: Sequence[Need], needs: Sequence[Need], item: Candidate, met: Mapping[str, int]) -> int:
    said = item.terms | item.context
    short = 0
    for need in some:
        near = _nearness(need, met)
        if (need.coded or need.proper) and not is_covered(need.unit, said):
            near = min(near, OTHER_NAME)
        short += need.weight * max(0, NEAR_ENOUGH - near)
    return short // sum(need.weight for need in needs)


def _nearness(need: Need, met: Mapping[str, int]) -> int:
    """Of a compound its nearest part: the others are often marks."""
    return max((met[word] for word in folded_words(need.unit.surface) if word in met), default=UNREAD)
