"""Days and months that a text speaks of without their names."""

import pytest

from clearcite.text.days import is_day, speaks_of


@pytest.mark.parametrize(
    ("day", "text", "expected"),
    [
        ("tuesday", "Open Monday to Friday.", True),
        ("tuesday", "Open Mon–Fri.", True),
        ("saturday", "Open Monday to Friday.", False),
        ("sunday", "Open Friday to Monday.", True),
        ("wednesday", "Open Friday to Monday.", False),
        ("tuesday", "Open on Mondays and Fridays.", False),
        ("tuesday", "Open on Monday, Friday and Sunday.", False),
        ("tuesday", "Open on weekdays.", True),
        ("sundays", "Open at weekends.", True),
        ("sunday", "Open daily.", True),
        ("june", "From April to September.", True),
        ("january", "From November until March.", True),
        ("june", "From November until March.", False),
        ("june", "Open daily.", False),
        ("tuesday", "Open Monday/Friday.", False),
        ("terca", "De segunda a sexta-feira.", True),
        ("tercas", "De segunda-feira a sexta-feira.", True),
        ("sabado", "Ao fim de semana.", True),
        ("junho", "De abril a setembro.", True),
        ("key", "Open Monday to Friday.", False),
    ],
)
def test_a_stretch_of_days_holds_for_each_of_them(day: str, text: str, expected: bool) -> None:
    assert speaks_of(day, text) is expected


def test_a_day_is_told_from_other_words() -> None:
    assert [
        word for word in ("monday", "mondays", "junho", "key", "day", "sun", "segunda") if is_day(word)
    ] == [
        "monday",
        "mondays",
        "junho",
    ]
