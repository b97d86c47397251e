"""Numbers as people write them: ``1,000.50``, ``1.000,50``, ``twenty-four``, ``vinte e quatro``. Exact."""

import re
from fractions import Fraction

from clearcite.text.tokens import fold

_UNITS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_UNIDADES = """zero um dois tres quatro cinco seis sete oito nove dez onze doze treze quatorze quinze
    dezesseis dezessete dezoito dezenove"""
_DEZENAS = "vinte trinta quarenta cinquenta sessenta setenta oitenta noventa"
_CENTENAS = "cem duzentos trezentos quatrocentos quinhentos seiscentos setecentos oitocentos novecentos"

_SMALL: dict[str, int] = {
    **{word: i for i, word in enumerate(_UNITS.split())},
    **{word: 20 + 10 * i for i, word in enumerate(_TENS.split())},
    **{word: i for i, word in enumerate(_UNIDADES.split())},
    **{word: 20 + 10 * i for i, word in enumerate(_DEZENAS.split())},
    **{word: 100 * (i + 1) for i, word in enumerate(_CENTENAS.split())},
    "uma": 1, "duas": 2, "catorze": 14, "dezasseis": 16, "dezassete": 17, "dezanove": 19, "cento": 100,
    "duzentas": 200, "trezentas": 300, "dozen": 12, "duzia": 12,
}  # fmt: skip
_SCALES: dict[str, int] = {
    "hundred": 100, "thousand": 1000, "mil": 1000, "million": 10**6, "milhao": 10**6, "milhoes": 10**6,
    "billion": 10**9, "bilhao": 10**9, "bilhoes": 10**9,
}  # fmt: skip
# A longer run of digits is data, not a number anybody compares.
LONGEST = 60
_ONE = frozenset(("one", "um", "uma"))

_DIGITS = r"\d+(?:[.,'’]\d+)*"
_WORDS = "|".join(
    sorted(
        (*_SMALL, *_SCALES, "três", "milhão", "milhões", "bilhão", "bilhões", "dúzia"), key=len, reverse=True
    )
)
NUMERAL = re.compile(
    rf"(?:(?<![\w)\]])[-−])?(?<![A-Za-zÀ-ɏ\d_.,]){_DIGITS}"
    rf"|\b(?:{_WORDS})(?:(?:[- ]+|\s+(?:and|e)\s+)(?:{_WORDS}))*\b",
    re.IGNORECASE,
)


def parse_numeral(text: str, language: str | None = None) -> Fraction | None:
    """The value of a match of ``NUMERAL``; None for words in no order of a number.

    ``language`` decides what the last separator of ``1.000`` and ``1,000`` is; without it, English rules.
    """
    if len(text) > LONGEST:
        return None
    if text.lstrip("-−")[:1].isdigit():
        return _parse_digits(text.replace("−", "-"), comma_is_decimal=language in ("pt", "es"))
    return _parse_words(re.split(r"[\s-]+", text))


def is_bare_one(text: str) -> bool:
    """``one``, ``um``, ``uma``: an article as often as a number, so it counts only before a unit."""
    return fold(text) in _ONE


def canonical(value: Fraction) -> str:
    """``86400``, ``0.5``, ``1/3``: equal values give equal strings."""
    if value.denominator == 1:
        return str(value.numerator)
    twos_and_fives = value.denominator
    for prime in (2, 5):
        while twos_and_fives % prime == 0:
            twos_and_fives //= prime
    if twos_and_fives != 1:
        return f"{value.numerator}/{value.denominator}"
    digits = 0
    while (value * 10**digits).denominator != 1:
        digits += 1
    whole = str(abs(value.numerator) * 10**digits // value.denominator).rjust(digits + 1, "0")
    return f"{'-' if value < 0 else ''}{whole[:-digits]}.{whole[-digits:]}"


def _parse_digits(text: str, *, comma_is_decimal: bool) -> Fraction:
    text = re.sub(r"['’]", "", text)
    marks = [char for char in text if char in ".,"]
    if not marks:
        return Fraction(text)
    last = marks[-1]
    *groups, tail = re.split(r"[.,]", text)
    grouped = len(tail) == 3 and len(groups[0].lstrip("-")) <= 3 and groups[0].lstrip("-") != "0"
    if len(set(marks)) == 2 or not grouped:
        repeated = len(set(marks)) == 1 and len(marks) > 1
        return Fraction("".join(groups) + ("" if repeated else ".") + tail)
    if len(marks) > 1 or (last == ",") != comma_is_decimal:
        return Fraction("".join(groups) + tail)
    return Fraction("".join(groups) + "." + tail)


def _parse_words(words: list[str]) -> Fraction | None:
    total = current = 0
    for word in map(fold, words):
        if word in ("and", "e"):
            continue
        if word in _SCALES:
            current = max(current, 1) * _SCALES[word]
            if _SCALES[word] >= 1000:
                total, current = total + current, 0
        elif _follows(current, value := _SMALL.get(word, -1)):
            current += value
        else:
            return None
    return Fraction(total + current)


def _follows(current: int, value: int) -> bool:
    """``hundred twenty``, ``twenty four``, but not ``three four``."""
    if current == 0:
        return value >= 0
    if current % 100 == 0:
        return 0 < value < 100
    return current % 100 >= 20 and current % 10 == 0 and 0 < value < 10
