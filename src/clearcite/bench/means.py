"""Scores of cases → means over those that have them, with what they rest on."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from msgspec import Struct

from clearcite.bench.judge import CaseResult
from clearcite.bench.judged import values_of
from clearcite.bench.stats import mean_of, micros

K = TypeVar("K")
NOT_SCORED = "~"
"""After every decimal."""


class Mean(Struct, frozen=True, kw_only=True):
    """Of ``n`` cases ``n_scored`` have a value; ``value`` is their mean, None with a ``reason`` where none has."""

    value: str | None
    n: int
    n_scored: int
    reason: str | None = None


def means(results: Sequence[CaseResult]) -> Mapping[str, Mean]:
    names = sorted({name for one in results for name in one.scores})
    return {name: _mean(values_of(results, name), len(results)) for name in names}


def _mean(values: Sequence[int], n: int) -> Mean:
    if not values:
        return Mean(value=None, n=n, n_scored=0, reason="no case could be scored")
    return Mean(value=micros(mean_of(values)), n=n, n_scored=len(values))


def worst_first(found: Mapping[K, Mapping[str, Mean]]) -> Mapping[K, Mapping[str, Mean]]:
    """Groups of cases, those that find least first, then those that end least as expected, those not scored last."""

    def place(item: tuple[K, Mapping[str, Mean]]) -> tuple[str, str, str]:
        recall = next((mean.value for name, mean in item[1].items() if _is_recall(name)), None)
        status = item[1]["status"].value if "status" in item[1] else None
        return (recall or NOT_SCORED, status or NOT_SCORED, str(item[0]))

    return dict(sorted(found.items(), key=place))


def _is_recall(name: str) -> bool:
    return name.startswith("recall@") and ":" not in name
