"""The one writer of a process: transactions that begin immediately, and the position they may raise."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import apsw
from msgspec import Struct, field

from clearcite.adapters.ledgers.connection import immediate, scrub, translated
from clearcite.adapters.ledgers.queries import Queries, load
from clearcite.errors import ConfigError, DependencyUnavailable

if TYPE_CHECKING:
    from clearcite.domain.access import Micros
    from clearcite.ports import Clock

SQL: Queries = load("common")


class Transaction(Struct):
    """One write transaction. ``now`` is read once, so that everything written in it has one time.

    ``known`` remembers numbers found or given in this transaction.
    """

    db: apsw.Connection
    now: Micros
    raised: int | None = None
    known: dict[Any, Any] = field(default_factory=dict)

    def run(self, sql: str, *bindings: Any) -> None:
        self.db.execute(sql, bindings)

    def row(self, sql: str, *bindings: Any) -> tuple[Any, ...] | None:
        """The first row of a result."""
        return self.db.execute(sql, bindings).fetchone()

    def rows(self, sql: str, *bindings: Any) -> list[tuple[Any, ...]]:
        return self.db.execute(sql, bindings).fetchall()

    def stream(self, sql: str, *bindings: Any) -> Iterator[tuple[Any, ...]]:
        """Rows one by one, read no further than they are taken."""
        with closing(self.db.execute(sql, bindings)) as cursor:
            yield from cursor

    def run_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """One statement for each row of values."""
        self.db.executemany(sql, rows)

    def insert(self, sql: str, *bindings: Any) -> int:
        """Insert one row and return its number."""
        self.db.execute(sql, bindings)
        return self.db.last_insert_rowid()

    def number_after(self, sql: str) -> int:
        """The number a table gives next. ``sql``: the largest it has given."""
        row = self.row(sql)
        return 1 if row is None or row[0] is None else int(row[0]) + 1

    def position(self) -> int:
        """The position of this transaction: raised once, at its first change of visibility."""
        if self.raised is None:
            row = self.row(SQL["raise_position"])
            if row is None:
                raise DependencyUnavailable("The store has no position counter.")
            self.raised = int(row[0])
        return self.raised

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """What is inside is written whole or not at all; the transaction goes on either way."""
        raised = self.raised
        self.db.execute("SAVEPOINT record")
        try:
            yield
        except BaseException:
            if self.db.in_transaction:
                self.db.execute("ROLLBACK TO record")
                self.db.execute("RELEASE record")
            self.raised = raised
            self.known.clear()  # some of it may have been undone
            raise
        self.db.execute("RELEASE record")


class Writer:
    """Serializes the writing threads of one process; other processes wait by busy timeout."""

    def __init__(self, db: apsw.Connection, clock: Clock) -> None:
        self._db = db
        self._clock = clock
        self._lock = threading.RLock()
        self._process = os.getpid()

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Commit on leaving, durable then; any exception rolls everything back."""
        if os.getpid() != self._process:
            raise ConfigError("A store that was opened before a fork cannot be used after it; open it again.")
        with self._lock, translated():
            if self._db.in_transaction:
                raise DependencyUnavailable("A write was started inside another one.")
            with immediate(self._db):
                yield Transaction(db=self._db, now=self._clock.now())

    def scrub(self, *, rewrite: bool = False) -> bool:
        """See ``connection.scrub``."""
        with self._lock, translated():
            return scrub(self._db, rewrite=rewrite)

    def close(self) -> None:
        with self._lock:
            self._db.close()
