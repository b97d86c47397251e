"""How a SQLite file is opened, checked and shared: one writing connection, a pool of reading ones.

The settings are the measured ones: WAL with ``synchronous=FULL`` loses no acknowledged commit and survives
any crash image; ``BEGIN IMMEDIATE`` never meets a busy upgrade. A file whose settings do not hold is not
served. A connection is used by one thread at a time.
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import apsw

from clearcite.errors import ClearciteError, ConfigError, DamagedStore, DependencyUnavailable

OLDEST_SQLITE = (3, 51, 3)  # older ones can corrupt a file when the WAL is reset
BUSY_MS = 5_000
MAX_IDLE = 8

_PRAGMAS = {
    "foreign_keys": 1,
    "secure_delete": 1,
    "trusted_schema": 0,
    "cell_size_check": 1,
    "mmap_size": 0,
    "cache_size": -16_000,  # KiB
}
_DAMAGED = (apsw.CorruptError, apsw.NotADBError, apsw.FormatError)


@contextmanager
def translated() -> Iterator[None]:
    """Errors of SQLite become errors of the port; their messages name no path and no text."""
    try:
        yield
    except ClearciteError:
        raise
    except _DAMAGED as error:
        raise DamagedStore(
            "The store is damaged. Put a backup in its place: clearcite restore FOLDER"
        ) from error
    except apsw.BusyError as error:
        raise DependencyUnavailable("The store is busy.") from error
    except apsw.Error as error:
        raise DependencyUnavailable(f"The store failed: {type(error).__name__}.") from error


def check_library() -> None:
    """Refuse a SQLite that is too old or was built without thread safety."""
    version = tuple(int(part) for part in apsw.sqlite_lib_version().split("."))
    if version < OLDEST_SQLITE:
        wanted = ".".join(map(str, OLDEST_SQLITE))
        raise ConfigError(f"SQLite {wanted} or newer is needed. Install it with: pip install -U apsw")
    if "THREADSAFE=0" in apsw.compile_options:
        raise ConfigError("This SQLite was built without thread safety.")


def prepare_file(path: Path) -> None:
    """Make the directory (0700) and the file (0600) where they are missing; SQLite's own files follow it."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        # SQLite syncs the directory of its files, and nobody else the one it stands in.
        _sync(path.parent.parent)


def _sync(folder: Path) -> None:
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def memory_folder() -> tempfile.TemporaryDirectory[str]:
    """A private directory for a store that need not last, in memory where the system offers that."""
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108  # the directory in it is 0700
    return tempfile.TemporaryDirectory(prefix="clearcite-", dir=memory, ignore_cleanup_errors=True)


def connect(path: Path, *, durable: bool = True, query_only: bool = False) -> apsw.Connection:
    """Open a connection, every setting applied and read back. Raises ConfigError when one does not hold."""
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE, statementcachesize=200)
    db.set_busy_timeout(BUSY_MS)
    db.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    # plans that do not depend on bound values: else a statement is compiled again at every call, up to 0.3 ms
    db.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    synchronous = 2 if durable else 0
    wanted = {**_PRAGMAS, "synchronous": synchronous, "query_only": int(query_only)}
    if pragma(db, "journal_mode", "wal") != "wal":
        raise ConfigError("The store's file system does not support write-ahead logging.")
    for name, value in wanted.items():
        db.pragma(name, value)
        if pragma(db, name) != value:
            raise ConfigError(f"SQLite does not keep the setting {name}.")
    if not db.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, -1):
        raise ConfigError("SQLite does not keep the defensive mode.")
    if query_only:
        db.wal_autocheckpoint(0)  # the writer is the one checkpointer
    return db


@contextmanager
def immediate(db: apsw.Connection) -> Iterator[None]:
    """One write transaction: committed, and durable, on leaving; any exception rolls it back."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def scrub(db: apsw.Connection, *, rewrite: bool = False) -> bool:
    """Write the log into the file and cut it to nothing; with ``rewrite`` after writing the whole file anew.

    False when a reader holds the log: then it still has what was erased.
    """
    try:
        if rewrite:
            db.execute("VACUUM")
        db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except apsw.BusyError:
        return False
    return True


def faults_of(db: apsw.Connection) -> list[str]:
    """What SQLite finds wrong with a file: pages, indexes, constraints, references."""
    try:
        found = [str(row[0]) for row in db.execute("PRAGMA integrity_check") if row[0] != "ok"]
        found += [f"a row of {row[0]} refers to nothing" for row in db.execute("PRAGMA foreign_key_check")]
    except _DAMAGED as error:
        return [type(error).__name__]
    return found


def copy_database(db: apsw.Connection, path: Path) -> None:
    """A complete copy at one position, readable by its owner only. Raises FileExistsError."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    with closing(apsw.Connection(str(path))) as copy, copy.backup("main", db, "main") as backup:
        while not backup.done:
            backup.step(1_000)


def pragma(db: apsw.Connection, name: str, value: Any = None) -> Any:
    """The value of a pragma after setting it, if one is given."""
    return db.pragma(name) if value is None else db.pragma(name, value)


class Pool:
    """Reading connections, lent to one user at a time; for any thread of the process that opened it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._idle: list[apsw.Connection] = []
        self._closed = False
        self._process = os.getpid()

    def lend(self) -> apsw.Connection:
        if os.getpid() != self._process:
            raise ConfigError("A store that was opened before a fork cannot be used after it; open it again.")
        with self._lock:
            if self._closed:
                raise DependencyUnavailable("The store is closed.")
            if self._idle:
                return self._idle.pop()
        return connect(self._path, query_only=True)

    def take_back(self, db: apsw.Connection) -> None:
        with self._lock:
            keep = not self._closed and len(self._idle) < MAX_IDLE and not db.in_transaction
            if keep:
                self._idle.append(db)
        if not keep:
            db.close()

    def close(self) -> None:
        with self._lock:
            idle, self._idle, self._closed = self._idle, [], True
        for db in idle:
            db.close()
