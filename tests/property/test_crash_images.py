"""What a power cut may leave behind: every acknowledged record whole, nothing half written.

A recording VFS keeps every write, truncation and sync of the store's files. A crash image holds what was synced
plus some of what was not: nothing, everything, each prefix, everything but one, a torn last write. Every image is
opened like a store and checked, and its log of events with it. The controls sync less and must lose what was
acknowledged.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import apsw
import pytest

from clearcite.adapters.ledgers import connection
from clearcite.adapters.ledgers.sqlite import open_sqlite_ledger
from clearcite.adapters.traces.sqlite import open_sqlite_traces
from clearcite.domain.audit import check_traces
from clearcite.domain.purge import Selection
from clearcite.domain.trace import Trace
from clearcite.errors import ClearciteError, ConfigError, DependencyUnavailable
from clearcite.testing.clock import PinnedClock
from clearcite.testing.library import Library
from clearcite.testing.records import access, delete, key, upsert
from tests.support.audit import log_faults
from tests.support.power import SUFFIXES, Log, images, recording

LONG = 9
"""Rounds of the story that leave more than 5,000 images."""
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None


def live(folder: Path, log: Log, rounds: int) -> None:
    """Accept, project, revise, narrow, delete, purge; with a checkpoint in the middle. Each call is acknowledged."""
    with closing(open_sqlite_ledger(folder / "ledger.db", PinnedClock())) as ledger:
        library = Library(ledger=ledger, clock=PinnedClock()).start()
        log.acknowledged()
        for number in range(rounds):
            records = story(number)
            for record in records[:3]:
                library.apply(record)
                log.acknowledged()
            library.work()
            ledger._writer._db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_FULL)
            for record in records[3:]:
                library.apply(record)
                log.acknowledged()
            library.work()
            ledger.erase(ledger.erasable(Selection(deleted_before=2**60, revisions_before=2**60))[0])
            ledger.scrub()


def story(number: int) -> tuple[Any, ...]:
    one, two, three = (key(f"d{number}-{i}") for i in (1, 2, 3))
    return (
        upsert("one", 1, one),
        upsert("two", 1, two),
        upsert("one, revised", 2, one),
        upsert("two", 2, two, access("guest")),
        delete(3, one),
        upsert("three", 1, three),
    )


STORY = story(0)


HALF = """
SELECT count(*) FROM documents d
LEFT JOIN revisions r ON r.id = d.revision AND r.document = d.id
LEFT JOIN originals b ON b.revision = r.id
LEFT JOIN accesses a ON a.id = d.access
LEFT JOIN outbox o ON o.document = d.id
LEFT JOIN projections p ON p.document = d.id AND p.withdrawn = 0
LEFT JOIN tombstones t ON t.document = d.id AND t.source_sequence = d.source_sequence
WHERE (d.operation = 'upsert' AND (r.id IS NULL OR b.revision IS NULL OR a.id IS NULL
                                   OR (o.event_id IS NULL AND p.revision IS NOT d.revision)))
   OR (d.operation = 'delete' AND (t.document IS NULL OR p.id IS NOT NULL))
