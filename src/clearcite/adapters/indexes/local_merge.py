"""Segments of one partition → one segment, in memory that does not grow with the postings or the vectors."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from clearcite.adapters.indexes.local_build import agreed, append_postings, pack_postings
from clearcite.adapters.indexes.local_files import Held
from clearcite.adapters.indexes.local_format import Segment, SegmentWriter, Shape, id_keys, new_segment
from clearcite.adapters.indexes.local_readable import Mask
from clearcite.errors import IntegrityFault

Numbers = NDArray[np.int64]

MOST_POSTINGS = 1 << 20  # copied at once: some 60 MB while they are sorted
_ROWS = 8192  # vectors copied at once
_MOST_SEGMENTS = 6  # of one partition: a question pays some 0.07 ms for each
_MOST_AT_ONCE = 32  # the terms of all are in memory
_DEAD_SHARE = 4


def due(sizes: Sequence[tuple[int, int]], *, erase: bool) -> list[int]:
    """Which segments of a partition to merge into one now; ``sizes``: of each its chunks, and those still
    wanted.

    Those of which a quarter is dead (with ``erase``: anything), and, when there are many, the smallest
    ones, a bounded number, going on while the next is no larger than twice what was taken. So a chunk is
    copied a logarithmic number of times.
    """
    dead = [chunks - wanted for chunks, wanted in sizes]
    chosen = {
        i for i, (chunks, _) in enumerate(sizes) if dead[i] and (erase or dead[i] * _DEAD_SHARE >= chunks)
    }
    if len(sizes) - max(len(chosen) - 1, 0) > _MOST_SEGMENTS:
        taken = 0
        for rank, i in enumerate(sorted(range(len(sizes)), key=lambda i: (sizes[i][1], i))):
            if rank > 1 and (sizes[i][1] > 2 * taken or rank == _MOST_AT_ONCE):
                break
            chosen.add(i)
            taken += sizes[i][1]
    return sorted(chosen)


class _Source(Struct, frozen=True, kw_only=True):
    """A segment on its way: the new number of each of its chunks (−1: left out) and of each of its terms."""

    segment: Segment
    chunk_numbers: Numbers
    term_numbers: Numbers
    frequencies: Numbers


class _Order(Struct, frozen=True, kw_only=True):
    """For each new chunk number the source and the chunk number in it."""

    source: Numbers
    row: Numbers


def merge_segments(path: Path, segments: Sequence[Segment], wanted: Sequence[Mask], held: Held) -> bool:
    """Write the wanted chunks of the segments as one. Returns False, and writes nothing, when there are none.

    The result is the file that writing the same entries at once would have made.
    """
    order, chunk_numbers = _order_chunks(segments, wanted)
    if not order.row.size:
        return False
    sources, keys, frequencies = _number_terms(segments, chunk_numbers)
    shape = _shape(segments, order, frequencies)
    with new_segment(path, shape, held) as out:
        out.append("partition", segments[0].partition.encode("utf-8"))
        _copy_chunks(out, segments, order, shape.dims)
        out.append("high", keys[:, 0])
        out.append("low", keys[:, 1])
        out.append("offsets", np.concatenate([[0], np.cumsum(frequencies)]))
        _copy_postings(out, sources, frequencies)
        out.append("covers", _merged_covers(sources, frequencies.size))
    return True


def _order_chunks(segments: Sequence[Segment], wanted: Sequence[Mask]) -> tuple[_Order, list[Numbers]]:
    rows = [np.flatnonzero(mask) for mask in wanted]
    source = np.repeat(np.arange(len(segments)), [some.size for some in rows])
    row = np.concatenate(rows)
    slots = np.concatenate([segment.slots[some] for segment, some in zip(segments, rows, strict=True)])
    keys = [id_keys(segment.ids[some]) for segment, some in zip(segments, rows, strict=True)]
    order = np.lexsort(
        (np.concatenate([low for _, low in keys]), np.concatenate([high for high, _ in keys]), slots)
    )
    source, row = source[order], row[order]
    numbers = [np.full(segment.chunks, -1, np.int64) for segment in segments]
    for i, some in enumerate(numbers):
        mine = np.flatnonzero(source == i)
        some[row[mine]] = mine
    return _Order(source=source, row=row), numbers


def _number_terms(
    segments: Sequence[Segment], chunk_numbers: Sequence[Numbers]
) -> tuple[list[_Source], NDArray[np.uint64], Numbers]:
    """Sources, the keys of the terms that are left, and their frequencies."""
    high = np.concatenate([segment.high for segment in segments])
    low = np.concatenate([segment.low for segment in segments])
    order = np.argsort(high)
    shared = np.flatnonzero(high[order[1:]] == high[order[:-1]])
    if (low[order[1:][shared]] != low[order[:-1][shared]]).any():  # hardly ever: half a digest is shared
        order = np.lexsort((low, high))
    high, low = high[order], low[order]
    is_first = np.ones(order.size, np.bool_)
    is_first[1:] = (high[1:] != high[:-1]) | (low[1:] != low[:-1])
    numbers = np.empty(order.size, np.int64)
    numbers[order] = np.cumsum(is_first) - 1
    counts = np.concatenate([_frequencies(*pair) for pair in zip(segments, chunk_numbers, strict=True)])
    total = np.bincount(numbers, weights=counts, minlength=int(is_first.sum())).astype(np.int64)
    left = total > 0
    numbers = (np.cumsum(left) - 1)[numbers]
    ends = np.cumsum([segment.shape.terms for segment in segments])[:-1]
    parts = zip(segments, chunk_numbers, np.split(numbers, ends), np.split(counts, ends), strict=True)
    sources = [
        _Source(segment=segment, chunk_numbers=chunks, term_numbers=terms, frequencies=some)
        for segment, chunks, terms, some in parts
    ]
    return sources, np.stack([high[is_first][left], low[is_first][left]], axis=1), total[left]


def _merged_covers(sources: Sequence[_Source], terms: int) -> Numbers:
    """The covers on which all segments agree in which a term is left. What one knows holds for any of its chunks; what
    only a chunk that is left out stood against is not found out again.
    """
    numbers: list[Numbers] = []
    covers: list[Numbers] = []
    for source in sources:
        left = np.flatnonzero(source.frequencies)
        cover = source.segment.covers[left]
        numbers.append(source.term_numbers[left])
        covers.append(np.where(cover < 0, -1, source.term_numbers[cover]))
    return agreed(np.concatenate(numbers), np.concatenate(covers), terms, -1)


def _frequencies(segment: Segment, chunk_numbers: Numbers) -> Numbers:
    """How many wanted chunks each term of a segment has."""
    if chunk_numbers.min(initial=0) >= 0:
        return np.diff(segment.offsets)
    counts = np.zeros(segment.shape.terms, np.int64)
    for first, last in _blocks(np.diff(segment.offsets)):
        start, end = segment.offsets[first], segment.offsets[last]
        wanted = chunk_numbers.take(segment.ordinals[start:end]) >= 0
        running = np.concatenate([[0], np.cumsum(wanted)])
        counts[first:last] = np.diff(running[segment.offsets[first : last + 1] - start])
    return counts


def _blocks(frequencies: Numbers) -> list[tuple[int, int]]:
    """Ranges of terms with a bounded number of postings each, except where one term alone has more."""
    ends = np.cumsum(frequencies)
    blocks: list[tuple[int, int]] = []
    first = 0
    while first < frequencies.size:
        before = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + MOST_POSTINGS, side="right")))
        blocks.append((first, last))
        first = last
    return blocks


def _copy_postings(out: SegmentWriter, sources: Sequence[_Source], frequencies: Numbers) -> None:
    for first, last in _blocks(frequencies):
        terms, chunks, weights = zip(*(_renumbered(source, first, last) for source in sources), strict=True)
        append_postings(
            out, pack_postings(np.concatenate(terms), np.concatenate(chunks), np.concatenate(weights))
        )


def _renumbered(source: _Source, first: int, last: int) -> tuple[Numbers, Numbers, NDArray[np.uint16]]:
    """The wanted postings of a source for the new terms ``first`` to ``last``, counted from ``first``."""
    segment = source.segment
    start, end = np.searchsorted(source.term_numbers, [first, last])
    span = slice(int(segment.offsets[start]), int(segment.offsets[end]))
    chunks = source.chunk_numbers.take(segment.ordinals[span])
    terms = np.repeat(source.term_numbers[start:end] - first, np.diff(segment.offsets[start : end + 1]))
    wanted = chunks >= 0
    return terms[wanted], chunks[wanted], segment.weights[span][wanted]


def _shape(segments: Sequence[Segment], order: _Order, frequencies: Numbers) -> Shape:
    dims = {segment.dims for segment in segments if segment.dims}
    if len(dims) > 1:
        raise IntegrityFault("Segments of one index hold vectors of different lengths.")
    rows = [order.row[order.source == i] for i in range(len(segments))]
    slots = [segment.slots[some] for segment, some in zip(segments, rows, strict=True)]
    vectors = sum(
        int(np.count_nonzero(segment.scales[some])) if segment.dims else 0
        for segment, some in zip(segments, rows, strict=True)
    )
    first = segments[0].shape
    return Shape(
        chunks=order.row.size,
        terms=frequencies.size,
        postings=int(frequencies.sum()),
        partition_bytes=first.partition_bytes,
        dims=dims.pop() if vectors else 0,
        vectors=vectors,
        low_slot=min(int(some.min()) for some in slots if some.size),
        high_slot=max(int(some.max()) for some in slots if some.size),
        k1=first.k1,
        b=first.b,
        average_length=first.average_length,
    )


def _copy_chunks(out: SegmentWriter, segments: Sequence[Segment], order: _Order, dims: int) -> None:
    for start in range(0, order.row.size, _ROWS):
        source, row = order.source[start : start + _ROWS], order.row[start : start + _ROWS]
        ids = np.zeros((row.size, 16), np.uint8)
        slots, scales = np.zeros(row.size, np.uint32), np.zeros(row.size, np.uint32)
        vectors = np.zeros((row.size, dims), np.int8)
        for i, segment in enumerate(segments):
            mine = source == i
            ids[mine], slots[mine] = segment.ids[row[mine]], segment.slots[row[mine]]
            if dims and segment.dims:
                scales[mine], vectors[mine] = segment.scales[row[mine]], segment.vectors[row[mine]]
        out.append("ids", ids)
        out.append("slots", slots)
        if dims:
            out.append("scales", scales)
            out.append("vectors", vectors)
