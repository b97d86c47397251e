"""Somebody changes one thing in a store: reconciliation names it. A clean store is the control."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest
from msgspec.structs import replace

from clearcite.adapters.indexes import local_differences
from clearcite.adapters.indexes.local_format import Segment
from clearcite.adapters.indexes.local_manifest import read_manifest, segment_path
from clearcite.domain.digest import sha256_text
from clearcite.domain.reconcile import KINDS, Reconciliation
from clearcite.errors import DependencyUnavailable
from clearcite.ingest.reconcile import Remaker, reconcile
from clearcite.ports import IndexEntry
from clearcite.testing.embedder import HashedEmbedder
from clearcite.text.keys import packed
from clearcite.wire import canonical
from clearcite.wire.convert import to_json
from tests.support.shell import clearcite, write
from tests.support.world import GENERATION, World, close_worlds, deletion, make_world, record

OPEN = record(
    "open",
    "# Open\n\nEverybody may read of the 7 lamps.\n\n## More\n\n" + "A lamp is lit. " * 90,
    ("guest", "staff"),
)
CLOSED = record("closed", "# Closed\n\nThe vault code changes every 9 days.\n")
THEIRS = record("closed", "# Theirs\n\nThe other tenant keeps 3 boats.\n", tenant="globex")
GONE = record("gone", "# Gone\n\nThis was deleted.\n")


def stocked() -> World:
    """Two tenants; a revised, a deleted and a plain document; two segments."""
    world = make_world(embedder=HashedEmbedder())
    world.put(OPEN, THEIRS, GONE)
    world.put(replace(CLOSED, source_sequence=1), deletion(GONE))
    world.put(record("closed", "# Closed\n\nThe vault code changes every 10 days.\n", sequence=2))
    return world


def check(world: World, **options: Any) -> Reconciliation:
    builder = world.builder

    def remake(generation: str, manifest: Any, index_manifest: str | None) -> Remaker:
        return Remaker(view=world.pipeline.index.open(index_manifest), builder=builder)

    with world.services.ledger.examine() as examination:
        return reconcile(examination, remake, **options)


def found(world: World, **options: Any) -> dict[str, int]:
    return {kind: count for kind, count in check(world, **options).mismatches.items() if count}


def tamper(world: World, statements: str) -> None:
    with closing(apsw.Connection(str(world.services.ledger._pool._path))) as db:  # type: ignore[attr-defined]
        db.execute("PRAGMA foreign_keys = OFF")
        before = db.total_changes()
        db.execute(statements)
        assert db.total_changes() > before, "the tampering changed nothing"


def test_control_a_clean_store_has_no_mismatch_and_its_report_is_the_same_every_time() -> None:
    world = stocked()
    report = check(world)
    assert dict.fromkeys(KINDS, 0) == report.mismatches
    assert report.checked["documents"] == 4 and report.checked["builds"] == 3
    assert report.checked["chunks"] >= 4 and report.checked["unmerged"] == 2
    assert report.checked["without_vector"] == report.checked["not_read_again"] == 0
    assert canonical(to_json(check(world))) == canonical(to_json(report))


MINE = "(SELECT id FROM documents WHERE document_id = 'closed' AND partition = 1)"
OTHER = "(SELECT id FROM documents WHERE document_id = 'closed' AND partition = 2)"
BUILD = f"(SELECT id FROM projections WHERE document = {MINE})"
REVISION = f"(SELECT revision FROM documents WHERE id = {MINE})"
PAST = "(SELECT id FROM documents WHERE document_id = 'gone')"
WIDE = "(SELECT access FROM documents WHERE document_id = 'open')"
WIDE_DIGEST = "(SELECT access_digest FROM documents WHERE document_id = 'open')"
DELETED = (
    f"UPDATE documents SET operation = 'delete' WHERE id = {MINE};"
    f"INSERT INTO tombstones VALUES ({MINE}, 3, 'user_request', NULL, 1)"
)
EVENT = (
    "INSERT INTO outbox (generation, document, kind, revision, access, waiting_since, available_at)"
    f" SELECT 1, {MINE}, 'project', revision, access, 1, 1 FROM documents WHERE id = {OTHER}"
)
X = sha256_text("x")
FORGED = "# Closed\n\nThe vault code changes every 11 days."
FORGERY = (
    f"UPDATE served_texts SET text = '{FORGED}', sha256 = '{sha256_text(FORGED)}' WHERE projection = {BUILD};"
    f"UPDATE chunks SET text = substr('{FORGED}', start_at + 1, end_at - start_at),"
    f" sha256 = '{sha256_text(FORGED[10:])}' WHERE projection = {BUILD}"
)

TAMPERINGS: dict[str, tuple[str, dict[str, int]]] = {
    "the original bytes": (
        f"UPDATE originals SET content = CAST('# Closed\n\nforged' AS BLOB) WHERE revision = {REVISION}",
        {"content_hash": 1, "projection": 1, "index_extra": 1},
    ),
    "the content hash of a revision": (
        f"UPDATE revisions SET content_sha256 = '{X}' WHERE id = {REVISION}",
        {
            "content_hash": 1,
            "description_hash": 1,
            "state_hash": 2,
            "chunk_hash": 1,
            "projection": 1,
            "index_extra": 1,
        },
    ),
    "a description": (
        "UPDATE revisions SET description = replace(description, '\"open\"', '\"evil\"')",
        {"description_hash": 1, "state_hash": 2},
    ),
    "a description that is no description": (
        f"UPDATE revisions SET description = '[]' WHERE document = {OTHER}",
        {"unreadable": 4, "index_extra": 1},
    ),
    "the state of the head": (
        f"UPDATE documents SET state_hash = '{X}' WHERE id = {MINE}",
        {"state_hash": 1, "build_hash": 1},
    ),
    "the build state of the head": (
        f"UPDATE documents SET build_hash = '{X}' WHERE id = {MINE}",
        {"build_hash": 1},
    ),
    "the state of a build": (
        f"UPDATE projections SET state_hash = '{X}' WHERE id = {BUILD}",
        {"state_hash": 1},
    ),
    "the list behind an access": (
        "UPDATE access_classes SET allow = '[\"guest\"]' WHERE allow = '[\"staff\"]' AND partition = 1",
        {"acl": 1},
    ),
    "the window of an access": (
        "UPDATE accesses SET valid_from = 5 WHERE partition = 2",
        {"acl": 1, "visibility": 1},
    ),
    "the digest of the head": (f"UPDATE documents SET access_digest = '{X}' WHERE id = {MINE}", {"acl": 1}),
    "the digest of a build": (f"UPDATE projections SET access_digest = '{X}' WHERE id = {BUILD}", {"acl": 1}),
    "the access of a build": (
        f"UPDATE projections SET access = {WIDE} WHERE id = {BUILD}",
        {"blocked_active": 1, "no_publish_path": 1, "state_hash": 1, "acl": 1, "visibility": 1},
    ),
    "a lost access": (
        f"UPDATE documents SET access = NULL WHERE id = {MINE}",
        {"blocked_active": 1, "no_publish_path": 1, "acl": 1},
    ),
    "a served text": (
        f"UPDATE served_texts SET text = replace(text, '10', '11') WHERE projection = {BUILD}",
        {"text_hash": 1, "chunk_hash": 1, "projection": 1},
    ),
    "a served text with its chunk and every hash": (
        FORGERY,
        {"projection": 1},
    ),
    "a chunk": (
        f"UPDATE chunks SET text = replace(text, '10', '11') WHERE projection = {BUILD}",
        {"chunk_hash": 1, "projection": 1},
    ),
    "the hash of a chunk": (
        f"UPDATE chunks SET sha256 = '{X}' WHERE projection = {BUILD}",
        {"chunk_hash": 1, "projection": 1},
    ),
    "the order of chunks": (
        "UPDATE chunks SET ordinal = 9 WHERE ordinal = 1",
        {"chunk_order": 3, "chunk_hash": 1, "projection": 1},
    ),
    "the slot of a chunk": (f"UPDATE chunks SET slot = 77 WHERE projection = {BUILD}", {"chunk_parent": 1}),
    "a lost chunk": (f"DELETE FROM chunks WHERE projection = {BUILD}", {"projection": 1}),
    "a chunk of no build": (
        f"UPDATE chunks SET projection = 99 WHERE projection = {BUILD}",
        {"orphans": 1, "projection": 1},
    ),
    "the units of a chunk": (
        f"UPDATE chunks SET units = '[[1]]' WHERE projection = {BUILD}",
        {"unreadable": 1, "index_extra": 1},
    ),
    "the title of a build": (
        f"UPDATE projections SET title = 'Evil' WHERE id = {BUILD}",
        {"text_hash": 1, "projection": 1},
    ),
    "the seal of a build": (f"UPDATE projections SET seal = '{X}' WHERE id = {BUILD}", {"text_hash": 1}),
    "the seal of a chunk": (f"UPDATE chunks SET seal = '{X}' WHERE projection = {BUILD}", {"chunk_hash": 1}),
    "an older revision of another document": (
        f"UPDATE documents SET history_of = {MINE} WHERE id = {OTHER}",
        {"cross_identity": 1},
    ),
    "an older revision of no document": (
        f"UPDATE documents SET document_id = document_id || char(31) || '7' WHERE id = {PAST}",
        {"cross_identity": 1},
    ),
    "what decides about a slot": (
        f"UPDATE visibility SET present = 1 - present WHERE document = {MINE} AND to_position IS NULL AND gone = 0",
        {"visibility": 1},
    ),
    "a past slot that serves again": (
        f"UPDATE visibility SET gone = 0, present = 1 WHERE gone = 1 AND document = {PAST}",
        {"visibility": 1},
    ),
    "a head to another document's revision": (
        f"UPDATE documents SET revision = (SELECT revision FROM documents WHERE id = {OTHER}) WHERE id = {MINE}",
        {"no_publish_path": 1, "stale_projections": 1, "cross_identity": 1},
    ),
    "a build of another document's revision": (
        f"UPDATE projections SET revision = (SELECT revision FROM documents WHERE id = {OTHER}) WHERE id = {BUILD}",
        {"no_publish_path": 1, "stale_projections": 1, "cross_identity": 1, "index_extra": 1},
    ),
    "a build in another partition": (
        f"UPDATE projections SET partition = 2, slot = 50 WHERE id = {BUILD}",
        {"cross_identity": 1, "visibility": 2, "chunk_parent": 1},
    ),
    "a lost original": (
        f"DELETE FROM originals WHERE revision = {REVISION}",
        {"orphans": 1, "index_extra": 1},
    ),
    "a lost tombstone": ("DELETE FROM tombstones", {"orphans": 1}),
    "a lost build": (
        f"PRAGMA foreign_keys = ON; DELETE FROM projections WHERE id = {BUILD}",
        {"unpublished_active": 1, "no_publish_path": 1, "visibility": 1},
    ),
    "a deleted document that is still built": (
        f"{DELETED}",
        {"residual_chunks": 1, "visibility": 1},
    ),
    "a build of an older revision": (
        f"UPDATE documents SET revision = (SELECT min(id) FROM revisions WHERE document = {MINE}) WHERE id = {MINE}",
        {"no_publish_path": 1, "stale_projections": 1, "content_hash": 1, "state_hash": 1},
    ),
    "an access that was not acknowledged": (
        f"UPDATE documents SET access = {WIDE}, access_digest = {WIDE_DIGEST} WHERE id = {MINE}",
        {"blocked_active": 1, "no_publish_path": 1, "state_hash": 1, "visibility": 1},
    ),
    "a quarantine": (
        f"UPDATE documents SET quarantined_at = 5, quarantine_reason = 'x' WHERE id = {MINE}",
        {"blocked_active": 1, "visibility": 1},
    ),
    "an event": (
        f"{EVENT}",
        {"pending_events": 1, "cross_identity": 1},
    ),
}


@pytest.mark.parametrize("what", TAMPERINGS)
def test_each_thing_that_somebody_changed_is_found_under_its_own_name(what: str) -> None:
    statement, expected = TAMPERINGS[what]
    world = stocked()
    tamper(world, statement)
    assert found(world, while_pending=True) == expected


def entry(world: World, slot: int, chunk_id: str) -> IndexEntry:
    return IndexEntry(chunk_id=chunk_id, partition="acme", slot=slot, terms=packed({"=lamp": 1}), vector=None)


def index_file(world: World, offset_of: str) -> tuple[Any, int]:
    """The file of the last segment, and where an array starts in it."""
    index = world.pipeline.index
    with world.services.ledger.snapshot() as snapshot:
        stored = read_manifest(index.root, str(snapshot.index_manifest)).segments[-1]
    path = segment_path(index.root, stored.name)
    places, _ = Segment(path, stored.name, stored.size, index._bm25).shape.places()
    return path, places[offset_of][0]


def damage(world: World, array: str, by: int = 1, at: int = 0) -> None:
    """Change the first number of an array of the last segment, or what stands at another place from there."""
    path, start = index_file(world, array)
    raw, at = bytearray(path.read_bytes()), start + at
    raw[at] = (raw[at] + by) % 256
    path.write_bytes(raw)
    world.pipeline.index._views.clear()


def drop_a_segment(world: World) -> None:
    index = world.pipeline.index
    with world.services.ledger.snapshot() as snapshot:
        name = read_manifest(index.root, str(snapshot.index_manifest)).segments[-1].name
    world.services.ledger.publish(GENERATION, (), lambda base: index.commit(base, (), (name,)))


def add(world: World, slot: int) -> None:
    index = world.pipeline.index
    segments = index.write([entry(world, slot, f"{7:032x}")])
    world.services.ledger.publish(GENERATION, (), lambda base: index.commit(base, segments))


INDEX_TAMPERINGS: dict[str, tuple[Callable[[World], None], dict[str, int]]] = {
    "a segment is not named any more": (drop_a_segment, {"index_missing": 1}),
    "an entry in a slot that was never handed out": (lambda world: add(world, 900), {"index_extra": 1}),
    "an entry in a slot that serves": (lambda world: add(world, 0), {"index_extra": 1}),
    "a weight": (lambda world: damage(world, "weights"), {"index_differs": 1}),
    "a term": (lambda world: damage(world, "low"), {"index_differs": 1}),
    "a vector": (lambda world: damage(world, "vectors"), {"index_differs": 1}),
    "the scale of a vector": (lambda world: damage(world, "scales"), {"index_differs": 1}),
    "a byte between two arrays": (lambda world: damage(world, "ids", at=-1), {"index_differs": 1}),
    "the id of a chunk": (lambda world: damage(world, "ids"), {"index_missing": 1, "index_extra": 1}),
}


@pytest.mark.parametrize("what", INDEX_TAMPERINGS)
def test_each_thing_that_somebody_changed_in_the_index_is_found(what: str) -> None:
    change, expected = INDEX_TAMPERINGS[what]
    world = stocked()
    change(world)
    assert found(world) == expected


def test_an_index_that_cannot_be_opened_is_found_and_the_rest_is_looked_at_nevertheless() -> None:
    world = stocked()
    tamper(world, f"UPDATE chunks SET seal = '{X}' WHERE projection = {BUILD}")
    index_file(world, "ids")[0].unlink()
    world.pipeline.index._views.clear()
    report = check(world)
    assert {kind: count for kind, count in report.mismatches.items() if count} == {
        "chunk_hash": 1,
        "index_differs": 1,
    }
    assert "A segment of the index is missing. Build it again: clearcite index build" in [
        example.detail for example in report.examples
    ]


def test_a_segment_of_another_version_is_found_with_the_command_that_mends_it_named_once() -> None:
    world = stocked()
    file = index_file(world, "ids")[0]
    file.write_bytes(b"clrcite9" + file.read_bytes()[8:])
    world.pipeline.index._views.clear()
    (example,) = check(world).examples
    assert example.detail.count("clearcite index build") == 1


def test_it_is_refused_while_work_waits_unless_told_otherwise_and_then_counts_what_waits() -> None:
    world = stocked()
    world.put(record("new", "# New\n\nNot yet indexed.\n"), publish=False)
    with pytest.raises(DependencyUnavailable, match="1 events wait"):
        check(world)
    assert found(world, while_pending=True) == {"pending_events": 1, "unpublished_active": 1}
    world.publish()
    assert found(world) == {}


def test_builds_of_another_parser_are_checked_by_their_hashes_and_the_report_says_so() -> None:
    world = stocked()

    def remake(generation: str, manifest: Any, index_manifest: str | None) -> Remaker:
        return Remaker(view=world.pipeline.index.open(index_manifest), builder=None)

    tamper(world, f"UPDATE chunks SET sha256 = '{X}' WHERE projection = {BUILD}")
    with world.services.ledger.examine() as examination:
        report = reconcile(examination, remake)
    assert report.checked["not_read_again"] == report.checked["builds"] == 3
    assert {kind: count for kind, count in report.mismatches.items() if count} == {"chunk_hash": 1}


def test_memory_does_not_grow_with_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_differences, "_POSTINGS", 256)  # the block that bounds it, small for this test

    def peak(documents: int) -> int:
        world = make_world()
        world.put(*(record(f"d{i}", f"# D {i}\n\n" + f"Lamp {i} is lit. " * 150) for i in range(documents)))
        check(world)
        tracemalloc.start()
        check(world)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        close_worlds()
        return most

    assert peak(120) < 1.5 * peak(30)


def test_the_command_ends_with_4_when_something_differs_and_its_json_is_the_same_every_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLEARCITE_SEMANTIC", "off")
    write(tmp_path, {"docs/a.md": "# A\n\nA lamp costs EUR 7.\n", "docs/b.txt": "A boat costs EUR 9.\n"})
    assert clearcite(tmp_path, "ingest", "docs", "--group", "staff").code == 0
    first, second = (clearcite(tmp_path, "reconcile", "--format", "json") for _ in range(2))
    assert first.code == second.code == 0
    assert first.out == second.out and first.json["checked"]["chunks"] == 2
    with closing(apsw.Connection(str(tmp_path / ".clearcite" / "ledger.db"))) as db:
        db.execute("UPDATE served_texts SET text = replace(text, '7', '8')")
    done = clearcite(tmp_path, "reconcile", "--format", "text")
    assert done.code == 4
    assert "1 text_hash" in done.out and "default/default/a.md" in done.out
