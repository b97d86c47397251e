"""A draft on its way between two processes: one line of JSON, and after it numbers and index terms as bytes.

The process that reads documents is not trusted: ``draft_check`` looks at whatever comes back. Numbers are signed
integers of 32 bits, little-endian, in rows of seven: one for each cut, and after it one for each of its units. Then
come the keys of terms that no frame had before (see ``Vocabulary.tell``), and then the terms of all cuts by number.
"""

import sys
from array import array
from collections.abc import Sequence
from typing import get_args

from msgspec import Struct
from msgspec.json import Decoder, Encoder

from clearcite.domain.corpus import ChunkKind, UnitKind
from clearcite.domain.terms import NUMBER_BYTES, TERM_BYTES
from clearcite.errors import TooLarge
from clearcite.ingest.draft import Draft, Sheet
from clearcite.text.keys import Vocabulary, words_of

MAX_TEXT = 20_000_000

UNIT_KINDS: tuple[UnitKind, ...] = get_args(UnitKind)
CHUNK_KINDS: tuple[ChunkKind, ...] = get_args(ChunkKind)
_UNIT_KINDS = {kind: number for number, kind in enumerate(UNIT_KINDS)}
_CHUNK_KINDS = {kind: number for number, kind in enumerate(CHUNK_KINDS)}
_NONE = (-1, -1)
_encode = Encoder().encode
_decode_sheet = Decoder(Sheet).decode


class Line(Struct, frozen=True, kw_only=True):
    """The line before the numbers. ``cuts``: context, heading and flags of each; ``numbers``: how many there are;
    ``told`` and ``keys``: how many keys the frames before this one had, and how many it has."""

    text: str
    title: str
    normal: str
    flags: tuple[str, ...]
    notes: tuple[tuple[str, str], ...]
    cuts: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]
    numbers: int
    told: int
    keys: int


class Refusal(Struct, frozen=True, kw_only=True):
    """Why there is no draft; the whole answer then."""

    error: str


def encode_sheet(sheet: Sheet) -> bytes:
    return _encode(sheet)


def decode_sheet(data: bytes) -> Sheet:
    return _decode_sheet(data)


def encode_draft(draft: Draft, texts: Sequence[str], language: str | None, vocabulary: Vocabulary) -> bytes:
    """A draft without terms, with the texts that they are made of here. Raises TooLarge."""
    if len(draft.text) > MAX_TEXT:
        raise TooLarge("the parsed document is too large")
    numbers: list[int] = []
    terms = [vocabulary.numbers(text, language) for text in texts]
    told, keys = vocabulary.tell()
    for cut, some in zip(draft.cuts, terms, strict=True):
        numbers += (cut.start, cut.end, -1 if cut.page is None else cut.page, _CHUNK_KINDS[cut.kind])
        numbers += (len(cut.units), len(some) // NUMBER_BYTES, words_of(some))
        for kind, start, end, header, lead in cut.units:
            numbers += (_UNIT_KINDS[kind], start, end, *(header or _NONE), *(lead or _NONE))
    line = Line(
        text=draft.text,
        title=draft.title,
        normal=draft.normal_sha256,
        flags=draft.flags,
        notes=draft.notes,
        cuts=tuple([(cut.context, cut.heading, cut.flags) for cut in draft.cuts]),
        numbers=len(numbers),
        told=told,
        keys=len(keys) // TERM_BYTES,
    )
    packed = array("i", numbers)
    if sys.byteorder == "big":
        packed.byteswap()
    return b"".join((_encode(line), b"\n", packed.tobytes(), keys, *terms))
