"""One read transaction: every row a request sees stands at one position of the ledger."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any

import apsw
import numpy as np
from numpy.typing import NDArray

from clearcite.adapters.ledgers import policies
from clearcite.adapters.ledgers.codec import (
    AccessColumns,
    collection_seal,
    decode,
    decode_access,
    decode_acl,
    decode_class,
    decode_description,
    decode_reasons,
    decode_strings,
    decode_units,
    encode,
)
from clearcite.adapters.ledgers.connection import Pool, translated
from clearcite.adapters.ledgers.queries import load
from clearcite.domain.access import AccessClass, Acl
from clearcite.domain.corpus import Chunk, DocumentKey
from clearcite.domain.explain import Standing
from clearcite.domain.visible import ALWAYS, NEVER, VisibilityRows
from clearcite.errors import DependencyUnavailable, InputError, IntegrityFault
from clearcite.ports import StoredChunk, StoredDocument
from clearcite.text.memory import memory_of_run

if TYPE_CHECKING:
    from clearcite.domain.policy import Accepted

SQL = load("reader")

_SLOTS = 1 << 17  # whose rows are read into one text
_BATCH = 500
_MAX_COLLECTIONS = 64
Mask = NDArray[np.bool_]
Columns = NDArray[np.int64]

NOBODY = Acl(allow=())
_NO_COLLECTIONS: Mapping[str, Acl] = MappingProxyType({})


class Memory:
    """What never changes once written, so that it need not be read again: classes, and lists by position."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.classes: dict[int, AccessClass] = {}
        self._collections: OrderedDict[tuple[int, int], Mapping[str, Acl]] = OrderedDict()

    def collections(self, key: tuple[int, int]) -> Mapping[str, Acl] | None:
        with self._lock:
            return self._collections.get(key)

    def keep_collections(self, key: tuple[int, int], lists: Mapping[str, Acl]) -> None:
        with self._lock:
            self._collections[key] = lists
            while len(self._collections) > _MAX_COLLECTIONS:
                self._collections.popitem(last=False)


