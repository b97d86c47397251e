"""Instants on the wire: RFC 3339 with an offset, at most microseconds; a bare date is midnight in a zone."""

import re
from datetime import UTC, date, datetime, timedelta, tzinfo

from clearcite.domain.access import Micros
from clearcite.errors import InputError

_INSTANT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})?"
)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_DAY = timedelta(days=1)


def parse_instant(text: str) -> Micros:
    """``2026-07-22T09:00:00+02:00`` → microseconds UTC. Raises InputError, also for a naive instant."""
    match = _INSTANT.fullmatch(text)
    if match is None:
        raise InputError("must be an instant such as 2026-07-22T09:00:00Z")
    if match[2] is None:
        raise InputError("must name its offset from UTC, such as Z or +02:00")
    if match[1] and len(match[1]) > 7:
        raise InputError("must not be finer than microseconds")
    return _micros(_built(text.upper()))


def parse_moment(text: str, zone: tzinfo) -> Micros:
    """An instant, or a bare date read as 00:00 in ``zone``."""
    if _DATE.fullmatch(text):
        return day_start(text, zone)
    if _INSTANT.fullmatch(text):
        return parse_instant(text)
    raise InputError("must be a date such as 2026-03-01 or an instant such as 2026-07-22T09:00:00Z")


def day_start(text: str, zone: tzinfo, days: int = 0) -> Micros:
    """00:00 of a date, or of the day ``days`` later, in ``zone``."""
    if not _DATE.fullmatch(text):
        raise InputError("must be a date such as 2026-07-22")
    try:
        day = date.fromisoformat(text) + days * _DAY
    except (ValueError, OverflowError):
        raise InputError("must be a date that exists") from None
    return _micros(datetime(day.year, day.month, day.day, tzinfo=zone))


def format_instant(micros: Micros) -> str:
    """The shortest RFC 3339 form in UTC: a fraction only where there is one."""
    moment = _EPOCH + micros * _MICROSECOND
    fraction = f".{moment.microsecond:06d}".rstrip("0") if moment.microsecond else ""
    return f"{moment:%Y-%m-%dT%H:%M:%S}".rjust(19, "0") + fraction + "Z"


def _built(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise InputError("must be an instant that exists") from None


def _micros(moment: datetime) -> Micros:
    return (moment - _EPOCH) // _MICROSECOND
