"""Which slots a scope may read, as one boolean mask a partition. The index asks this and nothing else.

Per generation and partition the newest visibility rows stand as columns by slot: two access classes (served
and head side), a window, and whether anything is served at all. A principal is judged once per class, not per
document; a change of a collection re-judges classes only. A scope that names sources narrows the mask to their
documents, before anything is counted. Columns are immutable and swapped by reference, so
requests at different ledger positions never see each other's rows. A mask is kept by what it was made of and
the span of instants in which no window opens or closes; never by age.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from clearcite.domain.access import AccessClass, Acl, Groups, Micros, Principal, class_admits, path_judge
from clearcite.domain.visible import ALWAYS, NEVER, VisibilityRow, VisibilityRows

if TYPE_CHECKING:
    from clearcite.domain.corpus import DocumentKey
    from clearcite.domain.retrieval import Scope
    from clearcite.ports import Snapshot

Mask = NDArray[np.bool_]
Instants = NDArray[np.int64]
Classes = NDArray[np.int32]
Documents = NDArray[np.int64]
Slots = NDArray[np.intp]
K = TypeVar("K")
V = TypeVar("V")
T = TypeVar("T", bound=np.generic)

NOTHING: Mask = np.zeros(0, dtype=np.bool_)
NOTHING.setflags(write=False)

_OVERHEAD = 1_000  # bytes a cached value costs besides its arrays, roughly
_COLUMN_BYTES = 512_000_000
_VERDICT_BYTES = 64_000_000
_MASK_BYTES = 128_000_000
_MAX_SPANS = 8
_serials = count(1)


class Bounded(Generic[K, V]):
    """A mapping that forgets what was used longest ago, once its values outgrow a number of bytes.

    ``weigh`` tells the bytes of a value. The newest value always stays. Thread-safe.
    """

    def __init__(self, limit: int, weigh: Callable[[V], int]) -> None:
        self._limit = limit
        self._weigh = weigh
        self._bytes = 0
        self._lock = threading.Lock()
        self._items: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K) -> V | None:
        with self._lock:
            value = self._items.get(key)
            if value is not None:
                self._items.move_to_end(key)
            return value

    def put(self, key: K, value: V) -> None:
        with self._lock:
            before = self._items.pop(key, None)
            self._bytes += self._weigh(value) - (0 if before is None else self._weigh(before))
            self._items[key] = value
            while self._bytes > self._limit and len(self._items) > 1:
                _, forgotten = self._items.popitem(last=False)
                self._bytes -= self._weigh(forgotten)


class ClassTable:
    """Numbers the access classes of a partition. A number, once given, stays; so verdicts can be extended.

    A class is a pair: ``lists`` and ``parents`` number its halves, so that a change of a collection judges the paths
    again and none of the lists below it, however many there are.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers: dict[AccessClass, int] = {}
        self._lists: dict[Acl, int] = {}
        self._parents: dict[str | None, int] = {}
        self._pairs: list[tuple[int, int]] = []
        self._halves: NDArray[np.int32] = np.zeros((0, 2), dtype=np.int32)
        self.lists: list[Acl] = []
        self.parents: list[str | None] = []
        self.serial = next(_serials)

    def number(self, classes: Iterable[AccessClass]) -> list[int]:
        with self._lock:
            return [self._add(cls) for cls in classes]

    def halves(self, count: int) -> NDArray[np.int32]:
        """The numbers of list and parent of the first ``count`` classes, one row each."""
        with self._lock:
            if len(self._halves) < len(self._pairs):
                fresh = np.array(self._pairs[len(self._halves) :], dtype=np.int32).reshape(-1, 2)
                self._halves = np.concatenate([self._halves, fresh])
            return self._halves[:count]

    def _add(self, cls: AccessClass) -> int:
        number = self._numbers.get(cls)
        if number is None:
            number = self._numbers[cls] = len(self._pairs)
            acl = _numbered(self._lists, self.lists, cls.acl)
            self._pairs.append((acl, _numbered(self._parents, self.parents, cls.parent)))
        return number


def _numbered(numbers: dict[K, int], items: list[K], item: K) -> int:
    if item not in numbers:
        numbers[item] = len(items)
        items.append(item)
    return numbers[item]