class SqliteSnapshot:
    """Implements ``ports.Snapshot``. Used by one thread, inside its ``with`` block only."""

    def __init__(self, db: apsw.Connection, memory: Memory, generation: str | None = None) -> None:
        """``generation``: the one to look at instead of the live one. Raises InputError if it serves no more."""
        self._db = db
        self._memory = memory
        name = SQL["opening"] if generation is None else SQL["opening_one"]
        row = db.execute(name, () if generation is None else (generation,)).fetchone()
        if row is None:  # reading the row also fixes the snapshot: BEGIN alone reads nothing
            raise IntegrityFault("The store has no position counter.")
        self._position, self._number, name, self._manifest, self._pipeline = row
        if generation is not None and name is None:
            raise InputError("There is no such generation, or it is retired.")
        self._generation: str = name or ""

    @property
    def position(self) -> int:
        return int(self._position)

    @property
    def generation(self) -> str:
        return self._generation

    @property
    def index_manifest(self) -> str | None:
        return self._manifest  # type: ignore[no-any-return]

    @property
    def policy(self) -> Accepted | None:
        with translated():
            return policies.newest(self._db)

    def standing(self, key: DocumentKey) -> Standing | None:
        number, _ = self._partition(key.tenant_id)
        rows = self._rows("standing", self._number, number, key.source_id, key.document_id)
        return _standing(key, rows[0]) if rows else None

    def visibility_since(self, partition: str, position: int) -> VisibilityRows:
        number, _ = self._partition(partition)
        if position <= 0:
            return self._visibility("visibility_now", number)
        return self._visibility("visibility_since", number, position)

    def visibility_at(self, partition: str, position: int) -> VisibilityRows:
        number, _ = self._partition(partition)
        return self._visibility("visibility_at", number, position)

    def collections(self, partition: str) -> tuple[int, Mapping[str, Acl]]:
        number, position = self._partition(partition)
        if not position:
            return 0, _NO_COLLECTIONS
        lists = self._memory.collections((number, position))
        if lists is None:
            lists = MappingProxyType(
                {row[0]: _acl_or_nobody(*row) for row in self._rows("collections", number)}
            )
            self._memory.keep_collections((number, position), lists)
        return position, lists

    def collections_at(self, partition: str, position: int) -> tuple[int, Mapping[str, Acl]]:
        number, changed = self._partition(partition)
        rows = self._rows("collections_at", number, position)
        return min(changed, position), {row[0]: _acl_or_nobody(*row) for row in rows}

    def chunks(
        self, chunk_ids: Sequence[str], shown: Callable[[str, int], bool] | None = None
    ) -> Mapping[str, StoredChunk]:
        chunker = self._chunker()
        known: dict[Any, StoredChunk] | None = memory_of_run("chunks")
        found: dict[str, StoredChunk] = {}
        for start in range(0, len(chunk_ids), _BATCH):
            wanted = encode(list(chunk_ids[start : start + _BATCH]))
            rows = self._rows("chunks", wanted, self._number)
            if shown is not None:
                rows = [row for row in rows if shown(row[0], row[10])]
            accesses = self._accesses({number for row in rows for number in row[15:17] if number is not None})
            for row in rows:
                served, head = accesses.get((row[14], row[15])), accesses.get((row[14], row[16]))
                if served is None or head is None:
                    continue
                whole = (chunker, served, head, row)
                stored = None if known is None else known.get(whole)
                found[row[17]] = _stored_chunk(*whole) if stored is None else stored
                if known is not None:
                    known[whole] = found[row[17]]
        return found

    def _accesses(self, numbers: Iterable[int]) -> Mapping[tuple[int, int], AccessColumns]:
        """The columns of accesses by (partition, number)."""
        rows = self._rows("accesses", encode(sorted(numbers)))
        return {(partition, number): tuple(columns) for partition, number, *columns in rows}

    def document(self, key: DocumentKey) -> StoredDocument | None:
        number, _ = self._partition(key.tenant_id)
        rows = self._rows("document", self._number, number, key.source_id, key.document_id)
        return _stored_document(rows[0]) if rows else None

    def named(
        self, partition: str, document_id: str, shown: Callable[[str, int], bool] | None = None
    ) -> Sequence[StoredDocument]:
        number, _ = self._partition(partition)
        slots = [row[0] for row in self._rows("slots_named", self._number, number, document_id)]
        return self.documents_at(
            partition, [slot for slot in slots if shown is None or shown(partition, slot)]
        )

    def keys_of(
        self, partition: str, slots: Sequence[int], after: str, limit: int
    ) -> Sequence[tuple[DocumentKey, int]]:
        number, _ = self._partition(partition)
        source_id, _, document_id = after.partition("\0")
        wanted = encode(_runs(slots))
        rows = self._rows("keys_of", wanted, self._number, number, source_id, document_id, limit)
        return [
            (DocumentKey(tenant_id=partition, source_id=source, document_id=document), slot)
            for source, document, slot in rows
        ]

    def documents_at(self, partition: str, slots: Sequence[int]) -> Sequence[StoredDocument]:
        if not slots:
            return []
        number, _ = self._partition(partition)
        rows = self._rows("documents_at", encode(list(slots)), self._number, number)
        return [_stored_document(row) for row in rows]

    def documents_of(self, partition: str, sources: Sequence[str]) -> Sequence[int]:
        number, _ = self._partition(partition)
        return [row[0] for row in self._rows("documents_of", encode(list(sources)), number)]

    def inventory(self, partition: str) -> Sequence[tuple[DocumentKey, int | None]]:
        """Every document the ledger knows, and the slot that serves it, if one does. For operators."""
        number, _ = self._partition(partition)
        return [
            (DocumentKey(tenant_id=partition, source_id=source_id, document_id=document_id), slot)
            for source_id, document_id, slot in self._rows("inventory", self._number, number)
        ]

    def numbers(self, partition: str) -> Sequence[tuple[DocumentKey, int]]:
        """Every document the ledger knows, and its number. For operators."""
        number, _ = self._partition(partition)
        return [
            (DocumentKey(tenant_id=partition, source_id=source_id, document_id=document_id), document)
            for source_id, document_id, document in self._rows("numbers", number)
        ]

    def live_slots(self, partition: str) -> Mask:
        number, _ = self._partition(partition)
        return mask_of(row[0] for row in self._rows("live_slots", self._number, number))

    def partitions(self) -> Sequence[str]:
        """Every partition of the store, in order. For operators."""
        return [row[0] for row in self._rows("partitions")]

    def _rows(self, name: str, *bindings: Any) -> list[tuple[Any, ...]]:
        with translated():
            return self._executed(name, bindings).fetchall()

    def _executed(self, name: str, bindings: Sequence[Any]) -> apsw.Cursor:
        if not self._db.in_transaction:
            raise DependencyUnavailable("The snapshot was used after its end.")
        return self._db.execute(SQL[name], bindings)

    def _partition(self, name: str) -> tuple[int, int]:
        """The number of a partition and the position of the last change of its collections; 0 if unknown."""
        rows = self._rows("partition", name)
        return rows[0] if rows else (0, 0)

    def _chunker(self) -> str:
        """Raises IntegrityFault for a manifest that cannot be read: without it no chunk id can be computed."""
        if not self._pipeline:
            return ""
        try:
            return str(decode(self._pipeline)["chunker"])
        except (KeyError, TypeError) as error:
            raise IntegrityFault("The manifest of a generation is damaged.") from error

    def _visibility(self, name: str, partition: int, *position: int) -> VisibilityRows:
        """One class and one list of reasons mostly serve many rows."""
        rows, windows = self._packed(name, partition, *position)
        slot, document, since, marks, served, head = rows
        is_windowed = marks & 4 != 0
        bounds = np.full((2, len(slot)), [[ALWAYS], [NEVER]])
        bounds[:, is_windowed] = windows
        why = marks >> 3
        return VisibilityRows(
            slot=slot,
            document=document,
            position=since,
            valid_from=bounds[0],
            valid_to=bounds[1],
            present=marks & 1,
            why=why,
            served=served,
            head=head,
            supersedes=marks >> 1 & 1,
            classes={number: self._class(number) for number in _kinds(served) | _kinds(head)},
            reasons={number: decode_reasons(number) for number in _kinds(why)},
        )

    def _packed(self, name: str, partition: int, *position: int) -> tuple[Columns, Columns]:
        """The columns of the rows, and of the windows of those rows that have one."""
        ((last,),) = self._rows("last_slot", self._number, partition)
        rows, windows = [b""], [b""]
        for first in range(0, -1 if last is None else last + 1, _SLOTS):
            ((some, few),) = self._rows(name, self._number, partition, first, first + _SLOTS, *position)
            rows.append(bytes.fromhex(some or ""))
            windows.append(bytes.fromhex(few or ""))
        return _columns(rows, 6), _columns(windows, 2)

    def _class(self, number: int) -> AccessClass:
        known = self._memory.classes.get(number)
        if known is None:
            rows = self._rows("access_class", number)
            if not rows:
                raise IntegrityFault("The store lost an access class.")
            known = self._memory.classes[number] = _class_or_nobody(rows[0])
        return known


