"""Struct ↔ plain JSON value, by the type hints of the struct and nothing else.

Reading is strict: an unknown or missing field, a wrong type, a boolean where an integer belongs is a fault.
All faults of one value are reported together, each with its JSON path.
"""

import functools
import math
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeGuard, TypeVar, Union, get_args, get_origin

from msgspec import Struct
from msgspec.structs import fields

from clearcite.errors import InputError
from clearcite.wire.strict import shown

T = TypeVar("T")
Report = Callable[[str, str], None]
Place = tuple[Any, str | int] | None
"""Where a value stands: the place above it and its key there; None is the whole value."""
Fault = Callable[[Place, str], None]
Reader = Callable[[Any, Place, Fault], Any]

MAX_VIOLATIONS = 100
_BAD: Any = object()
_PLAIN = {str: "a string", int: "an integer", bool: "true or false", float: "a number", type(None): "null"}


class Limits(Struct, frozen=True, kw_only=True):
    """Bounds of a value, given as ``Annotated[type, Limits(...)]``; they also stand in the JSON Schema.

    ``least`` and ``most`` bound an integer, the length of a string in code points, or the items of a list.
    """

    least: int | None = None
    most: int | None = None
    unique: bool = False


def to_json(value: Any) -> Any:
    """Structs become dicts in the order of their fields, tuples become lists."""
    kind: Any = type(value)
    if kind in _PLAIN:
        return value
    if kind is tuple:
        return [to_json(item) for item in value]
    if isinstance(value, (str, int, float)):
        return value
    names = _names(kind)
    if names is not None:
        return {name: to_json(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return [to_json(item) for item in value]
    raise InputError(f"a {type(value).__name__} has no JSON form")


@functools.cache
def _names(cls: Any) -> tuple[str, ...] | None:
    """The fields of a struct; None for any other type."""
    return cls.__struct_fields__ if is_struct(cls) else None


def is_struct(hint: Any) -> TypeGuard[type[Struct]]:
    return isinstance(hint, type) and issubclass(hint, Struct)


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
    hint: Any = cls
    return _reader(hint)(value, None, lambda place, fault: report(_path(place), fault))


def _spoken(cls: type[Any]) -> str:
    return "".join(f" {char.lower()}" if char.isupper() else char for char in cls.__name__).strip()


@functools.cache
def _reader(hint: Any) -> Reader:
    """What reads a value of this hint. Hints are taken apart once, not for every value."""
    origin = get_origin(hint)
    if hint is Any:
        return lambda value, _place, _report: value
    if hint in _PLAIN:
        return _plain_reader(hint)
    if origin is Annotated:
        return _limited_reader(*get_args(hint))
    if origin in (Union, types.UnionType):
        return _union_reader(get_args(hint))
    if origin is Literal:
        return _literal_reader(get_args(hint))
    if is_struct(hint):
        return _struct_reader(hint)
    if origin in (tuple, list, Sequence):
        return _list_reader(hint)
    if hint is dict or origin in (dict, Mapping):
        return _object_reader(get_args(hint))
    raise TypeError(f"no JSON form is defined for {hint!r}")


def _plain_reader(kind: Any) -> Reader:
    def read_plain(value: Any, place: Place, report: Fault) -> Any:
        given = type(value)
        if given is kind or (kind is float and given is int):
            return value
        report(place, f"must be {_PLAIN[kind]}, not {_name(value)}")
        return _BAD

    return read_plain


def _limited_reader(inner: Any, *extras: Any) -> Reader:
    read_inner = _reader(inner)
    bounds = [item for item in extras if isinstance(item, Limits)]
    least = max((item.least for item in bounds if item.least is not None), default=-math.inf)
    most = min((item.most for item in bounds if item.most is not None), default=math.inf)
    is_plain = not any(item.unique for item in bounds)

    def read_limited(value: Any, place: Place, report: Fault) -> Any:
        result = read_inner(value, place, report)
        if result is not _BAD and result is not None:
            size = result if isinstance(result, int) else len(result)
            if not (is_plain and least <= size <= most):
                for limits in bounds:
                    _check_limits(limits, result, place, report)
        return result

    return read_limited


def _check_limits(limits: Limits, value: Any, place: Place, report: Fault) -> None:
    is_number = isinstance(value, int)
    size = value if is_number else len(value)
    unit = "" if is_number else " characters" if isinstance(value, str) else " items"
    if limits.least is not None and size < limits.least:
        report(place, f"must be at least {limits.least}{unit}" if is_number or size else "must not be empty")
    if limits.most is not None and size > limits.most:
        report(place, f"must be at most {limits.most}{unit}")
    if limits.unique and not is_number and len(set(value)) != len(value):
        report(place, "must not repeat an item")


def _union_reader(options: tuple[Any, ...]) -> Reader:
    rest = [_reader(option) for option in options if option is not type(None)]
    is_optional = len(rest) < len(options)
    only = rest[0]
    if len(rest) == 1:
        return lambda value, place, report: (
            None if value is None and is_optional else only(value, place, report)
        )

    def read_union(value: Any, place: Place, report: Fault) -> Any:
        if value is None and is_optional:
            return None
        for option in rest:
            faults: list[str] = []
            result = option(value, place, lambda _, fault, faults=faults: faults.append(fault))  # type: ignore[misc]
            if not faults:
                return result
        report(place, f"has no allowed type: {_name(value)}")
        return _BAD

    return read_union


def _literal_reader(options: tuple[Any, ...]) -> Reader:
    def read_literal(value: Any, place: Place, report: Fault) -> Any:
        for option in options:
            if type(option) is type(value) and option == value:
                return value
        report(place, "must be one of " + ", ".join(str(option) for option in options))
        return _BAD

    return read_literal


def _list_reader(hint: Any) -> Reader:
    args = get_args(hint) or (Any, ...)
    is_fixed = get_origin(hint) is tuple and args[-1] is not Ellipsis
    fixed = [_reader(arg) for arg in args] if is_fixed else [_reader(args[0])]
    build: Callable[[list[Any]], Any] = list if get_origin(hint) is list else tuple

    def read_list(value: Any, place: Place, report: Fault) -> Any:
        if not isinstance(value, (list, tuple)):
            report(place, f"must be a list, not {_name(value)}")
            return _BAD
        if is_fixed and len(fixed) != len(value):
            report(place, f"must have exactly {len(fixed)} items")
            return _BAD
        readers = fixed if is_fixed else fixed * len(value)
        pairs = enumerate(zip(readers, value, strict=True))
        items = [read_item(item, (place, i), report) for i, (read_item, item) in pairs]
        return _BAD if _BAD in items else build(items)

    return read_list


def _object_reader(args: tuple[Any, ...]) -> Reader:
    read_item = _reader(args[1] if len(args) == 2 else Any)

    def read_object(value: Any, place: Place, report: Fault) -> Any:
        if not isinstance(value, dict):
            report(place, f"must be an object, not {_name(value)}")
            return _BAD
        return {key: read_item(item, (place, key), report) for key, item in value.items()}

    return read_object


def _glance(hint: Any) -> tuple[float, float]:
    """Between which lengths a string is right for this hint, told at a glance: nearly everything that is read is such
    a string. No length is where only the reader can tell."""
    if get_origin(hint) in (Union, types.UnionType):
        options = [option for option in get_args(hint) if option is not type(None)]
        return _glance(options[0]) if len(options) == 1 else (1, 0)
    if hint is str:
        return 0, math.inf
    if get_origin(hint) is not Annotated or get_args(hint)[0] is not str:
        return 1, 0
    bounds = [item for item in get_args(hint)[1:] if isinstance(item, Limits)]
    least = max((item.least for item in bounds if item.least is not None), default=0)
    most = min((item.most for item in bounds if item.most is not None), default=math.inf)
    return (1, 0) if any(item.unique for item in bounds) else (least, most)


def _struct_reader(cls: Any) -> Reader:
    hints, required = shape(cls)
    glances = {name: _glance(hint) for name, hint in hints.items()}
    readers: dict[str, Reader] = {}  # made at the first value, for a class may hold itself

    def read_struct(value: Any, place: Place, report: Fault) -> Any:
        if not isinstance(value, dict):
            report(place, f"must be an object, not {_name(value)}")
            return _BAD
        if not readers:
            readers.update({name: _reader(hint) for name, hint in hints.items()})
        if not value.keys() <= hints.keys():
            for key in value:
                if key not in hints:
                    report(place, f"unknown field {shown(str(key))}")
        missing = [key for key in required if key not in value]
        for key in missing:
            report(place, f"missing field {key}")
        given: dict[str, Any] = {}
        is_bad = bool(missing)
        for name, (least, most) in glances.items():
            if name in value:
                item = value[name]
                if not (type(item) is str and least <= len(item) <= most):
                    item = readers[name](item, (place, name), report)
                    is_bad = is_bad or item is _BAD
                given[name] = item
        return _BAD if is_bad else cls(**given)

    return read_struct


@functools.cache
def shape(cls: Any) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The fields of a struct with their resolved hints, and the names of those without a default."""
    found = fields(cls)
    return {item.name: item.type for item in found}, tuple(item.name for item in found if item.required)


def _path(place: Place) -> str:
    """``$.field[0]``; only a fault needs it."""
    if place is None:
        return "$"
    above, key = place
    if isinstance(key, int):
        return f"{_path(above)}[{key}]"
    return f"{_path(above)}.{key}" if key.isidentifier() else f"{_path(above)}[{shown(key)}]"


def _name(value: Any) -> str:
    if isinstance(value, dict):
        return "an object"
    return "a list" if isinstance(value, (list, tuple)) else _PLAIN.get(type(value), "something else")
