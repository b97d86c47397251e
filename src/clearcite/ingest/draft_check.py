"""What the process that reads documents says of one, checked: it is not trusted, and nothing later doubts a draft.

A module of its own, because that process needs none of it. See ``draft_frames`` for how a frame is made.
"""

import re
import struct
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

import numpy as np
import numpy.typing as npt
from msgspec import MsgspecError
from msgspec.json import Decoder

from clearcite.domain.corpus import Unit
from clearcite.domain.terms import COUNT_BYTES, KEY_BYTES, STEM_BYTES, TERM_BYTES, Terms
from clearcite.errors import InputError
from clearcite.ingest.chunk import Cut
from clearcite.ingest.draft import Draft
from clearcite.ingest.draft_frames import CHUNK_KINDS, UNIT_KINDS, Line, Refusal

_UNSAFE = "the document could not be parsed safely"
_SHA256 = re.compile(r"[0-9a-f]{64}")
_KEY = struct.Struct(f"{KEY_BYTES}s{STEM_BYTES}x")
_NUMBER_BYTES = 4
_ROW = struct.Struct("<7i")

_decode = Decoder(Line).decode
_decode_refusal = Decoder(Refusal).decode

Span = tuple[int, int]
Names = tuple[str, tuple[str, ...], tuple[str, ...]]
"""Context, heading and flags of a cut."""


def decode_draft(data: bytes) -> Draft:
    """Raises InputError with the reader's own message, or for an answer that is not well formed."""
    line, _, rest = data.partition(b"\n")
    try:
        if line.startswith(b'{"error"'):
            raise InputError(_decode_refusal(line).error)
        return _draft(_decode(line), rest)
    except (MsgspecError, ValueError, IndexError, RecursionError, struct.error):
        raise InputError(_UNSAFE) from None


def _draft(said: Line, rest: bytes) -> Draft:
    size = _NUMBER_BYTES * said.numbers
    _need(0 <= size <= len(rest) and _SHA256.fullmatch(said.normal) is not None)
    rows = _ROW.iter_unpack(rest[:size])
    cuts = [_cut(names, rows, len(said.text)) for names in said.cuts]
    _need(bool(cuts) and next(rows, None) is None)
    _need(all(one.end <= following.start for (one, *_), (following, *_) in pairwise(cuts)))
    return Draft(
        text=said.text,
        title=said.title,
        normal_sha256=said.normal,
        cuts=tuple([cut for cut, _, _ in cuts]),
        terms=tuple(_terms([(terms, words) for _, terms, words in cuts], rest[size:])),
        flags=said.flags,
        notes=said.notes,
    )


def _terms(sizes: Sequence[tuple[int, int]], data: bytes) -> Iterator[Terms]:
    """The terms of each cut. ``sizes``: how many terms and words each has."""
    total = sum([terms for terms, _ in sizes])
    _need(len(data) == total * (TERM_BYTES + COUNT_BYTES))
    keys, counts = data[: total * TERM_BYTES], data[total * TERM_BYTES :]
    # A count of up to 255, as nearly all are, shows in its first byte that it is none of 0.
    _need(0 not in counts[::COUNT_BYTES] or bool(np.frombuffer(counts, "<u4").all()))
    halves = np.frombuffer(keys, "<u8")[:: TERM_BYTES // 8]
    end = 0
    for terms, words in sizes:
        start, end = end, end + terms
        some = keys[start * TERM_BYTES : end * TERM_BYTES]
        _need(_are_different(halves[start:end]) or len(set(_KEY.iter_unpack(some))) == terms)
        yield Terms(keys=some, counts=counts[start * COUNT_BYTES : end * COUNT_BYTES], words=words)


def _are_different(halves: npt.NDArray[np.uint64]) -> bool:
    """Whether keys are told apart by their first halves, as nearly always: sorting numbers is quick."""
    ordered = halves.copy()
    ordered.sort()
    return bool(np.count_nonzero(ordered[1:] == ordered[:-1]) == 0)


def _cut(names: Names, rows: Iterator[tuple[int, ...]], size: int) -> tuple[Cut, int, int]:
    """A cut, and how many terms and words it has. ``size``: of the whole text, in which all spans lie."""
    context, heading, flags = names
    start, end, page, kind, units, terms, words = next(rows, ())
    _need(0 <= start < end <= size and page >= -1 and kind >= 0 and units >= 0 and terms >= 0 and words >= 0)
    made = tuple([_unit(row, start, end, size) for row in islice(rows, units)])
    _need(len(made) == units)
    cut = Cut(
        start=start,
        end=end,
        context=context,
        heading=heading,
        page=None if page < 0 else page,
        kind=CHUNK_KINDS[kind],
        units=made,
        flags=flags,
    )
    return cut, terms, words


def _unit(row: tuple[int, ...], first: int, last: int, size: int) -> Unit:
    """``first``, ``last``: the span of its cut, in which it lies."""
    kind, start, end, header, header_end, lead, lead_end = row
    if not (first <= start < end <= last and kind >= 0):
        raise ValueError
    return Unit(
        UNIT_KINDS[kind],
        start,
        end,
        None if header == header_end == -1 else _outer(header, header_end, size),
        None if lead == lead_end == -1 else _outer(lead, lead_end, size),
    )


def _outer(start: int, end: int, size: int) -> Span:
    """A span elsewhere in the text."""
    _need(0 <= start <= end <= size)
    return start, end


def _need(holds: bool) -> None:
    if not holds:
        raise ValueError