def _columns(rows: Sequence[bytes], count: int) -> Columns:
    """From rows of big-endian integers."""
    return np.frombuffer(b"".join(rows), ">i8").reshape(-1, count).T.astype(np.int64, order="C")


def _runs(slots: Sequence[int]) -> dict[str, int]:
    """The last slot of each run of neighbours, by the first one."""
    ordered = np.sort(np.array(slots, np.int64))
    if not ordered.size:
        return {}
    ends = np.flatnonzero(np.diff(ordered) > 1)
    firsts, lasts = ordered[np.append(0, ends + 1)], ordered[np.append(ends, -1)]
    return {str(first): last for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True)}


def _kinds(values: NDArray[np.int64]) -> set[int]:
    """The different values of a column in which neighbours are mostly alike."""
    last = np.flatnonzero(values[1:] != values[:-1])
    return {*values.take(last).tolist(), *values[-1:].tolist()}


class SnapshotContext:
    """Borrows a reading connection for one ``with`` block."""

    def __init__(self, pool: Pool, memory: Memory, generation: str | None = None) -> None:
        self._pool = pool
        self._memory = memory
        self._generation = generation
        self._db: apsw.Connection | None = None

    def __enter__(self) -> SqliteSnapshot:
        with translated():
            db = self._pool.lend()
            try:
                db.execute("BEGIN")
                snapshot = SqliteSnapshot(db, self._memory, self._generation)
            except BaseException:
                self._end(db)
                raise
        self._db = db
        return snapshot

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        db, self._db = self._db, None
        if db is not None:
            with translated():
                self._end(db)

    def _end(self, db: apsw.Connection) -> None:
        if db.in_transaction:
            db.execute("ROLLBACK")
        self._pool.take_back(db)


