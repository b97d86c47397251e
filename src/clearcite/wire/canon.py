"""Canonical JSON: the byte form of RFC 8785 for values without floats. What is hashed is written here."""

import json
from collections.abc import Iterable
from typing import Any

from clearcite.errors import InputError
from clearcite.wire.strict import MAX_INTEGER

_MAX_DEPTH = 200
_AS_GIVEN = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
_SORTED = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False, sort_keys=True).encode


def canonical(value: Any) -> bytes:
    """Equal values give equal bytes, on every machine. Tuples count as lists.

    Raises InputError for a float, an integer outside ±(2^53 - 1), a key that is not a string, a lone
    surrogate, or any other type: nothing is rounded or repaired silently.
    """
    if _has_plain_keys(value, 0):
        return _SORTED(value).encode("utf-8")
    return _AS_GIVEN(_ordered(value)).encode("utf-8")


def _has_plain_keys(value: Any, depth: int) -> bool:
    """Whether every key is ASCII, so that any order of strings is the one order. Raises InputError as above.

    Leaves are looked at where they stand: there are ten of them to each list or dictionary.
    """
    kind = type(value)
    if kind is dict:
        is_plain, items = _are_plain(value), value.values()
    elif kind is list or kind is tuple:
        is_plain, items = True, value
    else:
        _check_leaf(value)
        return True
    if depth >= _MAX_DEPTH:
        raise InputError("canonical JSON: nested too deeply")
    for item in items:
        kind = type(item)
        if kind is str and item.isascii():
            continue
        if kind is dict or kind is list or kind is tuple:
            is_plain &= _has_plain_keys(item, depth + 1)
        elif item is not None:
            _check_leaf(item)
    return is_plain


def _are_plain(keys: Iterable[Any]) -> bool:
    is_plain = True
    for key in keys:
        if type(key) is not str:
            raise InputError("canonical JSON: a key is not a string")
        if not key.isascii():
            _check(key)
            is_plain = False
    return is_plain


def _check_leaf(value: Any) -> None:
    kind = type(value)
    if kind is str:
        _check(value)
    elif kind is int:
        if not -MAX_INTEGER <= value <= MAX_INTEGER:
            raise InputError("canonical JSON: an integer is outside ±9007199254740991")
    elif value is not None and kind is not bool:
        raise InputError(f"canonical JSON: a {kind.__name__} has no canonical form")


def _ordered(value: Any) -> Any:
    """RFC 8785 orders keys by UTF-16 code units, which differs from code points beyond the basic plane."""
    if type(value) is dict:
        return {key: _ordered(value[key]) for key in sorted(value, key=lambda key: key.encode("utf-16-be"))}
    if type(value) in (list, tuple):
        return [_ordered(item) for item in value]
    return value


def _check(text: str) -> None:
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise InputError("canonical JSON: a string holds a lone surrogate") from None
