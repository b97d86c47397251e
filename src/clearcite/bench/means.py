"""Scores of cases → means over those that have them, with what they rest on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from clearcite.bench.judge import CaseResult
from clearcite.bench.judged import values_of
from clearcite.bench.stats import mean_of, micros


@dataclass(frozen=True, kw_only=True, slots=True)
class Mean:
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
