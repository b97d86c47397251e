"""Values as they are meant: exact, at most, at least, about, or a range; and whether two of them contradict.

A value that lies inside what the other side allows does not contradict it: ``5 to 10 days`` and ``6 days``,
``up to 10`` and ``4``, ``about three weeks`` and ``20 days``, ``1932`` and ``3 May 1932``.
"""

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from clearcite.text.units import Value, values

Shape = Literal["exact", "most", "least", "about", "range"]

TOLERANCE = Fraction(15, 100)
"""How far "about" reaches: three weeks and 20 days are the same to whoever writes "about"."""

_LEAST = (
    r"\b(?:at least|no(?:t)? less than|no fewer than|minimum(?: of)?|more than|over|above|exceed(?:s|ing)?"
    r"|pelo menos|no mínimo|mínimo(?: de)?|mais d[eo]|acima d[eo])|[>≥]=?"
)
_MOST = (
    r"\b(?:up to|at most|no(?:t)? more than|maximum(?: of)?|limit(?:ed to| of)|within(?: the)?|less than|fewer than"
    r"|under|below|until|(?:you|customers?|guests?) ha(?:ve|s)|até|no máximo|máximo(?: de)?|menos d[eo]"
    r"|abaixo d[eo]|dentro d[eo]|no prazo(?: máximo)? d[eo]|tem|têm)|[<≤]=?"
)
_ABOUT = (
    r"\b(?:about|around|approximately|approx\.?|roughly|nearly|almost|circa|some|cerca de|quase|aproximadamente"
    r"|por volta de)|~"
)
_BEFORE: tuple[tuple[Shape, re.Pattern[str]], ...] = (
    ("least", re.compile(rf"(?:{_LEAST})\s*[:=]?\s*\Z", re.IGNORECASE)),
    ("most", re.compile(rf"(?:{_MOST})\s*[:=]?\s*\Z", re.IGNORECASE)),
    ("about", re.compile(rf"(?:{_ABOUT})\s*\Z", re.IGNORECASE)),
)
_AFTER: tuple[tuple[Shape, re.Pattern[str]], ...] = (
    ("least", re.compile(r"\s*(?:or (?:more|longer|older|above)|ou mais|and above|\+)", re.IGNORECASE)),
    (
        "most",
        re.compile(
            r"\s*(?:or (?:less|fewer|below)|ou menos|at (?:the )?most|at the latest)\b", re.IGNORECASE
        ),
    ),
)
_LIMIT = re.compile(
    r"\b(?:maximum|max\.?|at most|limit|longest|highest|upper|máximo|máxima|limite)\b", re.IGNORECASE
)
_FLOOR = re.compile(r"\b(?:minimum|min\.|at least|shortest|lowest|lower|mínimo|mínima)\b", re.IGNORECASE)
_RANGE = re.compile(
    r"\s*(?:[-–—]|to|until|till|and|a|às|as|até|e)\s*(?:(?:the|o|a|as|às)\s+)?\Z", re.IGNORECASE
)
_AND = re.compile(r"\s*(?:and|e)\s*\Z", re.IGNORECASE)
_BETWEEN = re.compile(r"\b(?:between|entre)\s*(?:(?:the|o|a|as|às)\s+)?\Z", re.IGNORECASE)
_TELEPHONE_GAP = re.compile(r"[ .-]?\Z")


class Reading(Struct, frozen=True, kw_only=True):
    """One value of a text as it is meant.

    ``first`` and ``last`` are canonical forms; they differ only for a range. Spans are code points of the text.
    """

    kind: str
    unit_class: str
    first: str
    last: str
    shape: Shape
    start: int
    end: int

    @property
    def canonical(self) -> str:
        return self.first if self.first == self.last else f"{self.first}/{self.last}"


def readings(text: str, language: str | None = None) -> tuple[Reading, ...]:
    """All values but words of affirmation and denial, ranges joined, in order."""
    found = [
        _reading(value, text) for value in values(text, language) if value.kind not in ("state", "negation")
    ]
    return tuple(_joined(_telephones(found, text), text))


def contradict(one: Reading, other: Reading) -> bool:
    """Whether both cannot hold of one thing. Every doubt counts as agreement."""
    if not comparable(one, other):
        return False
    if one.kind in ("quantity", "number"):
        return _amounts_contradict(one, other)
    if one.kind == "name":
        return not (set(one.first.split()) & set(other.first.split()))
    if one.kind != "date":
        return one.first != other.first
    if one.shape == other.shape == "range":
        return not (_same_date(one.first, other.first) and _same_date(one.last, other.last))
    pairs = ((a, b) for a in (one.first, one.last) for b in (other.first, other.last))
    if any(_same_date(a, b) for a, b in pairs):
        return False
    if "range" in (one.shape, other.shape):
        return not (_within(one, other) or _within(other, one))
    return True


