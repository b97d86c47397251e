"""A draft on its way between two processes: one line of JSON, and after it numbers and index terms as bytes.

The process that reads documents is not trusted: whatever comes back is checked here, and nothing later doubts
it. Numbers are signed integers of 32 bits, little-endian, in rows of seven: one for each cut, and after it one for each
of its units. Then come the keys of the terms of all cuts, and then their counts.
"""

import json
import re
import struct
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice, pairwise
from typing import Any, get_args

from clearcite.domain.corpus import ChunkKind, Unit, UnitKind
from clearcite.domain.terms import COUNT_BYTES, KEY_BYTES, STEM_BYTES, TERM_BYTES, Terms
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
_KEY = f"{KEY_BYTES}s{STEM_BYTES}x"
_KEYS = struct.Struct(_KEY)
_FEW_TERMS = 500
_NUMBER_BYTES = 4
_ROW = struct.Struct("<7i")
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
    size = _NUMBER_BYTES * value["numbers"]
    _need(0 <= size <= len(rest))
    rows = _ROW.iter_unpack(rest[:size])
    cuts = [_cut(names, rows, len(text)) for names in value["cuts"]]
    _need(bool(cuts) and next(rows, None) is None)
    _need(all(one.end <= following.start for (one, *_), (following, *_) in pairwise(cuts)))
    return Draft(
        text=text,
        title=_string(value["title"]),
        normal_sha256=_sha256(value["normal"]),
        cuts=tuple([cut for cut, _, _ in cuts]),
        terms=tuple(_terms([(terms, words) for _, terms, words in cuts], rest[size:])),
        flags=_strings(value["flags"]),
        notes=tuple([(_string(name), _string(note)) for name, note in value["notes"]]),
    )


def _terms(sizes: Sequence[tuple[int, int]], data: bytes) -> Iterator[Terms]:
    """The terms of each cut. ``sizes``: how many terms and words each has."""
    total = sum([terms for terms, _ in sizes])
    _need(len(data) == total * (TERM_BYTES + COUNT_BYTES))
    keys, counts = data[: total * TERM_BYTES], data[total * TERM_BYTES :]
    _need(0 not in memoryview(counts).cast("I"))
    end = 0
    for terms, words in sizes:
        start, end = end, end + terms
        some = keys[start * TERM_BYTES : end * TERM_BYTES]
        read = _KEYS.iter_unpack if terms > _FEW_TERMS else _keys(terms).unpack
        _need(len(set(read(some))) == terms)
        yield Terms(keys=some, counts=counts[start * COUNT_BYTES : end * COUNT_BYTES], words=words)


@lru_cache(maxsize=_FEW_TERMS + 1)
def _keys(terms: int) -> struct.Struct:
    """Chunks are of a few sizes: what reads one is made once."""
    return struct.Struct(_KEY * terms)


def _cut(names: Any, rows: Iterator[tuple[int, ...]], size: int) -> tuple[Cut, int, int]:
    """A cut, and how many terms and words it has. ``size``: of the whole text, in which all spans lie."""
    context, heading, flags = names
    start, end, page, kind, units, terms, words = next(rows, ())
    _need(0 <= start < end <= size and page >= -1 and kind >= 0 and units >= 0 and terms >= 0 and words >= 0)
    made = tuple([_unit(row, start, end, size) for row in islice(rows, units)])
    _need(len(made) == units)
    cut = Cut(
        start=start,
        end=end,
        context=_string(context),
        heading=_strings(heading),
        page=None if page < 0 else page,
        kind=_CHUNK_KINDS[kind],
        units=made,
        flags=_strings(flags),
    )
    return cut, terms, words


def _unit(row: tuple[int, ...], first: int, last: int, size: int) -> Unit:
    """``first``, ``last``: the span of its cut, in which it lies."""
    kind, start, end, header, header_end, lead, lead_end = row
    _need(first <= start < end <= last and kind >= 0)
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
    return () if values == [] else tuple([_string(value) for value in values])


def _sha256(value: str) -> str:
    _need(_SHA256.fullmatch(value) is not None)
    return value


def _need(holds: bool) -> None:
    if not holds:
        raise ValueError
