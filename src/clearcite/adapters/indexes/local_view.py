"""An opened index: which segments a question goes through, and what is readable in them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from clearcite.adapters.indexes.local_compact import Compactions
from clearcite.adapters.indexes.local_dense import search_dense
from clearcite.adapters.indexes.local_differences import differences
from clearcite.adapters.indexes.local_format import CHUNK_ID, Segment
from clearcite.adapters.indexes.local_lexical import search_lexical
from clearcite.adapters.indexes.local_readable import Mask, Part, Rows, Selection, Selections, select
from clearcite.domain.retrieval import Cursor, DenseQuery, HitPage, LexicalQuery
from clearcite.errors import InputError, IntegrityFault
from clearcite.ports import IndexDifference, IndexEntry, Readable


class LocalView:
    """Implements ``IndexView`` over opened segments. Immutable and thread-safe."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        """``segments`` in the order they were committed: of an entry that stands in two, the later one
        counts.
        """
        self.segments = tuple(segments)
        self._by_partition: dict[str, list[Segment]] = {}
        for segment in segments:
            self._by_partition.setdefault(segment.partition, []).append(segment)
        self._kept = kept_chunks(self._by_partition.values())
        self._selections = Selections()
        self._compactions = Compactions()

    def partitions(self) -> Iterator[tuple[str, tuple[Segment, ...]]]:
        """Each partition with its segments, in the order they were committed."""
        for partition, segments in self._by_partition.items():
            yield partition, tuple(segments)

    def select(self, segment: Segment, slots: Mask) -> Selection:
        """The chunks of a segment that stand in no later one and whose slot is set."""
        return select(segment, slots, self._kept.get(segment.name))

    def search(
        self, query: LexicalQuery | DenseQuery, readable: Readable, after: Cursor | None, limit: int
    ) -> HitPage:
        """See ``IndexView.search``. For a dense query N counts the readable chunks that have a vector.

        Raises InputError for a limit below one, a malformed cursor or a vector of another length, and
        IntegrityFault when a segment turns out to be damaged.
        """
        if limit < 1:
            raise InputError("The limit must be at least 1.")
        if after and not CHUNK_ID.fullmatch(after.chunk_id):
            raise InputError("The cursor is malformed.")
        try:
            if isinstance(query, LexicalQuery):
                return search_lexical(self._parts(readable, with_lists=True), query, after, limit)
            return search_dense(self._parts(readable, with_lists=False), query, after, limit)
        except IndexError as error:
            raise IntegrityFault("A segment of the index is damaged.") from error

    def differences(self, entries: Iterable[IndexEntry]) -> Iterator[IndexDifference]:
        """See ``IndexView.differences``."""
        shelves = {
            partition: [(segment, self._kept.get(segment.name)) for segment in self._by_partition[partition]]
            for partition in sorted(self._by_partition)
        }
        return differences(shelves, entries)

    def check(self) -> None:
        """Sum up every segment. Raises IntegrityFault when one is damaged."""
        for segment in self.segments:
            segment.check()

    def _parts(self, readable: Readable, *, with_lists: bool) -> list[Part]:
        token = readable.token
        parts: list[Part] = []
        for partition in dict.fromkeys(readable.partitions):
            segments = self._by_partition.get(partition, ())
            for segment in segments:
                segment.check()
                key = (segment.name, token)
                selection = self._selections.get(key, partial(self._select, segment, readable))
                if selection.size:
                    lists = self._compactions.get(key, segment, selection) if with_lists else None
                    parts.append(Part(segment=segment, readable=selection, lists=lists))
        return parts

    def _select(self, segment: Segment, readable: Readable) -> Selection:
        return self.select(segment, readable.mask(segment.partition))


def kept_chunks(partitions: Iterable[Sequence[Segment]]) -> Mapping[str, Mask]:
    """For each segment of which a chunk is repeated in a later one: the chunks that are not.

    Two workers may have projected the same revision, each in a segment of its own. Slots rise with time,
    so that segments that share none, nearly all of them, are told apart by their lowest and highest slot.
    """
    kept: dict[str, Mask] = {}
    for segments in partitions:
        for i, earlier in enumerate(segments):
            for later in segments[i + 1 :]:
                repeated = _repeated(earlier, later)
                if repeated.size:
                    mask = kept.setdefault(earlier.name, np.ones(earlier.chunks, np.bool_))
                    mask[repeated] = False
    return kept


def _repeated(earlier: Segment, later: Segment) -> Rows:
    """Chunk numbers of the earlier segment whose slot and id stand in the later one too."""
    if earlier.shape.low_slot > later.shape.high_slot or later.shape.low_slot > earlier.shape.high_slot:
        return np.zeros(0, np.intp)
    common = np.intersect1d(earlier.slots, later.slots)
    here, there = (np.flatnonzero(np.isin(segment.slots, common)) for segment in (earlier, later))
    known = set(_entry_keys(later, there))
    return here[[key in known for key in _entry_keys(earlier, here)]]


def _entry_keys(segment: Segment, rows: Rows) -> list[tuple[int, bytes]]:
    ids = segment.ids[rows]
    return [(slot, ids[i].tobytes()) for i, slot in enumerate(segment.slots[rows].tolist())]
