"""Things of one class that are not each other."""

import pytest

from clearcite.text.siblings import says_sibling


@pytest.mark.parametrize(
    ("word", "said", "question", "expected"),
    [
        ("motorbike", "your own car is paid at 38 cents", "how much for my motorbike", True),
        ("motorcycle", "a motorbike is paid at 20 cents", "how much for my motorcycle", False),
        ("bicycles", "cars pay 5 a day", "what do bicycles pay", True),
        ("bicycles", "cars and bikes pay 5 a day", "what do bicycles pay", False),
        ("bike", "leave the car and take the path", "may i put my bike behind my car", False),
        ("pony", "cats sleep inside", "where does the pony sleep", True),
        ("puppies", "kittens are vaccinated twice", "how often are puppies vaccinated", True),
        ("motorbike", "park two wheels beside a car", "may i park my motorbike beside the cars", False),
        ("card", "cash only", "can i pay by card", False),
        ("rope", "cats sleep inside", "where is the rope", False),
        ("almoco", "o jantar custa 12", "quanto custa o almoco", True),
    ],
)
def test_another_of_its_class_counts_where_neither_the_text_has_the_own_nor_the_question_the_other(
    word: str, said: str, question: str, expected: bool
) -> None:
    assert says_sibling([word], said.split(), question.split()) is expected
