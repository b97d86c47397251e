"""Somebody changes the store with a tool of his own: what recomputation reveals, and what it cannot.

Each case writes straight into the file, then reads as the engine does: mask, judgement, verification.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from clearcite.adapters.ledgers.codec import collection_seal
from clearcite.adapters.ledgers.sqlite import open_sqlite_ledger
from clearcite.answer.confirm import ReadTampered, judge_for, verify, verify_access
from clearcite.domain.access import Acl, Principal
from clearcite.domain.digest import sha256_text
from clearcite.errors import IntegrityFault
from clearcite.testing.clock import PinnedClock
from clearcite.testing.library import Library
from clearcite.testing.records import access, key, principal, upsert
from clearcite.visibility import Visibility

ALICE, BOB = principal("staff", subject_id="alice"), principal("guest", subject_id="bob")
FOREIGN = principal("staff", tenant_id="globex")
OPEN, CLOSED, OTHER = key("open"), key("closed"), key("closed", tenant_id="globex")


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    """``open`` is for guests and staff, ``closed`` for staff; another tenant has a ``closed`` of its own."""
    clock = PinnedClock()
    with closing(open_sqlite_ledger(tmp_path / "ledger.db", clock)) as ledger:
        library = Library(ledger=ledger, clock=clock).start()
        library.apply(
            upsert("for everybody", 1, OPEN, access("guest", "staff")),
            upsert("the closed text", 1, CLOSED, access("staff")),
            upsert("the other tenant", 1, OTHER, access("staff")),
        )
        library.work()
        yield library


def tamper(library: Library, path: Path, statement: str) -> None:
    """Change the file behind the ledger's back; then start as a new process would, with nothing remembered."""
    with closing(apsw.Connection(str(path / "ledger.db"))) as db:
        db.execute(statement)
        assert db.total_changes() > 0, "the tampering changed nothing"
    library.ledger.close()
    library.ledger = open_sqlite_ledger(path / "ledger.db", library.clock)
    library.visibility = Visibility()


def answer(library: Library, reader: Principal) -> list[str]:
    """The texts a question would be answered from. Raises ReadTampered as the engine's own step does."""
    scope = library.scope(reader)
    texts = []
    with library.ledger.snapshot() as snapshot:
        view, judge = library.visibility.readable(snapshot, scope), judge_for(scope, snapshot)
        for (_, partition, slot), names in library.entries.items():
            mask = view.mask(partition)
            if slot < len(mask) and mask[slot]:
                for stored in snapshot.chunks(names).values():
                    if judge.admits(stored):
                        verify(stored)
                        texts.append(stored.chunk.text)
    return sorted(texts)


WIDE_ACCESS = "(SELECT access FROM documents WHERE document_id = 'open')"
WIDE_DIGEST = "(SELECT access_digest FROM documents WHERE document_id = 'open')"
WIDE_CLASS = f"(SELECT class FROM accesses WHERE id = {WIDE_ACCESS})"
MINE = "(SELECT id FROM documents WHERE document_id = 'closed' AND partition = 1)"
THEIRS = "(SELECT id FROM documents WHERE document_id = 'closed' AND partition = 2)"
SHOWN = f"UPDATE visibility SET served_class = {WIDE_CLASS}, head_class = {WIDE_CLASS};"

CAUGHT = {
    "the text of a chunk": f"UPDATE chunks SET text = 'the forged text' WHERE text = 'the closed text';{SHOWN}",
    "the hash of a chunk": f"UPDATE chunks SET sha256 = '{sha256_text('x')}';{SHOWN}",
    "the span of a chunk": f"UPDATE chunks SET start_at = 1, end_at = 16;{SHOWN}",
    "the title": "UPDATE projections SET title = 'Forged';",
    "the normalised text's hash": "UPDATE projections SET normal_sha256 = 'x';",
    "the heading path": "UPDATE chunks SET heading = '[\"Forged\"]';",
    "the page": "UPDATE chunks SET page = 7;",
    "the units": "UPDATE chunks SET units = replace(units, ',0,', ',1,');",
    "the flags": "UPDATE chunks SET flags = '[\"instruction_like\"]';",
    "the context": "UPDATE chunks SET context = 'Forged';",
    "the seal": f"UPDATE chunks SET seal = '{sha256_text('x')}';",
    "the seal of the build": f"UPDATE projections SET seal = '{sha256_text('x')}';",
    "the hash of the content": f"UPDATE revisions SET content_sha256 = '{sha256_text('x')}';",
    "the description": "UPDATE revisions SET description = replace(description, 'd.md', 'evil.md');",
    "the list behind an access": 'UPDATE access_classes SET allow = \'["guest","staff"]\';' + SHOWN,
    "the window of an access": "UPDATE accesses SET valid_from = 5;",
    "the state hash": f"UPDATE projections SET state_hash = '{sha256_text('x')}';",
    "the served digest": f"UPDATE projections SET access_digest = '{sha256_text('x')}';",
    "the head digest": f"UPDATE documents SET access_digest = '{sha256_text('x')}';",
    "the canonical and the projected access together": (
        f"UPDATE documents SET access = {WIDE_ACCESS};UPDATE projections SET access = {WIDE_ACCESS};{SHOWN}"
    ),
    "both accesses and both digests together": (
        f"UPDATE projections SET access = {WIDE_ACCESS}, access_digest = {WIDE_DIGEST};"
        f"UPDATE documents SET access = {WIDE_ACCESS}, access_digest = {WIDE_DIGEST};{SHOWN}"
    ),
}


