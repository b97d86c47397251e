"""A draft on its way between two processes: JSON of strings, with all numbers in one of them.

The process that reads documents is not trusted: whatever comes back is checked here, and nothing later doubts
it. Integers stand as decimal digits between spaces, terms as words between spaces, which no term holds; a term
counts once unless its place and its count stand among the numbers.
"""

import json
import re
from collections.abc import Iterator
from itertools import chain, islice, pairwise
from typing import Any, get_args

from clearcite.domain.corpus import ChunkKind, Unit, UnitKind
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
        several = [(i, count) for i, count in enumerate(terms.values()) if count > 1]
        numbers += (cut.start, cut.end, -1 if cut.page is None else cut.page, _CHUNK_KINDS.index(cut.kind))
        numbers += (len(cut.units), len(terms), len(several), *chain.from_iterable(several))
        for unit in cut.units:
            numbers += (_UNIT_KINDS.index(unit.kind), unit.start, unit.end)
            numbers += (*(unit.header or _NONE), *(unit.lead or _NONE))
        rows.append([cut.context, cut.heading, cut.flags, " ".join(terms)])
    value = {
        "text": draft.text,
        "title": draft.title,
        "normal": draft.normal_sha256,
        "flags": draft.flags,
        "notes": draft.notes,
        "cuts": rows,
        "numbers": " ".join(map(str, numbers)),
    }
    return _encode(value).encode("utf-8")


def decode_draft(data: bytes) -> Draft:
    """Raises InputError with the reader's own message, or for an answer that is not well formed."""
    value = loads(data, max_bytes=MAX_FRAME)
    try:
        if "error" in value:
            raise InputError(str(value["error"]))
        return _draft(value)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError):
        raise InputError(_UNSAFE) from None


def _draft(value: Any) -> Draft:
    text = _string(value["text"])
    numbers = iter([int(digits) for digits in value["numbers"].split()])
    pairs = [_cut(row, numbers, len(text)) for row in value["cuts"]]
    cuts = tuple(cut for cut, _ in pairs)
    _need(bool(cuts) and next(numbers, None) is None)
    _need(all(cut.end <= following.start for cut, following in pairwise(cuts)))
    return Draft(
        text=text,
        title=_string(value["title"]),
        normal_sha256=_sha256(value["normal"]),
        cuts=cuts,
        terms=tuple(terms for _, terms in pairs),
        flags=_strings(value["flags"]),
        notes=tuple((_string(name), _string(note)) for name, note in value["notes"]),
    )


def _cut(row: Any, numbers: Iterator[int], size: int) -> tuple[Cut, dict[str, int]]:
    """A cut and its terms. ``size``: of the whole text, in which all spans lie."""
    context, heading, flags, words = row
    start, end, page, kind, units, terms, several = islice(numbers, 7)
    _need(0 <= start < end <= size and page >= -1 and min(kind, units, terms, several) >= 0)
    names = words.split()
    counts = dict.fromkeys(names, 1)
    for _ in range(several):
        i, count = islice(numbers, 2)
        _need(i >= 0 and count >= 1)
        counts[names[i]] = count
    _need(len(names) == len(counts) == terms)
    cut = Cut(
        start=start,
        end=end,
        context=_string(context),
        heading=_strings(heading),
        page=None if page < 0 else page,
        kind=_CHUNK_KINDS[kind],
        units=tuple([_unit(numbers, (start, end), size) for _ in range(units)]),
        flags=_strings(flags),
    )
    return cut, counts


def _unit(numbers: Iterator[int], inside: Span, size: int) -> Unit:
    kind, start, end, *others = islice(numbers, 7)
    _need(inside[0] <= start < end <= inside[1] and kind >= 0)
    return Unit(
        kind=_UNIT_KINDS[kind],
        start=start,
        end=end,
        header=_outer(others[0], others[1], size),
        lead=_outer(others[2], others[3], size),
    )


def _outer(start: int, end: int, size: int) -> Span | None:
    """A span elsewhere in the text, or none."""
    if start == end == -1:
        return None
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
