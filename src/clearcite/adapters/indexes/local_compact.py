"""Postings of readable chunks only, made once for a scope that asks often: what is hidden costs it nothing more.

They are a function of the segment and of the readable mask, like the selection they belong to, and of no question:
when they are made depends on how many questions the scope has asked, never on which.
"""

import threading
from collections import Counter, OrderedDict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearcite.adapters.indexes.local_format import Segment
from clearcite.adapters.indexes.local_readable import Lists, Rows, Selection

_PATIENCE = 64
"""Questions after which filtering each one has cost about as much as filtering all postings once."""
_LARGEST_SHARE = 4  # from one readable chunk in four on, filtering saves little and its result is large
_PIECE = 1 << 20  # postings that are filtered at a time
_MOST_COUNTED = 4_096


def whole(segment: Segment) -> Lists:
    """For who may read all of a segment."""
    return Lists(
        offsets=segment.offsets,
        ordinals=segment.ordinals,
        weights=segment.weights,
        covers=segment.covers,
    )


def compact(segment: Segment, readable: Selection) -> Lists:
    """The postings of the readable chunks, numbered among themselves."""
    ordinals: list[NDArray[np.int32]] = []
    weights: list[NDArray[np.uint16]] = []
    chosen: list[Rows] = []
    for start in range(0, segment.ordinals.size, _PIECE):
        numbers = readable.number.take(segment.ordinals[start : start + _PIECE])
        places = np.flatnonzero(numbers >= 0)
        ordinals.append(numbers.take(places))
        weights.append(segment.weights[start : start + _PIECE].take(places))
        chosen.append(places + start)
    return Lists(
        offsets=np.searchsorted(np.concatenate([*chosen, np.zeros(0, np.intp)]), segment.offsets),
        ordinals=np.concatenate([*ordinals, np.zeros(0, np.int32)]),
        weights=np.concatenate([*weights, np.zeros(0, np.uint16)]),
    )


class Compactions:
    """The last lists that were made, by segment and readable token, bounded in bytes. Thread-safe."""

    def __init__(self, limit_bytes: int = 64 << 20, patience: int = _PATIENCE) -> None:
        self._limit = limit_bytes
        self._patience = patience
        self._bytes = 0
        self._asked: Counter[tuple[Any, ...]] = Counter()
        self._entries: OrderedDict[tuple[Any, ...], Lists] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: tuple[Any, ...], segment: Segment, readable: Selection) -> Lists | None:
        """None: the scope has not asked often enough, or it may read too much for this to pay."""
        if readable.all:
            return whole(segment)
        if readable.size * _LARGEST_SHARE > segment.chunks:
            return None
        with self._lock:
            found = self._entries.get(key)
            if found is not None:
                self._entries.move_to_end(key)
                return found
            if len(self._asked) >= _MOST_COUNTED:
                self._asked.clear()
            self._asked[key] += 1
            if self._asked[key] != self._patience:  # more: another thread is about to make them
                return None
        made = compact(segment, readable)
        with self._lock:
            self._keep(key, made)
        return made

    def _keep(self, key: tuple[Any, ...], made: Lists) -> None:
        if _weight(made) > self._limit:
            return
        del self._asked[key]
        replaced = self._entries.pop(key, None)
        self._bytes += _weight(made) - (0 if replaced is None else _weight(replaced))
        self._entries[key] = made
        while self._bytes > self._limit:
            _, dropped = self._entries.popitem(last=False)
            self._bytes -= _weight(dropped)


def _weight(lists: Lists) -> int:
    return lists.offsets.nbytes + lists.ordinals.nbytes + lists.weights.nbytes
