"""A namesake of what is asked about is another thing."""

import pytest

from clearcite.text.namesakes import names_another

ASKED = "How often is the battery of the Old Dome replaced?"


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        (ASKED, "The battery of the East Dome is replaced every five years.", True),
        (ASKED, "The East Dome and the Old Dome have one battery each.", False),
        (ASKED, "An old building: the East Dome shares its battery.", False),
        (ASKED, "The Dome is closed. Every battery is replaced in May.", False),
        (ASKED, "The battery of each Dome is replaced in May.", False),
        ("How often is the battery of the dome replaced?", "The battery of the East Dome is new.", False),
        ("Is Otter Baths open?", "The pool at Finch Baths is open on Mondays.", True),
        ("Quando abre a Torre Norte?", "A porta da Torre Sul abre às 8.", True),
        ("Who leads the Success Team?", "Ana leads the Customer Success Team.", False),
        ("Where does Maria Silva work?", "At the desk sits Maria Santos.", True),
        ("Where does Maria Silva work?", "At the desk sits Maria.", False),
    ],
)
def test_a_thing_with_another_first_name_is_another_thing(question: str, text: str, expected: bool) -> None:
    assert names_another(question, text) is expected