"""


def faults(acknowledged: int, files: dict[str, bytes], folder: Path, told: Sequence[Any]) -> list[str]:
    """What is wrong with one image after recovery."""
    for old in folder.glob("ledger.db*"):
        old.unlink()
    for suffix, content in files.items():
        (folder / f"ledger.db{suffix}").write_bytes(content)
    try:
        with closing(open_sqlite_ledger(folder / "ledger.db", PinnedClock())) as ledger:
            db = ledger._writer._db
            found = [f"corrupt: {row[0]}" for row in db.execute("PRAGMA integrity_check") if row[0] != "ok"]
            found += [f"foreign key: {row}" for row in db.execute("PRAGMA foreign_key_check")]
            if db.execute(HALF).get:
                found.append("half a record")
            found += log_faults(ledger)
            found += lost(ledger, told[: max(0, acknowledged - 1)])
            return found
    except (ClearciteError, apsw.Error) as error:
        return [f"corrupt: {type(error).__name__}"]


def lost(ledger: Any, records: Sequence[Any]) -> list[str]:
    """Acknowledged records that the heads do not show."""
    newest = {record.key: record.source_sequence for record in records}
    found = []
    for name, sequence in newest.items():
        head = ledger.head(name)
        if head is None or head.source_sequence < sequence:
            found.append(f"lost: {name.document_id} at {sequence}")
    return found


def record_and_check(tmp_path: Path, enough: int = 10**6, rounds: int = 1) -> tuple[int, list[str]]:
    """(images checked, faults found). Stops after ``enough`` faults."""
    store = tmp_path / "store"
    told = [record for number in range(rounds) for record in story(number)]
    with recording(Log()) as log:
        live(store, log, rounds)
    folder = Path(tempfile.mkdtemp(dir=MEMORY))
    try:
        seen = set()
        found: list[str] = []
        for acknowledged, files in images(log):
            image = (acknowledged, *(hash(content) for content in files.values()))
            if image not in seen and len(found) < enough:
                seen.add(image)
                found += faults(acknowledged, files, folder, told)
        return len(seen), found
    finally:
        shutil.rmtree(folder)


def test_no_power_cut_loses_what_was_acknowledged_or_leaves_half_a_record(tmp_path: Path) -> None:
    checked, found = record_and_check(tmp_path)
    assert found == []
    assert checked > 1_000


@pytest.mark.soak
@pytest.mark.skipif("CLEARCITE_SOAK" not in os.environ, reason="long: set CLEARCITE_SOAK to run it")
def test_no_power_cut_in_a_long_life_loses_what_was_acknowledged(tmp_path: Path) -> None:
    checked, found = record_and_check(tmp_path, rounds=LONG)
    assert found == []
    assert checked >= 5_000


def sync_less(monkeypatch: pytest.MonkeyPatch, level: int) -> None:
    actual = connection.pragma

    def weaker(db: apsw.Connection, name: str, value: Any = None) -> Any:
        if name == "synchronous":
            actual(db, name, level)
            return 2
        return actual(db, name, value)

    monkeypatch.setattr(connection, "pragma", weaker)


@pytest.mark.parametrize("level", [1, 0], ids=["normal", "off"])
def test_control_syncing_less_loses_what_was_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, level: int
) -> None:
    sync_less(monkeypatch, level)
    _, found = record_and_check(tmp_path, enough=1)
    assert found[0].startswith("lost")


def trace(number: int) -> Trace:
    return Trace(
        trace_id=f"{number:032x}",
        tenant_id="acme",
        kind="ask",
        created_at=number,
        request={"question": {"text": f"question {number}"}},
        state={},
        stages=(),
        response={},
        degraded=False,
        cause=None,
    )


def trace_faults(acknowledged: int, files: dict[str, bytes], folder: Path) -> list[str]:
    """What is wrong with one image of the traces: the chain, and every trace whose answer may have left."""
    for old in folder.glob("traces.db*"):
        old.unlink()
    for suffix, content in files.items():
        (folder / f"traces.db{suffix}").write_bytes(content)
    try:
        with closing(open_sqlite_traces(folder / "traces.db")) as traces:
            found = traces.faults()
            with traces.entries() as entries:
                found += [finding.what for finding in check_traces(entries, None)]
            kept = traces.head().size
            return [*found, *(["lost"] if kept < acknowledged else [])]
    except (ClearciteError, apsw.Error) as error:
        return [f"corrupt: {type(error).__name__}"]


def recorded_traces(folder: Path) -> Iterator[list[str]]:
    """The faults of each image of a store of traces that is written, emptied in part, and written again."""
    log = Log(database="traces.db")
    log.acks[0] = 0
    with recording(log), closing(open_sqlite_traces(folder / "traces.db")) as traces:
        for number in range(12):
            traces.append(trace(number))
            log.acks[len(log.events)] = number + 1 + (number > 6)
            if number == 6:
                traces.forget([2, 3])
                log.acks[len(log.events)] = number + 2
                traces.scrub()
    image = Path(tempfile.mkdtemp(dir=MEMORY))
    try:
        for acknowledged, files in images(log):
            yield trace_faults(acknowledged, files, image)
    finally:
        shutil.rmtree(image)


def test_no_power_cut_loses_the_trace_of_an_answer_that_left(tmp_path: Path) -> None:
    found = list(recorded_traces(tmp_path))
    assert [some for some in found if some] == []
    assert len(found) > 150


def test_control_syncing_less_loses_the_trace_of_an_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync_less(monkeypatch, 1)
    assert ["lost"] in recorded_traces(tmp_path)


class Breaking(Log):
    """Counts operations of the store's files; one of them fails, or all from it on."""

    def __init__(self, at: int, error: type[apsw.Error], persistent: bool) -> None:
        super().__init__()
        self.left, self.error, self.persistent = at, error, persistent
        self.broken = False

    def add(self, name: str, what: str, offset: int = 0, data: bytes = b"") -> None:
        if any(name.endswith(f"ledger.db{suffix}") for suffix in SUFFIXES):
            self.left -= 1
            if self.left == 0 or (self.left < 0 and self.persistent):
                self.broken = True
                raise self.error(what)


def live_through(folder: Path, log: Log) -> list[Any]:
    """Tell the story; what was acknowledged in spite of failing operations."""
    with closing(open_sqlite_ledger(folder / "ledger.db", PinnedClock())) as ledger:
        library = Library(ledger=ledger, clock=PinnedClock())
        kept = []
        for record in STORY:
            with suppress(DependencyUnavailable):
                library.start()
                (applied,) = library.apply(record)
                kept += [record] if applied.error is None else []
                library.work()
        return kept


def break_every(step: int, tmp_path: Path, error: type[apsw.Error], persistent: bool) -> None:
    """Fail at the first operation, at the one ``step`` further on, and so on until the story has no more."""
    store, at, broken = tmp_path / "store", 1, True
    while broken:
        shutil.rmtree(store, ignore_errors=True)
        with recording(Breaking(at, error, persistent)) as log:
            kept: list[Any] = []
            with suppress(DependencyUnavailable, ConfigError):
                kept = live_through(store, log)
            broken = log.broken
        with closing(open_sqlite_ledger(store / "ledger.db", PinnedClock())) as ledger:
            db = ledger._writer._db
            assert [row[0] for row in db.execute("PRAGMA integrity_check")] == ["ok"], at
            assert db.execute(HALF).get == 0, at
            assert log_faults(ledger) == [], at
            assert lost(ledger, kept) == [], at
        at += step
    assert at > 100


breaking = pytest.mark.parametrize(
    ("error", "persistent"),
    [(error, persistent) for error in (apsw.FullError, apsw.IOError) for persistent in (False, True)],
    ids=["disk full once", "disk full from then on", "I/O error once", "I/O error from then on"],
)


@breaking
def test_an_operation_that_fails_costs_nothing_that_was_acknowledged(
    tmp_path: Path, error: type[apsw.Error], persistent: bool
) -> None:
    break_every(11, tmp_path, error, persistent)


@pytest.mark.soak
@pytest.mark.skipif("CLEARCITE_SOAK" not in os.environ, reason="long: set CLEARCITE_SOAK to run it")
@breaking
def test_whichever_operation_fails_costs_nothing_that_was_acknowledged(
    tmp_path: Path, error: type[apsw.Error], persistent: bool
) -> None:
    break_every(1, tmp_path, error, persistent)
