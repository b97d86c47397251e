"""The whole ledger on SQLite: ``answering`` and the methods of the port beside it, each one transaction of the modules
here."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
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
    publishing,
    reapply,
    sources,
    visible,
)
from clearcite.adapters.ledgers.answering import AnsweringLedger, Opened, opened
from clearcite.adapters.ledgers.connection import copy_database, faults_of, translated
from clearcite.adapters.ledgers.enqueue import enqueue
from clearcite.adapters.ledgers.examine import SqliteExamination
from clearcite.adapters.ledgers.status import status, status_in_full
from clearcite.adapters.ledgers.writer import SQL as COMMON
from clearcite.adapters.ledgers.writer import Transaction
from clearcite.errors import InputError, IntegrityFault, NotFound
from clearcite.ports import Clock
from clearcite.storing import Applied, Built, Job

if TYPE_CHECKING:
    from clearcite.domain.access import Acl, Micros
    from clearcite.domain.audit import Event, Finding, Head
    from clearcite.domain.corpus import DocumentKey, SourceRecord
    from clearcite.domain.generations import Generation, Switch, Switched
    from clearcite.domain.journal import Journal, Reapplied
    from clearcite.domain.lifecycle import Head as DocumentHead
    from clearcite.domain.purge import Erasable, Erased, Selection
    from clearcite.domain.sources import SourceState
    from clearcite.keeping import Configured

LEASE: Micros = 300_000_000
MAX_RECORDS = 500
MAX_BYTES = 8_000_000
MAX_SECONDS = 0.05
RUN = 100
"""Records that may be accepted together, between two looks at the clock."""


def open_sqlite_ledger(
    path: Path | None, clock: Clock, *, lease: Micros = LEASE, sealed: bool = False
) -> SqliteLedger:
    """See ``answering.opened``. ``lease``: how long a claimed job stays with its worker."""
    return SqliteLedger(opened(path, clock, sealed=sealed), lease=lease)


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


class SqliteLedger(AnsweringLedger):
    """Implements ``storing.Ledger``. Thread-safe; many processes may share one file."""

    def __init__(self, opened: Opened, *, lease: Micros = LEASE) -> None:
        """``opened``: closed by whoever had it first, once."""
        super().__init__(opened)
        self._lease = lease

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
