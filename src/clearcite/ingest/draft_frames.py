"""A draft on its way between two processes: one line of JSON, and after it numbers and index terms as bytes.

The process that reads documents is not trusted: ``draft_check`` looks at whatever comes back. Numbers are signed
integers of 32 bits, little-endian, in rows of seven: one for each cut, and after it one for each of its units. Then
come the terms of all cuts as ``Terms.keys`` has them, and then their counts.
"""

import json
import struct
from typing import Any, get_args

from clearcite.domain.corpus import ChunkKind, UnitKind
from clearcite.errors import TooLarge
from clearcite.ingest.draft import Draft, Sheet

MAX_TEXT = 20_000_000

UNIT_KINDS: tuple[UnitKind, ...] = get_args(UnitKind)
CHUNK_KINDS: tuple[ChunkKind, ...] = get_args(ChunkKind)
_NONE = (-1, -1)
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


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
        numbers += (cut.start, cut.end, -1 if cut.page is None else cut.page, CHUNK_KINDS.index(cut.kind))
        numbers += (len(cut.units), len(terms), terms.words)
        for unit in cut.units:
            numbers += (UNIT_KINDS.index(unit.kind), unit.start, unit.end)
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
