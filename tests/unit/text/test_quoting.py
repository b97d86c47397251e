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


def test_a_list_that_nothing_leads_in_comes_with_its_heading_but_whole_sentences_do_not() -> None:
    assert quoted("T | What to bring | - a badge\n- a key", 2) == ["What to bring", "a key"]
    assert quoted("T | Keys | - A lost key costs 20 EUR.\n- Keys are numbered.", 2) == ["Keys are numbered."]


def test_a_reply_comes_with_its_question_and_a_full_answer_does_not() -> None:
    reply = quoted("T | May I visit? | Yes, from 15:00 to 17:00. Ring the bell first.", 1)
    assert reply == ["May I visit?", "Yes, from 15:00 to 17:00."]
    assert quoted("T | How do I order? | Write to the store. Visits cost 5 EUR.", 1)[0] == "How do I order?"
    assert quoted("T | What does a visit cost? | A visit costs 5 EUR.", 1) == ["A visit costs 5 EUR."]
    assert quoted("T | Prices | A visit costs 5 EUR.", 0) == ["A visit costs 5 EUR."]
    asked = "T | H | How is it cleaned? With cold water. It dries in an hour."
    assert quoted(asked, 1) == ["How is it cleaned? With cold water."]
    assert quoted(asked, 2) == ["How is it cleaned? With cold water. It dries in an hour."]


def test_a_reply_under_a_heading_of_its_own_comes_with_the_question_above_it() -> None:
    text = "T | H | How is the lens cleaned?\n\n##### Accepted answer (staff)\n\nWith cold water and soap."
    assert quoted(text, 2) == ["How is the lens cleaned?", "With cold water and soap."]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("It expires.", True),
        ("These are deleted.", True),
        ("If not, call us.", True),
        ("If the job fails, it is retried.", False),
        ("Jobs expire.", False),
        ("Ele expira.", True),
        ("Two of them are reserved.", True),
        ("Since June the same holds for cats.", True),
        ("The chip is registered the same day.", False),
        ("With every other bank you pay yourself.", True),
        ("In that case nothing is charged.", True),
        ("In this guide we describe the keys.", False),
        ("Dois deles são reservados.", True),
        ("Otherwise nothing happens.", True),
        ("", False),
    ],
)
def test_first_words_that_point_back_are_known(sentence: str, expected: bool) -> None:
    assert points_back(sentence) is expected
