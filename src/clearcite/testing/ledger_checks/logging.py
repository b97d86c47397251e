"""The log of events: one entry for each thing that happened, in its transaction; and views of past positions."""

from __future__ import annotations

from clearcite.domain.access import Acl
from clearcite.domain.audit import check_events
from clearcite.testing.expect import expect, expect_equal
from clearcite.testing.ledger_checks.case import LedgerCase
from clearcite.testing.records import access, delete, key, upsert


class LoggingChecks(LedgerCase):
    def test_each_thing_that_happens_leaves_its_event_and_what_is_refused_leaves_none(self) -> None:
        with self.library() as (library, _):
            library.apply(upsert("one"), upsert("one"), upsert("other text", 1))
            library.work()
            library.apply(upsert("one", 2, None, access("board")), delete(3))
            library.work()
            with library.ledger.events() as events:
                found = list(events)
            wanted = ["generation_started", "created", "published", "access_changed", "deleted", "dropped"]
            expect_equal([event.kind for event in found], wanted)
            expect_equal({event.document_id for event in found[1:]}, {"d1"})
            expect_equal(list(check_events(found, library.ledger.event_head())), [])
            expect_equal(list(library.ledger.unlogged()), [])
            expect(not any("one" in event.detail for event in found), "an event holds no text")

    def test_an_empty_log_has_a_head_too(self) -> None:
        with self.library() as (library, _):
            head = library.ledger.event_head()
            library.apply(upsert("one"))
            expect_equal(library.ledger.event_head().size, head.size + 1)
            expect(library.ledger.event_head().root != head.root, "the head moves with the log")

    def test_a_past_position_shows_the_rows_and_lists_that_held_then(self) -> None:
        with self.library() as (library, _):
            ledger = library.ledger
            ledger.put_collection("acme", "a", Acl(allow=("staff",)))
            library.apply(upsert("one", rights=access("staff", parent="a")))
            library.work()
            with ledger.snapshot() as then:
                position, rows = then.position, list(then.visibility_since("acme", 0))
                lists = dict(then.collections("acme")[1])
            library.apply(upsert("one", 2, None, access("board")), upsert("two", 1, key("d2")))
            library.work()
            ledger.put_collection("acme", "a", None)
            ledger.put_collection("acme", "b", Acl(allow=()))
            with ledger.snapshot() as now:
                expect_equal(list(now.visibility_at("acme", position)), rows)
                expect_equal(dict(now.collections_at("acme", position)[1]), lists)
                expect_equal(
                    list(now.visibility_at("acme", now.position)), list(now.visibility_since("acme", 0))
                )
                expect_equal(
                    dict(now.collections_at("acme", now.position)[1]), dict(now.collections("acme")[1])
                )
                expect_equal(list(now.visibility_at("nobody", position)), [])
                names = dict(now.numbers("acme"))
                expect_equal({row.document for row in rows}, {names[key()]})
