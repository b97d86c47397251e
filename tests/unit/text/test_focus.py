"""What a question asks for: the words that name it and the class of its value."""

import pytest

from clearcite.text.coverage import needs_of
from clearcite.text.focus import focus_words, holds_class, names_nothing, wanted_classes
from clearcite.text.units import values
from tests.support.passages import ANALYZER, plan_for


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Which bank issues the cards?", {"bank", "issues"}),
        ("What is the maximum length of a password?", {"maximum", "length"}),
        ("How many hardware tokens do I get?", {"hardware", "tokens"}),
        ("What kind of car may I hire?", set()),
        ("Qual é o limite da bagagem?", {"limite"}),
        ("Where is the key?", set()),
        ("What does it cost?", set()),
    ],
)
def test_the_words_for_what_is_asked_for_are_found(question: str, words: set[str]) -> None:
    assert focus_words(question) == words


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("When is it replaced?", True),
        ("Quando se troca?", True),
        ("When is the filter replaced?", False),
        ("Quando se troca o filtro?", False),
        ("Who founded it in Porto?", False),
        ("How much is parking?", False),
    ],
)
def test_a_question_that_does_not_say_what_it_is_about_is_known(question: str, expected: bool) -> None:
    plan = plan_for(question)
    assert names_nothing(question, needs_of(plan, ANALYZER)) is expected


@pytest.mark.parametrize(
    ("question", "answers", "does_not"),
    [
        ("How many weeks of leave do I get?", "Everybody gets 25 days.", "Everybody gets a cake of 2 kg."),
        ("How long are logs kept?", "Logs are rotated monthly.", "Logs are kept in the cellar."),
        ("What percentage do you keep?", "We keep 50 % of the price.", "We keep £50 of the price."),
        ("What is the price of a day?", "A day is free of charge.", "A day begins at 09:00."),
        ("What is the phone number of the desk?", "Call +44 1632 960418.", "The desk is open for 5 days."),
        ("What is the e-mail address of the desk?", "Write to desk@example.org.", "Call 01632 960418."),
        ("Which version of the app is needed?", "Install version 2.6.1.", "Install the app today."),
        ("At what time does it open?", "It opens at 09:30.", "It opens on 3 May."),
        ("Quantos dias de férias temos?", "São 25 dias por ano.", "São 30 euros por ano."),
    ],
)
def test_a_text_holds_the_class_that_is_asked_for_or_not(question: str, answers: str, does_not: str) -> None:
    wanted = wanted_classes(question)
    assert wanted
    assert holds_class(wanted, answers, values(answers))
    assert not holds_class(wanted, does_not, values(does_not))


@pytest.mark.parametrize(
    "question", ["Who repairs it?", "How many keys are there?", "Is it free?", "", "How"]
)
def test_without_a_cue_nothing_is_held_against_a_text(question: str) -> None:
    assert wanted_classes(question) == frozenset()
