"""Which chunks of a segment one scope may read: the only thing an index ever derives from an access
decision.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from clearcite.adapters.indexes.local_format import Segment

Rows = NDArray[np.intp]
Mask = NDArray[np.bool_]


class Selection(Struct, frozen=True, kw_only=True):
    """The readable chunks of one segment: ``rows`` are their chunk numbers, ascending; ``number`` is the position in
    ``rows`` of each chunk, −1 where it is not readable.
    """

    number: NDArray[np.int32]
    rows: Rows
    all: bool

    @property
    def size(self) -> int:
        return self.rows.size


class Lists(Struct, frozen=True, kw_only=True):
    """Postings of which each is readable, their chunks numbered among the readable ones. ``covers``: see
    ``local_format``; None unless all is readable, because they are taken over all chunks and would let the time of
    a question tell of hidden ones.
    """

    offsets: NDArray[np.int64]
    ordinals: NDArray[np.int32]
    weights: NDArray[np.uint16]
    covers: NDArray[np.int32] | None = None


class Part(Struct, frozen=True, kw_only=True):
    """One segment a question goes through, with what is readable in it. ``lists``: None where postings of other
    chunks have to be dropped first.
    """

    segment: Segment
    readable: Selection
    lists: Lists | None = None


def select(segment: Segment, slots: Mask, kept: Mask | None) -> Selection:
    """Chunks whose slot is readable. ``kept``: chunks that count in this view; None means all of them."""
    if slots.size > segment.shape.high_slot:
        mask = slots[segment.slots]
    else:
        inside = segment.slots < slots.size
        mask = np.zeros(segment.chunks, np.bool_)
        mask[inside] = slots[segment.slots[inside]]
    if kept is not None:
        mask &= kept
    rows = np.flatnonzero(mask)
    number = np.full(segment.chunks, -1, np.int32)
    number[rows] = np.arange(rows.size, dtype=np.int32)
    return Selection(number=number, rows=rows, all=rows.size == segment.chunks)


class Selections:
    """The last selections, by segment and readable token, bounded in bytes. Equal tokens mean equal masks."""

    def __init__(self, limit_bytes: int = 64 << 20) -> None:
        self._limit = limit_bytes
        self._bytes = 0
        self._entries: OrderedDict[tuple[Any, ...], Selection] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: tuple[Any, ...], make: Callable[[], Selection]) -> Selection:
        with self._lock:
            found = self._entries.get(key)
            if found is not None:
                self._entries.move_to_end(key)
                return found
        made = make()
        with self._lock:
            if key not in self._entries:
                self._entries[key] = made
                self._bytes += _weight(made)
            while self._bytes > self._limit and len(self._entries) > 1:
                _, dropped = self._entries.popitem(last=False)
                self._bytes -= _weight(dropped)
        return made


def _weight(selection: Selection) -> int:
    return selection.number.nbytes + selection.rows.nbytes
