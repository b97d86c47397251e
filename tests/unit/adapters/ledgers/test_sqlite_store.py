"""The file behind the ledger: settings, gate, modes, versions, statements."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import closing
from importlib.resources import files
from pathlib import Path
from typing import Any

import apsw
import pytest

from clearcite.adapters.ledgers import connection, queries
from clearcite.adapters.ledgers.connection import connect, prepare_file
from clearcite.adapters.ledgers.migrate import migrate, migrations, ready
from clearcite.adapters.ledgers.sqlite import SqliteLedger, open_sqlite_ledger
from clearcite.adapters.ledgers.writer import Transaction
from clearcite.answer.confirm import verify
from clearcite.domain.audit import check_events
from clearcite.domain.corpus import Superseded
from clearcite.errors import ConfigError, DependencyUnavailable, InputError, IntegrityFault
from clearcite.testing.clock import PinnedClock
from clearcite.testing.library import Library
from clearcite.testing.records import key, principal, upsert


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store" / "ledger.db"


def opened(path: Path) -> SqliteLedger:
    return open_sqlite_ledger(path, PinnedClock())


@pytest.fixture
def ledger(path: Path) -> Iterator[SqliteLedger]:
    with closing(opened(path)) as ledger:
        yield ledger


WANTED = {
    "journal_mode": "wal",
    "synchronous": 2,
    "foreign_keys": 1,
    "secure_delete": 1,
    "trusted_schema": 0,
    "cell_size_check": 1,
    "mmap_size": 0,
}


@pytest.mark.parametrize("query_only", [False, True])
def test_every_connection_has_the_measured_settings(path: Path, query_only: bool) -> None:
    prepare_file(path)
    with closing(connect(path, query_only=query_only)) as db:
        assert {name: db.pragma(name) for name in WANTED} == WANTED
        assert db.pragma("busy_timeout") == 5_000
        assert db.pragma("query_only") == query_only
        assert db.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, -1)
        assert db.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, -1)


def test_reading_connections_cannot_write(ledger: SqliteLedger) -> None:
    with ledger.snapshot() as snapshot, pytest.raises(apsw.ReadOnlyError):
        snapshot._db.execute("UPDATE counters SET position = 99")  # type: ignore[attr-defined]


def test_every_table_is_strict(path: Path, ledger: SqliteLedger) -> None:
    with closing(connect(path)) as db:
        tables = db.execute(
            "SELECT name, strict FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
        )
        assert {name for name, strict in tables if not strict} == {"sqlite_schema", "sqlite_sequence"}


def test_an_old_sqlite_is_refused_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection.apsw, "sqlite_lib_version", lambda: "3.51.2")
    with pytest.raises(ConfigError, match="pip install -U apsw"):
        open_sqlite_ledger(None, PinnedClock())


def test_a_sqlite_without_thread_safety_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection.apsw, "compile_options", ("THREADSAFE=0",))
    with pytest.raises(ConfigError, match="thread safety"):
        open_sqlite_ledger(None, PinnedClock())


def test_a_setting_that_does_not_hold_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    actual = connection.pragma

    def forgetful(db: apsw.Connection, name: str, value: Any = None) -> Any:
        return 0 if name == "secure_delete" else actual(db, name, value)

    monkeypatch.setattr(connection, "pragma", forgetful)
    with pytest.raises(ConfigError, match="secure_delete"):
        opened(path)


def test_only_the_owner_may_read_the_store(path: Path, ledger: SqliteLedger) -> None:
    Library(ledger=ledger, clock=PinnedClock()).start().apply(upsert("text"))
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    assert modes == {"ledger.db": 0o600, "ledger.db-wal": 0o600, "ledger.db-shm": 0o600}


def test_a_store_in_memory_leaves_nothing_behind() -> None:
    ledger = open_sqlite_ledger(None, PinnedClock())
    folder = Path(ledger._folder.name)  # type: ignore[union-attr]
    assert folder.is_dir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    ledger.close()
    assert not folder.exists()


def test_what_was_acknowledged_is_there_after_reopening(path: Path) -> None:
    with closing(opened(path)) as ledger:
        library = Library(ledger=ledger, clock=PinnedClock()).start()
        library.apply(upsert("text"))
        library.work()
    with closing(opened(path)) as again:
        library.ledger = again
        assert library.read(principal()) == {key(): "text"}


def test_a_savepoint_that_is_undone_takes_its_position_back(path: Path, ledger: SqliteLedger) -> None:
    def refused(tx: Transaction) -> None:
        with tx.savepoint():
            tx.position()
            raise InputError("refused")

    with ledger._writer.transaction() as tx:
        with pytest.raises(InputError):
            refused(tx)
        raised = tx.position()
    with ledger.snapshot() as snapshot:
        assert snapshot.position == raised == 1


def test_a_write_inside_another_one_is_refused(ledger: SqliteLedger) -> None:
    with ledger._writer.transaction(), pytest.raises(DependencyUnavailable):
        ledger.put_collection("acme", "a", None)


def test_a_busy_store_is_unavailable_and_says_so(
    path: Path, ledger: SqliteLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "BUSY_MS", 20)
    with (
        closing(opened(path)) as other,
        closing(opened(path)) as third,
        other._writer.transaction(),
        pytest.raises(DependencyUnavailable, match="busy"),
    ):
        third.put_collection("acme", "a", None)


def test_a_closed_ledger_is_unavailable(path: Path) -> None:
    ledger = opened(path)
    ledger.close()
    for use in (
        lambda: ledger.apply([upsert("x")], "m"),
        lambda: ledger.snapshot().__enter__(),
        ledger.status,
    ):
        with pytest.raises(DependencyUnavailable):
            use()


def test_a_file_that_is_no_store_is_refused(path: Path, tmp_path: Path) -> None:
    prepare_file(path)
    path.write_bytes(b"not a database at all, but long enough to be looked at" * 40)
    with pytest.raises(IntegrityFault):
        opened(path)
    other = tmp_path / "other.db"
    with closing(apsw.Connection(str(other))) as db:
        db.execute("CREATE TABLE notes (text)")
    with pytest.raises(ConfigError, match="not a clearcite store"):
        opened(other)


def test_a_damaged_page_is_an_integrity_fault_and_names_no_path(path: Path) -> None:
    with closing(opened(path)) as ledger:
        library = Library(ledger=ledger, clock=PinnedClock()).start()
        library.apply(*(upsert("text " * 200, 1, key(f"d{n}")) for n in range(50)))
        library.work()
    raw = bytearray(path.read_bytes())
    raw[4096 * 2 :] = b"\xa5" * (len(raw) - 4096 * 2)
    path.write_bytes(raw)

    def use() -> None:
        with closing(opened(path)) as ledger:
            library.ledger = ledger
            library.documents()

    with pytest.raises(IntegrityFault) as caught:
        use()
    assert str(path) not in str(caught.value)


def test_a_store_opened_before_a_fork_is_refused_after_it(ledger: SqliteLedger) -> None:
    child = os.fork()
    if not child:
        try:
            ledger.apply([upsert("text")], "m")
        except ConfigError:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


NEXT = "CREATE TABLE more (id INTEGER PRIMARY KEY) STRICT;"


def test_an_older_store_is_refused_with_the_command_and_brought_up_to_date_by_it(path: Path) -> None:
    opened(path).close()
    scripts = (*migrations(), NEXT)
    with closing(connect(path)) as db, pytest.raises(ConfigError, match="clearcite migrate"):
        ready(db, scripts)
    done = migrate(path, scripts)
    assert (done.before, done.after) == (len(migrations()), len(scripts))
    with closing(connect(path)) as db:
        ready(db, scripts)
        assert db.execute("SELECT count(*) FROM more").get == 0
    assert migrate(path, scripts).backup is None
    with pytest.raises(ConfigError, match="newer"):
        opened(path)


def test_a_migration_takes_a_complete_backup_first(path: Path) -> None:
    with closing(opened(path)) as ledger:
        library = Library(ledger=ledger, clock=PinnedClock()).start()
        library.apply(upsert("text"))
        library.work()
    backup = migrate(path, (*migrations(), NEXT)).backup
    assert backup is not None
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    with closing(opened(backup)) as ledger:
        library.ledger = ledger
        assert library.read(principal()) == {key(): "text"}


def test_a_migration_that_fails_changes_nothing(path: Path) -> None:
    opened(path).close()
    with pytest.raises(DependencyUnavailable):
        migrate(path, (*migrations(), NEXT + "CREATE TABLE more (id) STRICT;"))
    opened(path).close()


UNDONE = """
DROP TABLE history_states;
DROP INDEX documents_history;
ALTER TABLE documents DROP COLUMN history_of;
DROP TABLE policies;
DROP TABLE policy_alarms;
ALTER TABLE collections DROP COLUMN configured;
ALTER TABLE collections DROP COLUMN seal;
DROP TABLE restores;
DROP TABLE events;
DROP TABLE sources;
DROP TABLE switches;
ALTER TABLE generations DROP COLUMN kept;
DROP TABLE journal;
DROP TABLE purges;
DROP TABLE store;
ALTER TABLE visibility DROP COLUMN supersedes;
CREATE INDEX projections_superseding ON projections (generation, partition) WHERE supersedes = 1;
DROP VIEW served;
DROP INDEX documents_named;
ALTER TABLE chunks DROP COLUMN seal;
ALTER TABLE projections DROP COLUMN seal;
PRAGMA user_version = 1;
"""
"""From this version back to the first, the view apart."""


def test_a_store_of_the_first_version_answers_as_before_once_it_is_migrated(path: Path) -> None:
    """Seals are given, and what supersedes is known."""
    with closing(opened(path)) as ledger:
        library = Library(ledger=ledger, clock=PinnedClock()).start()
        library.apply(upsert("text\nmore text"))
        library.apply(upsert("other", who=key("d2"), supersedes=(Superseded(document_id="d1"),)))
        library.work()
    served = migrations()[0].partition("CREATE VIEW served")[2]
    with closing(apsw.Connection(str(path))) as db:
        db.execute(f"{UNDONE} CREATE VIEW served{served}")
    migrate(path)
    with closing(opened(path)) as ledger, ledger.snapshot() as snapshot:
        names = [name for some in library.entries.values() for name in some]
        found = snapshot.chunks(names)
        assert len(found) == 3
        for stored in found.values():
            verify(stored)
        slots = [row.slot for row in snapshot.visibility_since("acme", 0) if row.supersedes]
        assert [item.key for item in snapshot.documents_at("acme", slots)] == [key("d2")]
        with ledger.events() as events:
            found = list(events)
        assert [(event.kind, event.document_id) for event in found] == [("found", "d1"), ("found", "d2")]
        assert list(check_events(found, ledger.event_head())) == [] == ledger.unlogged()


def test_there_is_nothing_to_migrate_without_a_store(path: Path) -> None:
    with pytest.raises(InputError):
        migrate(path)
    opened(path).close()
    with pytest.raises(ConfigError, match="newer"):
        migrate(path, ())


def test_every_named_statement_is_used_and_every_name_used_exists() -> None:
    folder = files("clearcite.adapters.ledgers")
    code = "\n".join(item.read_text() for item in folder.iterdir() if item.name.endswith(".py"))
    for file in (folder / "sql").iterdir():
        for name in queries.load(file.name.removesuffix(".sql")):
            assert f'"{name}"' in code, f"{name} of {file.name} is not used"


def test_every_statement_can_be_prepared(path: Path, ledger: SqliteLedger) -> None:
    with closing(connect(path)) as db:
        for file in (files("clearcite.adapters.ledgers") / "sql").iterdir():
            for statement in queries.load(file.name.removesuffix(".sql")).values():
                numbers = [int(number) for number in re.findall(r"\?(\d+)", statement)]
                count = max(numbers) if numbers else statement.count("?")
                db.execute(f"EXPLAIN {statement}", [None] * count)


@pytest.mark.parametrize(
    "text", ["SELECT 1;", "-- name: a\nSELECT 1;\n-- name: a\nSELECT 2;", "-- name: a\n"]
)
def test_a_file_of_statements_that_is_not_in_order_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        queries.parse(text)


@pytest.mark.parametrize(
    ("name", "bindings", "forbidden"),
    [
        ("chunks", ('["a"]', 1), ("SCAN c", "SCAN s", "SCAN d")),
        ("document", (1, 1, "s", "d"), ("SCAN",)),
        ("visibility_since", (1, 1, 0, 9, 5), ("SCAN", "PRIMARY")),
        ("keys_of", ('{"1": 1}', 1, 1, "", "", 10), ("SCAN v", "SCAN d")),
        ("documents_at", ("[1]", 1, 1), ("SCAN x", "SCAN s", "SCAN d", "SCAN r", "SCAN t")),
    ],
)
def test_what_questions_read_is_found_by_index(
    path: Path, ledger: SqliteLedger, name: str, bindings: tuple[Any, ...], forbidden: tuple[str, ...]
) -> None:
    statement = queries.load("reader")[name]
    with closing(connect(path)) as db:
        plan = "\n".join(row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {statement}", bindings))
    assert not [word for word in forbidden if word in plan], plan
