"""Intervals and bounds with the same digits on every machine: decimals of a fixed precision, no floats."""

from collections.abc import Sequence
from decimal import Decimal, localcontext
from random import Random

import numpy as np

PRECISION = 50
GRID = 1_000_000
"""Shares are looked for among millionths, and rounded to the safe side."""
RISK = Decimal("0.05")
RESAMPLES = 2_000
MOST_CASES = 1_000_000


def binomial_interval(hits: int, n: int) -> tuple[str, str]:
    """The 95 % interval of Clopper and Pearson for a share of which ``hits`` of ``n`` were seen; n ≥ 1."""
    low = 0 if hits == 0 else GRID - _highest(n - hits, n, RISK / 2)
    high = GRID if hits == n else _highest(hits, n, RISK / 2)
    return micros(low), micros(high)


def upper_bound(hits: int, n: int) -> str:
    """What the share is at most, with 95 % confidence: 0 of 60 says at most 4.9 %; n ≥ 1."""
    return micros(GRID if hits == n else _highest(hits, n, RISK))


def lower_bound(hits: int, n: int) -> str:
    """What the share is at least, with 95 % confidence; n ≥ 1."""
    return micros(0 if hits == 0 else GRID - _highest(n - hits, n, RISK))


def bootstrap_interval(values: Sequence[int], seed: int = 0) -> tuple[str, str]:
    """The 95 % percentile interval of the mean of millionths, one value a case; at least one value."""
    n = len(values)
    known, source = np.array(values, dtype=np.int64), _drawing(seed)
    sums = (int(known[(source.random_sample(n) * n).astype(np.int64)].sum()) for _ in range(RESAMPLES))
    means = sorted(_mean(total, n) for total in sums)
    return micros(means[RESAMPLES // 40]), micros(means[-1 - RESAMPLES // 40])


def _drawing(seed: int) -> np.random.RandomState:
    """Draws what ``random.Random(seed).choices`` would, a resample at a time: the same generator in the same state."""
    _, state, _ = Random(seed).getstate()  # noqa: S311 - a drawing that anybody can repeat, no secret
    source = np.random.RandomState()
    source.set_state(("MT19937", np.array(state[:-1], dtype=np.uint32), state[-1], 0, 0.0))
    return source


def cases_needed(hits: int, n: int, limit: str) -> int | None:
    """How many cases in all it would take to show that a share reaches a limit, if it stays as it was seen.

    None where it was seen too low, or where no number of cases up to a million would do.
    """
    least = round(Decimal(limit) * GRID)
    if not n or hits * GRID <= least * n:
        return None
    size = n
    while size <= MOST_CASES:
        if to_micros(lower_bound(hits * size // n, size)) >= least:
            return size
        size += max(1, size // 20)
    return None


def mean_of(values: Sequence[int]) -> int:
    """Rounded half up; at least one value."""
    return _mean(sum(values), len(values))


def _mean(total: int, n: int) -> int:
    return (2 * total + n) // (2 * n)


def micros(value: int) -> str:
    """Millionths as a decimal string of six places."""
    sign = "-" if value < 0 else ""
    return f"{sign}{abs(value) // GRID}.{abs(value) % GRID:06d}"


def to_micros(value: str) -> int:
    return int(Decimal(value) * GRID)


def _highest(hits: int, n: int, risk: Decimal) -> int:
    """The least share, in millionths, under which so few hits would be seen with no more than that risk."""
    low, high = 0, GRID
    with localcontext() as context:
        context.prec = PRECISION
        while high - low > 1:
            middle = (low + high) // 2
            if _at_most(hits, n, Decimal(middle) / GRID) <= risk:
                high = middle
            else:
                low = middle
    return high


def _at_most(hits: int, n: int, share: Decimal) -> Decimal:
    """The chance of at most so many hits."""
    odds = share / (1 - share)
    term = total = (1 - share) ** n
    for number in range(hits):
        term = term * (n - number) / (number + 1) * odds
        total += term
    return total