class Columns(Struct, frozen=True, kw_only=True, eq=False):
    """One partition of one generation, by slot, as it stood from ``changed`` to ``position``, both included.

    ``served`` and ``head`` are numbers of the table; only its first ``count`` are used. Bounds of windows
    that are open are the extreme integers. ``windowed``: the slots with a bound, normally few. The arrays are never
    changed, so that those an update leaves alike are shared.
    """

    table: ClassTable
    position: int
    changed: int
    count: int
    served: Classes
    head: Classes
    document: Documents
    valid_from: Instants
    valid_to: Instants
    present: Mask
    supersedes: Mask
    windowed: Slots

    @staticmethod
    def empty(table: ClassTable) -> Columns:
        instants = np.zeros(0, dtype=np.int64)
        classes = np.zeros(0, dtype=np.int32)
        return Columns(
            table=table,
            position=0,
            changed=0,
            count=0,
            served=classes,
            head=classes,
            document=instants,
            valid_from=instants,
            valid_to=instants,
            present=NOTHING,
            supersedes=NOTHING,
            windowed=np.zeros(0, dtype=np.intp),
        )

    def updated(self, rows: VisibilityRows, position: int) -> Columns:
        """New columns with newer rows laid over these."""
        if not len(rows):
            return replace(self, position=position)
        size = max(len(self.present), int(rows.slot.max()) + 1)
        known = sorted(rows.classes)
        numbers = np.array(self.table.number(rows.classes[name] for name in known), dtype=np.int32)

        def laid(column: NDArray[T], values: NDArray[Any], rest: int = 0) -> NDArray[T]:
            """A column, longer if need be, with values at the slots: a copy, unless they stand there already."""
            if size == len(column) and np.array_equal(column.take(rows.slot), values):
                return column
            copy = np.empty(size, dtype=column.dtype)
            copy[: len(column)] = column
            copy[len(column) :] = rest
            copy[rows.slot] = values
            return copy

        starts = laid(self.valid_from, rows.valid_from, ALWAYS)
        ends = laid(self.valid_to, rows.valid_to, NEVER)
        is_same = starts is self.valid_from and ends is self.valid_to
        return Columns(
            table=self.table,
            position=position,
            changed=int(rows.position.max()),
            count=max(self.count, int(numbers.max()) + 1),
            served=laid(self.served, numbers[np.searchsorted(known, rows.served)]),
            head=laid(self.head, numbers[np.searchsorted(known, rows.head)]),
            document=laid(self.document, rows.document),
            valid_from=starts,
            valid_to=ends,
            present=laid(self.present, rows.present),
            supersedes=laid(self.supersedes, rows.supersedes),
            windowed=self.windowed if is_same else np.flatnonzero((starts != ALWAYS) | (ends != NEVER)),
        )

    def permitted(self, verdicts: Mask) -> Mask:
        """Slots that both sides' classes admit, whatever the instant. Slots without a row are not present."""
        if not self.count:
            return NOTHING
        return self.present & verdicts.take(self.served) & verdicts.take(self.head)


class Span(Struct, frozen=True, eq=False):
    """A mask and the instants it holds for: from ``start`` on, before ``end``.

    ``superseding``: the slots of it that supersede others."""

    start: Micros
    end: Micros
    mask: Mask
    token: tuple[Any, ...]
    counts: Mapping[str, int]
    superseding: tuple[int, ...] = ()


class ReadableNow(Struct, frozen=True, eq=False):
    """Implements ``ports.Readable``: the masks of one scope at one ledger position and instant."""

    spans: Mapping[str, Span]

    @property
    def partitions(self) -> tuple[str, ...]:
        return tuple(self.spans)

    @property
    def token(self) -> tuple[Any, ...]:
        return tuple(span.token for span in self.spans.values())

    def mask(self, partition: str) -> Mask:
        span = self.spans.get(partition)
        return NOTHING if span is None else span.mask

    def slots(self, partition: str) -> list[int]:
        """The readable slots, rising."""
        return np.flatnonzero(self.mask(partition)).tolist()

    def superseding(self, partition: str) -> tuple[int, ...]:
        """The readable slots whose documents supersede others; normally a handful."""
        span = self.spans.get(partition)
        return () if span is None else span.superseding

    def shows(self, partition: str, slot: int) -> bool:
        mask = self.mask(partition)
        return 0 <= slot < len(mask) and bool(mask[slot])

    def counts(self, partition: str) -> Mapping[str, int]:
        span = self.spans.get(partition)
        return {} if span is None else span.counts


