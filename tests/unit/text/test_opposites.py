"""Words that exclude each other where one thing is meant."""

import pytest

from clearcite.text.opposites import says_opposite


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
    ],
)
def test_the_other_side_counts_only_where_the_own_one_is_not_said(
    word: str, said: str, expected: bool
) -> None:
    assert says_opposite([word], said.split()) is expected
