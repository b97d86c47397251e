"""What a question asks for: the words that name it and the class of its value."""

import pytest

from clearcite.text.coverage import needs_of
from clearcite.text.focus import focus_words, names_nothing
from clearcite.text.kinds import is_untyped, tells_called
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
        ("How often is it cleaned?", "It is cleaned every Friday.", "It is cleaned by hand."),
        ("What percentage do you keep?", "We keep 50 % of the price.", "We keep £50 of the price."),
        ("What is the price of a day?", "A day is free of charge.", "A day begins at 09:00."),
        ("Price of a spare wheel?", "A spare wheel is EUR 34.", "A bicycle comes with a spare wheel."),
        ("What does a spare wheel cost?", "A spare wheel is EUR 34.", "A bicycle has two wheels."),
        ("Quanto custa uma roda?", "Uma roda custa 34 EUR.", "Uma bicicleta tem duas rodas."),
        ("What is the phone number of the desk?", "Call +44 1632 960418.", "The desk is open for 5 days."),
        ("What is Ana's phone number?", "Call Ana: +44 1632 960418.", "Calls go to Ana."),
        ("What is the e-mail address of the desk?", "Write to desk@example.org.", "Call 01632 960418."),
        ("Which version of the app is needed?", "Install version 2.6.1.", "Install the app today."),
        ("At what time does it open?", "It opens at 09:30.", "It opens on 3 May."),
        ("What are the opening times?", "Open 09:00 to 17:00.", "It stays open in that time."),
        ("On what date was it reviewed?", "Reviewed on 3 May 2024.", "It is reviewed by the board."),
        ("In which year did it begin?", "It began in 1987.", "It began with a letter."),
        ("Quantos dias de férias temos?", "São 25 dias por ano.", "São 30 euros por ano."),
        ("How many keys are there?", "There are four keys.", "The old one opens all doors."),
        ("How many keys are there?", "There is one key.", "Keys are kept by the one who came last."),
        ("How deep is the well?", "The well has 30 metres.", "The well is in the yard."),
        ("Qual é o número máximo de malas?", "São permitidas 3 malas.", "Escolha um lugar e as malas."),
        ("Who repairs the bell?", "The mechanics repair the bell.", "The bell is repaired at night."),
        ("Quem repara o sino?", "O gestor repara o sino.", "O sino repara-se em maio."),
        ("When was the bell cast?", "The bell was cast in 1743.", "The bell was cast of bronze."),
        ("Quantas vezes toca o sino?", "O sino toca todos os dias.", "O sino toca em maio."),
        ("What is the bell called?", "It is called Big Tom.", "The bell is rung on Sunday."),
        ("Como se chama o sino?", "O sino chama-se Tom.", "O sino toca às 12:00."),
        ("Which company cast the bell?", "It was cast by Ames & Sons.", "A company cast the bell."),
        ("Why is the tower locked?", "It is locked for safety.", "It is locked at night."),
        ("Who has the key?", "The warden has it.", "It hangs in the hall."),
        (
            "Why is the bell silent?",
            "The bell is silent because of its crack.",
            "The bell is silent at night.",
        ),
        ("Who casts bells?", "Ames & Sons cast them.", "Bells are cast in Whitechapel on a Monday."),
        ("Who oils the bell?", "It is oiled by the warden only.", "It is oiled by the end of May."),
        ("Who may ring the bell?", "You may ring it once.", "It may be rung once."),
        ("Who is the ringer?", "The ringer is Tom Ames.", "The ringer is a member of the council."),
        ("Which driver has the key?", "Tom Ames has it.", "A driver has it."),
        ("How many bells are there?", "There are 12.", "They ring for 12 minutes."),
        ("At how many °C is it kept?", "It is kept at 4 °C.", "It is kept for 4 hours."),
        ("How much memory is needed?", "It takes 4 GB.", "It takes 4 cores."),
        ("On which number can I reach the tower?", "Call 01632 960418.", "The tower has 4 floors."),
        ("Until what time does it ring?", "It rings from 08:00 to 10:00.", "It rings at 08:00."),
        ("Within what time must I answer?", "Answer within two days.", "Answer at 09:00."),
        ("How much of the mark is it?", "It is a fifth of the mark.", "It is part of the mark."),
        ("I waited 2 hours. How soon do they come?", "They come within 3 hours.", "Wait for 2 hours."),
        ("How many working days does it take?", "It takes 2 working days.", "It takes a mechanic."),
        ("How many vacation days do we get?", "Everybody gets 28 days.", "Everybody gets a cake."),
        ("How many vacation days do we get?", "You get 25 vacation days.", "Vacation begins in May."),
        ("How many square metres is the hall?", "It has 120 square metres.", "It is in the square."),
        ("After what time is it quiet?", "It is quiet after 22:00.", "It is quiet at the lake."),
        ("How many guests came last year?", "There were 412.", "They stayed for 2 years."),
        ("How often is a call retried?", "It is retried eight times.", "It is retried by hand."),
        ("By which day do I hand it in?", "Hand it in by the 5th of the month.", "Hand it in at the desk."),
        (
            "After what time does it ring again?",
            "It rings again after 30 minutes.",
            "It rings again in the tower.",
        ),
        ("After how many no-shows does it end?", "It ends after three.", "It ends with the season."),
        ("How long is the trial?", "It runs for the first two seasons.", "It runs at the mill."),
        ("Which number do I ring?", "Ring 01632 960118.", "Ring the bell at the desk."),
        ("Em que dias toca?", "Toca às terças e quintas-feiras.", "Toca na torre."),
    ],
)
def test_a_text_holds_the_kind_of_thing_that_is_asked_for_or_not(
    question: str, answers: str, does_not: str
) -> None:
    assert not is_untyped(question, answers, values(answers))
    assert is_untyped(question, does_not, values(does_not))


