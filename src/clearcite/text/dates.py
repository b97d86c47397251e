"""Dates and times of day in text. ``03/04/2024`` stays ambiguous: both readings are kept.

Canonical forms: ``2024-03-01``, ``2024-03`` (a month), ``2024`` (a year), ``--03-01`` (a day of any year),
``2024-03-04|2024-04-03`` (either), ``12:30`` (a time), ``2024-03-01T12:30`` (a date and its time, zone kept).
"""

import re
from calendar import monthrange
from collections.abc import Iterator

from clearcite.text.tokens import fold

_MONTHS: dict[str, int] = {}
for _names in (
    "january february march april may june july august september october november december",
    "jan feb mar apr may jun jul aug sep oct nov dec",
    "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "jan fev mar abr mai jun jul ago set out nov dez",
):
    for _number, _name in enumerate(_names.split(), 1):
        _MONTHS[fold(_name)] = _number
_MONTHS["sept"] = 9
_WEEKDAYS: dict[str, int] = {}
for _names in (
    "monday tuesday wednesday thursday friday saturday sunday",
    "mondays tuesdays wednesdays thursdays fridays saturdays sundays",
    "segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado domingo",
    "segundas-feiras terças-feiras quartas-feiras quintas-feiras sextas-feiras sábados domingos",
    "segundas terças quartas quintas sextas sábados domingos",
):
    for _number, _name in enumerate(_names.split(), 1):
        _WEEKDAYS[fold(_name)] = _number

_ACCENTED = ("terça-feira", "terças-feiras", "terças", "sábado", "sábados")

_MONTH = rf"(?P<month>{'|'.join(sorted((*_MONTHS, 'março'), key=len, reverse=True))})\b\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th|º|o)?"
_YEAR = r"(?P<year>(?:1[89]|20|21)\d\d)\b"
_ISO = re.compile(
    r"\b(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)"
    r"(?:[T ](?P<time>\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(?P<zone>Z|[+-]\d\d:?\d\d)?)?(?![\w-])"
)
_NUMERIC = re.compile(
    r"(?<![\w./-])(?P<a>\d{1,2})(?P<sep>[/.-])(?P<b>\d{1,2})(?P=sep)(?P<year>\d{4}|\d\d)(?![\w/-])"
)
_YEAR_FIRST = re.compile(r"(?<![\w./-])(?P<year>\d{4})[/.](?P<month>\d{1,2})[/.](?P<day>\d{1,2})(?![\w/-])")
_CHINESE = re.compile(r"(?P<year>\d{4})年(?:(?P<month>\d{1,2})月(?:(?P<day>\d{1,2})日)?)?")
_DAY_FIRST = re.compile(
    rf"\b{_DAY}(?:\s+of|\s+de)?\s+{_MONTH}(?:,?(?:\s+of|\s+de)?\s+{_YEAR})?", re.IGNORECASE
)
_MONTH_FIRST = re.compile(rf"\b{_MONTH}\s+{_DAY}\b(?!\s*[:%])(?:,?\s+{_YEAR})?", re.IGNORECASE)
_MONTH_YEAR = re.compile(rf"\b{_MONTH}(?:,|\s+of|\s+de)?\s+{_YEAR}", re.IGNORECASE)
_YEAR_ALONE = re.compile(
    rf"\b(?:in|since|until|by|year|during|from|em|desde|até|ano|de|en)\s+{_YEAR}(?!\s*[-\w%])", re.IGNORECASE
)
_TIME = re.compile(
    r"(?<![\w:.])(?:(?P<h>[01]?\d|2[0-4]):(?P<m>[0-5]\d)(?::[0-5]\d)?\s*(?P<half>[ap]\.?m\b\.?)?"
    r"|(?P<h2>1[0-2]|0?[1-9])\s*(?P<half2>[ap]\.?m\b\.?))(?![\w:])",
    re.IGNORECASE,
)
# *das 10h às 19h*, *às 10h30*: with an article before it an hour is one of the day, without it a duration.
_HOUR = re.compile(
    r"\b(?:às|as|das|pelas|à)\s+(?P<h>[01]?\d|2[0-4])\s?h(?:oras)?(?P<m>[0-5]\d)?(?!\w)", re.IGNORECASE
)
_WEEKDAY = re.compile(
    rf"\b(?:{'|'.join(sorted((*_WEEKDAYS, *_ACCENTED), key=len, reverse=True))})\b",
    re.IGNORECASE,
)

Found = tuple[str, str, int, int]  # class, canonical, start, end


def find_dates(text: str) -> Iterator[Found]:
    """Dates, then times, then weekdays of a cleaned text, longest readings first; they may overlap."""
    for pattern in (_ISO, _CHINESE, _YEAR_FIRST):
        for match in pattern.finditer(text):
            yield from _found(match, _date(match["year"], match["month"], match["day"]) + _clock(match))
    for match in _NUMERIC.finditer(text):
        yield from _found(match, _ambiguous(match))
    for pattern in (_DAY_FIRST, _MONTH_FIRST):
        for match in pattern.finditer(text):
            yield from _found(match, _date(match["year"], _month(match), match["day"]))
    for match in _MONTH_YEAR.finditer(text):
        yield from _found(match, _date(match["year"], _month(match), None))
    for match in _YEAR_ALONE.finditer(text):
        yield "date", match["year"], match.start("year"), match.end("year")
    for match in _TIME.finditer(text):
        if time := _time(match):
            yield "time", time, match.start(), match.end()
    for match in _HOUR.finditer(text):
        yield "time", f"{int(match['h']):02}:{match['m'] or '00'}", match.start("h"), match.end()
    for match in _WEEKDAY.finditer(text):
        yield "weekday", str(_WEEKDAYS[fold(match.group())]), match.start(), match.end()


def _found(match: re.Match[str], canonical: str) -> Iterator[Found]:
    if canonical:
        yield "date", canonical, match.start(), match.end()


def _month(match: re.Match[str]) -> str:
    return str(_MONTHS[fold(match["month"])])


def _date(year: str | None, month: str | None, day: str | None) -> str:
    """Canonical form, or empty when there is no such day."""
    if month is None:
        return year or ""
    number = int(month)
    if not 1 <= number <= 12:
        return ""
    if day is None:
        return f"{year}-{number:02}"
    if not 1 <= int(day) <= monthrange(int(year) if year and int(year) else 2000, number)[1]:
        return ""
    return f"{year or '-'}-{number:02}-{int(day):02}"


def _clock(match: re.Match[str]) -> str:
    groups = match.groupdict()
    return f"T{groups['time']}{groups.get('zone') or ''}" if groups.get("time") else ""


def _ambiguous(match: re.Match[str]) -> str:
    year = match["year"] if len(match["year"]) == 4 else f"20{match['year']}"
    if match["sep"] == "." and len(match["year"]) == 2:
        return ""
    readings = {_date(year, match["b"], match["a"]), _date(year, match["a"], match["b"])} - {""}
    return "|".join(sorted(readings))


def _time(match: re.Match[str]) -> str:
    hour = int(match["h"] or match["h2"])
    minute = int(match["m"] or 0)
    half = (match["half"] or match["half2"] or "")[:1].lower()
    if half and not 1 <= hour <= 12:
        return ""
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    return f"{hour:02}:{minute:02}"
