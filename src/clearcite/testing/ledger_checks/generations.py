"""Builds beside each other, promotion and rollback."""

from __future__ import annotations

from contextlib import closing

from clearcite.errors import ConfigError, InputError
from clearcite.testing.clock import PinnedClock
from clearcite.testing.expect import expect, expect_equal, expect_raises
from clearcite.testing.ledger_checks.case import ALICE, BOB, LedgerCase
from clearcite.testing.library import Library
from clearcite.testing.records import (
    GENERATION,
    MANIFEST,
    MANIFEST_HASH,
    access,
    delete,
    key,
    upsert,
)

OTHER = '{"chunker":"lines-1","other":1}'


class GenerationChecks(LedgerCase):
    def test_a_new_generation_is_built_beside_the_live_one_and_promoted(self) -> None:
        with self.library() as (library, _):
            library.apply(upsert("one"), upsert("gone", 1, key("d2")))
            library.work()
            library.apply(delete(2, key("d2")))
            library.ledger.start_generation("g2", OTHER)
            expect_equal(library.work("g2"), [key()])
            with library.ledger.snapshot() as snapshot:
                expect_equal(snapshot.generation, GENERATION)
            library.apply(upsert("two", 2))
            library.work("g2")
            expect_equal(library.read(ALICE), {key(): "one"})
            library.ledger.promote("g2")
            expect_equal(library.read(ALICE), {key(): "two"})

    def test_a_rollback_never_brings_back_what_was_revoked_or_deleted(self) -> None:
        with self.library() as (library, _):
            library.apply(upsert("revoked", 1, key("d1")), upsert("deleted", 1, key("d2")))
            library.work()
            library.ledger.start_generation("g2", OTHER)
            library.work("g2")
            library.ledger.promote("g2")
            library.apply(upsert("revoked", 2, key("d1"), access("guest")), delete(2, key("d2")))
            library.work("g2")
            library.ledger.promote(GENERATION)
            expect_equal(library.read(ALICE), {})
            expect_equal(library.read(BOB), {})
            library.work(GENERATION)
            expect_equal(library.read(BOB), {key("d1"): "revoked"})

    def test_a_retired_generation_holds_nothing_and_takes_no_work(self) -> None:
        with self.library() as (library, _):
            library.apply(upsert("one"))
            library.work()
            library.ledger.start_generation("g2", OTHER)
            expect_raises(InputError, library.ledger.retire, GENERATION)
            library.work("g2")
            library.ledger.promote("g2")
            library.ledger.retire(GENERATION)
            expect_equal(library.read(ALICE), {key(): "one"})
            expect_raises(InputError, library.claim)
            expect_raises(InputError, library.ledger.promote, GENERATION)
            names = {item["name"]: item["served"] for item in library.ledger.status()["generations"]}
            expect_equal(names, {GENERATION: 0, "g2": 1})

    def test_a_generation_keeps_its_manifest(self) -> None:
        with self.library() as (library, _):
            library.ledger.start_generation(GENERATION, MANIFEST)
            expect_equal(library.ledger.manifest(GENERATION), MANIFEST)
            expect(library.ledger.manifest("unknown") is None, "an unknown generation has no manifest")
            expect_raises(ConfigError, library.ledger.start_generation, GENERATION, "{}")
            expect_raises(InputError, library.ledger.promote, "unknown")

    def test_the_same_state_under_a_new_manifest_makes_no_revision(self) -> None:
        with self.library() as (library, _):
            library.apply(upsert("one"))
            library.work()
            library.ledger.start_generation("g2", OTHER)
            (again,) = library.ledger.apply([upsert("one")], "manifest-2")
            expect_equal(again.decision and again.decision.action, "reprocessed")
            expect_equal(library.ledger.status()["revisions"], 1)
            expect_equal(library.work("g2"), [key()])
            expect_equal(library.claim(), ())

    def test_what_a_worker_has_in_hand_is_still_wanted_when_its_source_sends_the_same_again(self) -> None:
        with self.library() as (library, _):
            records = [upsert(name, 1, key(name)) for name in ("one", "two", "three")]
            library.apply(*records)
            library.work()
            library.ledger.start_generation("g2", OTHER)
            built = library.build(library.claim(2, generation="g2"))
            again = library.ledger.apply([*records[:2], upsert("other", 2, key("three"))], "manifest-2")
            expect_equal(
                [item.decision and item.decision.action for item in again],
                ["reprocessed", "reprocessed", "revised"],
            )
            expect_equal(library.publish(built, "g2"), (key("one"), key("two")))
            expect_equal(library.work("g2"), [key("three")])

    def test_work_in_hand_is_void_once_a_document_is_reinstated(self) -> None:
        with self.library() as (library, _):
            library.apply(upsert("one"))
            built = library.build(library.claim())
            library.ledger.quarantine(key(), "test")
            library.ledger.reinstate(key())
            expect_equal(library.publish(built), ())
            expect_equal(library.work(), [key()])

    def test_what_failed_is_tried_at_once_when_its_source_sends_the_same_again(self) -> None:
        with self.library() as (library, _):
            records = [upsert(name, 1, key(name)) for name in ("later", "never")]
            library.apply(*records)
            library.ledger.start_generation("g2", OTHER)
            for job, final in zip(library.claim(generation="g2"), (False, True), strict=True):
                library.ledger.fail(job, "parser", final=final)
            expect_equal(library.claim(generation="g2"), ())
            library.ledger.apply(records, "manifest-2")
            expect_equal(library.work("g2"), [key("later"), key("never")])

    def test_records_that_come_before_the_first_generation_are_not_lost(self) -> None:
        clock = PinnedClock()
        with closing(self.open_ledger(clock)) as ledger:
            library = Library(ledger=ledger, clock=clock)
            ledger.apply([upsert("early")], MANIFEST_HASH)
            expect_equal(library.read(ALICE), {})
            expect_raises(InputError, ledger.claim, GENERATION, 1, "worker")
            library.start().work()
            expect_equal(library.read(ALICE), {key(): "early"})
