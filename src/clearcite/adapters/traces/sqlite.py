"""Traces in a SQLite file of their own, so that answering never waits for an ingesting worker."""

from __future__ import annotations

import contextlib
import json
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import apsw

from clearcite.adapters.ledgers.connection import (
    Pool,
    check_library,
    connect,
    immediate,
    memory_folder,
    prepare_file,
    scrub,
    translated,
)
from clearcite.adapters.ledgers.migrate import migrations, ready
from clearcite.domain.access import Micros
from clearcite.domain.trace import Trace
from clearcite.errors import InputError, IntegrityFault
from clearcite.wire import from_json

SCRIPTS = "clearcite.adapters.traces"
"""The package whose migrations lay out a file of traces."""

_INSERT = "INSERT INTO traces (trace_id, tenant_id, kind, created_at, body) VALUES (?, ?, ?, ?, ?)"
_GET = "SELECT trace_id, body FROM traces WHERE trace_id = ?"
_NEWEST = "SELECT trace_id, body FROM traces ORDER BY number DESC LIMIT ?"
_HOLDING = "DELETE FROM traces WHERE instr(CAST(body AS BLOB), CAST(? AS BLOB))"
_OLDER = "DELETE FROM traces WHERE created_at < ?"

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
    """Implements ``ports.TraceStore``. Thread-safe; an append is one durable commit."""

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
        row = (trace.trace_id, trace.tenant_id, trace.kind, trace.created_at, body)
        with self._lock, translated():
            try:
                with immediate(self._db):
                    self._db.execute(_INSERT, row)
            except apsw.ConstraintError as error:
                raise IntegrityFault("A trace with this id exists already.") from error

    def get(self, trace_id: str) -> Trace | None:
        with self._reading() as db:
            row = db.execute(_GET, (trace_id,)).fetchone()
        return None if row is None else _trace(*row)

    def newest(self, limit: int) -> Sequence[Trace]:
        with self._reading() as db:
            rows = db.execute(_NEWEST, (max(0, limit),)).fetchall()
        return [_trace(*row) for row in rows]

    def forget(self, fragments: Sequence[bytes]) -> int:
        return sum(self._forget(_HOLDING, fragment) for fragment in fragments)

    def forget_before(self, instant: Micros) -> int:
        return self._forget(_OLDER, instant)

    def scrub(self, *, rewrite: bool = False) -> bool:
        with self._lock, translated():
            return scrub(self._db, rewrite=rewrite)

    def _forget(self, sql: str, value: bytes | int) -> int:
        with self._lock, translated(), immediate(self._db):
            self._db.execute(sql, (value,))
            return self._db.changes()

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


def _plain(trace: Trace) -> dict[str, Any]:
    """Stage details are plain values already and the bulk of a trace, so only the shells are taken apart."""
    shell = {item.name: getattr(trace, item.name) for item in fields(trace)}
    shell["stages"] = [
        {item.name: getattr(stage, item.name) for item in fields(stage)} for stage in trace.stages
    ]
    return shell


def _trace(trace_id: Any, body: Any) -> Trace:
    try:
        trace: Trace = from_json(Trace, json.loads(body))
    except (InputError, ValueError, RecursionError) as error:
        raise IntegrityFault("A stored trace cannot be read.") from error
    if trace.trace_id != trace_id:
        raise IntegrityFault("A stored trace carries another id.")
    return trace