def _class_or_nobody(row: tuple[Any, ...]) -> AccessClass:
    """A list that somebody damaged admits nobody to what it guards; everybody else goes on reading the rest."""
    try:
        return decode_class(*row)
    except IntegrityFault:
        return AccessClass(parent=None, acl=NOBODY)


def _acl_or_nobody(path: str, allow: str | None, deny: str, seal: str) -> Acl:
    try:
        return decode_acl(allow, deny) if collection_seal(path, allow, deny) == seal else NOBODY
    except IntegrityFault:
        return NOBODY


def _key(row: tuple[Any, ...]) -> DocumentKey:
    return DocumentKey(tenant_id=row[0], source_id=row[1], document_id=row[2])


def _stored_document(row: tuple[Any, ...]) -> StoredDocument:
    """A fault in it says which document it is of; so for a chunk."""
    key = _key(row)
    try:
        return StoredDocument(
            key=key,
            present=bool(row[3]),
            title=row[4],
            description=decode_description(row[5]),
            content_sha256=row[6],
            served_access_digest=row[7],
            head_access_digest=row[8],
            served_state_hash=row[9],
            served_access=decode_access(row[10:17]),
            head_access=decode_access(row[17:24]),
            text_sha256=row[24],
            text=row[25],
            slot=row[26],
            normal_sha256=row[27],
            build_seal=row[28],
        )
    except IntegrityFault as fault:
        raise IntegrityFault(fault.message, key) from fault


def _stored_chunk(
    chunker: str, served: AccessColumns, head: AccessColumns, row: tuple[Any, ...]
) -> StoredChunk:
    """Written out, as the columns it shares with a document are: a question reads a hundred or more."""
    key = _key(row)
    try:
        return StoredChunk(
            key=key,
            present=bool(row[3]),
            title=row[4],
            description=decode_description(row[5]),
            content_sha256=row[6],
            served_access_digest=row[7],
            head_access_digest=row[8],
            served_state_hash=row[9],
            served_access=decode_access(served),
            head_access=decode_access(head),
            chunk=chunk_of_row(row[17:]),
            slot=row[10],
            normal_sha256=row[11],
            seal=row[12],
            build_seal=row[13],
            chunker=chunker,
        )
    except IntegrityFault as fault:
        raise IntegrityFault(fault.message, key) from fault


def _distinct(values: NDArray[np.int64]) -> list[int]:
    """Rising. ``np.unique`` would load a tenth of numpy that nothing else here needs, at the first question."""
    ordered = np.sort(values)
    first = np.ones(ordered.size, np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    found: list[int] = ordered[first].tolist()
    return found


def mask_of(slots: Iterable[int]) -> Mask:
    """From ascending slots."""
    known = list(slots)
    mask = np.zeros(known[-1] + 1 if known else 0, dtype=np.bool_)
    mask[known] = True
    return mask


def _standing(key: DocumentKey, row: tuple[Any, ...]) -> Standing:
    operation, reason, quarantined, waiting, withdrawn, *rest = row
    digests, columns = rest[:2], rest[2:]
    sides = [None if side[1] is None else decode_access(tuple(side)) for side in (columns[:7], columns[7:])]
    intact = all(side is None or side.digest() == kept for side, kept in zip(sides, digests, strict=True))
    head, served = sides
    return Standing(
        key=key,
        head=head,
        served=None if withdrawn else served,
        deleted=(reason or "deleted") if operation == "delete" else None,
        quarantined=quarantined,
        waiting=waiting,
        intact=intact,
    )


def chunk_of_row(row: tuple[Any, ...]) -> Chunk:
    """From the columns of ``chunks`` in the order of the queries. Raises IntegrityFault."""
    name, ordinal, start, end, text, sha256, context, heading, page, kind, units, language, flags = row
    return Chunk(
        chunk_id=name,
        ordinal=ordinal,
        start=start,
        end=end,
        text=text,
        sha256=sha256,
        context=context,
        heading=decode_strings(heading),
        page=page,
        kind=kind,
        units=decode_units(units),
        language=language,
        flags=decode_strings(flags),
    )
