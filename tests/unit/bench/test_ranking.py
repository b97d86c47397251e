"""Measures of a ranking equal what they are by hand, and what another way of computing them gives."""

from __future__ import annotations

from decimal import Decimal
from math import log2

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearcite.bench import ranking
from clearcite.bench.latency import percentile
from clearcite.bench.measures import Rate
from clearcite.bench.stats import (
    binomial_interval,
    bootstrap_interval,
    cases_needed,
    lower_bound,
    mean_of,
    to_micros,
    upper_bound,
)

HALF_A_PLACE = 0.000_000_51
IDS = st.integers(0, 30)
RANKING = st.lists(IDS, unique=True, max_size=25)
GRADES = st.dictionaries(IDS, st.integers(0, 4), min_size=1, max_size=12).filter(
    lambda found: any(found.values())
)
DEPTH = st.integers(1, 30)


def test_by_hand_with_grades_of_two_and_one() -> None:
    grades = {"a": 2, "b": 1}
    assert ranking.ndcg(["x", "b", "a"], grades, 10) == "0.619906"  # (1/log2 3 + 2/log2 4) / (2 + 1/log2 3)
    assert ranking.ndcg(["a", "b"], grades, 10) == "1.000000"
    assert ranking.ndcg(["x", "b", "a"], grades, 2) == "0.239812"  # (1/log2 3) / (2 + 1/log2 3)
    assert ranking.reciprocal_rank(["x", "b", "a"], grades) == "0.500000"
    assert ranking.reciprocal_rank(["x", "y"], grades) == "0.000000"
    assert ranking.recall(["x", "b", "a"], grades, 2) == "0.500000"
    assert ranking.recall([], grades, 2) == "0.000000"
    assert ranking.share(1, 3) == "0.333333" and ranking.share(2, 3) == "0.666667"


@settings(max_examples=1_000, deadline=None)
@given(RANKING, GRADES, DEPTH)
def test_every_measure_equals_the_definition_in_floats(
    found: list[int], grades: dict[int, int], k: int
) -> None:
    gains = [grades.get(item, 0) for item in found]
    best = sorted(grades.values(), reverse=True)

    def discounted(values: list[int]) -> float:
        return sum(value / log2(rank + 2) for rank, value in enumerate(values[:k]))

    relevant = {item for item, grade in grades.items() if grade}
    first = next((1 / (rank + 1) for rank, gain in enumerate(gains) if gain), 0.0)
    expected = (discounted(gains) / discounted(best), first, len(relevant & set(found[:k])) / len(relevant))
    got = (
        ranking.ndcg(found, grades, k),
        ranking.reciprocal_rank(found, grades),
        ranking.recall(found, grades, k),
    )
    for text, value in zip(got, expected, strict=True):
        assert abs(float(text) - value) <= HALF_A_PLACE
        assert 0 <= Decimal(text) <= 1 and len(text.partition(".")[2]) == 6


@settings(max_examples=100, deadline=None)
@given(RANKING, GRADES, DEPTH, st.integers(0, 24))
def test_a_relevant_document_one_rank_higher_lowers_no_measure(
    found: list[int], grades: dict[int, int], k: int, at: int
) -> None:
    if not 0 < at < len(found) or grades.get(found[at], 0) <= grades.get(found[at - 1], 0):
        return
    better = [*found[: at - 1], found[at], found[at - 1], *found[at + 1 :]]
    assert Decimal(ranking.ndcg(better, grades, k)) >= Decimal(ranking.ndcg(found, grades, k))
    assert Decimal(ranking.reciprocal_rank(better, grades)) >= Decimal(ranking.reciprocal_rank(found, grades))
    assert Decimal(ranking.recall(better, grades, k)) >= Decimal(ranking.recall(found, grades, k))


def test_what_has_no_denominator_is_not_a_number_and_says_why() -> None:
    nothing = Rate(hits=0, n=0, reason="no case")
    assert (nothing.value, nothing.decimal(), nothing.reason) == (None, None, "no case")


def test_intervals_of_published_tables() -> None:
    """Clopper and Pearson, two-sided 95 %: 0/10, 5/10, 10/10, 1/20; and the bound of none in sixty."""
    for (hits, n), (low, high) in {
        (0, 10): (0.0, 0.3085),
        (5, 10): (0.1871, 0.8129),
        (10, 10): (0.6915, 1.0),
        (1, 20): (0.0013, 0.2487),
    }.items():
        found = binomial_interval(hits, n)
        assert float(found[0]) == pytest.approx(low, abs=6e-5), (hits, n)
        assert float(found[1]) == pytest.approx(high, abs=6e-5), (hits, n)
    assert float(upper_bound(0, 60)) == pytest.approx(1 - 0.05 ** (1 / 60), abs=2e-6)
    assert float(upper_bound(0, 60)) <= 0.049


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 80).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_an_interval_holds_what_was_seen_and_a_bound_of_one_side_is_tighter(seen: tuple[int, int]) -> None:
    hits, n = seen
    low, high = (to_micros(end) for end in binomial_interval(hits, n))
    assert low * n <= hits * 1_000_000 <= high * n
    assert to_micros(upper_bound(hits, n)) <= high and to_micros(lower_bound(hits, n)) >= low


def test_a_bootstrap_is_repeated_digit_by_digit_and_holds_the_mean() -> None:
    values = [0, 250_000, 500_000, 1_000_000, 1_000_000, 333_333]
    once = bootstrap_interval(values)
    assert once == bootstrap_interval(values)
    assert to_micros(once[0]) <= mean_of(values) <= to_micros(once[1])
    assert bootstrap_interval([500_000]) == ("0.500000", "0.500000")
    assert mean_of([1, 2]) == 2 and mean_of([0, 0, 1]) == 0


def test_how_many_cases_it_would_take_is_enough_and_one_twentieth_less_may_not_be() -> None:
    needed = cases_needed(10, 10, "0.900000")
    assert needed is not None and needed > 10
    assert to_micros(lower_bound(needed, needed)) >= 900_000 > to_micros(lower_bound(10, 10))
    assert cases_needed(8, 10, "0.900000") is None, "seen too low: more of the same does not show it"


def test_percentiles_are_values_that_were_measured() -> None:
    values = [5, 1, 9, 3]
    assert (percentile(values, 50), percentile(values, 95), percentile([7], 50)) == (3, 9, 7)
