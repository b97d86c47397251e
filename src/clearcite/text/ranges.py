"""Whether an amount lies within the bounds that a text gives: EUR 700 within *EUR 50 to EUR 1,000*, not *up to EUR 50*.

A rule for a range holds for every amount inside it, whose number it does not have. English and Portuguese.
"""

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

from clearcite.text.units import Value, values

MOST_SHORT = 2
"""Letters of a unit that is written short, which has no plural: *kg*."""
_BEFORE = 24
"""Characters before a value in which the words that make it a bound or a size stand."""
_TO = re.compile(r"\s*(?:[-–—]|to|and|a|até|e)\s*", re.IGNORECASE)
_MOST = re.compile(
    r"(?:\b(?:up to|at most|(?:not|no) (?:more|longer) than|under|below|(?:less|fewer) than|until|within|maximum of"
    r"|até|menos de|abaixo de)|[<≤])\s*\Z",
    re.IGNORECASE,
)
_LEAST = re.compile(
    r"(?:\b(?:from|over|above|more than|exceeding|at least|not less than|older than|mais de|acima de|a partir de"
    r"|pelo menos|superior a)|[>≥])\s*\Z",
    re.IGNORECASE,
)
_OR_MORE = re.compile(
    r"\s*(?:\+|(?:(?:or|and|ou|e) (?:more|above|over|older|longer|mais|acima)|upwards)\b)", re.IGNORECASE
)
_SIZE_OF = re.compile(r"\b(?:of|de)\s+\Z", re.IGNORECASE)
Range = tuple[Fraction | None, Fraction | None]


def lies_within(amount: Value, text: str, found: Sequence[Value]) -> bool:
    """Whether one of the ranges of a text with these values, of the same unit, holds the amount."""
    asked = Fraction(amount.canonical)
    alike = [value for value in found if value.unit_class == amount.unit_class or value.kind == "number"]
    return any(
        (low is None or low <= asked) and (high is None or asked <= high)
        for low, high in _ranges(text, alike)
    )


def _ranges(text: str, found: Sequence[Value]) -> Iterator[Range]:
    """Lowest and highest; None where there is no such bound. In *EUR 300 to 2,500* both are of the currency."""
    joined: set[int] = set()
    for left, right in pairwise(found):
        alike = right.unit_class == left.unit_class or left.unit_class.startswith("currency:")
        low, high = Fraction(left.canonical), Fraction(right.canonical)
        if left.unit_class and alike and low < high and _TO.fullmatch(text, left.end, right.start):
            joined |= {left.start, right.start}
            yield low, high
    for value in found:
        before = text[max(0, value.start - _BEFORE) : value.start]
        if not value.unit_class or value.start in joined:
            continue
        if _MOST.search(before):
            yield None, Fraction(value.canonical)
        elif _LEAST.search(before) or _OR_MORE.match(text, value.end):
            yield Fraction(value.canonical), None


def says_other_size(question: str, text: str, found: Sequence[Value]) -> bool:
    """Whether a thing is named by its measure (*a ten-litre box*), and a text with these values has one of another
    (*a five-litre box*, *a bottle of 0.5 litre*) and none of that. English."""
    for asked in filter(lambda value: _names_size(question, value), values(question)):
        alike = [value for value in found if value.unit_class == asked.unit_class]
        if any(value.canonical == asked.canonical for value in alike) or lies_within(asked, text, found):
            continue
        if any(_names_size(text, value) or _is_size_of(text, value) for value in alike):
            return True
    return False


def _is_size_of(text: str, value: Value) -> bool:
    return _SIZE_OF.search(text, max(0, value.start - _BEFORE), value.start) is not None


def _names_size(text: str, value: Value) -> bool:
    """A measure before a noun has its unit in the singular: *three litre box*, but *three litres of milk*."""
    *_, unit = re.split(r"[\s-]", text[value.start : value.end])
    is_singular = len(unit) > MOST_SHORT and unit.isalpha() and not unit.lower().endswith(("s", "feet"))
    is_measure = value.kind == "quantity" and not value.unit_class.startswith(
        ("count", "currency", "percent")
    )
    return is_measure and is_singular and re.match(r"[ -][^\W\d_]", text[value.end :]) is not None
