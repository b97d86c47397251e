"""Instants: with an offset, at most microseconds; dates are midnight in a zone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearcite.errors import ConfigError, InputError
from clearcite.wire.instants import day_start, format_instant, parse_instant, parse_moment
from clearcite.wire.zones import zone_of

UTC = zone_of("UTC")
HOUR = 3_600_000_000


@pytest.mark.parametrize(
    ("text", "micros"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T01:00:00+01:00", 0),
        ("1970-01-01t00:00:00.000001z", 1),
        ("1970-01-01 00:00:01.5Z", 1_500_000),
        ("1969-12-31T23:59:59.999999Z", -1),
        ("2026-07-22T09:00:00+05:30", 1784691000_000000),
    ],
)
def test_an_instant_becomes_microseconds_in_utc(text: str, micros: int) -> None:
    assert parse_instant(text) == micros


@pytest.mark.parametrize(
    "text",
    [
        "2026-07-22T09:00:00", "2026-07-22", "2026-07-22T09:00Z", "2026-02-30T00:00:00Z", "2026-07-22T24:01:00Z",
        "2026-07-22T09:00:60Z", "2026-07-22T09:00:00.1234567Z", "2026-07-22T09:00:00+25:00", "20260722T090000Z",
        "٢٠٢٦-07-22T09:00:00Z", "2026-07-22T09:00:00Z ", "0000-01-01T00:00:00Z", "now", "",
    ],
)  # fmt: skip
def test_what_is_not_exact_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse_instant(text)


def test_a_bare_date_is_midnight_in_the_zone_of_the_source() -> None:
    utc = parse_moment("2026-07-22", UTC)
    assert parse_moment("2026-07-22", zone_of("Europe/Lisbon")) == utc - HOUR
    assert parse_moment("2026-01-22", zone_of("Europe/Lisbon")) == parse_moment("2026-01-22", UTC)


def test_the_day_after_is_found_across_a_change_of_clocks() -> None:
    lisbon = zone_of("Europe/Lisbon")
    assert day_start("2026-03-29", lisbon, 1) - day_start("2026-03-29", lisbon) == 23 * HOUR
    assert day_start("2024-02-28", UTC, 1) == day_start("2024-02-29", UTC)


@pytest.mark.parametrize("text", ["2026-13-01", "2026-2-1", "9999-12-31x", "2023-02-29"])
def test_a_date_that_does_not_exist_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        day_start(text, UTC)


def test_the_day_after_the_last_one_is_refused() -> None:
    with pytest.raises(InputError):
        day_start("9999-12-31", UTC, 1)


def test_an_unknown_zone_is_a_fault_of_the_configuration() -> None:
    for name in ("Mars/Olympus", "../../etc/passwd", ""):
        with pytest.raises(ConfigError):
            zone_of(name)


@given(st.integers(-(10**16), 10**17))
def test_what_is_written_reads_back(micros: int) -> None:
    assert parse_instant(format_instant(micros)) == micros
