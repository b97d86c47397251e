"""Dataclass ↔ plain JSON value, by the type hints of the dataclass and nothing else.

Reading is strict: an unknown or missing field, a wrong type, a boolean where an integer belongs is a fault.
All faults of one value are reported together, each with its JSON path.
"""

import dataclasses
import functools
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from clearcite.errors import InputError
from clearcite.wire.strict import shown

T = TypeVar("T")
Report = Callable[[str, str], None]

MAX_VIOLATIONS = 100
_BAD: Any = object()
_PLAIN = {str: "a string", int: "an integer", bool: "true or false", float: "a number", type(None): "null"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """Bounds of a value, given as ``Annotated[type, Limits(...)]``; they also stand in the JSON Schema.

    ``least`` and ``most`` bound an integer, the length of a string in code points, or the items of a list.
    """

    least: int | None = None
    most: int | None = None
    unique: bool = False


def to_json(value: Any) -> Any:
    """Dataclasses become dicts in the order of their fields, tuples become lists."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return [to_json(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {item.name: to_json(getattr(value, item.name)) for item in dataclasses.fields(value)}
    raise InputError(f"a {type(value).__name__} has no JSON form")


def from_json(cls: type[T], value: Any, *, what: str | None = None) -> T:
    """Build ``cls`` from a plain JSON value.

    Raises InputError whose ``violations`` lists all faults, each as ``$.path: what is wrong``.
    """
    violations: list[str] = []
    result = read(cls, value, lambda path, fault: violations.append(f"{path}: {fault}"))
    if violations:
        raise refusal(what or _spoken(cls), violations)
    return typing.cast("T", result)


def refusal(what: str, violations: Sequence[str]) -> InputError:
    """One error for all violations of one input."""
    kept = tuple(violations[:MAX_VIOLATIONS])
    more = f" (and {len(violations) - len(kept)} more)" if len(violations) > len(kept) else ""
    return InputError(f"{what} is not valid: " + "; ".join(kept) + more, kept)


def read(cls: type[Any], value: Any, report: Report) -> Any:
    """Like ``from_json``, but reports faults one by one; the result has no meaning if any was reported."""
    return _read(cls, value, "$", report)


def _spoken(cls: type[Any]) -> str:
    return "".join(f" {char.lower()}" if char.isupper() else char for char in cls.__name__).strip()


def _read(hint: Any, value: Any, path: str, report: Report) -> Any:
    origin = get_origin(hint)
    if hint is Any:
        return value
    if hint in _PLAIN:
        return _read_plain(hint, value, path, report)
    if origin is Annotated:
        return _read_limited(hint, value, path, report)
    if origin in (Union, types.UnionType):
        return _read_union(get_args(hint), value, path, report)
    if origin is Literal:
        return _read_literal(get_args(hint), value, path, report)
    if dataclasses.is_dataclass(hint):
        return _read_dataclass(hint, value, path, report)
    if origin in (tuple, list, Sequence):
        return _read_list(hint, value, path, report)
    if hint is dict or origin in (dict, Mapping):
        return _read_object(hint, value, path, report)
    raise TypeError(f"no JSON form is defined for {hint!r}")


def _read_plain(hint: Any, value: Any, path: str, report: Report) -> Any:
    kind = type(value)
    if kind is hint or (hint is float and kind is int):
        return value
    report(path, f"must be {_PLAIN[hint]}, not {_name(value)}")
    return _BAD


def _read_limited(hint: Any, value: Any, path: str, report: Report) -> Any:
    inner, *extras = get_args(hint)
    result = _read(inner, value, path, report)
    if result is _BAD or result is None:
        return result
    for limits in extras:
        if isinstance(limits, Limits):
            _check_limits(limits, result, path, report)
    return result


def _check_limits(limits: Limits, value: Any, path: str, report: Report) -> None:
    is_number = isinstance(value, int)
    size = value if is_number else len(value)
    unit = "" if is_number else " characters" if isinstance(value, str) else " items"
    if limits.least is not None and size < limits.least:
        report(path, f"must be at least {limits.least}{unit}" if is_number or size else "must not be empty")
    if limits.most is not None and size > limits.most:
        report(path, f"must be at most {limits.most}{unit}")
    if limits.unique and not is_number and len(set(value)) != len(value):
        report(path, "must not repeat an item")


def _read_union(options: tuple[Any, ...], value: Any, path: str, report: Report) -> Any:
    if value is None and type(None) in options:
        return None
    rest = [option for option in options if option is not type(None)]
    if len(rest) == 1:
        return _read(rest[0], value, path, report)
    for option in rest:
        faults: list[str] = []
        result = _read(option, value, path, lambda _, fault, faults=faults: faults.append(fault))  # type: ignore[misc]
        if not faults:
            return result
    report(path, f"has no allowed type: {_name(value)}")
    return _BAD


def _read_literal(options: tuple[Any, ...], value: Any, path: str, report: Report) -> Any:
    for option in options:
        if type(option) is type(value) and option == value:
            return value
    report(path, "must be one of " + ", ".join(str(option) for option in options))
    return _BAD


def _read_list(hint: Any, value: Any, path: str, report: Report) -> Any:
    if not isinstance(value, (list, tuple)):
        report(path, f"must be a list, not {_name(value)}")
        return _BAD
    args = get_args(hint) or (Any, ...)
    is_fixed = get_origin(hint) is tuple and args[-1] is not Ellipsis
    if is_fixed and len(args) != len(value):
        report(path, f"must have exactly {len(args)} items")
        return _BAD
    hints = args if is_fixed else [args[0]] * len(value)
    pairs = enumerate(zip(hints, value, strict=True))
    items = [_read(inner, item, f"{path}[{i}]", report) for i, (inner, item) in pairs]
    if any(item is _BAD for item in items):
        return _BAD
    return items if get_origin(hint) is list else tuple(items)


def _read_object(hint: Any, value: Any, path: str, report: Report) -> Any:
    if not isinstance(value, dict):
        report(path, f"must be an object, not {_name(value)}")
        return _BAD
    args = get_args(hint)
    inner = args[1] if len(args) == 2 else Any
    return {key: _read(inner, item, _child(path, key), report) for key, item in value.items()}


def _read_dataclass(cls: Any, value: Any, path: str, report: Report) -> Any:
    if not isinstance(value, dict):
        report(path, f"must be an object, not {_name(value)}")
        return _BAD
    hints, required = shape(cls)
    for key in value:
        if key not in hints:
            report(path, f"unknown field {shown(str(key))}")
    for key in required:
        if key not in value:
            report(path, f"missing field {key}")
    given = {
        key: _read(hint, value[key], _child(path, key), report) for key, hint in hints.items() if key in value
    }
    if any(item is _BAD for item in given.values()) or not given.keys() >= set(required):
        return _BAD
    return cls(**given)


@functools.cache
def shape(cls: Any) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The fields of a dataclass with their resolved hints, and the names of those without a default."""
    hints = get_type_hints(cls, include_extras=True)
    fields = [item for item in dataclasses.fields(cls) if item.init]
    missing = dataclasses.MISSING
    required = [item.name for item in fields if item.default is missing and item.default_factory is missing]
    return {item.name: hints[item.name] for item in fields}, tuple(required)


def _child(path: str, key: str) -> str:
    return f"{path}.{key}" if key.isidentifier() else f"{path}[{shown(key)}]"


def _name(value: Any) -> str:
    if isinstance(value, dict):
        return "an object"
    return "a list" if isinstance(value, (list, tuple)) else _PLAIN.get(type(value), "something else")
