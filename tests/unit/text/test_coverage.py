"""What a question needs, what each word of it is worth, and how much of it a text covers."""

import math
import random

import pytest
from msgspec.structs import replace

from clearcite.text.coverage import BIT, coverage, depth, log2_ratio, missing, needs_of
from tests.support.dice import new_seed
from tests.support.passages import ANALYZER, plan_for


def terms(text: str) -> frozenset[str]:
    return frozenset(ANALYZER.analyze_document(text))


def test_log2_is_within_one_unit_of_the_true_value_and_exact_at_powers_of_two() -> None:
    seed = new_seed()
    rng = random.Random(seed)
    for _ in range(500):
        up, down = rng.randrange(1, 10**9), rng.randrange(1, 10**9)
        assert abs(log2_ratio(up, down) - math.log2(up / down) * BIT) <= 1.01, f"seed {seed}"
    assert [log2_ratio(2**n, 1) for n in range(5)] == [n * BIT for n in range(5)]


def test_words_that_only_ask_are_not_needed() -> None:
    assert [need.unit.surface for need in needs_of(plan_for("How long are jobs kept?"), ANALYZER)] == [
        "jobs",
        "kept",
    ]


def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    plan = plan_for("Where are jobs stored?")
    counts = tuple(50 if "=jobs" in term.forms else 1 for term in plan.lexical.terms)
    weight = {
        need.unit.surface: need.weight
        for need in needs_of(replace(plan, documents=100, frequencies=counts), ANALYZER)
    }
    assert weight["stored"] > weight["jobs"]


def test_without_counts_names_and_numbers_weigh_twice_a_plain_word() -> None:
    needs = needs_of(plan_for("Which badge do visitors wear in Lisbon?"), ANALYZER)
    weight = {need.unit.surface: need.weight for need in needs}
    assert weight["lisbon"] == 2 * weight["badge"]


def test_codes_and_proper_names_are_told_from_plain_words() -> None:
    needs = {
        need.unit.surface: need
        for need in needs_of(plan_for("Does error CVX-4210 occur in Lisbon?"), ANALYZER)
    }
    assert needs["cvx-4210"].coded
    assert needs["lisbon"].proper
    assert not needs["error"].named


def test_coverage_is_the_share_of_weight_and_missing_is_the_rest() -> None:
    needs = needs_of(plan_for("Which colour has the visitor badge?"), ANALYZER)
    text = terms("Visitors wear a yellow badge.")
    assert 0 < coverage(needs, text) < 1000
    assert [need.unit.surface for need in missing(needs, text)] == ["colour"]
    assert coverage(needs, terms("The colour of the visitor badge")) == 1000
    assert coverage((), text) == 0


def test_how_much_it_is_in_the_askers_case_stays_told_where_the_question_leans_on_what_is_told() -> None:
    needs = needs_of(
        plan_for("Our dog weighs 31 kg and we think of the monthly plan. How much is it?"), ANALYZER
    )
    assert {need.unit.surface for need in needs if need.told} == {"31"}
    assert {"dog", "monthly", "plan"} <= {need.unit.surface for need in needs if not need.told}


def test_a_word_that_recurs_counts_more_but_never_the_whole() -> None:
    needs = needs_of(plan_for("badge"), ANALYZER)
    once, twice = (
        depth(needs, ANALYZER.analyze_document(text)) for text in ("a badge", "a badge and a badge")
    )
    assert 0 < once < twice < 1000


def test_capitals_inside_a_word_make_it_a_name_wherever_it_stands() -> None:
    needs = {
        need.unit.surface: need for need in needs_of(plan_for("Does it run on freeBSD or on ARM?"), ANALYZER)
    }
    assert needs["freebsd"].proper
    assert not needs["arm"].proper


@pytest.mark.parametrize("question", ["At what time does the bell ring?", "A que horas toca o sino?"])
def test_the_hour_that_is_asked_for_needs_no_cover(question: str) -> None:
    assert {"time", "horas"}.isdisjoint(need.unit.surface for need in needs_of(plan_for(question), ANALYZER))
