"""Days of the week and months that a text speaks of without their names: *Monday to Friday* speaks of Tuesday, *at
weekends* of Sunday, *April to September* of June. English and Portuguese.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from clearcite.text.tokens import fold

_WEEK = (
    "monday tuesday wednesday thursday friday saturday sunday",
    "mondays tuesdays wednesdays thursdays fridays saturdays sundays",
    "mon tue wed thu fri sat sun",
    "segunda terca quarta quinta sexta sabado domingo",
    "segundas tercas quartas quintas sextas sabados domingos",
)
_YEAR = (
    "january february march april may june july august september october november december",
    "jan feb mar apr may jun jul aug sep oct nov dec",
    "janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro dezembro",
)
_PARTS = (
    (re.compile(r"\bweekdays?\b"), range(5)),
    (re.compile(r"\b(?:weekends?|(?:fim|fins) de semana)\b"), range(5, 7)),
    (re.compile(r"\b(?:daily|every day|seven days a week|diariamente|todos os dias)\b"), range(7)),
)


def _numbers(lines: Sequence[str]) -> Mapping[str, int]:
    return MappingProxyType({word: number for line in lines for number, word in enumerate(line.split())})


def _run(numbers: Mapping[str, int]) -> re.Pattern[str]:
    """*Mondays and Fridays* are two days, *Monday, Friday* as well."""
    name = "|".join(sorted(numbers, key=len, reverse=True))
    ends = r"(?:-feiras?)?"
    return re.compile(rf"\b({name}){ends}\s*(?:\b(?:to|until|till|through|a|ate)\b|[-–—])\s*({name})\b")


_CYCLES = tuple(
    (numbers, size, _run(numbers)) for numbers, size in ((_numbers(_WEEK), 7), (_numbers(_YEAR), 12))
)


_NAMES = frozenset(" ".join((*_WEEK[:2], _WEEK[4], "sabado domingo", _YEAR[0], _YEAR[2])).split())


def is_day(word: str) -> bool:
    """Whether a folded word names a day of the week or a month and nothing else: not *sun*, not *segunda*."""
    return word in _NAMES


def speaks_of(day: str, text: str) -> bool:
    """Whether a text holds for that day or month, a folded word, in other words than its name."""
    return any(numbers[day] in spoken for numbers, spoken in _spoken(fold(text)) if day in numbers)


def _spoken(text: str) -> Iterator[tuple[Mapping[str, int], Sequence[int]]]:
    for numbers, size, run in _CYCLES:
        for match in run.finditer(text):
            first, last = numbers[match[1]], numbers[match[2]]
            yield numbers, [(first + n) % size for n in range((last - first) % size + 1)]
    for part, days in _PARTS:
        if part.search(text):
            yield _CYCLES[0][0], days
