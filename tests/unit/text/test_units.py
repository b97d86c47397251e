import time
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearcite.text.analysis import detect_language
from clearcite.text.numerals import canonical, parse_numeral
from clearcite.text.polarity import find_negations
from clearcite.text.units import Value, values


def read(text: str, language: str | None = None) -> list[tuple[str, str]]:
    """(class, canonical) of the values of a text, negations and states aside."""
    return [
        (v.unit_class, v.canonical) for v in values(text, language) if v.kind not in ("negation", "state")
    ]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("24 h", "1 day"),
        ("1 day", "1440 min"),
        ("twenty-four hours", "24h"),
        ("vinte e quatro horas", "um dia"),
        ("one week", "7 days"),
        ("90 minutes", "1 h 30 min"),
        ("1h30", "1.5 hours"),
        ("half an hour", "30 min"),
        ("one year", "12 months"),
        ("dois anos", "24 meses"),
        ("1 GB", "1000 MB"),
        ("1 GiB", "1024 MiB"),
        ("1 km", "1000 metres"),
        ("$1.5m", "1.5 million dollars"),
        ("US$ 20", "20 USD"),
        ("R$ 1.000,00", "1000 reais"),
        ("5 %", "five per cent"),
        ("fourteen days", "a fortnight: 14 days"),
        ("1,000 rows", "1000 rows"),
        ("3 attempts", "three attempts"),
        ("5 requests per minute", "5 requests/minute"),
        ("March 3, 2024", "2024-03-03"),
        ("3 de março de 2024", "3rd of March 2024"),
        ("2024年3月3日", "2024-03-03"),
        ("5:30 pm", "17:30"),
        ("abre às 10h30", "opens at 10:30"),
        ("das 9h", "9:00"),
        ("version 2.6.1", "v2.6.1"),
        ("２４時間", "24 h"),
    ],
)
def test_equal_things_have_equal_values(left: str, right: str) -> None:
    assert read(left)
    assert read(left) == read(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("7 days", "24 h"),
        ("demora 10h", "10:00"),
        ("30 days", "1 month"),
        ("30 days", "30 business days"),
        ("1 GB", "1 GiB"),
        ("100 MB", "100 Mb"),
        ("5 %", "5 points"),
        ("$5", "€5"),
        ("5 per day", "5 per week"),
        ("20 °C", "20 °F"),
        ("CVX-4210", "CVX-4211"),
        ("v2.6", "v2.60"),
        ("2024-03-04", "03/04/2024"),
        ("555-0100", "555-0101"),
    ],
)
def test_different_things_have_different_values(left: str, right: str) -> None:
    assert read(left)
    assert read(right)
    assert read(left) != read(right)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("03/04/2024", [("date", "2024-03-04|2024-04-03")]),
        ("15/04/2024", [("date", "2024-04-15")]),
        ("31/02/2024 x", [("", "31"), ("", "2"), ("", "2024")]),
        ("since 2023", [("date", "2023")]),
        ("March 2024", [("date", "2024-03")]),
        ("May 5", [("date", "--05-05")]),
        ("2024-03-01T12:30:00Z", [("date", "2024-03-01T12:30:00Z")]),
        ("Monday to Friday", [("weekday", "1"), ("weekday", "5")]),
        ("call +55 11 91234-5678, please", [("phone", "+5511912345678")]),
        ("(11) 91234-5678", [("phone", "11912345678")]),
        ("tel. 4002 8922", [("phone", "40028922")]),
        ("10-20 days", [("duration", "864000"), ("duration", "1728000")]),
        ("between 5 and 10%", [("percent", "5"), ("percent", "10")]),
        ("from 5 to 10 users", [("count:user", "5"), ("count:user", "10")]),
        ("one of them", []),
        ("the policies of 12 companies", [("count:company", "12")]),
        ("-5 °C", [("celsius", "-5")]),
        ("5 m of cable", [("length", "5")]),
        ("a 5m timeout", [("duration", "300")]),
        ("set max_retries to 3", [("identifier", "max_retries"), ("", "3")]),
        ("keep for 2 days and 3 hours", [("duration", "183600")]),
    ],
)
def test_values_are_read_from_running_text(text: str, expected: list[tuple[str, str]]) -> None:
    assert read(text) == expected


def test_a_separator_means_what_the_language_says() -> None:
    assert read("1.000 kg") == [("mass", "1000")]
    assert read("1.000 kg", "pt") == [("mass", "1000000")]
    assert read("1,5 kg", "pt") == read("1,5 kg") == [("mass", "1500")]


def test_a_value_points_at_what_was_written() -> None:
    text = "Kept ﬁne for ２４\u200b h, not more"
    (value,) = [v for v in values(text) if v.kind == "quantity"]
    assert value == Value(kind="quantity", unit_class="duration", canonical="86400", start=13, end=18)
    assert text[13:18] == "２４\u200b h"


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("Sharing is allowed", ("allowed", "yes")),
        ("Sharing is not allowed", ("allowed", "no")),
        ("Sharing is prohibited", ("allowed", "no")),
        ("It isn't disabled", ("enabled", "yes")),
        ("O uso não é permitido", ("allowed", "no")),
        ("No. Sharing is allowed", ("allowed", "yes")),
        ("Approval is not currently required", ("required", "no")),
    ],
)
def test_a_state_counts_its_negation(text: str, state: tuple[str, str]) -> None:
    assert [(v.unit_class, v.canonical) for v in values(text) if v.kind == "state"] == [state]


def is_negative(text: str) -> bool:
    return any(find_negations(text, detect_language(text)))


def test_negations_are_found_in_both_languages() -> None:
    assert is_negative("You can't")
    assert is_negative("Isso não vale")
    assert not is_negative("It is noted and known")
    assert not is_negative("see no. 7 of it")


def test_the_portuguese_contraction_is_no_negation() -> None:
    assert not is_negative("O servidor fica no escritório")
    assert is_negative("There is no server")
    states = [v.canonical for v in values("O acesso no servidor é permitido") if v.kind == "state"]
    assert states == ["yes"]


def test_the_language_is_guessed_from_the_text() -> None:
    assert read("A empresa tem mais de 1.000 kg") == [("mass", "1000000")]
    assert read("The company has more than 1.000 kg of it") == [("mass", "1000")]


@given(st.fractions())
def test_a_canonical_number_reads_back_exactly(number: Fraction) -> None:
    assert Fraction(canonical(number)) == number


@given(st.integers(0, 10**9))
def test_grouping_does_not_change_a_number(number: int) -> None:
    assert parse_numeral(f"{number:,}") == number
    assert parse_numeral(f"{number:,}".replace(",", "."), "pt") == number


@given(st.text(max_size=80))
def test_any_text_has_values_inside_it_in_order(text: str) -> None:
    found = values(text)
    assert all(0 <= v.start < v.end <= len(text) for v in found)
    assert [v.start for v in found] == sorted(v.start for v in found)
    assert not any("." in v.canonical and "e" in v.canonical for v in found if v.kind == "quantity")


def test_hostile_texts_are_read_in_time() -> None:
    started = time.process_time()
    for text in (
        "1" * 20_000,
        "one " * 2_000,
        "12 " * 2_000,
        "- " * 20_000,
        "one and " * 2_000,
        "+1 " * 2_000,
    ):
        values(text)
    assert time.process_time() - started < 60