def comparable(one: Reading, other: Reading) -> bool:
    """One class; a bare number may count whatever the other one counts."""
    if {one.kind, other.kind} <= {"quantity", "number"}:
        pair = sorted((one.unit_class, other.unit_class))
        return pair[0] == pair[1] or (pair[0] == "" and pair[1].startswith("count:") and "/" not in pair[1])
    return (one.kind, one.unit_class) == (other.kind, other.unit_class)


def _amounts_contradict(one: Reading, other: Reading) -> bool:
    shapes = {one.shape, other.shape}
    if shapes == {"most", "least"}:
        return False
    if len(shapes) == 1 and shapes <= {"most", "least", "exact"}:
        return one.first != other.first
    (low, high), (floor, ceiling) = _bounds(one), _bounds(other)
    return (high is not None and floor is not None and high < floor) or (
        low is not None and ceiling is not None and ceiling < low
    )


def _bounds(reading: Reading) -> tuple[Fraction | None, Fraction | None]:
    first, last = Fraction(reading.first), Fraction(reading.last)
    match reading.shape:
        case "most":
            return None, last
        case "least":
            return first, None
        case "about":
            slack = abs(first) * TOLERANCE
            return first - slack, last + slack
        case _:
            return min(first, last), max(first, last)


def _same_date(one: str, other: str) -> bool:
    """Whether some reading of one is a day of the other: ``2024`` holds ``2024-03``, ``--03-01`` any year."""
    return any(
        left == right or _holds(left, right) or _holds(right, left)
        for left in one.split("|")
        for right in other.split("|")
    )


def _holds(wide: str, narrow: str) -> bool:
    if wide.startswith("--"):
        return narrow[4:].startswith(wide[1:]) and not narrow.startswith("--")
    return narrow.startswith((f"{wide}-", f"{wide}T"))


def _within(inner: Reading, outer: Reading) -> bool:
    return inner.shape != "range" and outer.first <= inner.first <= outer.last


def _reading(value: Value, text: str) -> Reading:
    return Reading(
        kind=value.kind,
        unit_class=value.unit_class,
        first=value.canonical,
        last=value.canonical,
        shape=_shape(value, text) if value.kind in ("quantity", "number") else "exact",
        start=value.start,
        end=value.end,
    )


def _shape(value: Value, text: str) -> Shape:
    before, after = text[max(0, value.start - 30) : value.start], text[value.end : value.end + 20]
    for shape, pattern in _BEFORE:
        if pattern.search(before):
            return shape
    for shape, pattern in _AFTER:
        if pattern.match(after):
            return shape
    sentence = text[: value.start]
    if _LIMIT.search(sentence):
        return "most"
    return "least" if _FLOOR.search(sentence) else "exact"


def _joined(found: Sequence[Reading], text: str) -> list[Reading]:
    """``10 to 20 days`` and ``from 09:00 to 17:00`` are one reading each."""
    joined: list[Reading] = []
    for reading in found:
        last = joined[-1] if joined else None
        if last is not None and last.shape != "range" and _is_range(last, reading, text):
            joined[-1] = replace(last, last=reading.first, shape="range", end=reading.end)
        else:
            joined.append(reading)
    return joined


def _is_range(left: Reading, right: Reading, text: str) -> bool:
    if (left.kind, left.unit_class) != (right.kind, right.unit_class) or left.kind not in (
        "quantity",
        "number",
        "date",
    ):
        return False
    between = text[left.end : right.start]
    if _AND.match(between):
        return bool(_BETWEEN.search(text[: left.start]))
    return bool(_RANGE.match(between))


def _telephones(found: Sequence[Reading], text: str) -> list[Reading]:
    """Bare groups of digits that begin with a zero and are long enough are one telephone number."""
    joined: list[Reading] = []
    for reading in found:
        last = joined[-1] if joined else None
        if last is not None and last.kind == "number" == reading.kind and text[last.start] == "0":
            digits = re.sub(r"\D", "", text[last.start : reading.end])
            if _TELEPHONE_GAP.match(text[last.end : reading.start]) and 7 <= len(digits) <= 15:
                joined[-1] = replace(
                    last, kind="phone", unit_class="phone", first=digits, last=digits, end=reading.end
                )
                continue
        joined.append(reading)
    return joined
