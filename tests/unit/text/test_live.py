import pytest

from clearcite.text.live import asks_for_live_state
from clearcite.text.phrases import PhraseSet, folded_words
from clearcite.text.versions import asked_version, same_version


@pytest.mark.parametrize(
    "question",
    [
        "Where is my parcel?",
        "Has our delivery left yet?",
        "What is the status of my application?",
        "Can you track the sofa I ordered last week?",
        "When will my bicycle get here?",
        "Did my payment arrive?",
        "Where's the lamp we bought?",
        "Onde está a minha encomenda?",
        "O meu pedido já saiu?",
    ],
)
def test_a_question_about_one_s_own_thing_and_its_progress_is_live(question: str) -> None:
    assert asks_for_live_state(question)


@pytest.mark.parametrize(
    "question",
    [
        "Where is my data stored?",
        "How do I cancel my subscription?",
        "How long does delivery take?",
        "What is the status of a merged request called?",
        "Where are the offices?",
        "When are parcels sent?",
        "Do I have to pay for my return?",
        "Até quando posso cancelar a minha reserva?",
        "Where is our office in Lisbon?",
        "How far in advance must I book my leave?",
        "How do I track my time?",
        "What happens to my data after I have left?",
    ],
)
def test_a_question_about_a_rule_is_not_live(question: str) -> None:
    assert not asks_for_live_state(question)


def test_phrases_are_whole_words_whatever_their_case_and_accents() -> None:
    phrases = PhraseSet(("Where is MY order", "já chegou"))
    assert phrases.found_in("Hello! where is my order?")
    assert phrases.found_in("Ja chegou?")
    assert not phrases.found_in("where is my orderly room")
    assert not PhraseSet(("",)).found_in("anything")
    assert folded_words("Á-b_c 1.5") == ("a", "b", "c", "1", "5")


@pytest.mark.parametrize(
    ("question", "version"),
    [
        ("How long is it kept in version 2.6?", "2.6"),
        ("Does v3 do that?", "3"),
        ("Is 2.6 better?", None),
        ("From version 1.9 to version 2.4?", None),
        ("a conversion of 5 %", None),
    ],
)
def test_the_version_a_question_names_is_found(question: str, version: str | None) -> None:
    assert asked_version(question) == version


def test_a_shorter_version_covers_the_longer_ones_below_it() -> None:
    assert same_version("2", "2.6")
    assert same_version("2.6", "v2.6.1")
    assert not same_version("2.6", "2.60")
    assert not same_version("1", "2.1")
