"""What a drill found (its ``drill.json``), as far as a report draws it: which fault showed at which stage."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from clearcite.errors import InputError
from clearcite.wire import loads


class FaultMap(Struct, frozen=True, kw_only=True):
    """``stages`` in the order of the way of a document. ``faults``: name, and what stands at each stage: ``first``
    where the fault showed first, ``also`` where it showed as well, else nothing. ``state``: of what."""

    state: Mapping[str, Any]
    stages: tuple[str, ...]
    faults: tuple[tuple[str, tuple[str, ...]], ...]


def read_fault_map(raw: bytes) -> FaultMap:
    """Raises InputError where it is no evidence of a drill."""
    value = loads(raw)
    if not isinstance(value, Mapping):
        raise _wrong("it is no object")
    stages = tuple(_text(item, "name") for item in _items(value, "stages"))
    state = value.get("state")
    if not isinstance(state, dict):
        raise _wrong("it does not say of what it is; drill again")
    return FaultMap(
        state=state,
        stages=stages,
        faults=tuple((_text(item, "name"), _cells(item, stages)) for item in _items(value, "faults")),
    )


def _cells(item: Mapping[str, Any], stages: tuple[str, ...]) -> tuple[str, ...]:
    first, failing = item.get("first_failing_stage"), item.get("failing")
    if (
        not isinstance(failing, list)
        or not all(stage in stages for stage in failing)
        or first not in (None, *failing)
    ):
        raise _wrong("a fault fails at a stage that is none")
    return tuple("first" if stage == first else "also" if stage in failing else "" for stage in stages)


def _items(value: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    items = value.get(name)
    if not isinstance(items, list) or not items or not all(isinstance(item, dict) for item in items):
        raise _wrong(f"{name} must be a list of objects")
    return items


def _text(value: Mapping[str, Any], name: str) -> str:
    text = value.get(name)
    if not isinstance(text, str):
        raise _wrong(f"{name} must be a text")
    return text


def _wrong(why: str) -> InputError:
    return InputError(f"This is no drill.json of a drill: {why}.")
