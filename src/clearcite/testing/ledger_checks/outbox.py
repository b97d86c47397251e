"""Leases, retries, quarantine and publication."""

from __future__ import annotations

from msgspec.structs import replace

from clearcite.errors import DependencyUnavailable
from clearcite.testing.clock import DAY, SECOND
from clearcite.testing.expect import expect, expect_equal, expect_raises
from clearcite.testing.ledger_checks.case import ALICE, LedgerCase
from clearcite.testing.library import Library
from clearcite.testing.records import (
    GENERATION,
    key,
    upsert,
)


class OutboxChecks(LedgerCase):
    def test_only_the_latest_of_several_pending_texts_is_published(self) -> None:
        with self.library() as (library, _):
            library.apply(upsert("one", 1))
            library.apply(upsert("two", 2))
            early = library.build(library.claim())
            library.apply(upsert("three", 3))
            expect_equal(library.publish(early), ())
            expect_equal(library.ledger.status()["chunks"], 0)
            expect_equal(library.work(), [key()])
            expect_equal(library.read(ALICE), {key(): "three"})

    def test_a_batch_with_nothing_wanted_names_no_new_index(self) -> None:
        with self.library() as (library, _):
            library.apply(upsert("one", 1))
            late = library.build(library.claim())
            library.apply(upsert("two", 2))
            named: list[str | None] = []
            library.ledger.publish(GENERATION, late, lambda base: named.append(base) or "m1")  # type: ignore[func-returns-value]
            expect_equal(named, [])
            with library.ledger.snapshot() as snapshot:
                expect(snapshot.index_manifest is None, "no manifest was named")

    def test_the_index_manifest_moves_with_the_publication(self) -> None:
        with self.library() as (library, _):
            library.apply(upsert("one"))
            built = library.build(library.claim())
            library.ledger.publish(GENERATION, built, lambda base: f"{base}+1")
            library.ledger.publish(GENERATION, (), lambda base: f"{base}+merged")
            with library.ledger.snapshot() as snapshot:
                expect_equal(snapshot.index_manifest, "None+1+merged")

    def test_a_commit_that_fails_publishes_nothing(self) -> None:
        with self.library() as (library, _):
            library.apply(upsert("one"))
            built = library.build(library.claim())

            def broken(_: str | None) -> str:
                raise DependencyUnavailable("no space")

            expect_raises(DependencyUnavailable, library.ledger.publish, GENERATION, built, broken)
            expect_equal(library.read(ALICE), {})
            expect_equal(library.ledger.status()["chunks"], 0)
            expect_equal(library.publish(built), (key(),))

    def test_the_age_of_waiting_work_counts_from_its_first_event(self) -> None:
        with self.library() as (library, clock):
            library.apply(upsert("one", 1))
            clock.advance(60 * SECOND)
            library.apply(upsert("two", 2))
            clock.advance(60 * SECOND)
            (entry,) = library.ledger.status()["outbox"]
            expect_equal((entry["waiting"], entry["oldest_seconds"]), (1, 120))

    def test_a_leased_job_is_not_handed_out_twice(self) -> None:
        with self.library() as (library, _):
            library.apply(*(upsert("text", 1, key(f"d{n}")) for n in range(5)))
            first, second = library.claim(3, "a"), library.claim(3, "b")
            expect_equal([len(first), len(second)], [3, 2])
            expect(
                not {job.event_id for job in first} & {job.event_id for job in second}, "jobs are disjoint"
            )

    def test_a_worker_that_lost_its_lease_publishes_nothing(self) -> None:
        with self.library() as (library, clock):
            library.apply(upsert("one"))
            slow = library.build(library.claim(owner="slow"))
            clock.advance(DAY)
            fast = library.build(library.claim(owner="fast"))
            expect_equal(library.publish(fast), (key(),))
            expect_equal(library.publish(slow), ())
            expect_equal(library.read(ALICE), {key(): "one"})

    def test_published_work_cannot_be_published_again(self) -> None:
        with self.library() as (library, _):
            library.apply(upsert("one"))
            built = library.build(library.claim())
            expect_equal([library.publish(built), library.publish(built)], [(key(),), ()])

    def test_a_failed_job_is_tried_again_later_while_the_old_text_serves(self) -> None:
        with self.library() as (library, clock):
            library.apply(upsert("old"))
            library.work()
            library.apply(upsert("new", 2))
            (job,) = library.claim()
            library.ledger.fail(job, "parser")
            expect_equal(library.claim(), ())
            expect_equal(library.read(ALICE), {key(): "old"})
            clock.advance(2 * SECOND)
            expect_equal(library.work(), [key()])
            expect_equal(library.read(ALICE), {key(): "new"})

    def test_the_sixth_failure_puts_a_job_into_quarantine_with_its_reason(self) -> None:
        with self.library() as (library, clock):
            library.apply(upsert("bad"))
            waits = []
            for _ in range(6):
                (job,) = library.claim()
                library.ledger.fail(job, "parser")
                before = clock.now()
                while not library.ledger.status()["quarantine"] and not self._claimable(library):
                    clock.advance(SECOND // 4)
                waits.append((clock.now() - before) / SECOND)
            for number, wait in enumerate(waits[:5]):
                expect(2**number <= wait <= 1.25 * 2**number + 0.25, f"wait {number} is {wait} s")
            clock.advance(30 * DAY)
            expect_equal(library.claim(), ())
            (entry,) = library.ledger.status()["quarantine"]
            expect_equal((entry["document_id"], entry["reason"]), ("d1", "parser"))
            library.apply(upsert("mended", 2))
            library.work()
            expect_equal(library.read(ALICE), {key(): "mended"})

    def test_a_final_failure_is_quarantined_at_once(self) -> None:
        with self.library() as (library, clock):
            library.apply(upsert("bad"))
            (job,) = library.claim()
            library.ledger.fail(job, "damaged", final=True)
            clock.advance(30 * DAY)
            expect_equal(library.claim(), ())
            expect_equal([item["reason"] for item in library.ledger.status()["quarantine"]], ["damaged"])

    def test_leases_of_an_owner_that_is_gone_are_free_at_once_and_no_others(self) -> None:
        with self.library() as (library, _):
            library.apply(*(upsert("text", 1, key(f"d{n}")) for n in range(3)))
            lost, held = library.claim(2, "gone"), library.claim(1, "alive")
            expect_equal(library.ledger.reclaim(["nobody", "gone"]), 2)
            again = library.claim(3, "other")
            expect_equal([job.event_id for job in again], [job.event_id for job in lost])
            expect_equal([job.attempts for job in again], [2, 2])
            expect_equal(library.publish(library.build(lost)), ())
            expect_equal(len(library.publish(library.build(held))), 1)

    def test_a_lease_that_is_renewed_does_not_end(self) -> None:
        with self.library() as (library, clock):
            library.apply(upsert("text"))
            jobs = library.claim(owner="slow")
            for _ in range(10):
                clock.advance(240 * SECOND)
                library.ledger.renew(jobs)
                expect_equal(library.claim(owner="other"), ())
            expect_equal(library.publish(library.build(jobs)), (key(),))

    def _claimable(self, library: Library) -> bool:
        jobs = library.claim()
        library.ledger.release(jobs)
        return bool(jobs)

    def test_a_job_whose_workers_keep_dying_is_given_up(self) -> None:
        with self.library() as (library, clock):
            library.apply(upsert("killer"))
            claims = 0
            while library.claim():
                claims += 1
                clock.advance(DAY)
                expect(claims < 10, "a job is not handed out for ever")
            expect_equal(claims, 6)
            expect_equal(len(library.ledger.status()["quarantine"]), 1)

    def test_released_jobs_are_claimable_at_once_and_cost_no_attempt(self) -> None:
        with self.library() as (library, _):
            library.apply(upsert("text"))
            for _ in range(10):
                jobs = library.claim()
                expect_equal([job.attempts for job in jobs], [1])
                library.ledger.release(jobs)
            expect_equal(library.work(), [key()])

    def test_a_build_that_does_not_match_its_text_is_a_failed_attempt(self) -> None:
        with self.library() as (library, clock):
            library.apply(upsert("good", 1, key("d1")), upsert("bad", 1, key("d2")))
            good, bad = library.build(library.claim())
            forged = replace(bad, chunks=tuple(replace(chunk, text="bax") for chunk in bad.chunks))
            expect_equal(library.publish([good, forged]), (key("d1"),))
            expect_equal(library.claim(), ())
            expect_equal(library.read(ALICE), {key("d1"): "good"})
            clock.advance(2 * SECOND)
            expect_equal(library.work(), [key("d2")])

    def test_a_build_under_another_identity_is_not_published(self) -> None:
        with self.library() as (library, _):
            library.apply(upsert("one"))
            (built,) = library.build(library.claim())
            stolen = replace(built, job=replace(built.job, key=key("d9")))
            expect_equal(library.publish([stolen]), ())
            expect_equal(library.read(ALICE), {})
            expect_equal(library.publish([built]), (key(),))

    def test_a_document_without_chunks_is_published_and_shows_nothing(self) -> None:
        with self.library() as (library, _):
            library.apply(upsert("\n"))
            expect_equal(library.work(), [key()])
            expect_equal(library.documents(), {key(): "\n"})
