"""What stands in segments against what should: entry by entry, in the order both are in.

Postings are stored by term, and an entry is a chunk. Turning them round would take memory that grows with the
postings, so each chunk gets a fingerprint instead: the sum, modulo 2^128, of a mixed number for each of its
postings (term and weight). Sums do not depend on the order.
"""

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from clearcite.adapters.indexes.local_format import Segment, hinted_keys, term_counts
from clearcite.adapters.indexes.local_readable import Mask
from clearcite.adapters.indexes.local_scoring import Bm25
from clearcite.ports import IndexDifference, IndexEntry

Shelf = Sequence[tuple[Segment, Mask | None]]
"""The segments of a partition, each with the chunks that count (None: all)."""

Place = tuple[str, int, str]
Words = NDArray[np.uint64]

_POSTINGS = 1 << 18  # at once
_FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)


class _Stored(Struct, frozen=True, order=True):
    """An entry as it stands in a segment."""

    place: Place
    row: int
    segment: int


def differences(shelves: Mapping[str, Shelf], entries: Iterable[IndexEntry]) -> Iterator[IndexDifference]:
    """Walk through both at once; ``shelves`` and ``entries`` are in order of the partition."""
    stored = _walk(shelves)
    there = next(stored, None)
    for entry in entries:
        place = (entry.partition, entry.slot, entry.chunk_id)
        while there is not None and there[0] < place:
            yield _difference("extra", there[0])
            there = next(stored, None)
        if there is None or there[0] != place:
            yield _difference("missing", place)
            continue
        if not _is_same(entry, *there[1:]):
            yield _difference("differs", place)
        there = next(stored, None)
    while there is not None:
        yield _difference("extra", there[0])
        there = next(stored, None)


def _difference(what: Literal["missing", "extra", "differs"], place: Place) -> IndexDifference:
    return IndexDifference(what=what, partition=place[0], slot=place[1], chunk_id=place[2])


def _walk(shelves: Mapping[str, Shelf]) -> Iterator[tuple[Place, "_Printed", int]]:
    for partition, shelf in shelves.items():
        printed = [_Printed(segment) for segment, _ in shelf]
        walks = [_rows(partition, number, *part) for number, part in enumerate(shelf)]
        for stored in heapq.merge(*walks):
            yield stored.place, printed[stored.segment], stored.row


def _rows(partition: str, number: int, segment: Segment, kept: Mask | None) -> Iterator[_Stored]:
    for row in range(segment.chunks):
        if kept is None or kept[row]:
            place = (partition, int(segment.slots[row]), segment.ids[row].tobytes().hex())
            yield _Stored(place, row, number)


class _Printed:
    """A segment with the fingerprints of its chunks, made when the first is asked for."""

    def __init__(self, segment: Segment) -> None:
        self.segment = segment
        self._prints: tuple[Words, Words] | None = None

    def print_of(self, row: int) -> tuple[int, int]:
        if self._prints is None:
            self._prints = self._print_all()
        return int(self._prints[0][row]), int(self._prints[1][row])

    def _print_all(self) -> tuple[Words, Words]:
        segment = self.segment
        first, second = np.zeros(segment.chunks, np.uint64), np.zeros(segment.chunks, np.uint64)
        for start in range(0, segment.shape.postings, _POSTINGS):
            end = min(start + _POSTINGS, segment.shape.postings)
            terms = np.searchsorted(segment.offsets, np.arange(start, end), side="right") - 1
            rows = segment.ordinals[start:end]
            weights = segment.weights[start:end].astype(np.uint64)
            one, two = _mixed(segment.high[terms], segment.low[terms], weights)
            np.add.at(first, rows, one)
            np.add.at(second, rows, two)
        return first, second


def _is_same(entry: IndexEntry, printed: _Printed, row: int) -> bool:
    segment = printed.segment
    if entry.vector is not None and not (
        segment.dims
        and int(segment.scales[row]) == entry.vector.scale
        and segment.vectors[row].tobytes() == entry.vector.data
    ):
        return False
    shape = segment.shape
    bm25 = Bm25(k1=shape.k1, b=shape.b, average_length=shape.average_length)
    return printed.print_of(row) == _expected(entry, bm25)


def _expected(entry: IndexEntry, bm25: Bm25) -> tuple[int, int]:
    if not entry.terms:
        return 0, 0
    keys, counts = hinted_keys([entry.terms.keys]), term_counts([entry.terms.counts])
    weights = bm25.weights(counts, np.full(counts.size, entry.terms.words, np.int64)).astype(np.uint64)
    one, two = _mixed(keys[:, 0], keys[:, 1], weights)
    return int(np.add.reduce(one)), int(np.add.reduce(two))


def _mixed(high: Words, low: Words, weights: Words) -> tuple[Words, Words]:
    """Two well mixed numbers for each posting; unsigned integers wrap around."""
    one = _scramble(_scramble(high + weights * _FIRST) ^ low)
    return one, _scramble(one + _SECOND)


def _scramble(values: Words) -> Words:
    """The finalizer of SplitMix64 (Steele, Lea and Flood, 2014)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