def test_control_an_untouched_store_answers_everyone_what_is_theirs(library: Library) -> None:
    assert answer(library, ALICE) == ["for everybody", "the closed text"]
    assert answer(library, BOB) == ["for everybody"]
    assert answer(library, FOREIGN) == ["the other tenant"]


@pytest.mark.parametrize("what", CAUGHT)
def test_a_readable_document_fails_closed_when_somebody_changed(
    library: Library, tmp_path: Path, what: str
) -> None:
    tamper(library, tmp_path, CAUGHT[what])
    with pytest.raises(ReadTampered):
        answer(library, ALICE)


def test_control_without_recomputing_the_state_both_changed_lists_would_show_the_text(
    library: Library, tmp_path: Path
) -> None:
    tamper(library, tmp_path, CAUGHT["both accesses and both digests together"])
    scope = library.scope(BOB)
    with library.ledger.snapshot() as snapshot:
        names = [name for chunk_ids in library.entries.values() for name in chunk_ids]
        stored = [item for item in snapshot.chunks(names).values() if item.key == CLOSED]
        assert [judge_for(scope, snapshot).admits(item) for item in stored] == [True]
    with pytest.raises(ReadTampered):
        answer(library, BOB)


HARMLESS = {
    "the projected access alone": f"UPDATE projections SET access = {WIDE_ACCESS} WHERE document = {MINE}",
    "the projected access and its columns": (
        f"UPDATE projections SET access = {WIDE_ACCESS} WHERE document = {MINE};"
        f"UPDATE visibility SET served_class = {WIDE_CLASS} WHERE document = {MINE}"
    ),
    "the columns alone": f"{SHOWN}",
}


@pytest.mark.parametrize("what", HARMLESS)
def test_whoever_may_not_read_sees_neither_text_nor_error_when_somebody_widened(
    library: Library, tmp_path: Path, what: str
) -> None:
    tamper(library, tmp_path, HARMLESS[what])
    assert answer(library, BOB) == ["for everybody"]


WIDENED = "UPDATE collections SET allow = NULL WHERE path = 'vault'"


@pytest.mark.parametrize("sealed", [False, True], ids=["alone", "control: with its seal"])
def test_a_list_of_a_collection_that_somebody_widened_admits_nobody(
    library: Library, tmp_path: Path, sealed: bool
) -> None:
    library.ledger.put_collection("acme", "vault", Acl(allow=("staff",)))
    library.apply(upsert("in the vault", 1, key("vaulted"), access("guest", "staff", parent="vault")))
    library.work()
    assert ("in the vault" in answer(library, ALICE), "in the vault" in answer(library, BOB)) == (True, False)
    seal = f"; UPDATE collections SET seal = '{collection_seal('vault', None, '[]')}'" if sealed else ""
    tamper(library, tmp_path, WIDENED + seal)
    assert ("in the vault" in answer(library, ALICE), "in the vault" in answer(library, BOB)) == (
        sealed,
        sealed,
    )
    with library.ledger.examine() as examination:
        found = [
            item.kind for item in examination.mismatches((), lambda _: None) if "collection" in item.detail
        ]
    assert found == ([] if sealed else ["acl"])


POINTERS = {
    "a projection to another tenant's revision": (
        f"UPDATE projections SET revision = (SELECT revision FROM documents WHERE id = {THEIRS})"
        f" WHERE document = {MINE}"
    ),
    "a projection to another tenant's access": (
        f"UPDATE projections SET access = (SELECT access FROM documents WHERE id = {THEIRS})"
        f" WHERE document = {MINE}"
    ),
    "a projection to another partition": f"UPDATE projections SET partition = 2, slot = 9 WHERE document = {MINE}",
    "a head to another tenant's access": (
        f"UPDATE documents SET access = (SELECT access FROM documents WHERE id = {THEIRS}) WHERE id = {MINE}"
    ),
}


