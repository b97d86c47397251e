"""Canonical JSON: the byte form of RFC 8785 for values without floats. What is hashed is written here."""

import json
from typing import Any

from clearcite.errors import InputError
from clearcite.wire.strict import MAX_INTEGER

_MAX_DEPTH = 200


def canonical(value: Any) -> bytes:
    """Equal values give equal bytes, on every machine. Tuples count as lists.

    Raises InputError for a float, an integer outside ±(2^53 - 1), a key that is not a string, a lone
    surrogate, or any other type: nothing is rounded or repaired silently.
    """
    ordered = _ordered(value, 0)
    return json.dumps(ordered, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8")


def _ordered(value: Any, depth: int) -> Any:
    if value is None or value is True or value is False:
        return value
    kind = type(value)
    if kind is str:
        return _checked(value)
    if kind is int:
        if not -MAX_INTEGER <= value <= MAX_INTEGER:
            raise InputError("canonical JSON: an integer is outside ±9007199254740991")
        return value
    if depth >= _MAX_DEPTH:
        raise InputError("canonical JSON: nested too deeply")
    if kind is dict:
        return _ordered_object(value, depth)
    if kind in (list, tuple):
        return [_ordered(item, depth + 1) for item in value]
    raise InputError(f"canonical JSON: a {kind.__name__} has no canonical form")


def _ordered_object(value: dict[Any, Any], depth: int) -> dict[str, Any]:
    for key in value:
        if type(key) is not str:
            raise InputError("canonical JSON: a key is not a string")
        _checked(key)
    # RFC 8785 orders keys by UTF-16 code units, which differs from code points beyond the basic plane.
    keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
    return {key: _ordered(value[key], depth + 1) for key in keys}


def _checked(text: str) -> str:
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise InputError("canonical JSON: a string holds a lone surrogate") from None
    return text
