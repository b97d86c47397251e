"""I16: an edit, a removal, another order, a cut end or a rewritten log is found; each without the chain is not."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from clearcite.adapters.ledgers.sqlite import SqliteLedger, open_sqlite_ledger
from clearcite.adapters.traces.sqlite import SqliteTraces, open_sqlite_traces
from clearcite.domain.access import Acl
from clearcite.domain.audit import (
    GENESIS,
    Event,
    Head,
    Heads,
    TraceEntry,
    check_events,
    check_traces,
    read_heads,
)
from clearcite.domain.digest import digest
from clearcite.domain.policy import Accepted
from clearcite.errors import InputError
from clearcite.testing.clock import PinnedClock
from clearcite.testing.library import Library
from clearcite.testing.records import access, delete, key, upsert
from clearcite.testing.trace_suite import trace

SIZE = 9


def fill_events(path: Path) -> SqliteLedger:
    ledger = open_sqlite_ledger(path, PinnedClock())
    library = Library(ledger=ledger, clock=PinnedClock()).start()
    library.apply(upsert("one", 1, key("a")), upsert("two", 1, key("b"), access("board")))
    library.work()
    library.apply(upsert("one", 2, key("a"), access("board")), delete(2, key("b")))
    library.work()
    return ledger


def fill_traces(path: Path) -> SqliteTraces:
    traces = open_sqlite_traces(path)
    for number in range(1, SIZE + 1):
        traces.append(trace(number))
    return traces


LOGS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "events": (fill_events, "detail"),
    "traces": (fill_traces, "body"),
}


class Log:
    """One filled log, its head as it was kept, and a back door to its file."""

    def __init__(self, name: str, folder: Path) -> None:
        fill, self.content = LOGS[name]
        self.name, self.path, self._fill = name, folder / f"{name}.db", fill
        with closing(fill(self.path)) as store:
            self.head: Head = store.event_head() if name == "events" else store.head()

    def execute(self, script: str) -> None:
        with closing(sqlite3.connect(self.path)) as db:
            db.create_function("digest", -1, lambda *parts: digest(*parts))
            db.executescript(script)

    def findings(self, kept: Head | None = None) -> list[str]:
        if self.name == "events":
            with closing(open_sqlite_ledger(self.path, PinnedClock())) as ledger, ledger.events() as events:
                return [finding.what for finding in check_events(events, kept)]
        with closing(open_sqlite_traces(self.path)) as traces, traces.entries() as entries:
            return [finding.what for finding in check_traces(entries, kept)]

    def reads(self) -> int:
        """How many entries the store reads without a complaint: all that is left without a chain."""
        if self.name == "events":
            with closing(open_sqlite_ledger(self.path, PinnedClock())) as ledger, ledger.events() as events:
                return sum(1 for _ in events)
        with closing(open_sqlite_traces(self.path)) as traces:
            return len(traces.newest(100))


@pytest.fixture(params=sorted(LOGS))
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Log:
    return Log(request.param, tmp_path)


SWAP = """
UPDATE {log} SET number = -4 WHERE number = 4;
UPDATE {log} SET number = 4 WHERE number = 5;
UPDATE {log} SET number = 5 WHERE number = -4;
"""
RENUMBERED = """
DELETE FROM {log} WHERE number = 4;
UPDATE {log} SET number = number - 1 WHERE number > 4;
"""
REWRITTEN = {
    "events": """
DELETE FROM events WHERE number > 4;
UPDATE events SET detail = replace(detail, 'a', 'b');
WITH RECURSIVE chain (number, link) AS (
  SELECT 0, '{genesis}' UNION ALL
  SELECT e.number, digest('event', chain.link, e.number, e.at, e.kind, e.tenant_id, e.source_id, e.document_id,
                          e.detail)
  FROM chain JOIN events e ON e.number = chain.number + 1
)
UPDATE events SET link = chain.link FROM chain WHERE chain.number = events.number;
""",
    "traces": """
