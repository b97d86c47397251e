"""The same cases judged twice: whether what changed is more than chance, and what could have been seen at all.

Differences are integers (millionths) of one case each, the later run minus the earlier one. Under the null, which of
the two runs was which is a toss of a coin for each case by itself; so every difference may as well have the other sign.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import ceil, isqrt
from random import Random
from statistics import NormalDist

from clearcite.bench.stats import GRID

ALPHA = Fraction(1, 20)
"""Of all tests of one comparison together, so rarely does one see a change that is none."""
EXACT_SUMS = 5_000
DRAWS = 20_000
ENOUGH = 50
"""Drawing stops after so many sums that are as low: the chance is known well enough (Besag and Clifford 1991)."""
POWER = 0.8


def chance_of_drop(differences: Sequence[int], seed: int = 0) -> Fraction:
    """How probable a sum as low as the one seen is, if nothing changed: the one-sided sign-flip test.

    Exact where few different sums are possible, as with cases that are right or wrong; else by drawing signs from
    the seed, in a way that never rejects more often than it says.
    """
    moved = [value for value in differences if value]
    seen = sum(moved)
    if not moved or seen >= 0:
        return Fraction(1)
    sums = _all_sums(moved)
    if sums is not None:
        return Fraction(sum(count for total, count in sums.items() if total <= seen), 2 ** len(moved))
    as_low = 0
    for drawn, total in enumerate(_drawn_sums(moved, seed), start=1):
        as_low += total <= seen
        if as_low == ENOUGH:
            return Fraction(ENOUGH, drawn)
    return Fraction(as_low + 1, DRAWS + 1)


def significant(chances: Sequence[Fraction], alpha: Fraction = ALPHA) -> tuple[bool, ...]:
    """Holm's step-down over all tests of one comparison: all of them together err no more often than ``alpha``."""
    order = sorted(range(len(chances)), key=lambda place: (chances[place], place))
    found = [False] * len(chances)
    for rank, place in enumerate(order):
        if chances[place] * (len(chances) - rank) > alpha:
            break
        found[place] = True
    return tuple(found)


def least_pairs(tests: int = 1) -> int:
    """How many cases must get worse before any such test can tell: fewer give no chance below ``alpha``."""
    return (ceil(tests / ALPHA) - 1).bit_length()


def smallest_drop(differences: Sequence[int], tests: int = 1) -> int | None:
    """The mean drop, in millionths, that four of five comparisons like this one would find among so many tests.

    By the spread that was seen, and never less than if as many cases as a test needs were lost whole. None where
    there are too few cases for any drop to be found.
    """
    n, least = len(differences), least_pairs(tests)
    if n < least:
        return None
    return max(_reach(tests) * _spread(differences) // isqrt(n * GRID**2), ceil(Fraction(least * GRID, n)))


def cases_for(differences: Sequence[int], drop: int, tests: int = 1) -> int:
    """About how many cases it would take to find a mean drop of so many millionths; ``drop`` > 0."""
    by_spread = Fraction(_reach(tests) * _spread(differences), GRID * drop) ** 2
    return max(ceil(by_spread), ceil(Fraction(least_pairs(tests) * GRID, drop)))


def _all_sums(values: Sequence[int]) -> dict[int, int] | None:
    """Every sum that some choice of signs gives → of how many choices; None where there are too many sums."""
    sums = {0: 1}
    for value in sorted(values, key=abs):
        longer: dict[int, int] = {}
        for total, count in sums.items():
            for sign in (value, -value):
                longer[total + sign] = longer.get(total + sign, 0) + count
        if len(longer) > EXACT_SUMS:
            return None
        sums = longer
    return sums


def _drawn_sums(values: Sequence[int], seed: int) -> Iterator[int]:
    """Sums under random signs, eight signs a look into a table."""
    source = Random(seed)  # noqa: S311 - a drawing that anybody can repeat, no secret
    tables = []
    for at in range(0, len(values), 8):
        table = [0]
        for value in values[at : at + 8]:
            table = [total - value for total in table] + [total + value for total in table]
        tables.append(table * (256 // len(table)))
    for _ in range(DRAWS):
        yield sum(table[byte] for table, byte in zip(tables, source.randbytes(len(tables)), strict=True))


def _spread(differences: Sequence[int]) -> int:
    """The standard deviation, in millionths; at least two differences."""
    n, total = len(differences), sum(differences)
    squares = n * sum(value * value for value in differences) - total * total
    return isqrt(squares // (n * max(1, n - 1)))


def _reach(tests: int) -> int:
    """How many standard errors, in millionths, the strictest of the tests needs with that power."""
    normal = NormalDist()
    # Three decimals: the last digits of the system's logarithm must not reach a report.
    return 1_000 * round(1_000 * (normal.inv_cdf(1 - float(ALPHA) / tests) + normal.inv_cdf(POWER)))
