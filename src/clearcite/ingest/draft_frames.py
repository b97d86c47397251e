"""A draft on its way between two processes: one line of JSON, and after it numbers and index terms as bytes.

The process that reads documents is not trusted: whatever comes back is checked here, and nothing later doubts
it. Numbers are signed integers of 32 bits, little-endian; then come the keys of the terms of all cuts, and then their
counts.
"""

import json
import re
import struct
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, get_args

from clearcite.domain.corpus import ChunkKind, Unit, UnitKind
from clearcite.domain.terms import COUNT_BYTES, KEY_BYTES, Terms
from clearcite.errors import InputError, TooLarge
from clearcite.ingest.chunk import Cut
from clearcite.ingest.draft import Draft, Sheet
from clearcite.wire.strict import loads

MAX_FRAME = 200_000_000
MAX_TEXT = 20_000_000

_UNSAFE = "the document could not be parsed safely"
_UNIT_KINDS: tuple[UnitKind, ...] = get_args(UnitKind)
_CHUNK_KINDS: tuple[ChunkKind, ...] = get_args(ChunkKind)
_SHA256 = re.compile(r"[0-9a-f]{64}")
_NONE = (-1, -1)
_KEY = f"{KEY_BYTES}s"
_CUT_NUMBERS = _UNIT_NUMBERS = 7
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

Span = tuple[int, int]


def encode_sheet(sheet: Sheet) -> bytes:
    return json.dumps([sheet.media_type, sheet.title, sheet.name, sheet.language]).encode("ascii")


def decode_sheet(data: bytes) -> Sheet:
    media_type, title, name, language = json.loads(data)
    return Sheet(media_type=media_type, title=title, name=name, language=language)


def encode_draft(draft: Draft) -> bytes:
    """Raises TooLarge."""
    if len(draft.text) > MAX_TEXT:
        raise TooLarge("the parsed document is too large")
    numbers: list[int] = []
    rows: list[Any] = []
    for cut, terms in zip(draft.cuts, draft.terms, strict=True):
        numbers += (cut.start, cut.end, -1 if cut.page is None else cut.page, _CHUNK_KINDS.index(cut.kind))
        numbers += (len(cut.units), len(terms), terms.words)
        for unit in cut.units:
            numbers += (_UNIT_KINDS.index(unit.kind), unit.start, unit.end)
            numbers += (*(unit.header or _NONE), *(unit.lead or _NONE))
        rows.append([cut.context, cut.heading, cut.flags])
    value = {
        "text": draft.text,
        "title": draft.title,
        "normal": draft.normal_sha256,
        "flags": draft.flags,
        "notes": draft.notes,
        "cuts": rows,
        "numbers": len(numbers),
    }
    keys, counts = [item.keys for item in draft.terms], [item.counts for item in draft.terms]
    packed = struct.pack(f"<{len(numbers)}i", *numbers)
    return b"".join((_encode(value).encode("utf-8"), b"\n", packed, *keys, *counts))


def decode_draft(data: bytes) -> Draft:
    """Raises InputError with the reader's own message, or for an answer that is not well formed."""
    line, _, rest = data.partition(b"\n")
    value = loads(line, max_bytes=MAX_FRAME)
    try:
        if "error" in value:
            raise InputError(str(value["error"]))
        return _draft(value, rest)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, struct.error):
        raise InputError(_UNSAFE) from None


def _draft(value: Any, rest: bytes) -> Draft:
    text = _string(value["text"])
    count = value["numbers"]
    numbers = struct.unpack_from(f"<{count:d}i", rest)
    cuts: list[Cut] = []
    sizes: list[tuple[int, int]] = []
    at = 0
    for row in value["cuts"]:
        units, *size = numbers[at + 4 : at + 7]
        end = at + _CUT_NUMBERS + units * _UNIT_NUMBERS
        cuts.append(_cut(row, numbers[at:end], len(text)))
        sizes.append((size[0], size[1]))
        at = end
    _need(bool(cuts) and at == len(numbers))
    _need(all(cut.end <= following.start for cut, following in pairwise(cuts)))
    return Draft(
        text=text,
        title=_string(value["title"]),
        normal_sha256=_sha256(value["normal"]),
        cuts=tuple(cuts),
        terms=tuple(_terms(sizes, rest[4 * count :])),
        flags=_strings(value["flags"]),
        notes=tuple((_string(name), _string(note)) for name, note in value["notes"]),
    )


def _terms(sizes: Sequence[tuple[int, int]], data: bytes) -> Iterator[Terms]:
    """The terms of each cut. ``sizes``: how many terms and words each has."""
    total = sum(terms for terms, _ in sizes)
    _need(len(data) == total * (KEY_BYTES + COUNT_BYTES))
    keys, counts = data[: total * KEY_BYTES], data[total * KEY_BYTES :]
    end = 0
    for terms, words in sizes:
        start, end = end, end + terms
        some = keys[start * KEY_BYTES : end * KEY_BYTES]
        counted = counts[start * COUNT_BYTES : end * COUNT_BYTES]
        _need(len(set(struct.unpack(_KEY * terms, some))) == terms)
        _need(0 not in struct.unpack(f"<{terms}I", counted))
        yield Terms(keys=some, counts=counted, words=words)


def _cut(row: Any, numbers: Sequence[int], size: int) -> Cut:
    """``size``: of the whole text, in which all spans lie."""
    context, heading, flags = row
    start, end, page, kind, units, terms, words = numbers[:_CUT_NUMBERS]
    _need(0 <= start < end <= size and page >= -1 and min(kind, units, terms, words) >= 0)
    places = range(_CUT_NUMBERS, len(numbers), _UNIT_NUMBERS)
    return Cut(
        start=start,
        end=end,
        context=_string(context),
        heading=_strings(heading),
        page=None if page < 0 else page,
        kind=_CHUNK_KINDS[kind],
        units=tuple([_unit(numbers[at : at + _UNIT_NUMBERS], (start, end), size) for at in places]),
        flags=_strings(flags),
    )


def _unit(numbers: Sequence[int], inside: Span, size: int) -> Unit:
    kind, start, end, header, header_end, lead, lead_end = numbers
    _need(inside[0] <= start < end <= inside[1] and kind >= 0)
    return Unit(
        kind=_UNIT_KINDS[kind],
        start=start,
        end=end,
        header=None if header == header_end == -1 else _outer(header, header_end, size),
        lead=None if lead == lead_end == -1 else _outer(lead, lead_end, size),
    )


def _outer(start: int, end: int, size: int) -> Span:
    """A span elsewhere in the text."""
    _need(0 <= start <= end <= size)
    return start, end


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _strings(values: Any) -> tuple[str, ...]:
    return tuple(_string(value) for value in values)


def _sha256(value: str) -> str:
    _need(_SHA256.fullmatch(value) is not None)
    return value


def _need(holds: bool) -> None:
    if not holds:
        raise ValueError
