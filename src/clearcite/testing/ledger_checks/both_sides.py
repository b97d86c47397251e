"""Who may read what between a change and its publication."""

from __future__ import annotations

from msgspec.structs import replace

from clearcite.domain.access import Acl
from clearcite.testing.clock import DAY, NOON
from clearcite.testing.expect import expect_equal
from clearcite.testing.ledger_checks.case import ALICE, BOB, BOTH, LedgerCase
from clearcite.testing.records import (
    access,
    delete,
    key,
    upsert,
)


class BothSidesChecks(LedgerCase):
    def test_the_old_text_serves_until_the_new_one_is_published(self) -> None:
        with self.library() as (library, _):
            library.apply(upsert("old"))
            library.work()
            library.apply(upsert("new", 2))
            expect_equal(library.read(ALICE), {key(): "old"})
            library.work()
            expect_equal(library.read(ALICE), {key(): "new"})
            expect_equal(library.ledger.status()["chunks"], 1)

    def test_what_narrows_acts_at_once(self) -> None:
        with self.library() as (library, _):
            narrower = {
                "groups": access("guest"),
                "deny": access("staff", deny=("staff",)),
                "status": access("staff", status="archived"),
                "window": access("staff", effective_to=NOON),
                "trust": access("staff", trusted=False),
                "parent": access("staff", parent="nowhere"),
            }
            for name, rights in narrower.items():
                library.apply(upsert("text", 1, key(name)))
                library.work()
                library.apply(upsert("text", 2, key(name), rights))
                expect_equal(library.read(ALICE), {}, name)
                library.work()
                expect_equal(library.read(ALICE), {}, f"{name}, acknowledged")
                library.apply(delete(3, key(name)))

    def test_what_widens_acts_when_it_is_published(self) -> None:
        with self.library() as (library, _):
            library.apply(upsert("text"))
            library.work()
            library.apply(upsert("text", 2, rights=BOTH))
            expect_equal(library.read(BOB), {})
            expect_equal(library.read(ALICE), {key(): "text"})
            library.work()
            expect_equal(library.read(BOB), {key(): "text"})

    def test_text_redacted_for_new_readers_is_never_shown_to_them(self) -> None:
        with self.library() as (library, _):
            library.apply(upsert("the secret"))
            library.work()
            library.apply(upsert("redacted", 2, rights=BOTH))
            expect_equal(library.read(BOB), {})
            library.apply(upsert("redacted", 3, rights=access("guest")))
            expect_equal(library.read(BOB), {})
            expect_equal(library.read(ALICE), {})
            library.work()
            expect_equal(library.read(BOB), {key(): "redacted"})

    def test_a_change_of_access_alone_makes_no_revision_and_cuts_nothing_again(self) -> None:
        with self.library() as (library, _):
            library.apply(upsert("text"))
            library.work()
            expect_equal(library.actions(upsert("text", 2, rights=BOTH)), ["access_changed"])
            jobs = library.claim()
            expect_equal([job.kind for job in jobs], ["access"])
            library.publish(library.build(jobs))
            expect_equal(library.read(BOB), {key(): "text"})
            expect_equal(library.ledger.status()["revisions"], 1)

    def test_an_access_change_over_a_pending_text_does_not_widen_the_old_text(self) -> None:
        with self.library() as (library, _):
            library.apply(upsert("the secret"))
            library.work()
            library.apply(upsert("redacted", 2), upsert("redacted", 3, rights=BOTH))
            jobs = library.claim()
            expect_equal([job.kind for job in jobs], ["project"])
            expect_equal(library.read(BOB), {})
            library.publish(library.build(jobs))
            expect_equal(library.read(BOB), {key(): "redacted"})

    def test_access_there_and_back_widens_only_when_it_is_acknowledged(self) -> None:
        with self.library() as (library, _):
            library.apply(upsert("text", rights=BOTH))
            library.work()
            library.apply(upsert("text", 2))
            library.apply(upsert("text", 3, rights=BOTH))
            expect_equal([library.read(BOB), library.read(ALICE)], [{}, {key(): "text"}])
            jobs = library.claim()
            expect_equal([job.kind for job in jobs], ["access"])
            library.publish(library.build(jobs))
            expect_equal(library.read(BOB), {key(): "text"})

    def test_revoked_text_is_not_shown_again_when_its_replacement_is_granted(self) -> None:
        with self.library() as (library, _):
            library.apply(upsert("the secret", rights=BOTH))
            library.work()
            library.apply(upsert("the secret", 2))
            library.apply(upsert("redacted", 3, rights=BOTH))
            expect_equal([library.read(BOB), library.read(ALICE)], [{}, {key(): "the secret"}])
            library.work()
            expect_equal(library.read(BOB), {key(): "redacted"})

    def test_narrowing_twice_leaves_those_who_keep_access_reading(self) -> None:
        with self.library() as (library, _):
            library.apply(upsert("text", rights=access("guest", "others", "staff")))
            library.work()
            library.apply(upsert("text", 2, rights=access("others", "staff")))
            library.apply(upsert("text", 3, rights=access("staff")))
            expect_equal([library.read(BOB), library.read(ALICE)], [{}, {key(): "text"}])

    def test_windows_are_half_open(self) -> None:
        with self.library() as (library, clock):
            rights = access("staff", effective_from=NOON + DAY, effective_to=NOON + 2 * DAY)
            library.apply(upsert("text", rights=rights))
            library.work()
            seen = []
            for step in (DAY - 1, 1, DAY - 1, 1):
                clock.advance(step)
                seen.append(bool(library.read(ALICE)))
            expect_equal(seen, [False, True, True, False])

    def test_collections_are_judged_live_and_unknown_ones_deny(self) -> None:
        with self.library() as (library, _):
            library.apply(upsert("text", rights=access("staff", parent="a/b")))
            library.work()
            seen = []
            for path, acl in (
                ("a", Acl(allow=None)),
                ("a/b", Acl(allow=("staff",))),
                ("a", Acl(allow=())),
                ("a", Acl(allow=None, deny=("user:alice",))),
                ("a", Acl(allow=None)),
                ("a/b", None),
            ):
                library.ledger.put_collection("acme", path, acl)
                seen.append(bool(library.read(ALICE)))
            expect_equal(seen, [False, True, False, False, True, False])
            expect_equal(library.claim(), ())

    def test_nobody_without_groups_tenant_or_partitions_reads_anything(self) -> None:
        with self.library() as (library, _):
            library.apply(upsert("text", rights=access("user:alice")))
            library.work()
            expect_equal(library.read(replace(ALICE, groups=())), {})
            expect_equal(library.read(replace(ALICE, tenant_id=""), "acme"), {})
            expect_equal(library.read(replace(ALICE, subject_id=""), "acme"), {})
            expect_equal(library.read(ALICE, "globex"), {})
            expect_equal(library.read(ALICE), {key(): "text"})
