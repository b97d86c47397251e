"""The ledger on SQLite: the port's methods, each one transaction of the modules beside this one."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw

from clearcite.adapters.ledgers import (
    arrivals,
    collections,
    connection,
    erase,
    events,
    generations,
    intake,
    journal,
    leases,
    policies,
    publishing,
    reapply,
    sources,
    visible,
)
from clearcite.adapters.ledgers.connection import (
    Pool,
    check_library,
    connect,
    copy_database,
    faults_of,
    memory_folder,
    prepare_file,
    translated,
)
from clearcite.adapters.ledgers.enqueue import enqueue
from clearcite.adapters.ledgers.examine import SqliteExamination
from clearcite.adapters.ledgers.migrate import migrations, ready
from clearcite.adapters.ledgers.reader import Memory, SnapshotContext
from clearcite.adapters.ledgers.status import status, status_in_full
from clearcite.adapters.ledgers.writer import SQL as COMMON
from clearcite.adapters.ledgers.writer import Transaction, Writer
from clearcite.errors import ConfigError, InputError, IntegrityFault, NotFound
from clearcite.ports import Applied, Built, Clock, Job, Snapshot

if TYPE_CHECKING:
    from clearcite.domain.access import Acl, Micros
    from clearcite.domain.audit import Event, Finding, Head
    from clearcite.domain.corpus import DocumentKey, SourceRecord
    from clearcite.domain.generations import Generation, Switch, Switched
    from clearcite.domain.journal import Journal, Reapplied
    from clearcite.domain.lifecycle import Head as DocumentHead
    from clearcite.domain.policy import Accepted, PolicyDecision
    from clearcite.domain.purge import Erasable, Erased, Selection
    from clearcite.domain.sources import SourceState
    from clearcite.keeping import Configured

LEASE: Micros = 300_000_000
MAX_RECORDS = 500
MAX_BYTES = 8_000_000
MAX_SECONDS = 0.05
RUN = 50
"""Records that may be accepted together, between two looks at the clock."""


def open_sqlite_ledger(
    path: Path | None, clock: Clock, *, lease: Micros = LEASE, sealed: bool = False
) -> SqliteLedger:
    """Open or create a store file; its directory is made with mode 0700 if it is missing.

    ``path`` None: a private store in memory-backed temporary files that vanish on close, the same code and
    SQL without durability; for tests. ``lease``: how long a claimed job stays with its worker.
    ``sealed``: also a copy that does not know yet what was taken away since.
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
    return SqliteLedger(Writer(db, clock), Pool(path), clock, lease=lease, folder=folder)


def seal(path: Path) -> None:
    """Let a store file not be opened to be asked any more. Raises DependencyUnavailable for one that is being written,
    IntegrityFault for one that is damaged or too old to be sealed."""
    with translated(), contextlib.closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)) as db:
        db.set_busy_timeout(connection.BUSY_MS)
        try:
            db.execute(COMMON["seal"])
        except apsw.SQLError as error:  # of a version from before there were seals, or no store
            raise IntegrityFault("The store cannot be sealed.") from error


def is_whole(path: Path) -> bool:
    """Whether a store file can be opened to be asked: it is there, can be read, and is not sealed."""
    try:
        flags = apsw.SQLITE_OPEN_READWRITE
        with contextlib.closing(apsw.Connection(str(path), flags=flags)) as db:
            return bool(db.execute(COMMON["is_sealed"]).get == 0)
    except apsw.Error:  # also of a version from before there were seals
        return False


