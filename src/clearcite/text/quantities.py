"""Numbers with what they count: ``24 h``, ``$1.5m``, ``10-20 days``, ``5 requests per minute``."""

import re
from collections.abc import Callable
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from clearcite.text.languages import STOP_WORDS
from clearcite.text.numerals import NUMERAL, is_bare_one, parse_numeral
from clearcite.text.tokens import fold
from clearcite.text.unit_table import CURRENCY_SIGNS, MAGNITUDES, RATE_UNITS, UNITS, Unit

_SIGNS = "|".join(re.escape(sign) for sign in sorted(CURRENCY_SIGNS, key=len, reverse=True))
_SIGN_BEFORE = re.compile(rf"(?<![^\W\d_])(?:{_SIGNS})[ ]?[-−]?\Z")
_GAP = re.compile(r"[ \t\n]?-?(?=[^\W\d_]|[%°])")
_TWO_WORDS = re.compile(r"[^\W\d_]+ [^\W\d_]+")
_ONE_WORD = re.compile(r"°[CF]?|%|[^\W\d_]+")
_UNSPACED_UNIT = max(len(unit) for unit in UNITS)
_PER = "|".join(sorted(RATE_UNITS, key=len, reverse=True))
_RATE = re.compile(rf"\s*(?:/\s*|\s(?:per|a|an|each|every|por|ao|à)\s+)({_PER})\b")
_RANGE = re.compile(r"\s*(?:[-–—]|to|or|a|até|ou)\s*\Z", re.IGNORECASE)
_BETWEEN = re.compile(r"\b(?:between|entre)\s+\Z", re.IGNORECASE)
_AND = re.compile(r"\s+(?:and|e)\s+\Z", re.IGNORECASE)
_THEN = re.compile(r"\s*(?:(?:and|e)\s+)?\Z", re.IGNORECASE)
_HOUR_MINUTE = re.compile(r"\b(\d{1,3})\s?h\s?([0-5]\d)(?:\s?m(?:in)?)?\b")
_HALF = re.compile(r"\b(?:half an? (hour|day|year)|mei[ao] (hora|dia|ano))\b", re.IGNORECASE)
_A_UNIT = re.compile(
    r"\b(?:within|after|for|than|to|every|each)\s+(an? (?:second|minute|hour|day|week|month|year))\b",
    re.IGNORECASE,
)


class Quantity(Struct, frozen=True, kw_only=True):
    """``amount`` in the base unit of ``unit_class``; the class is empty for a bare number."""

    amount: Fraction
    unit_class: str
    start: int
    end: int
    factor: Fraction = Fraction(1)


def find_quantities(text: str, language: str | None, is_free: Callable[[int, int], bool]) -> list[Quantity]:
    """Quantities of a cleaned text in order, in the spans that are free."""
    found = [quantity for quantity in _idioms(text) if is_free(quantity.start, quantity.end)]
    for match in NUMERAL.finditer(text):
        if not is_free(*match.span()) or any(q.start < match.end() and match.start() < q.end for q in found):
            continue
        if (amount := parse_numeral(match.group(), language)) is None:
            continue
        if quantity := _quantity(text, match, amount):
            found.append(quantity)
    found.sort(key=lambda quantity: quantity.start)
    return _joined(text, _shared_units(text, found))


def _quantity(text: str, match: re.Match[str], amount: Fraction) -> Quantity | None:
    start, end = match.span()
    sign = _SIGN_BEFORE.search(text[max(0, start - 5) : start])
    magnitude, end = _magnitude(text, end, after_sign=bool(sign))
    unit, unit_end = _unit_after(text, end)
    if sign:
        start -= len(sign.group())
        end = unit_end if unit and unit[0].startswith("currency:") else end
        unit = (f"currency:{CURRENCY_SIGNS[sign.group().rstrip(' -−')]}", Fraction(1))
    elif unit is not None:
        end = unit_end
    else:
        noun, end = _noun_after(text, end)
        if is_bare_one(match.group()):
            return None
        unit = (noun, Fraction(1))
    family, factor = unit
    if rate := _RATE.match(text, end):
        family, end = f"{family or 'count'}/{RATE_UNITS[rate.group(1)]}", rate.end()
    return Quantity(
        amount=amount * magnitude * factor, unit_class=family, start=start, end=end, factor=factor
    )