class Visibility:
    """Answers ``readable`` for one ledger. Thread-safe; the bytes of columns, verdicts and masks are bounded."""

    def __init__(self) -> None:
        self._columns: Bounded[tuple[str, str], Columns] = Bounded(_COLUMN_BYTES, _column_bytes)
        self._verdicts: Bounded[tuple[Any, ...], Mask] = Bounded(_VERDICT_BYTES, _verdict_bytes)
        self._masks: Bounded[tuple[Any, ...], tuple[Span, ...]] = Bounded(_MASK_BYTES, _mask_bytes)
        self._sources: Bounded[tuple[Any, ...], Mask] = Bounded(_VERDICT_BYTES, _verdict_bytes)

    def readable(self, snapshot: Snapshot, scope: Scope) -> ReadableNow:
        """What the scope may read. An identity without tenant, subject or groups reads nothing."""
        if not _identified(scope.principal):
            return ReadableNow(spans={})
        return ReadableNow(spans={name: self._narrowed(snapshot, name, scope) for name in scope.partitions})

    def reasons(self, snapshot: Snapshot, scope: Scope) -> Mapping[DocumentKey, tuple[str, ...]]:
        """For an operator: why each document of the store is not readable in a scope; () if it is.

        Several may apply: tenant_mismatch, not_published, outside_effective_window, acl_denied, quarantined.
        """
        found: dict[DocumentKey, tuple[str, ...]] = {}
        for partition in snapshot.partitions():
            rows = {row.document: row for row in snapshot.visibility_since(partition, 0)}
            _, collections = snapshot.collections(partition)
            for key, document in snapshot.numbers(partition):
                found[key] = _reasons(rows.get(document), collections, scope, partition)
        return found

    def _narrowed(self, snapshot: Snapshot, partition: str, scope: Scope) -> Span:
        """What the scope may read, of the sources it names."""
        columns = self._current(snapshot, partition)
        span = self._span(snapshot, partition, columns, scope)
        if not scope.sources:
            return span
        key = (snapshot.generation, partition, columns.table.serial, columns.changed, scope.sources)
        chosen = self._sources.get(key)
        if chosen is None:
            documents = snapshot.documents_of(partition, scope.sources)
            chosen = np.isin(columns.document, np.array(documents, dtype=np.int64))
            self._sources.put(key, chosen)
        mask = span.mask & chosen[: len(span.mask)]
        mask.setflags(write=False)
        return replace(span, mask=mask, token=(*span.token, scope.sources))

    def _span(self, snapshot: Snapshot, partition: str, columns: Columns, scope: Scope) -> Span:
        groups, as_of = scope.principal.effective_groups, scope.as_of
        position, collections = snapshot.collections(partition)
        place = (snapshot.generation, partition, columns.table.serial)
        verdicts = self._judged(columns, place, position, (collections, groups))
        key = (*place, columns.changed, np.packbits(verdicts).tobytes())
        spans = self._masks.get(key) or ()
        for span in spans:
            if span.start <= as_of < span.end:
                return span
        span = _cut(columns, verdicts, as_of, key)
        self._masks.put(key, (span, *spans[: _MAX_SPANS - 1]))
        return span

    def _current(self, snapshot: Snapshot, partition: str) -> Columns:
        """The columns at exactly the snapshot's position, from the newest ones kept where that can be."""
        place = (snapshot.generation, partition)
        kept = self._columns.get(place)
        if kept is not None and kept.changed <= snapshot.position <= kept.position:
            return kept
        if kept is None or snapshot.position < kept.changed:
            empty = Columns.empty(ClassTable() if kept is None else kept.table)
            rows = snapshot.visibility_since(partition, 0)
            # slots that are gone have no row here, so only this very position is known to look like this
            fresh = replace(empty.updated(rows, snapshot.position), changed=snapshot.position)
        else:
            fresh = kept.updated(snapshot.visibility_since(partition, kept.position), snapshot.position)
        newest = self._columns.get(place)
        if newest is None or newest.position < fresh.position:
            self._columns.put(place, fresh)
        return fresh

    def _judged(
        self, columns: Columns, place: tuple[Any, ...], position: int, case: tuple[Mapping[str, Acl], Groups]
    ) -> Mask:
        """One verdict a class: what its own list says, which a collection cannot change, and what its path says."""
        collections, groups = case
        table = columns.table
        halves = table.halves(columns.count)
        if not len(halves):
            return NOTHING
        lists = self._extended((*place, "lists", groups), table.lists, lambda acl: acl.admits(groups))
        admits_path = path_judge(collections, groups)
        parents = self._extended((*place, "parents", position, groups), table.parents, admits_path)
        verdicts: Mask = lists[halves[:, 0]] & parents[halves[:, 1]]
        return verdicts

    def _extended(self, key: tuple[Any, ...], items: Sequence[V], judge: Callable[[V], bool]) -> Mask:
        """One verdict an item; verdicts given before are kept while items join."""
        known = self._verdicts.get(key)
        given, count = (0 if known is None else len(known)), len(items)
        if known is None or given < count:
            fresh = np.array([judge(item) for item in items[given:count]], dtype=np.bool_)
            known = fresh if known is None else np.concatenate([known, fresh])
            self._verdicts.put(key, known)
        return known


