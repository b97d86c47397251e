"""What is quarantined is listed with its reason and comes back by a command, if it is what its source sent."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import apsw

from tests.support.shell import Done, clearcite, write

ASK = ("ask", "How much does a parking space cost?", "--tenant", "acme", "--group", "staff")


def sql(folder: Path, statement: str) -> None:
    with closing(apsw.Connection(str(folder / ".clearcite" / "ledger.db"))) as db:
        db.execute(statement)
        assert db.total_changes() > 0


def listed(folder: Path) -> list[tuple[str, str]]:
    return [(row["document_id"], row["reason"]) for row in clearcite(folder, "reinstate").lines]


def test_a_document_that_failed_its_hash_is_listed_and_comes_back_built_anew(copy: Path) -> None:
    assert listed(copy) == []
    sql(copy, "UPDATE chunks SET text = replace(text, 'EUR 40', 'EUR 41')")
    assert clearcite(copy, *ASK).code == 4
    assert listed(copy) == [("parking.md", "integrity")]
    text = clearcite(copy, "reinstate", "--format", "text").out
    assert "acme/handbook/parking.md  integrity" in text
    assert clearcite(copy, *ASK).json["status"] == "insufficient_evidence"
    assert reinstate(copy, "parking.md").code == 0
    assert clearcite(copy, *ASK).json["status"] == "insufficient_evidence", "not before it is built"
    assert clearcite(copy, "ingest").code == 0
    assert "EUR 40" in clearcite(copy, *ASK).json["answer"][0]["text"]
    assert listed(copy) == []
    assert clearcite(copy, "reconcile").code == 0


def reinstate(folder: Path, document: str, *more: str) -> Done:
    return clearcite(folder, "reinstate", document, "--tenant", "acme", "--source", "handbook", *more)


def test_content_that_is_not_what_its_source_sent_does_not_come_back(copy: Path) -> None:
    """Without the check of its hash the forged bytes would be built and vouched for."""
    sql(copy, "UPDATE chunks SET text = replace(text, 'EUR 40', 'EUR 41')")
    assert clearcite(copy, *ASK).code == 4
    sql(copy, "UPDATE originals SET content = CAST(replace(CAST(content AS TEXT), '40', '41') AS BLOB)")
    assert reinstate(copy, "parking.md").code == 0
    assert clearcite(copy, "ingest").code == 2
    assert clearcite(copy, *ASK).json["status"] == "insufficient_evidence"
    ((name, reason),) = listed(copy)
    assert name == "parking.md" and "not what its source sent" in reason


def test_only_what_is_quarantined_can_be_reinstated(copy: Path) -> None:
    assert reinstate(copy, "parking.md").code == 2
    assert reinstate(copy, "nothing.md").code == 2
    assert clearcite(copy, "reinstate", "parking.md").code == 2


def test_a_document_that_could_not_be_read_is_listed_with_the_reason(empty: Path) -> None:
    write(empty, {"docs/good.md": "# Good\n\nText.\n", "docs/bad.pdf": b"%PDF-1.4 nothing of the kind"})
    assert clearcite(empty, "ingest", "docs", "--group", "staff").code == 2
    rows: list[Any] = clearcite(empty, "reinstate").lines
    assert [(row["document_id"], row["what"]) for row in rows] == [("bad.pdf", "event")]
    done = clearcite(empty, "reinstate", "bad.pdf", "--tenant", "default")
    assert done.code == 0
    assert clearcite(empty, "ingest", "docs", "--group", "staff").code == 2, "it is tried again"
