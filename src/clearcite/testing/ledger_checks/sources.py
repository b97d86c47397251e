"""How far each source has been taken."""

from __future__ import annotations

from msgspec.structs import replace

from clearcite.domain.sources import SourceState
from clearcite.errors import NotFound
from clearcite.testing.expect import expect_equal, expect_raises
from clearcite.testing.ledger_checks.case import LedgerCase
from clearcite.testing.records import delete, key, upsert

WIKI = SourceState(tenant_id="acme", source_id="wiki", kind="folder")
PLACE = ("acme", "wiki", "folder")


class SourceChecks(LedgerCase):
    def test_what_is_known_of_a_source_is_kept_by_tenant_name_and_kind(self) -> None:
        with self.library() as (library, _):
            ledger = library.ledger
            expect_equal(list(ledger.sources()), [])
            states = [
                replace(WIKI, cursor="c1", tried_at=1, finished_at=2, covered_at=3, outcome="ok", refused=4),
                replace(WIKI, kind="git", cursor="c2"),
                replace(WIKI, tenant_id="other", cursor="c3"),
            ]
            for state in states:
                ledger.put_source(state)
            expect_equal(list(ledger.sources()), states)
            ledger.put_source(replace(states[0], cursor="c9", withheld=7))
            expect_equal(ledger.sources()[0], replace(states[0], cursor="c9", withheld=7))

    def test_an_approval_is_set_by_approve_alone(self) -> None:
        with self.library() as (library, _):
            expect_raises(NotFound, library.ledger.approve, *PLACE, 5)
            library.ledger.put_source(WIKI)
            library.ledger.approve(*PLACE, 5)
            library.ledger.put_source(replace(WIKI, approved=99))
            expect_equal(list(library.ledger.sources()), [replace(WIKI, approved=5)])

    def test_heads_tell_the_newest_sequence_and_who_lives(self) -> None:
        with self.library() as (library, _):
            library.apply(upsert("one", 3, key("d1")), upsert("two", 5, key("d2")))
            library.apply(delete(6, key("d2")))
            expect_equal(library.ledger.heads("acme", key().source_id), {"d1": (3, True), "d2": (6, False)})
            expect_equal(library.ledger.heads("acme", "other"), {})
