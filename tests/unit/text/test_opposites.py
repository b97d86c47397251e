"""Words that exclude each other where one thing is meant."""

import pytest

from clearcite.text.opposites import says_opposite, says_other_bound, says_other_period


@pytest.mark.parametrize(
    ("word", "said", "expected"),
    [
        ("maximum", "at least 12 characters", True),
        ("maximum", "at most 12 characters", False),
        ("east", "the north gate", True),
        ("east", "the north and the east gate", False),
        ("east", "the gate", False),
        ("gate", "the north gate", False),
        ("semanal", "o relatorio mensal", True),
        ("second", "the first visit costs 98", True),
        ("second", "the first and the second visit", False),
    ],
)
def test_the_other_side_counts_only_where_the_own_one_is_not_said(
    word: str, said: str, expected: bool
) -> None:
    assert says_opposite([word], said.split()) is expected


@pytest.mark.parametrize(
    ("question", "said", "expected"),
    [
        ("what is the fee per month", "the fee per year is 18", True),
        ("what is the fee per month", "the fee per year is 18 or 2 monthly", False),
        ("what is the fee per month", "the fee is 18", False),
        ("what is the fee", "the fee per year is 18", False),
        ("what is the weekly rate", "the rate per day is 18", True),
        ("when does the weekly meeting begin", "a room is 18 per day", False),
    ],
)
def test_what_is_asked_per_month_is_not_what_is_said_per_year(
    question: str, said: str, expected: bool
) -> None:
    assert says_other_period(question.split(), said.split()) is expected


@pytest.mark.parametrize(
    ("question", "said", "expected"),
    [
        ("how many keys may i hold at most", "hold at least two keys", True),
        ("how many keys may i hold at most", "hold at least two and at most five keys", False),
        ("how many keys must i hold at least", "hold up to five keys", True),
        ("how many keys must i hold at least", "hold five keys or more", False),
        ("how many keys may i hold at most", "everybody holds two keys", False),
        ("how many keys may i hold", "hold at least two keys", False),
        ("what is the maximum waiting time", "the waiting time is 15 min", False),
        ("what is the latest arrival time", "arrivals run from 14 00 until 22 00", False),
        ("how many min does it take", "it takes up to 40 minutes", False),
        ("ate quantas chaves posso ter", "tenha pelo menos duas chaves", True),
    ],
)
def test_where_the_most_is_asked_for_the_least_alone_is_another_bound(
    question: str, said: str, expected: bool
) -> None:
    assert says_other_bound(question.split(), said.split()) is expected
