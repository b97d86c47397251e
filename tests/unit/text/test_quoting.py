"""What must be quoted with a unit so that it can be read by itself."""

import pytest

from clearcite.text.quoting import points_back, spans_with, text_of
from tests.support.passages import passages


def quoted(written: str, index: int) -> list[str]:
    passage = passages("d", written)[0]
    return [text_of(passage, span) for span in spans_with(passage, index)]


def test_a_sentence_stands_by_itself() -> None:
    assert quoted("T | H | One is here. Two is there.", 1) == ["Two is there."]


def test_a_pronoun_pulls_in_its_sentence_and_a_chain_at_most_two() -> None:
    text = "T | H | A job is kept. It expires. It is deleted. It is gone."
    assert quoted(text, 1) == ["A job is kept. It expires."]
    assert quoted(text, 3) == ["It expires. It is deleted. It is gone."]


def test_the_first_sentence_of_a_passage_has_nothing_to_pull_in() -> None:
    assert quoted("T | H | It is gone. Nothing helps.", 0) == ["It is gone."]


def test_a_list_item_comes_with_its_lead() -> None:
    found = quoted("T | H | You need these things:\n\n- a badge\n- a key", 2)
    assert found[0] == "You need these things:"
    assert found[-1].endswith("a key")


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("It expires.", True),
        ("These are deleted.", True),
        ("If not, call us.", True),
        ("If the job fails, it is retried.", False),
        ("Jobs expire.", False),
        ("Ele expira.", True),
        ("Otherwise nothing happens.", True),
        ("", False),
    ],
)
def test_first_words_that_point_back_are_known(sentence: str, expected: bool) -> None:
    assert points_back(sentence) is expected
