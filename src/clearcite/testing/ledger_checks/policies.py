"""The policy in force, and collections that a configuration gives."""

from __future__ import annotations

from clearcite.domain.access import Acl
from clearcite.domain.policy import MAX_SKEW, Accepted
from clearcite.errors import InputError, StalePolicy
from clearcite.testing.clock import NOON
from clearcite.testing.expect import expect, expect_equal, expect_raises
from clearcite.testing.ledger_checks.case import ALICE, LedgerCase
from clearcite.testing.library import Library
from clearcite.testing.records import access, key, upsert


def policy(revision: int, content: str | None = "a", issued_at: int | None = NOON) -> Accepted:
    return Accepted(revision=revision, content=content, issued_at=issued_at)


class PolicyChecks(LedgerCase):
    def test_the_newest_policy_accepted_is_in_force_for_every_snapshot_that_opens_later(self) -> None:
        with self.library() as (library, _):
            ledger = library.ledger
            with ledger.snapshot() as before:
                expect_equal(before.policy, None)
                expect_equal(ledger.accept_policy(policy(3), "file", "{}"), "accepted")
                expect_equal(before.policy, None, "the policy of an older snapshot")
            with ledger.snapshot() as after:
                expect_equal(after.policy, policy(3))
            expect_equal((ledger.policy(), ledger.policy_snapshot()), (policy(3), "{}"))
            expect_equal(ledger.accept_policy(policy(10, "b"), "file", "[]"), "accepted")
            expect_equal((ledger.policy(), ledger.policy_snapshot()), (policy(10, "b"), "[]"))

    def test_an_older_policy_and_another_one_of_the_same_revision_change_nothing(self) -> None:
        with self.library() as (library, _):
            ledger = library.ledger
            ledger.accept_policy(policy(3), "file", "{}")
            for wrong in (policy(2), policy(3, "b")):
                expect_raises(StalePolicy, ledger.accept_policy, wrong, "file", "[]")
            expect_raises(InputError, ledger.accept_policy, policy(4, "b", NOON + 2 * MAX_SKEW), "file", "[]")
            expect_equal((ledger.policy(), ledger.policy_snapshot()), (policy(3), "{}"))
            expect_equal(ledger.accept_policy(policy(3, "a", NOON + 5), "file", "{}"), "reissued")
            expect_equal(ledger.policy(), policy(3, "a", NOON + 5))

    def test_an_alarm_counts_failures_and_ends_with_a_policy_that_is_taken(self) -> None:
        with self.library() as (library, _):
            ledger = library.ledger
            ledger.accept_policy(policy(3), "file", "{}")
            ledger.policy_failed("feed", "It was only a part.")
            ledger.policy_failed("feed", "It could not be reached.")
            found = ledger.status()["policy"]
            expect_equal((found["revision"], found["alarm"]["failures"]), (3, 2))
            expect_equal(found["alarm"]["reason"], "It could not be reached.")
            expect_equal(ledger.policy(), policy(3), "the policy in force")
            expect_equal(ledger.accept_policy(policy(3), "feed", "{}"), "unchanged")
            expect_equal(ledger.status()["policy"]["alarm"], None)

    def test_a_configured_collection_does_not_undo_what_was_set_by_hand_since(self) -> None:
        with self.library() as (library, _):
            staff, nobody = Acl(allow=("staff",)), Acl(allow=())
            apply = library.ledger.configure_collection
            expect_equal([apply("acme", "hr", staff), apply("acme", "hr", staff)], ["set", "same"])
            expect_equal(self._reads(library), True)
            library.ledger.put_collection("acme", "hr", nobody)
            expect_equal((apply("acme", "hr", staff), self._reads(library)), ("kept", False))
            library.ledger.put_collection("acme", "hr", None)
            expect_equal((apply("acme", "hr", staff), self._reads(library)), ("kept", False))
            wider = Acl(allow=("guest", "staff"))
            expect_equal((apply("acme", "hr", wider), self._reads(library)), ("set", True))

    def test_a_configured_collection_that_stands_already_is_known_as_configured(self) -> None:
        with self.library() as (library, _):
            ledger, staff = library.ledger, Acl(allow=("staff",))
            ledger.put_collection("acme", "hr", staff)
            expect_equal(ledger.configure_collection("acme", "hr", staff), "same")
            ledger.put_collection("acme", "hr", Acl(allow=()))
            expect_equal(ledger.configure_collection("acme", "hr", staff), "kept")

    def test_a_collection_whose_names_cannot_be_compared_exactly_is_refused(self) -> None:
        with self.library() as (library, _):
            for path in ("", "/hr", "hr/", "a//b", "../a", "hr\u200b", " hr", "a/" * 40 + "a"):
                expect_raises(InputError, library.ledger.put_collection, "acme", path, Acl(allow=None))
            for acl in (Acl(allow=("sta\u00adff",)), Acl(allow=None, deny=("x ",)), Acl(allow=("",))):
                expect_raises(InputError, library.ledger.put_collection, "acme", "hr", acl)
            with library.ledger.snapshot() as snapshot:
                expect_equal(dict(snapshot.collections("acme")[1]), {})

    def test_the_standing_of_a_document_says_what_decides_about_it(self) -> None:
        with self.library() as (library, _):
            library.apply(upsert("text", 1))
            expect_equal(self._standing(library), ("staff", None, "project", None))
            library.work()
            library.apply(upsert("text", 2, rights=access("guest", parent="hr")))
            expect_equal(self._standing(library), ("guest", "staff", "access", None))
            library.ledger.quarantine(key(), "integrity")
            expect_equal(self._standing(library), ("guest", "staff", "access", "integrity"))
            with library.ledger.snapshot() as snapshot:
                expect(snapshot.standing(key("missing")) is None, "a document never seen has no standing")

    def _standing(self, library: Library) -> tuple[str | None, ...]:
        with library.ledger.snapshot() as snapshot:
            found = snapshot.standing(key())
        if found is None:
            return ()
        expect(found.intact, "the lists give their digests")
        sides = [None if side is None else ",".join(side.allow) for side in (found.head, found.served)]
        return (*sides, found.waiting, found.quarantined)

    def _reads(self, library: Library) -> bool:
        if not library.ledger.head(key()):
            library.apply(upsert("text", 1, rights=access("staff", parent="hr")))
            library.work()
        return bool(library.read(ALICE))
