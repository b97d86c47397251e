"""Traces in a SQLite file of their own, so that answering never waits for an ingesting worker."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
from msgspec.structs import asdict

from clearcite.adapters.ledgers.connection import (
    Pool,
    check_library,
    connect,
    copy_database,
    faults_of,
    immediate,
    memory_folder,
    prepare_file,
    scrub,
    translated,
)
from clearcite.adapters.ledgers.migrate import migrations, ready
from clearcite.domain.audit import ERASURE, GENESIS, Head, TraceEntry, commitment
from clearcite.domain.trace import Trace
from clearcite.errors import InputError, IntegrityFault
from clearcite.wire.convert import from_json

if TYPE_CHECKING:
    from clearcite.domain.access import Micros

SCRIPTS = Path(__file__).parent / "migrations"
"""The migrations that lay out a file of traces."""

_INSERT = """
INSERT INTO traces (number, trace_id, tenant_id, kind, created_at, commitment, link, salt, body)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_LAST = "SELECT number, link FROM traces ORDER BY number DESC LIMIT 1"
_GET = "SELECT trace_id, body FROM traces WHERE trace_id = ? AND body IS NOT NULL AND kind <> 'erasure'"
_NEWEST = """
SELECT trace_id, body FROM traces WHERE body IS NOT NULL AND kind <> 'erasure' ORDER BY number DESC LIMIT ?
"""
_ENTRIES = """
SELECT number, trace_id, tenant_id, kind, created_at, commitment, link, salt, body FROM traces ORDER BY number
"""
_THESE = """
SELECT number FROM traces
WHERE body IS NOT NULL AND kind <> 'erasure' AND number IN (SELECT value FROM json_each(?))
"""
_OLDER = "SELECT number FROM traces WHERE body IS NOT NULL AND kind <> 'erasure' AND created_at < ?"
_ERASE = "UPDATE traces SET body = NULL, salt = NULL WHERE number IN (SELECT value FROM json_each(?))"
_SALT = 16

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def open_sqlite_traces(path: Path | None) -> SqliteTraces:
    """Open or create a file of traces; its directory is made with mode 0700 if it is missing.

    ``path`` None: memory-backed files that vanish on close, for tests. Raises ConfigError as the ledger does.
    """
    check_library()
    durable = path is not None
    folder = None if path is not None else memory_folder()
    path = path or Path(folder.name if folder else "") / "traces.db"
    with translated():
        prepare_file(path)
        db = connect(path, durable=durable)
        try:
            ready(db, migrations(SCRIPTS))
        except BaseException:
            db.close()
            raise
    return SqliteTraces(db, Pool(path), folder)