def _cut(columns: Columns, verdicts: Mask, as_of: Micros, token: tuple[Any, ...]) -> Span:
    """The mask at an instant, and how far it holds: to the nearest bound of a window on either side."""
    mask = columns.permitted(verdicts)
    served, allowed = int(np.count_nonzero(columns.present)), int(np.count_nonzero(mask))
    some = columns.windowed.compress(mask.take(columns.windowed))
    starts, ends = columns.valid_from.take(some), columns.valid_to.take(some)
    if some.size:
        mask[some] = (starts <= as_of) & (as_of < ends)
    mask.setflags(write=False)
    bounds = np.concatenate([starts, ends])
    past, future = bounds[bounds <= as_of], bounds[bounds > as_of]
    start = int(past.max()) if len(past) else ALWAYS
    end = int(future.min()) if len(future) else NEVER
    superseding = tuple(int(slot) for slot in np.flatnonzero(mask & columns.supersedes[: len(mask)]))
    shown = int(np.count_nonzero(mask))
    counts = {"served": served, "acl_denied": served - allowed, "outside_effective_window": allowed - shown}
    return Span(
        start=start,
        end=end,
        mask=mask,
        token=(*token, start, end),
        counts=counts,
        superseding=superseding,
    )


def _column_bytes(columns: Columns) -> int:
    arrays = (
        columns.served,
        columns.head,
        columns.document,
        columns.valid_from,
        columns.valid_to,
        columns.windowed,
    )
    return _OVERHEAD + sum(array.nbytes for array in arrays) + 2 * columns.present.nbytes


def _verdict_bytes(verdicts: Mask) -> int:
    return _OVERHEAD + verdicts.nbytes


def _mask_bytes(spans: tuple[Span, ...]) -> int:
    return _OVERHEAD + sum(span.mask.nbytes for span in spans)


def _identified(principal: Principal) -> bool:
    return bool(principal.tenant_id and principal.subject_id and principal.groups)


def _reasons(
    row: VisibilityRow | None, collections: Mapping[str, Acl], scope: Scope, partition: str
) -> tuple[str, ...]:
    reasons: list[str] = []
    if partition not in scope.partitions:
        reasons.append("tenant_mismatch")
    if row is None:
        return (*reasons, "not_published")
    reasons += row.reasons
    if not in_window(row, scope.as_of):
        reasons.append("outside_effective_window")
    groups = scope.principal.effective_groups
    sides = (row.served, row.head)
    if not _identified(scope.principal) or not all(class_admits(cls, collections, groups) for cls in sides):
        reasons.append("acl_denied")
    return tuple(reasons)


def in_window(row: VisibilityRow, as_of: Micros) -> bool:
    started = row.valid_from is None or row.valid_from <= as_of
    return started and (row.valid_to is None or as_of < row.valid_to)