DELETE FROM traces WHERE number > 4;
UPDATE traces SET body = replace(body, 'staff', 'board');
UPDATE traces SET commitment = digest('body', salt, body);
WITH RECURSIVE chain (number, link) AS (
  SELECT 0, '{genesis}' UNION ALL
  SELECT t.number, digest('trace', chain.link, t.number, t.trace_id, t.tenant_id, t.kind, t.created_at, t.commitment)
  FROM chain JOIN traces t ON t.number = chain.number + 1
)
UPDATE traces SET link = chain.link FROM chain WHERE chain.number = traces.number;
""",
}
BENT: dict[str, tuple[str, bool]] = {
    "the content of one is edited": (
        "UPDATE {log} SET {content} = replace({content}, '1', '2') WHERE number = 3",
        False,
    ),
    "who it is about is edited": ("UPDATE {log} SET tenant_id = 'other' WHERE number = 3", False),
    "what it is, is edited": ("UPDATE {log} SET kind = 'search' WHERE number = 3", False),
    "a link is edited": ("UPDATE {log} SET link = '{genesis}' WHERE number = 3", False),
    "one is removed": ("DELETE FROM {log} WHERE number = 4", False),
    "the first is removed": ("DELETE FROM {log} WHERE number = 1", False),
    "one is removed and the others are renumbered": (RENUMBERED, False),
    "two change places": (SWAP, False),
    "the end is cut off": ("DELETE FROM {log} WHERE number > 4", True),
    "everything is removed": ("DELETE FROM {log}", True),
    "everything is written anew": ("", True),
}  # fmt: skip
"""What somebody does to the file, and whether it takes a kept head to find it."""


@pytest.mark.parametrize("what", BENT)
def test_whatever_is_done_to_a_log_is_found(log: Log, what: str) -> None:
    assert log.head.size >= SIZE
    script, needs_head = BENT[what]
    script = script or REWRITTEN[log.name]
    log.execute(script.format(log=log.name, content=log.content, genesis=GENESIS))
    assert log.findings(log.head) != []
    if needs_head:
        assert log.findings() == [], "this is what the kept head is for"
    else:
        assert log.findings() != []


@pytest.mark.parametrize("what", [name for name in BENT if name != "everything is removed"])
def test_control_without_the_chain_the_same_logs_are_read_without_a_complaint(log: Log, what: str) -> None:
    script = BENT[what][0] or REWRITTEN[log.name]
    log.execute(script.format(log=log.name, content=log.content, genesis=GENESIS))
    assert log.reads() > 0


def test_control_an_untouched_log_holds_and_goes_on_from_a_kept_head(log: Log) -> None:
    assert log.findings() == [] and log.findings(log.head) == []
    if log.name == "traces":
        with closing(open_sqlite_traces(log.path)) as traces:
            traces.append(trace(99))
    else:
        with closing(open_sqlite_ledger(log.path, PinnedClock())) as ledger:
            ledger.apply([upsert("more", 5, key("c"))], "m")
    assert log.findings(log.head) == []


def test_a_fault_is_shown_where_it_is_and_once(log: Log) -> None:
    log.execute(f"UPDATE {log.name} SET tenant_id = 'other' WHERE number = 3")
    assert log.findings(log.head) == ["it was changed, or stands in another place"]


def test_an_erased_trace_leaves_its_entry_and_the_log_holds(tmp_path: Path) -> None:
    log = Log("traces", tmp_path)
    with closing(open_sqlite_traces(log.path)) as traces:
        assert traces.forget([3]) == 1
        assert traces.get(trace(3).trace_id) is None
        assert len(traces.newest(100)) == SIZE - 1
        assert traces.forget([SIZE + 9]) == 0
        assert traces.scrub()
    assert log.findings(log.head) == []
    stored = log.path.read_bytes()
    assert stored.count(trace(3).trace_id.encode()) == 2, "the entry and its index, no content"
    assert stored.count(trace(4).trace_id.encode()) > 2


def test_a_trace_that_was_emptied_by_somebody_else_is_found(tmp_path: Path) -> None:
    log = Log("traces", tmp_path)
    log.execute("UPDATE traces SET body = NULL, salt = NULL WHERE number = 3")
    assert log.findings(log.head) == ["its content is gone, and no entry says why"]


def test_an_erasure_cannot_be_forged_or_emptied(tmp_path: Path) -> None:
    log = Log("traces", tmp_path)
    with closing(open_sqlite_traces(log.path)) as traces:
        traces.forget_before(trace(3).created_at)
    log.execute("UPDATE traces SET body = '[1,2,3]' WHERE kind = 'erasure'")
    assert log.findings(log.head) == ["its content was changed"]
    log.execute("UPDATE traces SET body = NULL, salt = NULL WHERE kind = 'erasure'")
    assert len(log.findings(log.head)) == 3


def test_a_commitment_does_not_let_an_erased_body_be_guessed(tmp_path: Path) -> None:
    log = Log("traces", tmp_path)
    with closing(open_sqlite_traces(log.path)) as traces, traces.entries() as entries:
        before = list(entries)[2]
    assert before.body is not None and before.salt is not None
    assert digest("body", before.salt, before.body) == before.commitment
    with closing(open_sqlite_traces(log.path)) as traces:
        traces.forget_before(trace(4).created_at)
        with traces.entries() as entries:
            after = list(entries)[2]
    assert (after.body, after.salt, after.commitment) == (None, None, before.commitment)


@pytest.mark.parametrize(
    "script",
    [
        "UPDATE documents SET state_hash = access_digest, access_digest = state_hash WHERE document_id = 'a'",
        "UPDATE documents SET source_sequence = 9 WHERE document_id = 'a'",
        "UPDATE documents SET operation = 'upsert' WHERE document_id = 'b'",
        "PRAGMA foreign_keys = OFF; DELETE FROM documents WHERE document_id = 'b'",
        "UPDATE documents SET document_id = 'z' WHERE document_id = 'b'",
    ],
)
def test_data_and_hashes_that_were_changed_together_do_not_fit_the_log(tmp_path: Path, script: str) -> None:
    log = Log("events", tmp_path)
    with closing(open_sqlite_ledger(log.path, PinnedClock())) as ledger:
        assert ledger.unlogged() == []
    log.execute(script)
    assert log.findings(log.head) == []
    with closing(open_sqlite_ledger(log.path, PinnedClock())) as ledger:
        assert ledger.unlogged() != []


WIDE, NARROW = Acl(allow=("staff",)), Acl(allow=())
PUT_BACK = {
    "the list of before": (
        """
        DELETE FROM collections WHERE path = 'hr' AND to_position IS NULL;
        UPDATE collections SET to_position = NULL WHERE path = 'hr'
        """,
        "the collection hr of acme has another list than was logged last",
    ),
    "a collection that was removed": (
        "UPDATE collections SET to_position = NULL WHERE path = 'gone'",
        "the collection gone of acme has another list than was logged last",
    ),
    "one that was never made": (
        """
        INSERT INTO collections SELECT partition, 'new', 9, NULL, allow, deny, configured, seal
        FROM collections WHERE path = 'gone'
        """,
        "the collection new of acme has another list than was logged last",
    ),
    "no list at all": (
        "DELETE FROM collections WHERE path = 'hr'",
        "the list of the collection hr of acme is lost",
    ),
    "the policy of before": (
        "DELETE FROM policies WHERE revision = 2",
        "another policy is in force than was logged last",
    ),
    "another policy of this revision": (
        "UPDATE policies SET content = 'other' WHERE revision = 2",
        "another policy is in force than was logged last",
    ),
}


@pytest.mark.parametrize("what", [None, *PUT_BACK])
def test_lists_and_a_policy_that_somebody_put_back_do_not_fit_the_log(
    tmp_path: Path, what: str | None
) -> None:
    """They were in force once, so each is sealed and true in itself. ``None``: the control, nothing was touched."""
    path = tmp_path / "ledger.db"
    with closing(open_sqlite_ledger(path, PinnedClock())) as ledger:
        for acl in (WIDE, NARROW):
            ledger.put_collection("acme", "hr", acl)
        for removed in (WIDE, None):
            ledger.put_collection("acme", "gone", removed)
        for revision in (1, 2):
            policy = Accepted(revision=revision, content=f"content {revision}", issued_at=None)
            ledger.accept_policy(policy, "a file")
    if what is not None:
        with closing(sqlite3.connect(path)) as db:
            db.executescript(PUT_BACK[what][0])
    with closing(open_sqlite_ledger(path, PinnedClock())) as ledger:
        assert [found.what for found in ledger.unlogged()] == ([] if what is None else [PUT_BACK[what][1]])


def test_a_store_that_is_older_than_its_log_may_have_lists_that_were_never_logged(tmp_path: Path) -> None:
    log = Log("events", tmp_path)
    columns = "partition, path, from_position, allow, deny, seal"
    log.execute(f"INSERT INTO collections ({columns}) VALUES (1, 'hr', 1, NULL, '[]', '')")
    with closing(open_sqlite_ledger(log.path, PinnedClock())) as ledger:
        assert len(ledger.unlogged()) == 1
    log.execute("UPDATE events SET kind = 'found' WHERE number = 2")
    with closing(open_sqlite_ledger(log.path, PinnedClock())) as ledger:
        assert ledger.unlogged() == []


def test_an_event_stands_in_the_transaction_of_what_it_tells(tmp_path: Path) -> None:
    """A refused record leaves no event; the order is that of what happened."""
    with closing(fill_events(tmp_path / "ledger.db")) as ledger:
        size = ledger.event_head().size
        (refused,) = ledger.apply([upsert("another text", 2, key("a"))], "m")
        assert refused.error is not None and ledger.event_head().size == size
        with ledger.events() as events:
            kinds = [event.kind for event in events]
    assert kinds == [
        *("generation_started", "created", "created", "published", "published"),
        *("access_changed", "deleted", "acknowledged", "dropped"),
    ]


def test_several_processes_write_one_log(tmp_path: Path) -> None:
    """Two stores open on one file each, as two processes have them, writing at once."""
    with (
        closing(open_sqlite_traces(tmp_path / "traces.db")) as one,
        closing(open_sqlite_traces(tmp_path / "traces.db")) as two,
        ThreadPoolExecutor(8) as pool,
    ):
        list(pool.map(lambda number: (one, two)[number % 2].append(trace(number)), range(1, 61)))
        with one.entries() as entries:
            assert list(check_traces(entries, two.head())) == []
        assert one.head().size == 60
    with (
        closing(open_sqlite_ledger(tmp_path / "ledger.db", PinnedClock())) as first,
        closing(open_sqlite_ledger(tmp_path / "ledger.db", PinnedClock())) as second,
        ThreadPoolExecutor(8) as pool,
    ):
        list(
            pool.map(
                lambda n: (first, second)[n % 2].apply([upsert(f"text {n}", 1, key(f"d{n}"))], "m"), range(40)
            )
        )
        with first.events() as events:
            assert list(check_events(events, second.event_head())) == []
        assert first.event_head().size == 40 and first.unlogged() == []


def test_a_head_comes_back_from_its_text_and_anything_else_is_refused() -> None:
    heads = Heads(events=Head(size=12, root="a" * 64), traces=Head(size=0, root=GENESIS))
    assert read_heads(str(heads)) == heads
    for text in (
        "",
        "events=1:ab traces=2:cd",
        str(heads) + " events=1:" + "a" * 64,
        str(heads).upper(),
        "12",
    ):
        with pytest.raises(InputError):
            read_heads(text)


def test_the_entries_are_plain_values() -> None:
    """Names, so that an auditor's tool can be written from them."""
    assert "link" in Event.__struct_fields__ and "commitment" in TraceEntry.__struct_fields__
