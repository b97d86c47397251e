"""One strict loader for all JSON from outside.

Every well-known parser keeps the last of two equal keys, accepts NaN or rounds large integers; here each of
these is an InputError. What comes back holds only dict, list, str, int, float, bool and None.
"""

import json
import re
from typing import Any, NoReturn

from clearcite.errors import DuplicateKey, InputError, TooLarge

MAX_BYTES = 16_000_000
MAX_DEPTH = 64
MAX_INTEGER = 2**53 - 1
"""The largest integer that every JSON implementation keeps exact."""

_ESCAPED_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def loads(raw: bytes | str, *, max_bytes: int = MAX_BYTES, max_depth: int = MAX_DEPTH) -> Any:
    """Parse one JSON text.

    Raises DuplicateKey, TooLarge (bytes, depth) or InputError (syntax, encoding, byte order mark, NaN,
    Infinity, lone surrogates, integers outside ±(2^53 - 1)). Messages hold no values, except a repeated key.
    """
    data = _encode(raw, max_bytes)
    text = _decode(data, max_bytes)
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise InputError(
            f"not valid JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        ) from None
    except RecursionError:
        raise TooLarge(f"JSON is nested deeper than {max_depth} levels") from None
    nested = text.count("[") + text.count("{") > max_depth
    if nested or _ESCAPED_SURROGATE.search(data):
        _walk(value, max_depth)
    return value


def shown(text: str, limit: int = 60) -> str:
    """A string of the input as a message may show it: escaped, in quotes, cut."""
    cut = text if len(text) <= limit else text[:limit] + "…"
    return json.dumps(cut, ensure_ascii=not cut.isprintable())


def _encode(raw: bytes | str, max_bytes: int) -> bytes:
    if isinstance(raw, bytes):
        return raw
    if len(raw) > max_bytes:
        raise TooLarge(f"JSON is larger than {max_bytes} bytes")
    try:
        return raw.encode("utf-8")
    except UnicodeEncodeError:
        raise InputError("not valid Unicode: a lone surrogate") from None


def _decode(data: bytes, max_bytes: int) -> str:
    if len(data) > max_bytes:
        raise TooLarge(f"JSON is larger than {max_bytes} bytes")
    if data.startswith(b"\xef\xbb\xbf"):
        raise InputError("not valid JSON: it starts with a byte order mark")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"not valid UTF-8 at byte {error.start}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise DuplicateKey(f"the key {shown(key)} stands twice in one object")
            seen.add(key)
    return result


def _integer(digits: str) -> int:
    # The length is looked at first: int() of a very long string is slow, and refused with a ValueError.
    if len(digits) <= 17:
        value = int(digits)
        if -MAX_INTEGER <= value <= MAX_INTEGER:
            return value
    raise InputError("an integer is outside ±9007199254740991")


def _float(digits: str) -> float:
    value = float(digits)
    if value - value != 0:
        raise InputError("a number is too large to be finite")
    return value


def _constant(name: str) -> NoReturn:
    raise InputError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_float, parse_constant=_constant
)


def _walk(value: Any, max_depth: int) -> None:
    """Check depth and strings without recursion."""
    pending: list[tuple[Any, int]] = [(value, 0)]
    while pending:
        item, depth = pending.pop()
        if isinstance(item, str):
            _check_surrogates(item)
        elif isinstance(item, (dict, list)):
            if depth >= max_depth:
                raise TooLarge(f"JSON is nested deeper than {max_depth} levels")
            if isinstance(item, dict):
                pending.extend((key, depth + 1) for key in item)
                pending.extend((child, depth + 1) for child in item.values())
            else:
                pending.extend((child, depth + 1) for child in item)


def _check_surrogates(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise InputError("a string holds a lone surrogate") from None
