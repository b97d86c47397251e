"""Values as they are meant: what contradicts what, whichever is said first."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearcite.text.readings import Reading, contradict, readings


def only(text: str) -> Reading:
    (reading,) = readings(text)
    return reading


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("within 14 days", "within 30 days"),
        ("30 days", "within 14 days"),
        ("at least 16 characters", "12 characters"),
        ("10 to 20 days", "30 to 40 days"),
        ("about 50,000 people", "about 10,000 people"),
        ("the maximum size is 50 MB", "up to 100 MB"),
        ("open from 08:00 to 18:00", "open from 09:30 to 17:00"),
        ("opens at 09:00", "opens at 10:00"),
        ("on 1 May 2026", "on 3 May 2026"),
        ("in 1932", "in 1933"),
        ("on Tuesday", "on Thursday"),
        ("call 01632 960118", "call 01632 960245"),
        ("EUR 140", "EUR 165"),
        ("port 8443", "port 9443"),
    ],
)
def test_two_values_that_cannot_both_hold_contradict(one: str, other: str) -> None:
    assert contradict(only(one), only(other))
    assert contradict(only(other), only(one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("24 hours", "1 day"),
        ("fourteen days", "14 days"),
        ("EUR 140", "140 euros"),
        ("5 to 10 working days", "6 working days"),
        ("up to 10 days", "4 days"),
        ("at least £2.00", "£14.00"),
        ("about three weeks", "20 days"),
        ("almost 50,000 volumes", "48,212 volumes"),
        ("below EUR 600", "above EUR 5,000"),
        ("3 to 5 days", "5 to 7 days"),
        ("in 1932", "on 3 May 1932"),
        ("in May 1932", "on 3 May 1932"),
        ("on 3 May", "on 3 May 1932"),
        ("09:00 to 17:00", "9 am to 5 pm"),
        ("opens at 09:00", "open from 09:00 to 17:00"),
        ("1 month", "30 days"),
        ("EUR 140", "USD 165"),
        ("£31.00 per month", "£298.00 per year"),
        ("12 seats", "16 people"),
        ("on Tuesday", "at 10:00"),
    ],
)
def test_values_that_can_both_hold_or_cannot_be_compared_do_not(one: str, other: str) -> None:
    assert not contradict(only(one), only(other))
    assert not contradict(only(other), only(one))


def test_a_range_is_one_reading_and_a_list_is_not() -> None:
    assert only("between 5 and 10 days").canonical == "432000/864000"
    assert len(readings("15, 30 or 45 minutes")) > 1


AMOUNTS = st.builds(
    "{}{} days".format, st.sampled_from(["", "up to ", "at least ", "about "]), st.integers(2, 10_000)
)


@given(AMOUNTS, AMOUNTS)
def test_contradiction_is_mutual_and_nothing_contradicts_itself(one: str, other: str) -> None:
    left, right = only(one), only(other)
    assert contradict(left, right) == contradict(right, left)
    assert not contradict(left, left)
