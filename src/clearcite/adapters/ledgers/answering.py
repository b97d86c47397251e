"""The half of the ledger that asking needs: what may be read at one position, and which policy is in force.

``sqlite.SqliteLedger`` is the whole of it. Nothing of what takes documents in is loaded here: each question that
starts a process of its own would wait for it.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from clearcite.adapters.ledgers import policies
from clearcite.adapters.ledgers.connection import (
    Pool,
    check_library,
    connect,
    memory_folder,
    prepare_file,
    translated,
)
from clearcite.adapters.ledgers.migrate import migrations, ready
from clearcite.adapters.ledgers.reader import Memory, SnapshotContext
from clearcite.adapters.ledgers.writer import SQL as COMMON
from clearcite.adapters.ledgers.writer import Writer
from clearcite.errors import ConfigError

if TYPE_CHECKING:
    import tempfile
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    import apsw

    from clearcite.domain.policy import Accepted, PolicyDecision
    from clearcite.ports import Clock, Snapshot


class Opened(NamedTuple):
    """A store file with its connections. ``folder``: what goes with it when it is closed."""

    writer: Writer
    pool: Pool
    clock: Clock
    folder: tempfile.TemporaryDirectory[str] | None


def opened(path: Path | None, clock: Clock, *, sealed: bool = False) -> Opened:
    """Open or create a store file; its directory is made with mode 0700 if it is missing.

    ``path`` None: a private store in memory-backed temporary files that vanish on close, the same code and
    SQL without durability; for tests. ``sealed``: also a copy that does not know yet what was taken away since.
    Raises ConfigError for such a copy without it, an unsuitable SQLite or file system, or a store of another version.
    """
    check_library()
    durable = path is not None
    folder = None
    if path is None:
        folder = memory_folder()
        path = Path(folder.name) / "ledger.db"
    with translated():
        prepare_file(path)
        db = connect(path, durable=durable)
        try:
            ready(db, migrations())
            if not sealed and db.execute(COMMON["is_sealed"]).get:
                raise ConfigError(
                    "This is a backup, or was put aside by a restore, and not to be asked. Put a backup back:"
                    " clearcite restore DIR"
                )
        except BaseException:
            db.close()
            raise
    return Opened(writer=Writer(db, clock), pool=Pool(path), clock=clock, folder=folder)


class AnsweringLedger:
    """Implements ``ports.Snapshots`` and ``keeping.PolicyLog``. Thread-safe; many processes may share one file."""

    def __init__(self, opened: Opened) -> None:
        self.opened = opened
        self._writer, self._pool, self._clock, self._folder = opened
        self._memory = Memory()

    def snapshot(self, generation: str | None = None) -> AbstractContextManager[Snapshot]:
        return SnapshotContext(self._pool, self._memory, generation)

    def manifest(self, generation: str) -> str | None:
        with self._reading() as db:
            row = db.execute(COMMON["find_generation"], (generation,)).fetchone()
        return None if row is None else row[1]

    def policy(self) -> Accepted | None:
        with self._reading() as db:
            return policies.newest(db)

    def policy_snapshot(self) -> str | None:
        with self._reading() as db:
            return policies.snapshot(db)

    def accept_policy(self, new: Accepted, origin: str, snapshot: str | None = None) -> PolicyDecision:
        with self._writer.transaction() as tx:
            return policies.accept(tx, new, origin, snapshot)

    def policy_failed(self, origin: str, reason: str) -> None:
        with self._writer.transaction() as tx:
            tx.run(policies.SQL["raise_alarm"], tx.now, origin, reason)

    @contextlib.contextmanager
    def _reading(self) -> Iterator[apsw.Connection]:
        with translated():
            db = self._pool.lend()
            try:
                db.execute("BEGIN")
                yield db
            finally:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                self._pool.take_back(db)

    def close(self) -> None:
        self._pool.close()
        with translated():
            self._writer.close()
        if self._folder is not None:
            self._folder.cleanup()
