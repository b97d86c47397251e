"""Measures of one ranking against graded relevance, as trec_eval defines them, exact to six places.

The gain of a document is its grade, discounted by log2(rank + 1); a document without a grade is not relevant.
"""

from collections.abc import Hashable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal, localcontext
from functools import lru_cache
from typing import TypeVar

K = TypeVar("K", bound=Hashable)

PRECISION = 40
PLACES = Decimal("0.000001")


def ndcg(ranking: Sequence[K], grades: Mapping[K, int], k: int) -> str:
    """Normalised discounted gain of the first ``k``; some grade is above 0."""
    ideal = sorted((grade for grade in grades.values() if grade > 0), reverse=True)
    gains = [max(0, grades.get(item, 0)) for item in ranking]
    with localcontext() as context:
        context.prec = PRECISION
        return _kept(_discounted(gains[:k]) / _discounted(ideal[:k]))


def reciprocal_rank(ranking: Sequence[K], grades: Mapping[K, int]) -> str:
    """One over the rank of the first relevant document; 0 where none is ranked."""
    first = next((rank for rank, item in enumerate(ranking, start=1) if grades.get(item, 0) > 0), None)
    return share(0, 1) if first is None else share(1, first)


def recall(ranking: Sequence[K], grades: Mapping[K, int], k: int) -> str:
    """The share of the relevant documents among the first ``k``; some grade is above 0."""
    relevant = {item for item, grade in grades.items() if grade > 0}
    return share(len(relevant & set(ranking[:k])), len(relevant))


def share(hits: int, n: int) -> str:
    """``hits`` of ``n`` as a decimal string of six places, rounded half up; n ≥ 1."""
    return _kept(Decimal(hits) / Decimal(n))


def _discounted(gains: Sequence[int]) -> Decimal:
    return sum((gain / _log2(rank + 1) for rank, gain in enumerate(gains, start=1) if gain), Decimal(0))


@lru_cache(maxsize=4096)
def _log2(value: int) -> Decimal:
    with localcontext() as context:
        context.prec = PRECISION
        return Decimal(value).ln() / Decimal(2).ln()


def _kept(value: Decimal) -> str:
    return str(value.quantize(PLACES, rounding=ROUND_HALF_UP))
