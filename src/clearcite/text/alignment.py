"""Word by word: how near the words of a question come to those of a text, each in the sense it has where it stands.

Two texts can be near as wholes although one word of the question has no counterpart in the other: that is how a near
miss looks. A word falls short by what its nearest word of the text lacks to ``NEAR_ENOUGH``.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from clearcite.text.candidates import Asked, Candidate, in_context
from clearcite.text.coverage import Need, missing, wanted
from clearcite.text.phrases import folded_words
from clearcite.text.similarity import Similarity

NEAR_ENOUGH = 600
"""Thousandths of a cosine from which on words say the same, or as good as that."""
UNREAD = 300
"""What a word counts that the embedder does not give: beyond its limit, or of a script it takes apart."""
FOURTH = 3


class Aligned(Struct, frozen=True, kw_only=True):
    """``nearest``: the candidate of which least is wanting. Thousandths of the weight of all needs that count:

    ``adrift``: what falls short of words that it does not have; ``ahead``: how much less than of the fourth best.
    """

    nearest: Candidate
    adrift: int
    ahead: int


def align(asked: Asked, similarity: Similarity, found: Sequence[Candidate]) -> Aligned:
    """Of equals the first counts. ``found`` and the needs are not empty."""
    met = [similarity.met_by(in_context(item)) for item in found]
    counted = [wanted(asked.needs, item.terms | item.context) for item in found]
    wanting = [_wanting(needs, needs, one) for needs, one in zip(counted, met, strict=True)]
    at = wanting.index(min(wanting))
    nearest = found[at]
    lacking = missing(counted[at], nearest.terms | nearest.context)
    return Aligned(
        nearest=nearest,
        adrift=_wanting(lacking, counted[at], met[at]),
        ahead=sorted(wanting)[min(FOURTH, len(found) - 1)] - wanting[at],
    )


def _wanting(some: Sequence[Need], needs: Sequence[Need], met: Mapping[str, int]) -> int:
    short = sum(need.weight * max(0, NEAR_ENOUGH - _nearness(need, met)) for need in some)
    return short // sum(need.weight for need in needs)


def _nearness(need: Need, met: Mapping[str, int]) -> int:
    """Of a compound its nearest part: the others are often marks."""
    return max((met[word] for word in folded_words(need.unit.surface) if word in met), default=UNREAD)