class SqliteLedger:
    """Implements ``ports.Ledger``. Thread-safe; many processes may share one file."""

    def __init__(
        self,
        writer: Writer,
        pool: Pool,
        clock: Clock,
        *,
        lease: Micros,
        folder: tempfile.TemporaryDirectory[str] | None,
    ) -> None:
        self._writer = writer
        self._pool = pool
        self._clock = clock
        self._lease = lease
        self._folder = folder
        self._memory = Memory()

    def apply(self, records: Sequence[SourceRecord], manifest_hash: str) -> tuple[Applied, ...]:
        done: list[Applied] = []
        while len(done) < len(records):
            with self._writer.transaction() as tx:
                done += self._apply_some(tx, records[len(done) :], manifest_hash)
        return tuple(done)

    def _apply_some(
        self, tx: Transaction, records: Sequence[SourceRecord], manifest_hash: str
    ) -> list[Applied]:
        """As many records as one transaction should hold, at least one."""
        done: list[Applied] = []
        records = _bounded(records)
        end = time.monotonic() + MAX_SECONDS
        while len(done) < len(records) and not (done and time.monotonic() > end):
            run = records[len(done) : len(done) + RUN]
            new = arrivals.take(tx, run, manifest_hash)
            done += new
            for record in run[len(new) :]:
                if done and time.monotonic() > end:
                    break
                done.append(_apply_one(tx, record, manifest_hash))
        return done

    def put_collection(self, tenant_id: str, path: str, acl: Acl | None) -> None:
        with self._writer.transaction() as tx:
            collections.put(tx, tenant_id, path, acl)

    def configure_collection(self, tenant_id: str, path: str, acl: Acl) -> Configured:
        with self._writer.transaction() as tx:
            return collections.configure(tx, tenant_id, path, acl)

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

    def claim(self, generation: str, limit: int, owner: str) -> tuple[Job, ...]:
        with self._writer.transaction() as tx:
            return leases.claim(tx, generation, limit, (owner, self._lease))

    def publish(
        self, generation: str, built: Sequence[Built], commit: Callable[[str | None], str]
    ) -> tuple[DocumentKey, ...]:
        with self._writer.transaction() as tx:
            return publishing.publish(tx, generation, built, commit)

    def fail(self, job: Job, reason: str, *, final: bool = False) -> None:
        with self._writer.transaction() as tx:
            leases.fail(tx, job, reason, final=final)

    def release(self, jobs: Sequence[Job]) -> None:
        with self._writer.transaction() as tx:
            leases.release(tx, jobs)

    def reclaim(self, owners: Sequence[str]) -> int:
        with self._writer.transaction() as tx:
            return sum(len(tx.rows(leases.SQL["reclaim"], tx.now, owner)) for owner in owners)

    def renew(self, jobs: Sequence[Job]) -> None:
        with self._writer.transaction() as tx:
            until = tx.now + self._lease
            tx.run_many(leases.SQL["renew"], ((until, job.event_id, job.fence) for job in jobs))

    def sources(self) -> Sequence[SourceState]:
        with self._reading() as db:
            return sources.every(db)

    def put_source(self, state: SourceState) -> None:
        with self._writer.transaction() as tx:
            sources.put(tx, state)

    def approve(self, tenant_id: str, source_id: str, kind: str, up_to: int) -> None:
        with self._writer.transaction() as tx:
            sources.approve(tx, (tenant_id, source_id, kind), up_to)

    def heads(self, tenant_id: str, source_id: str) -> Mapping[str, tuple[int, bool]]:
        with self._reading() as db:
            return sources.heads(db, tenant_id, source_id)

    def snapshot(self, generation: str | None = None) -> AbstractContextManager[Snapshot]:
        return SnapshotContext(self._pool, self._memory, generation)

    def quarantine(self, key: DocumentKey, reason: str) -> None:
        with self._writer.transaction() as tx:
            document = _document(tx, key)
            tx.run(leases.SQL["quarantine_document"], tx.now, reason, document)
            visible.refresh(tx, document)
            journal.note(tx, "quarantine", document)
            events.record(tx, "quarantined", key, reason=reason)

    def reinstate(self, key: DocumentKey) -> None:
        with self._writer.transaction() as tx:
            document = _document(tx, key)
            tx.run(leases.SQL["withdraw_quarantined"], document)
            tx.run(leases.SQL["reinstate_document"], document)
            visible.refresh(tx, document)
            enqueue(tx, document)
            journal.note(tx, "reinstate", document)
            events.record(tx, "reinstated", key)

    def head(self, key: DocumentKey) -> DocumentHead | None:
        with self._reading() as db:
            return intake.head(db, key)

    def dated(self, record: SourceRecord) -> SourceRecord:
        with self._reading() as db:
            return intake.dated(db, record, self._clock.now())

    def places(self, record: SourceRecord) -> bool:
        with self._reading() as db:
            return intake.places(db, record, self._clock.now())

    def end_history(self, before: Micros) -> int:
        with self._writer.transaction() as tx:
            return intake.end_history(tx, before)

    def start_generation(self, generation: str, manifest: str, *, kept: bool = False) -> None:
        with self._writer.transaction() as tx:
            generations.start(tx, generation, manifest, kept=kept)

    def generations(self) -> Sequence[Generation]:
        with self._reading() as db:
            return generations.described(db)

    def promote(self, generation: str, switch: Switch | None = None, *, expected: str | None = None) -> None:
        with self._writer.transaction() as tx:
            generations.promote(tx, generation, switch, expected)

    def switches(self) -> Sequence[Switched]:
        with self._reading() as db:
            return generations.switches(db)

    def retire(self, generation: str) -> None:
        with self._writer.transaction() as tx:
            generations.retire(tx, generation)

    def manifest(self, generation: str) -> str | None:
        with self._reading() as db:
            row = db.execute(COMMON["find_generation"], (generation,)).fetchone()
        return None if row is None else row[1]

    def status(self, *, in_full: bool = False) -> Mapping[str, Any]:
        with self._reading() as db:
            return (status_in_full if in_full else status)(db, self._clock.now())

    @contextlib.contextmanager
    def examine(self) -> Iterator[SqliteExamination]:
        with self._reading() as db:
            yield SqliteExamination(db)

    def erasable(self, selection: Selection) -> tuple[Sequence[Erasable], int]:
        with self._reading() as db:
            return erase.erasable(db, selection)

    def contents(self, item: Erasable) -> Sequence[tuple[str, bool, bytes, str | None]]:
        with self._reading() as db:
            return list(erase.contents(db, item))

    def begin_purge(self, policy: str | None = None) -> int:
        with self._writer.transaction() as tx:
            return tx.insert(erase.SQL["begin_purge"], tx.now, policy)

    def erase(self, items: Sequence[Erasable]) -> Sequence[Erased]:
        with self._writer.transaction() as tx:
            return erase.erase(tx, items)

    def scrub(self, *, rewrite: bool = False) -> bool:
        return self._writer.scrub(rewrite=rewrite)

    def finish_purge(self, number: int, receipt: str) -> None:
        with self._writer.transaction() as tx:
            tx.run(erase.SQL["finish_purges"], tx.now, number, receipt)

    def event_head(self) -> Head:
        with self._reading() as db:
            return events.head(db)

    @contextlib.contextmanager
    def events(self) -> Iterator[Iterator[Event]]:
        with self._reading() as db:
            yield events.entries(db)

    def unlogged(self) -> Sequence[Finding]:
        with self._reading() as db:
            return list(events.unlogged(db))

    def journal(self) -> Journal:
        with self._reading() as db:
            return journal.export(db, self._clock.now())

    def journal_head(self) -> tuple[str, int, int]:
        with self._reading() as db:
            return journal.head(db)

    def reapply(self, since: reapply.Since) -> tuple[Reapplied, list[Erasable], list[reapply.Reached]]:
        """See the module; one transaction."""
        with self._writer.transaction() as tx:
            return reapply.reapply(tx, since)

    def unseal(self, record: tuple[Any, ...], new_id: str | None) -> None:
        """Let a copy serve. ``record``: the columns of ``restores`` after the first."""
        with self._writer.transaction() as tx:
            tx.run(reapply.SQL["add_restore"], tx.now, *record)
            tx.run(reapply.SQL["unseal"], new_id)
            _, backup_number, journal_number, *_ = record
            events.record(tx, "restore", backup=backup_number, journal=journal_number)

    def faults(self) -> list[str]:
        with self._reading() as db:
            return faults_of(db)

    def copy_to(self, path: Path) -> None:
        """A complete, sealed copy at one position, in one file of mode 0600."""
        with self._reading() as db:
            journal.head(db)  # the first read fixes the position
            copy_database(db, path)
        seal(path)
        with translated(), contextlib.closing(apsw.Connection(str(path))) as copy:
            copy.pragma("journal_mode", "delete")

    def store_id(self) -> str:
        with self._reading() as db:
            return str(db.execute(COMMON["store_id"]).get)

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


def _bounded(records: Sequence[SourceRecord]) -> Sequence[SourceRecord]:
    """The first records, as many as one transaction may hold, at least one."""
    size = 0
    for number, record in enumerate(records[:MAX_RECORDS]):
        size += len(record.content)
        if number and size > MAX_BYTES:
            return records[:number]
    return records[:MAX_RECORDS]


def _apply_one(tx: Transaction, record: SourceRecord, manifest_hash: str) -> Applied:
    """One record inside its savepoint; a refusal is a value, so that the others go on."""
    decision, refused = None, None
    try:
        with tx.savepoint():
            decision = intake.accept(tx, record, manifest_hash)
    except UnicodeEncodeError:
        refused = InputError("The record holds half of a surrogate pair.")
    except OverflowError:
        refused = InputError("The record holds a number that is too large.")
    except InputError as error:
        refused = error
    return Applied(key=record.key, source_sequence=record.source_sequence, decision=decision, error=refused)


def _document(tx: Transaction, key: DocumentKey) -> int:
    row = tx.row(COMMON["find_document"], key.tenant_id, key.source_id, key.document_id)
    if row is None:
        raise NotFound("There is no such document.")
    return int(row[0])