@pytest.mark.parametrize("what", POINTERS)
def test_a_pointer_into_another_identity_returns_nothing(library: Library, tmp_path: Path, what: str) -> None:
    tamper(library, tmp_path, POINTERS[what])
    assert answer(library, ALICE) == ["for everybody"]
    assert answer(library, FOREIGN) == ["the other tenant"]
    with library.ledger.snapshot() as snapshot:
        assert snapshot.document(CLOSED) is None


def test_a_chunk_moved_under_another_document_is_not_that_documents(library: Library, tmp_path: Path) -> None:
    mine, theirs = (f"(SELECT id FROM projections WHERE document = {who})" for who in (MINE, THEIRS))
    tamper(library, tmp_path, f"UPDATE chunks SET projection = {theirs}, slot = 0 WHERE projection = {mine}")
    with library.ledger.snapshot() as snapshot:
        names = [name for chunk_ids in library.entries.values() for name in chunk_ids]
        moved = [item for item in snapshot.chunks(names).values() if item.chunk.text == "the closed text"]
        assert [item.key for item in moved] == [OTHER]
        for item in moved:
            with pytest.raises(ReadTampered):
                verify(item)


def test_text_and_hash_changed_together_disagree_with_the_canonical_text(
    library: Library, tmp_path: Path
) -> None:
    forged = "the forged text"
    tamper(
        library,
        tmp_path,
        f"UPDATE chunks SET text = '{forged}', sha256 = '{sha256_text(forged)}' WHERE text = 'the closed text'",
    )
    with library.ledger.snapshot() as snapshot:
        names = [name for chunk_ids in library.entries.values() for name in chunk_ids]
        (stored,) = (item for item in snapshot.chunks(names).values() if item.key == CLOSED)
        document = snapshot.document(CLOSED)
    assert document is not None
    assert sha256_text(document.text) == document.text_sha256 == document.content_sha256
    assert document.text[stored.chunk.start : stored.chunk.end] != stored.chunk.text


def test_a_canonical_text_that_was_changed_does_not_give_its_hash(library: Library, tmp_path: Path) -> None:
    tamper(
        library, tmp_path, "UPDATE served_texts SET text = 'the forged text' WHERE text = 'the closed text'"
    )
    with library.ledger.snapshot() as snapshot:
        document = snapshot.document(CLOSED)
    assert document is not None
    verify_access(document)
    assert sha256_text(document.text) != document.text_sha256


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE chunks SET units = '[[1]]'",
        "UPDATE chunks SET heading = '{}'",
        "UPDATE revisions SET description = '{\"source_uri\": 1}'",
    ],
)
def test_a_value_that_cannot_be_read_is_an_integrity_fault(
    library: Library, tmp_path: Path, statement: str
) -> None:
    tamper(library, tmp_path, statement)
    with pytest.raises(IntegrityFault):
        answer(library, ALICE)


EVENTS = {
    "revision": f"UPDATE outbox SET revision = (SELECT revision FROM documents WHERE id = {THEIRS})",
    "access": f"UPDATE outbox SET access = (SELECT access FROM documents WHERE id = {THEIRS})",
    "document": f"UPDATE outbox SET document = {THEIRS}",
    "kind": "UPDATE outbox SET kind = 'delete'",
}


@pytest.mark.parametrize("what", EVENTS)
def test_an_event_that_names_another_identity_is_refused_stays_pending_and_is_reported(
    library: Library, tmp_path: Path, what: str
) -> None:
    library.apply(upsert("a newer text", 2, CLOSED, access("staff")))
    tamper(library, tmp_path, EVENTS[what])
    assert library.work() == []
    status = library.ledger.status()
    assert len(status["refused_events"]) == 1
    assert status["outbox"][0]["waiting"] == 1
    assert answer(library, ALICE) == ["for everybody", "the closed text"]
    assert answer(library, FOREIGN) == ["the other tenant"]


def test_an_event_that_is_changed_while_a_worker_holds_it_publishes_nothing(
    library: Library, tmp_path: Path
) -> None:
    library.apply(upsert("a newer text", 2, CLOSED, access("staff")))
    built = library.build(library.claim())
    tamper(library, tmp_path, EVENTS["revision"])
    assert library.publish(built) == ()
    assert answer(library, ALICE) == ["for everybody", "the closed text"]
