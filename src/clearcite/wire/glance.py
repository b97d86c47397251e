"""Reading one line of JSON at a glance: nearly all lines of a feed are right, and most of a careful reader's time goes
into being able to say what is wrong.

What is read so is what ``strict.loads`` and ``convert.read`` would have read. They look at any other line: at a wrong
one, and at one that only they can judge.
"""

import functools
from collections.abc import Callable
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from msgspec import DecodeError, Meta, Struct, convert, defstruct
from msgspec.json import Decoder
from msgspec.structs import fields

from clearcite.wire.convert import Limits

_WHITE = b" \t\r\n"
_NOTHING = Annotated[int, Meta(gt=0, lt=0)]
_decode = Decoder().decode

Fill = Callable[[Any], Any]


def glance(cls: type[Struct], line: bytes, fill: Fill) -> Any:
    """The fields of ``cls`` from one object of JSON, in an object with the same fields; None where it has to be read
    with care. ``fill``: what is done to the parsed value before."""
    kind, unique = _quick(cls)
    try:
        value = _decode(line)
        # A colon after a quotation mark stands after each key, and may stand in a string: as many as there are
        # different keys means that none stands twice, which the decoder does not tell.
        if type(value) is not dict or line.translate(None, _WHITE).count(b'":') != len(value):
            return None
        found = convert(fill(value), kind)
    except (DecodeError, RecursionError):
        return None
    for name in unique:
        items = getattr(found, name)
        if items and len(set(items)) != len(items):
            return None
    return found


@functools.cache
def _quick(cls: type[Struct]) -> tuple[type[Struct], tuple[str, ...]]:
    """A struct that takes what ``cls`` takes, as far as that is plain; and its fields whose items must differ."""
    made: list[Any] = []
    for item in fields(cls):
        hint = _plain(item.type)
        made.append((item.name, hint) if item.required else (item.name, hint, item.default))
    quick = defstruct(f"Quick{cls.__name__}", made, kw_only=True, forbid_unknown_fields=True, gc=False)
    return quick, tuple(item.name for item in fields(cls) if _is_unique(item.type))


def _plain(hint: Any) -> Any:
    """A hint for the decoder, which takes no value at all where it has no word for it."""
    origin, args = get_origin(hint), get_args(hint)
    if hint in (str, int, bool, type(None), Ellipsis) or origin is Literal:
        return hint
    if origin in (Union, UnionType):
        return Union[tuple(map(_plain, args))]  # noqa: UP007 - made at run time
    if origin is tuple:
        return tuple[tuple(map(_plain, args))]  # type: ignore[misc]
    if origin is not Annotated:
        return _NOTHING
    inner = _plain(args[0])
    for limits in (item for item in args[1:] if isinstance(item, Limits)):
        least, most = limits.least, limits.most
        bounds = Meta(ge=least, le=most) if args[0] is int else Meta(min_length=least, max_length=most)
        inner = Annotated[inner, bounds]
    return inner


def _is_unique(hint: Any) -> bool:
    if get_origin(hint) in (Union, UnionType):
        return any(map(_is_unique, get_args(hint)))
    return get_origin(hint) is Annotated and any(
        isinstance(item, Limits) and item.unique for item in get_args(hint)
    )
