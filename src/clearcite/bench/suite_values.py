"""Single values of a suite's tables. What is wrong is collected, so that everything is reported together."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from clearcite.domain.access import Micros
from clearcite.errors import InputError, did_you_mean
from clearcite.wire.instants import parse_moment
from clearcite.wire.zones import zone_of


class Place(Struct, frozen=True):
    """Where in a suite something stands, and the faults of the whole suite so far."""

    where: str
    faults: list[str] = field(default_factory=list)

    def at(self, where: str) -> "Place":
        return Place(where, self.faults)

    def fault(self, text: str) -> None:
        self.faults.append(f"{self.where}: {text}")


def known(table: Mapping[str, Any], keys: Iterable[str], place: Place) -> None:
    names = sorted(keys)
    for name in sorted(set(table) - set(names)):
        place.fault(f"there is no key {name}.{did_you_mean([name], names)}")


def mapping(value: Any, place: Place) -> Mapping[str, Any]:
    if isinstance(value, dict):
        return value
    place.fault("it must be a table.")
    return {}


def tables(value: Any, place: Place) -> Sequence[Mapping[str, Any]]:
    if not isinstance(value, list):
        place.fault("it must be a list of tables.")
        return []
    return [mapping(item, place.at(f"{place.where} {n}")) for n, item in enumerate(value, start=1)]


def text(table: Mapping[str, Any], key: str, place: Place) -> str | None:
    """A text that says something, where one is given."""
    value = table.get(key)
    if value is None:
        return None
    if isinstance(value, str) and value.strip():
        return value
    place.fault(f"{key} must be a text.")
    return None


def words(table: Mapping[str, Any], key: str, place: Place) -> tuple[str, ...]:
    value = table.get(key, [])
    if isinstance(value, list) and all(isinstance(item, str) and item.strip() for item in value):
        return tuple(value)
    place.fault(f"{key} must be a list of texts.")
    return ()


def choice(table: Mapping[str, Any], key: str, options: Sequence[str], place: Place) -> Any:
    """One of the options; None where the key is missing or holds something else, which is then a fault."""
    value = table.get(key)
    if value is None or value in options:
        return value
    place.fault(f"{key} must be one of {', '.join(options)}.{did_you_mean([str(value)], options)}")
    return None


def flag(table: Mapping[str, Any], key: str, place: Place) -> bool:
    """YAML gives texts, TOML gives truth values."""
    value = table.get(key, False)
    if value not in (True, False, "true", "false") or (
        isinstance(value, int) and not isinstance(value, bool)
    ):
        place.fault(f"{key} must be true or false.")
    return value in (True, "true")


def moment(table: Mapping[str, Any], key: str, place: Place) -> Micros | None:
    """A date, read as midnight UTC, or an instant."""
    value = table.get(key)
    if value is None:
        return None
    try:
        return parse_moment(str(value), zone_of("UTC"))
    except InputError as error:
        place.fault(f"{key} {error.message}.")
        return None