class SqliteTraces:
    """Implements ``storing.TraceStore``. Thread-safe; an append is one durable commit. Every trace is linked to the one
    before it, across processes: see ``domain.audit``."""

    def __init__(
        self, db: apsw.Connection, pool: Pool, folder: tempfile.TemporaryDirectory[str] | None
    ) -> None:
        self._db = db
        self._pool = pool
        self._folder = folder
        self._lock = threading.Lock()

    def append(self, trace: Trace) -> None:
        """Raises InputError for a trace that has no JSON form, IntegrityFault for an id that is taken."""
        try:
            body = _encode(_plain(trace))
        except (ValueError, TypeError, RecursionError) as error:
            raise InputError("The trace has no JSON form.") from error
        row = (trace.trace_id, trace.tenant_id, trace.kind, trace.created_at)
        with self._lock, translated():
            try:
                with immediate(self._db):
                    self._append(row, body)
            except apsw.ConstraintError as error:
                raise IntegrityFault("A trace with this id exists already.") from error

    def _append(self, row: tuple[str, str, str, Micros], body: str) -> None:
        """The next entry of the log, inside a transaction that has the file to itself."""
        last, before = self._db.execute(_LAST).fetchone() or (0, GENESIS)
        salt = os.urandom(_SALT)
        entry = _entry((last + 1, *row, commitment(salt, body), "", salt, body))
        columns = (entry.number, *row, entry.commitment, entry.link_after(before), salt, body)
        self._db.execute(_INSERT, columns)

    def get(self, trace_id: str) -> Trace | None:
        with self._reading() as db:
            row = db.execute(_GET, (trace_id,)).fetchone()
        return None if row is None else _trace(*row)

    def newest(self, limit: int) -> Sequence[Trace]:
        with self._reading() as db:
            rows = db.execute(_NEWEST, (max(0, limit),)).fetchall()
        return [_trace(*row) for row in rows]

    def forget(self, numbers: Sequence[int]) -> int:
        return self._forget(_THESE, _encode(list(numbers)))

    def forget_before(self, instant: Micros) -> int:
        return self._forget(_OLDER, instant)

    def scrub(self, *, rewrite: bool = False) -> bool:
        with self._lock, translated():
            return scrub(self._db, rewrite=rewrite)

    def head(self) -> Head:
        with self._reading() as db:
            row = db.execute(_LAST).fetchone()
        return Head(size=0, root=GENESIS) if row is None else Head(size=row[0], root=row[1])

    @contextlib.contextmanager
    def entries(self) -> Iterator[Iterator[TraceEntry]]:
        with self._reading() as db:
            yield (_entry(row) for row in db.execute(_ENTRIES))

    def faults(self) -> list[str]:
        with self._reading() as db:
            return faults_of(db)

    def copy_to(self, path: Path) -> None:
        """A complete copy in one file of mode 0600."""
        with self._reading() as db:
            copy_database(db, path)
        with translated(), contextlib.closing(apsw.Connection(str(path))) as copy:
            copy.pragma("journal_mode", "delete")

    def _forget(self, which: str, value: str | int) -> int:
        """Body and salt go, the entries stay; a new entry says which they are."""
        with self._lock, translated(), immediate(self._db):
            numbers = [row[0] for row in self._db.execute(which, (value,)).fetchall()]
            if not numbers:
                return 0
            listed = _encode(numbers)
            self._db.execute(_ERASE, (listed,))
            name = f"{ERASURE}-{os.urandom(_SALT).hex()}"
            self._append((name, "", ERASURE, time.time_ns() // 1_000), listed)
            return len(numbers)

    @contextlib.contextmanager
    def _reading(self) -> Iterator[apsw.Connection]:
        with translated():
            db = self._pool.lend()
            try:
                yield db
            finally:
                self._pool.take_back(db)

    def close(self) -> None:
        self._pool.close()
        with self._lock, translated():
            self._db.close()
        if self._folder is not None:
            self._folder.cleanup()


def _entry(row: Any) -> TraceEntry:
    """From (number, trace id, tenant, kind, instant, commitment, link, salt, body)."""
    number, trace_id, tenant_id, kind, created_at, committed, link, salt, body = row
    erases: tuple[int, ...] = ()
    if kind == ERASURE and body is not None:
        try:
            erases = tuple(int(item) for item in json.loads(body))
        except (ValueError, TypeError, RecursionError):
            erases = ()  # its commitment tells that it was changed
    return TraceEntry(
        number=number,
        trace_id=trace_id,
        tenant_id=tenant_id,
        kind=kind,
        created_at=created_at,
        commitment=committed,
        link=link,
        body=body,
        salt=salt,
        erases=erases,
    )


def _plain(trace: Trace) -> dict[str, Any]:
    """Stage details are plain values already and the bulk of a trace, so only the shells are taken apart."""
    shell = asdict(trace)
    shell["stages"] = [asdict(stage) for stage in trace.stages]
    return shell


def _trace(trace_id: Any, body: Any) -> Trace:
    try:
        trace: Trace = from_json(Trace, json.loads(body))
    except (InputError, ValueError, RecursionError) as error:
        raise IntegrityFault("A stored trace cannot be read.") from error
    if trace.trace_id != trace_id:
        raise IntegrityFault("A stored trace carries another id.")
    return trace
