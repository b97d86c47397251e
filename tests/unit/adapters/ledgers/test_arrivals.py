"""A store is the same whether its documents were written together or one by one, and published so."""

from __future__ import annotations

import json
import random
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from clearcite.adapters.ledgers import arrivals, sqlite
from clearcite.adapters.ledgers.codec import decode_units, encode_units
from clearcite.adapters.ledgers.sqlite import open_sqlite_ledger
from clearcite.domain.corpus import SourceRecord, Unit
from clearcite.testing.clock import PinnedClock
from clearcite.testing.records import access, delete, key, upsert, work
from tests.support.dice import new_seed

TABLES = [
    "partitions",
    "documents",
    "revisions",
    "originals",
    "access_classes",
    "accesses",
    "outbox",
    "events",
    "tombstones",
    "projections",
    "served_texts",
    "chunks",
    "visibility",
    "journal",
    "counters",
    "slots",
]


def stored(path: Path, records: list[SourceRecord], at_once: int) -> tuple[dict[str, list[str]], list[str]]:
    """Every row that a ledger holds after taking records and publishing, and what became of each record."""
    with closing(open_sqlite_ledger(path, PinnedClock())) as ledger:
        ledger.start_generation("gen-1", "{}")
        ledger.start_generation("gen-2", "{}", kept=True)
        said: list[str] = []
        for half in (records[::2], records[1::2]):
            for first in range(0, len(half), at_once):
                applied = ledger.apply(half[first : first + at_once], "m")
                said += [f"{one.key} {one.decision} {one.error}" for one in applied]
            work(ledger, "gen-1", limit=7)
        work(ledger, "gen-2", limit=at_once)
        ledger.quarantine(key("0"), "test")
    with closing(apsw.Connection(str(path))) as db:
        return {
            name: sorted(repr(row) for row in db.execute(f"SELECT * FROM {name}")) for name in TABLES
        }, said


def drawn(chance: random.Random) -> list[SourceRecord]:
    """New documents for the most part; among them changes, repeats, deletes, drafts and what must be refused."""
    records: list[SourceRecord] = [upsert("first", 1, key("0"))]
    for _ in range(90):
        who = key(str(chance.randrange(60)), chance.choice(("acme", "beta")))
        sequence, text = chance.randrange(1, 4), f"text {chance.randrange(3)}\nmore"
        rights = access(
            chance.choice(("staff", "all")), status=chance.choice(("published", "published", "draft"))
        )
        records.append(upsert(text, sequence, who, rights))
        odd = chance.randrange(12)
        if odd == 0:
            records[-1] = delete(sequence, who)
        elif odd == 1:
            records[-1] = upsert(text, sequence, who, rights, title="half \ud83d")
        elif odd == 2:
            records[-1] = upsert(text, sequence, who, access(effective_from=2**70))
        elif odd == 3:
            records[-1] = upsert(text, 0, who)
    return records


def test_documents_written_together_leave_the_store_that_they_leave_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seed = new_seed()
    # A slow machine ends a transaction sooner, at another position.
    monkeypatch.setattr(sqlite, "MAX_SECONDS", 60.0)
    for round_ in range(4):
        records = drawn(random.Random(f"{seed} {round_}"))
        together = stored(tmp_path / f"a{round_}" / "ledger.db", records, 200)
        with monkeypatch.context() as patch:
            patch.setattr(arrivals, "take", lambda *_: [])
            assert stored(tmp_path / f"b{round_}" / "ledger.db", records, 200) == together, (seed, round_)
        assert any("surrogate" in said for said in together[1]), seed  # else nothing was refused
        assert len(together[0]["documents"]) > 40, seed


def test_statements_for_new_documents_do_not_grow_with_their_number(tmp_path: Path) -> None:
    counts = []
    for number in (10, 40):
        with closing(open_sqlite_ledger(tmp_path / str(number) / "ledger.db", PinnedClock())) as ledger:
            ledger.start_generation("gen-1", "{}")
            ran: list[str] = []
            ledger._writer._db.trace_v2(apsw.SQLITE_TRACE_STMT, lambda said, ran=ran: ran.append(said["sql"]))
            ledger.apply([upsert("x", 1, key(f"{i}")) for i in range(number)], "m")
            ledger._writer._db.trace_v2(0, None)
        counts.append(sum("INSERT INTO outbox" in sql or "SAVEPOINT record" in sql for sql in ran))
    assert counts[0] == counts[1] > 0


def test_units_are_stored_as_the_json_of_their_numbers() -> None:
    units = (
        Unit(kind="sentence", start=0, end=12),
        Unit(kind="table_row", start=13, end=40, header=(0, 12)),
        Unit(kind="list_item", start=41, end=50, lead=(13, 40), header=(1, 2)),
    )
    none = (-1, -1)
    rows = [[u.kind, u.start, u.end, *(u.header or none), *(u.lead or none)] for u in units]
    assert encode_units(units) == json.dumps(rows, separators=(",", ":"))
    assert decode_units(encode_units(units)) == units
    assert encode_units(()) == "[]"
