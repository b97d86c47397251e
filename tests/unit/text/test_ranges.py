"""An amount within the bounds that a text gives, and a thing that is named by its measure."""

import pytest

from clearcite.text.ranges import lies_within, says_other_size
from clearcite.text.units import values


@pytest.mark.parametrize(
    ("amount", "text", "expected"),
    [
        ("EUR 700", "EUR 50 to EUR 1,000: the head", True),
        ("EUR 700", "EUR 50 to 1,000: the head", True),
        ("EUR 700", "from EUR 1,000 to EUR 2,000: the board", False),
        ("EUR 700", "between EUR 500 and EUR 900", True),
        ("EUR 700", "up to EUR 50: the desk", False),
        ("EUR 700", "up to EUR 1,000: the head", True),
        ("EUR 700", "above EUR 500: the board", True),
        ("EUR 700", "EUR 500 or more: the board", True),
        ("EUR 700", "EUR 800 or more: the board", False),
        ("EUR 700", "a kit is EUR 900", False),
        ("EUR 7", "tickets are EUR 5 and EUR 10", False),
        ("EUR 700", "not exceeding EUR 50", False),
        ("3 kg", "not less than 5 kg", False),
        ("10 kg", "not less than 5 kg", True),
        ("12 dias", "não mais de 10 dias", False),
        ("EUR 700", "EUR 50 + EUR 10 deposit", False),
        ("EUR 700", "upgrade -> EUR 50", False),
        ("5 °C", "from -18 °C to -25 °C", False),
        ("EUR 700", "up to 1,000 requests", False),
        ("EUR 700", "up to USD 1,000", False),
        ("31 kg", "dogs of more than 25 kg pay double", True),
        ("2 hours", "later than 90 minutes, more than 60 minutes late", True),
        ("7 dias", "até 10 dias", True),
        ("7 dias", "mais de 10 dias", False),
    ],
)
def test_a_rule_for_a_range_speaks_of_every_amount_inside(amount: str, text: str, expected: bool) -> None:
    (asked,) = (value for value in values(amount) if value.kind == "quantity")
    assert lies_within(asked, text, values(text)) is expected


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("How much is a ten-litre box?", "A five-litre box is £1.20.", True),
        ("three litre box price", "Bottle of 0.5 litre: £3.90", True),
        ("How much is a ten-litre box?", "Boxes: ten litres £2, five litres £1.20.", False),
        ("How much is a ten-litre box?", "Pressing costs £0.45 a litre.", False),
        ("I have ten litres of milk. What now?", "A five-litre box is £1.20.", False),
        ("What does a berth for a 12 metre boat cost?", "A berth for boats up to 15 metres is £40.", False),
        ("What does a berth for a 12 metre boat cost?", "A berth for an 8 metre boat is £20.", True),
        ("What does a 31 kg dog cost?", "A 20 kg dog is £17.", False),
        ("May I cancel 1 week before arrival?", "Cancel after a notice of 2 weeks.", False),
    ],
)
def test_a_thing_named_by_its_measure_is_not_one_of_another(question: str, text: str, expected: bool) -> None:
    assert says_other_size(question, text, values(text)) is expected
