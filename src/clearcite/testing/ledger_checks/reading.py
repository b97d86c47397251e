"""Snapshots, columns of visibility, chunks and documents."""

from __future__ import annotations

from itertools import pairwise

from clearcite.domain.access import Acl
from clearcite.domain.corpus import Superseded
from clearcite.errors import DependencyUnavailable
from clearcite.testing.clock import NOON
from clearcite.testing.expect import expect, expect_equal, expect_raises
from clearcite.testing.ledger_checks.case import ALICE, BOB, LedgerCase
from clearcite.testing.library import Library
from clearcite.testing.records import (
    access,
    delete,
    key,
    upsert,
)


class ReadingChecks(LedgerCase):
    def test_a_snapshot_does_not_move_while_others_write(self) -> None:
        with self.library() as (library, _):
            library.apply(upsert("old"))
            library.work()
            with library.ledger.snapshot() as snapshot:
                position = snapshot.position
                library.apply(upsert("new", 2, rights=access("guest")))
                library.work()
                expect_equal(library.read(BOB), {key(): "new"})
                expect_equal(library.read_in(snapshot, library.scope(ALICE)), {key(): "old"})
                expect_equal(library.read_in(snapshot, library.scope(BOB)), {})
                expect_equal(snapshot.position, position)
            expect_equal(library.read(ALICE), {})
            expect_equal(library.read(BOB), {key(): "new"})

    def test_a_snapshot_cannot_be_used_after_its_end(self) -> None:
        with self.library() as (library, _):
            with library.ledger.snapshot() as snapshot:
                expect_equal(list(snapshot.visibility_since("acme", 0)), [])
            expect_raises(DependencyUnavailable, snapshot.visibility_since, "acme", 0)

    def test_the_position_rises_with_changes_of_visibility_only(self) -> None:
        with self.library() as (library, _):
            seen = [self._position(library)]
            for change in (
                lambda: library.apply(upsert("one")),
                library.work,
                lambda: library.apply(upsert("one", 2), upsert("two", 3)),
                library.work,
                lambda: library.apply(upsert("two", 4, rights=access("guest"))),
                lambda: library.ledger.put_collection("acme", "a", Acl(allow=None)),
                lambda: library.ledger.put_collection("acme", "a", Acl(allow=None)),
                lambda: library.apply(delete(5)),
            ):
                change()
                seen.append(self._position(library))
            rises = [later - earlier for earlier, later in pairwise(seen)]
            expect_equal(rises, [0, 1, 0, 1, 1, 1, 0, 1])

    def _position(self, library: Library) -> int:
        with library.ledger.snapshot() as snapshot:
            return snapshot.position

    def test_visibility_since_tells_what_changed_after_a_position(self) -> None:
        with self.library() as (library, _):
            library.apply(upsert("one", 1, key("d1")), upsert("two", 1, key("d2")))
            library.work()
            with library.ledger.snapshot() as snapshot:
                before = snapshot.position
                expect_equal(len(snapshot.visibility_since("acme", 0)), 2)
                expect_equal(list(snapshot.visibility_since("acme", before)), [])
                expect_equal(list(snapshot.visibility_since("globex", 0)), [])
            library.apply(upsert("two again", 2, key("d2")))
            library.work()
            with library.ledger.snapshot() as snapshot:
                rows = snapshot.visibility_since("acme", before)
                expect_equal(sorted(row.present for row in rows), [False, True])
                expect_equal(int(snapshot.live_slots("acme").sum()), 2)

    def test_rows_of_visibility_tell_classes_and_windows(self) -> None:
        with self.library() as (library, _):
            bounded = access("guest", effective_from=5, effective_to=2**53)
            library.apply(upsert("one", 1, key("d1")), upsert("two", 1, key("d2"), bounded))
            library.work()
            with library.ledger.snapshot() as snapshot:
                rows = sorted(snapshot.visibility_since("acme", 0), key=lambda row: row.document)
            expect_equal([(row.valid_from, row.valid_to) for row in rows], [(None, None), (5, 2**53)])
            expect_equal([row.served for row in rows], [access().access_class, bounded.access_class])
            expect_equal(
                [(row.present, row.reasons, row.supersedes) for row in rows], [(True, (), False)] * 2
            )

    def test_chunks_are_found_by_id_in_any_number(self) -> None:
        with self.library() as (library, _):
            library.apply(upsert("\n".join(f"line {n}" for n in range(1_300))))
            library.work()
            ids = [name for names in library.entries.values() for name in names]
            with library.ledger.snapshot() as snapshot:
                found = snapshot.chunks([*ids, "unknown"])
                expect_equal(set(found), set(ids))
                expect_equal([found[name].chunk.ordinal for name in ids], list(range(1_300)))
                expect_equal(snapshot.chunks([]), {})
                expect_equal(found[ids[0]].chunker, "lines-1")

    def test_the_documents_of_slots_come_in_order_page_by_page_and_no_others(self) -> None:
        with self.library() as (library, _):
            keys = [key("b"), key("a"), key("c", source_id="aa"), key("a", source_id="zz")]
            library.apply(*(upsert(f"text of {who.document_id}", 1, who) for who in keys))
            library.work()
            listed = []
            with library.ledger.snapshot() as snapshot:
                slots = [slot for name, slot in snapshot.inventory("acme") if slot is not None]
                after = ""
                while page := snapshot.keys_of("acme", slots, after, 1):
                    listed.append(page[0][0])
                    after = f"{page[0][0].source_id}\0{page[0][0].document_id}"
                expect_equal([item.key for item in snapshot.documents_at("acme", slots)], sorted(keys))
                (first, slot), *_ = snapshot.keys_of("acme", slots, "", 10)
                expect_equal(snapshot.keys_of("acme", [slot, 999], "", 10), [(first, slot)])
                expect_equal([item.key for item in snapshot.documents_at("acme", [slot, 999])], [first])
                expect_equal(snapshot.documents_at("globex", [slot]), [])
                expect(snapshot.document(key("missing")) is None, "a missing document is None")
            expect_equal(listed, sorted(keys))

    def test_what_the_mask_does_not_show_is_not_returned(self) -> None:
        with self.library() as (library, _):
            library.apply(upsert("text", 1, key("d1")), upsert("text", 1, key("d2")))
            library.work()
            names = [name for chunk_ids in library.entries.values() for name in chunk_ids]
            with library.ledger.snapshot() as snapshot:
                slots = dict(snapshot.inventory("acme"))

                def shown(partition: str, slot: int) -> bool:
                    return (partition, slot) == ("acme", slots[key("d2")])

                expect_equal({item.key for item in snapshot.chunks(names, shown).values()}, {key("d2")})
                expect_equal(snapshot.named("acme", "d1", shown), [])
                expect_equal([item.key for item in snapshot.named("acme", "d2", shown)], [key("d2")])

    def test_documents_that_supersede_others_are_known_by_their_slots(self) -> None:
        with self.library() as (library, _):
            library.apply(
                upsert("plain", 1, key("d1")),
                upsert("newer", 1, key("d2"), supersedes=(Superseded(document_id="d1"),)),
            )
            library.work()
            with library.ledger.snapshot() as snapshot:
                slots = dict(snapshot.inventory("acme"))
                for reader, found in ((ALICE, (slots[key("d2")],)), (BOB, ())):
                    view = library.visibility.readable(snapshot, library.scope(reader))
                    expect_equal(view.superseding("acme"), found)

    def test_a_quarantined_document_is_out_of_sight_until_it_is_reinstated(self) -> None:
        with self.library() as (library, _):
            library.apply(upsert("text"))
            library.work()
            library.ledger.quarantine(key(), "integrity")
            expect_equal(library.read(ALICE), {})
            (entry,) = library.ledger.status()["quarantine"]
            expect_equal(entry["reason"], "integrity")
            library.apply(upsert("new text", 2))
            library.work()
            expect_equal(library.read(ALICE), {})
            library.ledger.reinstate(key())
            expect_equal(library.read(ALICE), {})
            library.work()
            expect_equal(library.read(ALICE), {key(): "new text"})

    def test_reasons_say_why_a_document_is_not_readable(self) -> None:
        with self.library() as (library, _):
            library.apply(
                upsert("text", 1, key("fine")),
                upsert("text", 1, key("draft"), access("staff", status="draft")),
                upsert("text", 1, key("expired"), access("guest", effective_to=NOON - 1)),
                upsert("text", 1, key("untrusted"), access("staff", trusted=False)),
                upsert("text", 1, key("foreign", tenant_id="globex"), access("guest")),
            )
            library.work()
            library.apply(upsert("text", 1, key("new")))
            with library.ledger.snapshot() as snapshot:
                found = library.visibility.reasons(snapshot, library.scope(ALICE))
            expect_equal(
                {name.document_id: reasons for name, reasons in found.items()},
                {
                    "fine": (),
                    "draft": ("not_published",),
                    "expired": ("outside_effective_window", "acl_denied"),
                    "untrusted": ("quarantined",),
                    "foreign": ("tenant_mismatch", "acl_denied"),
                    "new": ("not_published",),
                },
            )
