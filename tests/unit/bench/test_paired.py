"""Paired comparison: exact where it can be, calibrated under the null, and it finds what is there."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearcite.bench import paired
from clearcite.bench.paired import (
    ALPHA,
    cases_for,
    chance_of_drop,
    least_pairs,
    significant,
    smallest_drop,
)
from clearcite.bench.stats import GRID, binomial_interval, lower_bound, upper_bound

RUNS = 1_000


def by_hand(differences: list[int]) -> Fraction:
    """Every choice of signs, one by one."""
    seen = sum(differences)
    totals = [
        sum(sign * value for sign, value in zip(signs, differences, strict=True))
        for signs in product((1, -1), repeat=len(differences))
    ]
    return Fraction(sum(total <= seen for total in totals), len(totals))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(-GRID, GRID), min_size=1, max_size=9))
def test_the_chance_is_that_of_every_choice_of_signs(differences: list[int]) -> None:
    wanted = by_hand(differences) if sum(differences) < 0 else Fraction(1)
    assert chance_of_drop(differences) == wanted


def test_cases_that_are_right_or_wrong_are_judged_as_the_table_of_the_sign_test_says() -> None:
    assert chance_of_drop([-GRID] * 5 + [0] * 300) == Fraction(1, 32)
    assert chance_of_drop([-GRID] * 9 + [GRID]) == Fraction(11, 1024)
    assert chance_of_drop([-GRID] * 200 + [GRID] * 150) < Fraction(1, 200)


def test_drawn_signs_come_near_the_exact_chance_and_never_below_what_they_may(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    differences = [-GRID] * 14 + [GRID] * 6
    exact = chance_of_drop(differences)
    monkeypatch.setattr(paired, "EXACT_SUMS", 0)
    drawn = chance_of_drop(differences)
    assert drawn != exact and abs(drawn - exact) < exact / 3
    assert chance_of_drop([-GRID - step for step in range(40)]) == Fraction(1, paired.DRAWS + 1)


@pytest.mark.parametrize(("kind", "n"), [("flags", 60), ("shares", 40)])
def test_under_the_null_a_drop_is_seen_no_more_often_than_stated(kind: str, n: int) -> None:
    """1,000 comparisons of two runs that differ by chance alone; one in a thousand such counts would be over."""
    seen = 0
    for seed in range(RUNS):
        source = Random(f"{kind}:{seed}")
        pairs = [(value(source, kind), value(source, kind)) for _ in range(n)]
        seen += chance_of_drop([late - early for early, late in pairs], seed) <= ALPHA
    assert 10 <= seen <= 72, (
        f"{kind}: {seen} of {RUNS}, seeds 0 to {RUNS - 1}; a test that sees nothing is none"
    )


def value(source: Random, kind: str) -> int:
    return GRID * source.randrange(2) if kind == "flags" else source.randrange(GRID)


def test_a_drop_of_the_smallest_size_that_is_named_is_found_by_about_four_of_five() -> None:
    found, n, spread = 0, 40, 300_000
    for seed in range(100):
        source = Random(seed)
        noise = [round(source.gauss(0, spread)) for _ in range(n)]
        drop = smallest_drop(noise)
        assert drop is not None
        found += chance_of_drop([value - drop for value in noise], seed) <= ALPHA
    assert 65 <= found <= 95, f"{found} of 100, seeds 0 to 99"


def test_holm_over_many_tests_errs_once_in_twenty_comparisons_at_most() -> None:
    wrong = 0
    for seed in range(RUNS):
        source = Random(seed)
        chances = [Fraction(source.randrange(1, 10_001), 10_000) for _ in range(20)]
        wrong += any(significant(chances))
    assert 20 <= wrong <= 72
    uncorrected = sum(any(Random(seed).random() < ALPHA for _ in range(20)) for seed in range(200))
    assert uncorrected > 0, "the control: without correction some comparison errs"


def test_holm_steps_down_as_its_example_does() -> None:
    chances = [Fraction(1, 100), Fraction(4, 100), Fraction(3, 100), Fraction(5, 1000)]
    assert significant(chances) == (True, False, False, True)
    assert significant([]) == ()


def test_too_few_cases_can_show_nothing_and_it_says_how_many_would() -> None:
    assert least_pairs() == 5 and least_pairs(50) == 10
    assert chance_of_drop([-GRID] * 4) > ALPHA >= chance_of_drop([-GRID] * 5)
    assert smallest_drop([-GRID] * 4) is None
    assert smallest_drop([0] * 50) == 100_000, "five of fifty cases lost"
    assert cases_for([0] * 50, 100_000) == 50
    assert cases_for([-GRID, 0, 0, 0], 250_000) == 25, "((1.645 + 0.842) · 0.5 / 0.25) squared"


def test_the_same_seed_gives_the_same_chance() -> None:
    differences = [Random(9).randrange(-GRID, GRID // 2) for _ in range(3)] * 20
    differences = [value - place for place, value in enumerate(differences)]
    assert chance_of_drop(differences, 3) == chance_of_drop(differences, 3)


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [(0, 10, "0.000000", "0.308497"), (5, 10, "0.187086", "0.812914"), (10, 10, "0.691503", "1.000000")],
)
def test_intervals_are_those_of_the_published_table(hits: int, n: int, low: str, high: str) -> None:
    found = binomial_interval(hits, n)
    assert abs(Fraction(found[0]) - Fraction(low)) <= Fraction(2, GRID)
    assert abs(Fraction(found[1]) - Fraction(high)) <= Fraction(2, GRID)


def test_nothing_in_sixty_is_at_most_five_in_a_hundred() -> None:
    assert Fraction(48, 1000) < Fraction(upper_bound(0, 60)) < Fraction(49, 1000)
    assert 1 - Fraction(lower_bound(60, 60)) == Fraction(upper_bound(0, 60))


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 120).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_intervals_equal_those_of_scipy(pair: tuple[int, int]) -> None:
    beta = pytest.importorskip("scipy.stats", reason="scipy is not installed").beta
    hits, n = pair
    low, high = (float(end) for end in binomial_interval(hits, n))
    assert low == pytest.approx(0 if hits == 0 else beta.ppf(0.025, hits, n - hits + 1), abs=2e-6)
    assert high == pytest.approx(1 if hits == n else beta.ppf(0.975, hits + 1, n - hits), abs=2e-6)
