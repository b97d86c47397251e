"""What the process that reads documents says of one, checked: it is not trusted, and nothing later doubts a draft.

A frame has only the keys that no frame of its process had before, so frames are read in their order.

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
from clearcite.domain.terms import KEY_BYTES, NUMBER_BYTES, STEM_BYTES, TERM_BYTES, Terms
from clearcite.errors import InputError, ReadingFailed
from clearcite.ingest.chunk import Cut
from clearcite.ingest.draft import Draft
from clearcite.ingest.draft_frames import CHUNK_KINDS, UNIT_KINDS, Line, Refusal
from clearcite.text.keys import MOST_TERMS

_UNSAFE = "the document could not be parsed safely"
_SHA256 = re.compile(r"[0-9a-f]{64}")
_KEY = struct.Struct(f"{KEY_BYTES}s{STEM_BYTES}x")
_ROW = struct.Struct("<7i")
_KEY_TYPE = np.dtype(f"V{TERM_BYTES}")

_decode = Decoder(Line).decode
_decode_refusal = Decoder(Refusal).decode

Span = tuple[int, int]
Names = tuple[str, tuple[str, ...], tuple[str, ...]]
"""Context, heading and flags of a cut."""


class TermTable:
    """The keys of terms that a process told in its frames so far, by number. Not thread-safe."""

    __slots__ = ("_keys", "_told")

    def __init__(self) -> None:
        self._keys = np.empty(0, _KEY_TYPE)
        self._told = 0

    def learn(self, told: int, keys: bytes) -> None:
        """More keys, after so many that were told before. After 0 it begins anew: a process that was renewed knows
        nothing of the one before. One that goes on without ever doing so is refused, and fills no memory. Raises
        ReadingFailed, for this says nothing of the document: it is tried again."""
        if told not in (0, self._told) or told > MOST_TERMS:
            raise ReadingFailed(_UNSAFE)
        if not keys and told:
            return
        fresh = np.frombuffer(keys, _KEY_TYPE)
        self._told = told + fresh.size
        if not told or self._told > self._keys.size:
            before = self._keys[:told]
            self._keys = np.empty(2 * self._told, _KEY_TYPE)
            self._keys[:told] = before
        self._keys[told : self._told] = fresh

    def count(self, numbers: npt.NDArray[np.uint32], words: int) -> Terms:
        """The terms of a text, of which each stands there as often as its number does."""
        if not numbers.size:
            return Terms(words=words)
        ordered = numbers >> 1
        ordered.sort()
        _need(ordered.item(-1) < self._told)
        is_last = np.ones(ordered.size, np.bool_)
        np.not_equal(ordered[1:], ordered[:-1], out=is_last[:-1])
        last = is_last.nonzero()[0]
        keys = self._keys.take(ordered.take(last))
        _need(
            _are_different(keys.view("<u8")[:: TERM_BYTES // 8])
            or len(set(_KEY.iter_unpack(keys.tobytes()))) == keys.size
        )
        counts = (last + 1).astype("<u4")
        counts[1:] -= counts[:-1].copy()
        return Terms(keys=keys.tobytes(), counts=counts.tobytes(), words=words)


def decode_draft(data: bytes, table: TermTable) -> Draft:
    """Raises InputError with the reader's own message, or for an answer that is not well formed. ``table``: what the
    answers before it told."""
    line, _, rest = data.partition(b"\n")
    try:
        if line.startswith(b'{"error"'):
            raise InputError(_decode_refusal(line).error)
        return _draft(_decode(line), rest, table)
    except (MsgspecError, ValueError, IndexError, RecursionError, struct.error):
        raise InputError(_UNSAFE) from None


def _draft(said: Line, rest: bytes, table: TermTable) -> Draft:
    size = NUMBER_BYTES * said.numbers
    end = size + TERM_BYTES * said.keys
    _need(0 <= size <= end <= len(rest))
    table.learn(said.told, rest[size:end])
    _need(_SHA256.fullmatch(said.normal) is not None)
    rows = _ROW.iter_unpack(rest[:size])
    cuts = [_cut(names, rows, len(said.text)) for names in said.cuts]
    _need(bool(cuts) and next(rows, None) is None)
    _need(all(one.end <= following.start for (one, *_), (following, *_) in pairwise(cuts)))
    return Draft(
        text=said.text,
        title=said.title,
        normal_sha256=said.normal,
        cuts=tuple([cut for cut, _, _ in cuts]),
        terms=tuple(_terms([(terms, words) for _, terms, words in cuts], rest[end:], table)),
        flags=said.flags,
        notes=said.notes,
    )


def _terms(sizes: Sequence[tuple[int, int]], data: bytes, table: TermTable) -> Iterator[Terms]:
    """The terms of each cut. ``sizes``: how many terms, each as often as it stands there, and words each has."""
    numbers = np.frombuffer(data, "<u4")
    _need(numbers.size == sum([terms for terms, _ in sizes]))
    end = 0
    for terms, words in sizes:
        start, end = end, end + terms
        yield table.count(numbers[start:end], words)


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
