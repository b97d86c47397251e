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
_TO = re.compile(r"\s*(?:[-–—]|to|a|até)\s*", re.IGNORECASE)
_AND = re.compile(r"\s*(?:and|e)\s*", re.IGNORECASE)
_BETWEEN = re.compile(r"\b(?:between|entre)\s+\Z", re.IGNORECASE)
_MOST = re.compile(
    r"(?:\b(?:up to|at most|under|below|(?:less|fewer) than|until|within|maximum of|até|menos de|abaixo de)"
    r"|(?<![-=])[<≤])\s*\Z",
    re.IGNORECASE,
)
_LEAST = re.compile(
    r"(?:\b(?:from|over|above|(?:more|longer|older) than|exceed(?:s|ing)?|at least|mais de|acima de|a partir de"
    r"|pelo menos|superior a)|(?<![-=])[>≥])\s*\Z",
    re.IGNORECASE,
)
_NOT = re.compile(r"\b(?:not?|never|n[ãa]o)\s+\Z", re.IGNORECASE)
_OR_MORE = re.compile(
    r"\s*(?:\+(?!\s*[\d€£$A-Z])|(?i:(?:(?:or|ou) (?:more|above|over|older|longer|mais|acima)|upwards)\b))"
)
_SIZE_OF = re.compile(r"\b(?:of|de)\s+\Z", re.IGNORECASE)
_NO_SIZES = ("count", "currency", "percent", "duration", "months", "working-days")
MOST_ASKED = 8
"""Amounts of one question that are looked for: nobody asks about more."""
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
        if left.unit_class and alike and _are_joined(text, left, right):
            joined |= {left.start, right.start}
            low, high = sorted((Fraction(left.canonical), Fraction(right.canonical)))
            yield low, high
    for value in found:
        if value.unit_class and value.start not in joined:
            yield _bound(text, value)


def _are_joined(text: str, left: Value, right: Value) -> bool:
    if _TO.fullmatch(text, left.end, right.start):
        return True
    starts = _BETWEEN.search(text, max(0, left.start - _BEFORE), left.start)
    return starts is not None and _AND.fullmatch(text, left.end, right.start) is not None


def _bound(text: str, value: Value) -> Range:
    """*Not exceeding* is at most; what no word makes a bound is the one amount that it says."""
    number, begin = Fraction(value.canonical), max(0, value.start - _BEFORE)
    most, least = (pattern.search(text, begin, value.start) for pattern in (_MOST, _LEAST))
    if (match := most or least) is not None:
        is_most = (match is most) != (_NOT.search(text, begin, match.start()) is not None)
        return (None, number) if is_most else (number, None)
    return (number, None) if _OR_MORE.match(text, value.end) else (number, number)


def says_other_size(question: str, text: str, found: Sequence[Value]) -> bool:
    """Whether a thing is named by its measure (*a ten-litre box*), and a text with these values has one of another
    (*a five-litre box*, *a bottle of 0.5 litre*) and none of that. English."""
    for asked in [value for value in values(question) if _names_size(question, value)][:MOST_ASKED]:
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
    is_measure = value.kind == "quantity" and not value.unit_class.startswith(_NO_SIZES)
    return is_measure and is_singular and re.match(r"[ -][^\W\d_]", text[value.end :]) is not None
