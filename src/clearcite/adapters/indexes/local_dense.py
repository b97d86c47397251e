"""Exact dot products of int8 vectors: ``simsimd`` where it is installed, numpy otherwise, the same
integers.
"""

import contextlib
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearcite.adapters.indexes.local_rank import Candidates, candidates, drop_until, page
from clearcite.adapters.indexes.local_readable import Part, Rows
from clearcite.domain.retrieval import SCALE_BITS, Cursor, DenseQuery, HitPage
from clearcite.errors import InputError

simsimd: Any
try:
    import simsimd
except ImportError:  # the optional extra "semantic"; numpy gives the same integers, more slowly
    simsimd = None

Vectors = NDArray[np.int8]
Dots = NDArray[np.int64]
Kernel = Callable[[Vectors, Vectors, Rows | None], Dots]
"""Products of each row with a question; of the rows with these numbers only, where they are given."""

_BLOCK_BYTES = 768 * 1024  # of float32, so that a block stays in the second-level cache
_COPIED_BYTES = 256 * 1024
"""Of picked rows: they are still in the second-level cache when they are multiplied."""
_EXACT_DIMS = (1 << 24) // (128 * 128)  # up to here every partial sum is an integer that float32 holds
_SHARED_BYTES = 4 << 20  # of vectors: from here on a second thread saves more than it costs to start


def numpy_dots(vectors: Vectors, query: Vectors, rows: Rows | None = None) -> Dots:
    """See ``Kernel``: in blocks cast to a float type in which every partial sum is exact, whatever its order.

    Of many rows a second thread takes blocks as well. Nothing waits for it: what it has not finished when no block is
    left, as on a machine that is too busy to run it, is done here again.
    """
    kind: Any = np.float32 if query.size <= _EXACT_DIMS else np.float64
    step = max(1, _BLOCK_BYTES // (4 * query.size))
    wide = query.astype(kind)
    count = len(vectors) if rows is None else rows.size
    out = np.empty(count, kind)
    starts = range(0, count, step)
    done: set[int] = set()

    def work(mine: Iterable[int]) -> None:
        block, sums = np.empty((step, query.size), kind), np.empty(step, kind)
        for start in mine:
            part = _block(vectors, rows, start, step)
            size = len(part)
            np.copyto(block[:size], part)
            np.dot(block[:size], wide, out=sums[:size])
            # Complete: BLAS adds up in place, and the other may write too.
            out[start : start + size] = sums[:size]
            done.add(start)

    left = iter(starts)
    if count * query.size >= _SHARED_BYTES and _cores() > 1:
        with contextlib.suppress(RuntimeError):  # no thread can be started
            threading.Thread(target=work, args=(left,)).start()
    work(left)
    work([start for start in starts if start not in done])
    return out.astype(np.int64)


def _cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def simsimd_dots(vectors: Vectors, query: Vectors, rows: Rows | None = None) -> Dots:
    """See ``Kernel``: by simsimd, whose int8 kernels add up in int32.

    Into an array of its own each time: ``out=`` of ``cdist`` (6.5) returns a ``None`` that it does not own, and after
    some thousand calls Python 3.11 ends.
    """
    count = len(vectors) if rows is None else rows.size
    step = max(1, count if rows is None else _COPIED_BYTES // query.size)
    out = np.empty(count, np.int64)
    for start in range(0, count, step):
        part = _block(vectors, rows, start, step)
        out[start : start + step] = np.asarray(simsimd.cdist(query.reshape(1, -1), part, "dot"))[0]
    return out


def _block(vectors: Vectors, rows: Rows | None, start: int, step: int) -> Vectors:
    """Some of the rows that are asked for: in place if all are, else copied one after the other."""
    if rows is None:
        return vectors[start : start + step]
    return vectors.take(rows[start : start + step], axis=0)


def _agrees(kernel: Kernel) -> bool:
    """A known answer at the edges of int8: a kernel that saturates or rounds is not used."""
    edges = np.array([-128, 127, -128, 127, 1, -1, 0] * 55, np.int8)
    rows = np.stack([edges, -1 - edges, np.full_like(edges, -128), np.full_like(edges, 127)])
    wanted = rows.astype(np.int64) @ edges.astype(np.int64)
    try:
        return np.array_equal(kernel(rows, edges, None), wanted)
    except (TypeError, ValueError):
        return False


def _choose() -> tuple[str, Kernel]:
    if simsimd is not None and _agrees(simsimd_dots):
        return "simsimd", simsimd_dots
    return "numpy", numpy_dots


_NAME, dots = _choose()


def kernel_name() -> str:
    """Which kernel computes dense scores here: ``simsimd`` or ``numpy``. For ``doctor``."""
    return _NAME


_NOTHING = -(1 << 62)  # below every score: a dot product is at most 2^14 a dimension, a scale below 2^31
_IN_PLACE_PERCENT = 75
"""Of a segment's chunks: from there on multiplying all rows in place beats picking some."""


def search_dense(parts: Sequence[Part], query: DenseQuery, after: Cursor | None, limit: int) -> HitPage:
    """Every readable chunk that has a vector, best first. A score is the dot product times the row's scale.

    The scale of the question is left out: it is the same for all.
    """
    asked = np.frombuffer(query.vector, np.int8)
    documents = 0
    found: list[Candidates] = []
    for part in parts:
        if not part.segment.dims:
            continue
        if part.segment.dims != asked.size:
            raise InputError("The question's vector has another number of dimensions than the index.")
        rows, scores = _scores(part, asked)
        documents += scores.size
        if after:
            drop_until(after, part.segment, rows, scores, _NOTHING)
        found.append(candidates(part.segment, rows, scores, limit + 1, _NOTHING + 1))
    hits, following = page(found, limit)
    return HitPage(hits=hits, next=following, documents=documents, whole=_whole(asked))


def _whole(query: NDArray[np.int8]) -> int:
    """The score of a row in the direction of the question."""
    return isqrt(int((query.astype(np.int64) ** 2).sum())) << SCALE_BITS


def _scores(part: Part, query: Vectors) -> tuple[Rows | None, Dots]:
    """Scores of the readable rows that have a vector; rows None stands for all of the segment."""
    segment, readable = part.segment, part.readable
    rows = readable.rows
    if not segment.has_all_vectors:
        rows = rows[segment.scales[rows] > 0]
    elif readable.all:
        return None, _scaled(dots(segment.vectors, query, None), segment.scales)
    if rows.size * 100 >= segment.chunks * _IN_PLACE_PERCENT:
        return rows, _scaled(dots(segment.vectors, query, None)[rows], segment.scales[rows])
    return rows, _scaled(dots(segment.vectors, query, rows), segment.scales[rows])


def _scaled(products: Dots, scales: NDArray[np.uint32]) -> Dots:
    products *= scales
    return products