@pytest.mark.parametrize(
    ("question", "row", "above", "expected"),
    [
        ("After how many days is it due?", "60 | lawyer", "Days overdue | What happens", False),
        ("After how many days is it due?", "60 | lawyer", "Case | What happens", True),
        ("After how many days is it due?", "soon | lawyer", "Days overdue | What happens", True),
        ("How much is paid for dinner?", "Spain | 24", "Country | Dinner (EUR)", False),
        ("How much is paid for dinner?", "Spain | yes", "Country | Dinner (EUR)", True),
        ("How much is paid for dinner?", "Spain | 24", "Country | Dinner, guests", True),
    ],
)
def test_a_bare_number_in_a_row_is_of_the_unit_that_stands_above_it(
    question: str, row: str, above: str, expected: bool
) -> None:
    assert is_untyped(question, row, values(row), above) is expected


@pytest.mark.parametrize(
    "question", ["Is it free?", "Where is it?", "How long must a rope be?", "Which road is it?", "", "How"]
)
def test_without_a_cue_nothing_is_held_against_a_text(question: str) -> None:
    text = "Most of them like one."
    assert not is_untyped(question, text, values(text))


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("On which days are books taken?", "Books are taken on Thursdays only.", True),
        ("On which days are books taken?", "Books are taken at the desk.", False),
        ("Which books are taken?", "Books are taken on Thursdays only.", False),
        ("What share do you keep?", "We keep 50 %.", True),
        ("What share do you keep?", "We keep EUR 50.", False),
    ],
)
def test_a_day_or_a_share_is_as_good_as_the_word(question: str, text: str, expected: bool) -> None:
    assert tells_called(question, values(text)) is expected


def test_an_acronym_that_reads_like_a_question_word_asks_for_nobody() -> None:
    assert not is_untyped(
        "What does WHO recommend?", "It is 2 litres a day.", values("It is 2 litres a day.")
    )
