"""What a snapshot reads in few statements is what stands in the rows."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from clearcite.adapters.ledgers import reader
from clearcite.adapters.ledgers.sqlite import SqliteLedger, open_sqlite_ledger
from clearcite.domain.corpus import Superseded
from clearcite.domain.visible import ALWAYS, NEVER
from clearcite.testing.clock import PinnedClock
from clearcite.testing.library import Library
from clearcite.testing.records import access, key, upsert

PLAIN = """
SELECT slot, document, from_position, ifnull(valid_from, ?1), ifnull(valid_to, ?2), present, reasons, served_class,
       head_class, supersedes
FROM visibility WHERE to_position IS NULL AND from_position > ?3 AND (gone = 0 OR ?3 > 0) ORDER BY slot
"""
FIELDS = (
    "slot",
    "document",
    "position",
    "valid_from",
    "valid_to",
    "present",
    "why",
    "served",
    "head",
    "supersedes",
)


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    """Nine documents: with windows on either side and both, superseding, quarantined, published anew."""
    with closing(open_sqlite_ledger(tmp_path / "ledger.db", PinnedClock())) as ledger:
        library = Library(ledger=ledger, clock=PinnedClock()).start()
        for n in range(9):
            window = {"effective_from": 5 * n if n % 3 else None, "effective_to": 2**53 if n % 2 else None}
            after = (Superseded(document_id="d1"),) if n == 4 else ()
            library.apply(upsert(f"text {n}", 1, key(f"d{n}"), access("guest", **window), supersedes=after))
        library.work()
        library.apply(upsert("text again", 2, key("d2")), upsert("text again", 2, key("d7")))
        library.work()
        ledger.quarantine(key("d3"), "looked wrong")
        yield library


def columns(ledger: SqliteLedger, since: int) -> list[tuple[int, ...]]:
    with ledger.snapshot() as snapshot:
        rows = snapshot.visibility_since("acme", since)
    return sorted(zip(*(getattr(rows, name).tolist() for name in FIELDS), strict=True))


@pytest.mark.parametrize("slots", [1, 2, 5, 1 << 17])
def test_columns_are_those_of_the_rows_however_many_are_read_at_once(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slots: int
) -> None:
    monkeypatch.setattr(reader, "_SLOTS", slots)
    ledger = library.ledger
    assert isinstance(ledger, SqliteLedger)
    with closing(reader.Pool(tmp_path / "ledger.db")) as pool:
        db = pool.lend()
        newest = db.execute("SELECT max(from_position) FROM visibility").get
        for since in (0, newest // 2, newest - 1, newest):
            plain = db.execute(PLAIN, (ALWAYS, NEVER, since)).fetchall()
            assert columns(ledger, since) == plain
            assert (len(plain) > 0) == (since < newest)
        db.close()
    kinds = {row[FIELDS.index("why")] for row in columns(ledger, 0)}
    assert len(kinds) == 2, "the world has one kind of document only"


def test_the_documents_of_any_slots_are_theirs_and_no_others(library: Library) -> None:
    chance = random.Random(11)
    with library.ledger.snapshot() as snapshot:
        of = {slot: name for name, slot in snapshot.inventory("acme") if slot is not None}
        for _ in range(60):
            slots = chance.choices(range(14), k=chance.randrange(14))  # some twice, some unknown, in no order
            wanted = sorted((of[slot], slot) for slot in {*slots} if slot in of)
            assert snapshot.keys_of("acme", slots, "", 99) == wanted, slots