def _magnitude(text: str, at: int, *, after_sign: bool) -> tuple[int, int]:
    word = re.compile(r"[ ]?([^\W\d_]+)").match(text, at)
    if not word:
        return 1, at
    name = word.group(1)
    short = len(name) <= 2
    if name.lower() not in MAGNITUDES or (short and name[0].isascii() and not after_sign):
        return 1, at
    return MAGNITUDES[name.lower()], word.end()


def _unit_after(text: str, at: int) -> tuple[Unit | None, int]:
    gap = _GAP.match(text, at)
    if not gap:
        return None, at
    start = gap.end()
    if two := _TWO_WORDS.match(text, start):
        unit = UNITS.get(two.group().lower())
        if unit:
            return unit, two.end()
    word = _ONE_WORD.match(text, start)
    if not word:
        return None, at
    if not word.group()[0].isascii():
        for size in range(min(_UNSPACED_UNIT, len(word.group())), 0, -1):
            if unit := UNITS.get(word.group()[:size]):
                return unit, start + size
    if word.group() == "m" and not gap.group():
        return UNITS["min"], word.end()
    unit = UNITS.get(word.group()) or (UNITS.get(word.group().lower()) if len(word.group()) > 1 else None)
    return (unit, word.end()) if unit else (None, at)


def _noun_after(text: str, at: int) -> tuple[str, int]:
    """``5 attempts`` counts attempts. Without a noun the number is bare."""
    word = re.compile(r"[ -]([^\W\d_]{3,})\b").match(text, at)
    if (
        not word
        or word.group(1).lower() in ("per", "por", "each")
        or any(fold(word.group(1)) in words for words in STOP_WORDS.values())
    ):
        return "", at
    return f"count:{_singular(fold(word.group(1)))}", word.end()


def _singular(noun: str) -> str:
    if noun.endswith("ies") and len(noun) > 4:
        return noun[:-3] + "y"
    if noun.endswith(("ses", "xes", "ches", "shes")):
        return noun[:-2]
    return noun[:-1] if noun.endswith("s") and not noun.endswith("ss") else noun


def _idioms(text: str) -> list[Quantity]:
    found: list[Quantity] = []
    for match in _HOUR_MINUTE.finditer(text):
        seconds = Fraction(int(match[1]) * 3600 + int(match[2]) * 60)
        found.append(Quantity(amount=seconds, unit_class="duration", start=match.start(), end=match.end()))
    for match in _HALF.finditer(text):
        family, factor = UNITS[(match[1] or match[2]).lower()]
        found.append(Quantity(amount=factor / 2, unit_class=family, start=match.start(), end=match.end()))
    for match in _A_UNIT.finditer(text):
        family, factor = UNITS[match[1].split()[1].lower()]
        found.append(Quantity(amount=factor, unit_class=family, start=match.start(1), end=match.end(1)))
    return found


def _shared_units(text: str, found: list[Quantity]) -> list[Quantity]:
    """``10-20 days``, ``between 5 and 10 %``: the first number has the unit of the second."""
    shared = list(found)
    for i in range(len(shared) - 2, -1, -1):
        left, right = shared[i], shared[i + 1]
        between = text[left.end : right.start]
        is_range = _RANGE.match(between) or (_AND.match(between) and _BETWEEN.search(text[: left.start]))
        if is_range and not left.unit_class and right.unit_class:
            amount = left.amount * right.factor
            shared[i] = replace(left, amount=amount, unit_class=right.unit_class, factor=right.factor)
    return shared


def _joined(text: str, found: list[Quantity]) -> list[Quantity]:
    """``1 hour 30 minutes`` is one duration."""
    joined: list[Quantity] = []
    for quantity in found:
        last = joined[-1] if joined else None
        if (
            last is not None
            and last.unit_class == quantity.unit_class == "duration"
            and last.factor > quantity.factor
            and _THEN.match(text[last.end : quantity.start])
        ):
            amount = last.amount + quantity.amount
            joined[-1] = replace(quantity, amount=amount, start=last.start)
        else:
            joined.append(quantity)
    return joined
