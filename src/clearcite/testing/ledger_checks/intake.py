"""Accepting records: order, identity, refusal, deletion."""

from __future__ import annotations

from msgspec.structs import replace

from clearcite.errors import SequenceConflict
from clearcite.testing.expect import expect, expect_equal
from clearcite.testing.ledger_checks.case import ALICE, LedgerCase
from clearcite.testing.records import (
    access,
    delete,
    key,
    principal,
    upsert,
)


class IntakeChecks(LedgerCase):
    def test_a_new_document_is_hidden_until_its_first_publication(self) -> None:
        with self.library() as (library, _):
            expect_equal(library.actions(upsert("one")), ["created"])
            expect_equal(library.read(ALICE), {})
            expect_equal(library.work(), [key()])
            expect_equal(library.read(ALICE), {key(): "one"})

    def test_repeated_late_and_confirming_records_change_nothing(self) -> None:
        with self.library() as (library, _):
            library.apply(upsert("one", 5))
            library.work()
            records = [upsert("one", 5), upsert("one", 7), upsert("older", 6), upsert("one", 7)]
            wanted = ["noop", "checkpoint_advanced", "stale_ignored", "noop"]
            expect_equal(library.actions(*records), wanted)
            expect_equal(library.claim(), ())
            expect_equal(library.read(ALICE), {key(): "one"})

    def test_a_sequence_conflict_refuses_that_record_only(self) -> None:
        with self.library() as (library, _):
            library.apply(upsert("one"))
            done = library.apply(
                upsert("two", 1, key("d2")), upsert("other", 1), upsert("three", 1, key("d3"))
            )
            expect_equal([item.error is None for item in done], [True, False, True])
            expect(isinstance(done[1].error, SequenceConflict), "the refusal is a SequenceConflict")
            expect(done[1].decision is None, "a refused record has no decision")
            library.work()
            expect_equal(library.read(ALICE), {key(): "one", key("d2"): "two", key("d3"): "three"})

    def test_malformed_records_are_refused_and_the_others_go_on(self) -> None:
        with self.library() as (library, _):
            good = upsert("good")
            bad = [
                replace(good, access=None),
                replace(good, description=None),
                replace(good, source_sequence=0),
                replace(delete(1), delete_reason=None),
                replace(good, text="half \ud800"),
                replace(good, source_sequence=2**63),
                replace(good, access=access("staff", effective_to=2**63)),
                replace(good, access=replace(access(), allow=())),
            ]
            expect_equal(library.actions(*bad, good), ["invalid_input"] * len(bad) + ["created"])

    def test_identity_is_tenant_source_and_document(self) -> None:
        with self.library() as (library, _):
            mine, theirs = key(), key(source_id="other")
            foreign = key(tenant_id="globex")
            library.apply(upsert("mine", 5, mine), upsert("theirs", 1, theirs), upsert("foreign", 1, foreign))
            library.work()
            expect_equal(library.actions(delete(9, theirs)), ["deleted"])
            library.work()
            expect_equal(library.read(ALICE), {mine: "mine"})
            stranger = principal("staff", tenant_id="globex")
            expect_equal(library.read(stranger), {foreign: "foreign"})

    def test_a_delete_hides_at_once_and_leaves_no_chunk_behind(self) -> None:
        with self.library() as (library, _):
            library.apply(upsert("one"))
            library.work()
            expect_equal(library.actions(delete(2)), ["deleted"])
            expect_equal(library.read(ALICE), {})
            library.work()
            expect_equal(library.ledger.status()["chunks"], 0)
            expect_equal(library.ledger.status()["tombstones"], 1)
            expect_equal(library.actions(delete(2), delete(3)), ["noop", "checkpoint_advanced"])
            expect_equal(library.ledger.status()["tombstones"], 1)

    def test_deleting_what_never_was_leaves_a_tombstone(self) -> None:
        with self.library() as (library, _):
            expect_equal(library.actions(delete(3), upsert("late", 2)), ["deleted", "stale_ignored"])
            expect_equal(library.ledger.status()["tombstones"], 1)
            expect_equal(library.claim(), ())

    def test_a_restored_document_stays_hidden_until_it_is_projected_again(self) -> None:
        with self.library() as (library, _):
            library.apply(upsert("one"))
            library.work()
            library.apply(delete(2))
            expect_equal(
                library.actions(upsert("one", 2), upsert("one", 3)), ["sequence_conflict", "restored"]
            )
            expect_equal(library.read(ALICE), {})
            library.work()
            expect_equal(library.read(ALICE), {key(): "one"})

    def test_an_older_delete_that_is_processed_later_removes_nothing(self) -> None:
        with self.library() as (library, _):
            library.apply(upsert("one"))
            library.work()
            library.apply(delete(2))
            late = library.build(library.claim())
            library.apply(upsert("one again", 3))
            library.work()
            expect_equal(library.publish(late), ())
            expect_equal(library.read(ALICE), {key(): "one again"})

    def test_a_large_batch_is_applied_whole_and_in_order(self) -> None:
        with self.library() as (library, _):
            records = [upsert(f"text {n}", 1, key(f"d{n:04}")) for n in range(1_200)]
            done = library.apply(*records)
            expect_equal([item.key for item in done], [record.key for record in records])
            expect_equal(library.ledger.status()["documents"]["active"], 1_200)

    def test_two_records_of_one_document_in_one_batch_leave_the_latter(self) -> None:
        with self.library() as (library, _):
            expect_equal(library.actions(upsert("one", 1), upsert("two", 2)), ["created", "revised"])
            expect_equal(len(library.work()), 1)
            expect_equal(library.read(ALICE), {key(): "two"})
