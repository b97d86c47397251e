"""What is asked, apart from what is told with it, and which numbers say only how much."""

import time

import pytest

from clearcite.text.told import amounts_in, asked_part


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("I was woken at 2. When may I start?", "When may I start?"),
        ("When may I start? I was woken at 2.", "When may I start?"),
        ("If the pump is wet, may I use it?", "may I use it?"),
        ("O camião está atrasado. Perde o cais?", "Perde o cais?"),
        ("In which city, if any, do you work?", "In which city, if any, do you work?"),
        ("What is the fee at St. Mary's?", "What is the fee at St. Mary's?"),
        ("opening hours Sunday", "opening hours Sunday"),
    ],
)
def test_the_sentence_that_asks_is_found_without_what_is_told_before_it(question: str, asked: str) -> None:
    assert asked_part(question) == asked


@pytest.mark.parametrize(
    ("question", "amounts"),
    [
        ("May I buy for EUR 8,000 without asking?", {"8,000"}),
        ("I was woken at 2. When may I start?", {"2"}),
        ("We run agent 1.9. How long is a slot held?", set()),
        ("We saw PX-4417 today. What does it mean?", set()),
        ("We signed in 2024. What does it cost?", set()),
        ("What does severity 2 mean?", set()),
    ],
)
def test_a_number_that_names_nothing_is_an_amount(question: str, amounts: set[str]) -> None:
    assert amounts_in(question, asked_part(question)) == amounts


def test_many_numbers_behind_one_long_word_take_no_time() -> None:
    question = f"{'a' * 2_000} {' '.join(map(str, range(500)))} what?"
    began = time.process_time()
    amounts_in(question, asked_part(question))
    assert time.process_time() - began < 2, (
        "thirty seconds where the word is looked for from each of its letters"
    )
