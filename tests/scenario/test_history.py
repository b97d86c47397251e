"""A source that keeps its history: a question about the past is answered from what was current then, judged now."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from msgspec.structs import replace

from clearcite.adapters.ledgers import history
from clearcite.adapters.ledgers.migrate import migrate
from clearcite.answer.publish import instant_text
from clearcite.bench.answering import OPERATOR
from clearcite.domain.access import Acl
from clearcite.domain.corpus import SourceRecord
from clearcite.domain.purge import Selection
from clearcite.errors import NotFound
from tests.support.world import DAY, NOW, World, body, close_worlds, deletion, make_world, principal, record

STAFF, GUEST = principal("staff"), principal("guest", subject="gina")
ASKED = "How many days of leave does every employee have?"
START = NOW - 100 * DAY


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    close_worlds()


def said(number: int, days: int, *, keeps: bool = True, **more: object) -> SourceRecord:
    """The ``number``-th revision, ten days after the one before."""
    item = record(
        "leave.md",
        f"Every employee has {days} days of leave.",
        sequence=2 * number,
        source_time=START + number * 10 * DAY,
        **more,  # type: ignore[arg-type]
    )
    return replace(item, keeps_history=keeps)


def told(*records: SourceRecord) -> World:
    world = make_world()
    take(world, *records)
    return world


def take(world: World, *records: SourceRecord) -> None:
    applied = world.services.ledger.apply(records, world.pipeline.manifest_hash)
    assert all(item.error is None for item in applied), [item.error for item in applied]
    world.publish()


def days_at(world: World, instant: int | None, who: object = STAFF) -> str | None:
    """The number that an answer as of an instant gives; the id it cites is always the document's own."""
    answer = world.engine.ask(ASKED, who, as_of=instant)  # type: ignore[arg-type]
    assert {item.document_id for item in answer.citations} <= {"leave.md"}
    return answer.answer[0].text.split()[3] if answer.answer else None


@pytest.fixture
def world() -> World:
    return told(said(1, 20), said(2, 22), said(3, 25))


def test_at_each_instant_the_revision_that_was_current_answers(world: World) -> None:
    first, second, third = (START + number * 10 * DAY for number in (1, 2, 3))
    assert days_at(world, None) == "25"
    assert days_at(world, first - 1) is None
    assert [days_at(world, moment) for moment in (first, second - 1)] == ["20", "20"]
    assert [days_at(world, moment) for moment in (second, third - 1)] == ["22", "22"]
    assert days_at(world, third) == "25"


def test_control_without_history_the_past_is_empty_or_of_today() -> None:
    world = told(*(said(number, days, keeps=False) for number, days in ((1, 20), (2, 22), (3, 25))))
    assert days_at(world, START + 15 * DAY) == "25"


def test_a_citation_of_the_past_names_its_window_and_resolves(world: World) -> None:
    answer = world.engine.ask(ASKED, STAFF, as_of=START + 25 * DAY)
    (cited,) = answer.citations
    assert cited.valid_from is not None
    assert cited.valid_to is not None
    assert world.engine.operator(OPERATOR).verify(answer.trace_id).outcome == "reproduced"


def test_only_the_newest_is_listed_and_shown(world: World) -> None:
    (listed,) = world.engine.documents(STAFF)
    assert (listed.document_id, listed.valid_to) == ("leave.md", None)
    assert world.engine.document("leave.md", STAFF).text == "Every employee has 25 days of leave."


def test_what_is_revoked_today_is_not_read_in_the_past_either(world: World) -> None:
    moved = replace(said(4, 25), access=replace(said(4, 25).access, allow=("board",)))  # type: ignore[type-var]
    world.services.ledger.apply([moved], world.pipeline.manifest_hash)
    assert days_at(world, START + 15 * DAY) is None
    world.publish()
    assert [days_at(world, START + number * DAY) for number in (15, 25, 35)] == [None] * 3
    assert days_at(world, START + 15 * DAY, principal("board")) == "20"


def test_a_collection_that_closes_closes_the_past(world: World) -> None:
    world = told(*(said(n, d, access={"parent": "hr"}) for n, d in ((1, 20), (2, 22))))
    assert days_at(world, START + 15 * DAY) is None
    world.services.ledger.put_collection("acme", "hr", Acl(allow=None))
    assert days_at(world, START + 15 * DAY) == "20"


def test_history_that_was_switched_off_still_follows_its_document(world: World) -> None:
    plain = said(4, 25, keeps=False)
    moved = replace(plain, access=replace(plain.access, allow=("board",)))  # type: ignore[type-var]
    take(world, moved)
    assert days_at(world, START + 15 * DAY) is None


def test_control_an_entry_that_does_not_follow_shows_what_was_revoked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = told(said(1, 20), said(2, 22))
    monkeypatch.setattr(history, "followers", lambda *_: iter(()))
    moved = replace(said(3, 22), access=replace(said(3, 22).access, allow=("board",)))  # type: ignore[type-var]
    take(world, moved)
    assert days_at(world, START + 15 * DAY) == "20"


def test_a_deleted_document_has_no_past_and_a_restored_one_has_a_gap(world: World) -> None:
    gone = replace(deletion(said(3, 25)), source_time=START + 40 * DAY, keeps_history=True)
    take(world, gone)
    assert [days_at(world, START + number * DAY) for number in (15, 25, 35, 45)] == [None] * 4
    take(world, said(6, 30))
    found = [days_at(world, START + number * DAY) for number in (15, 25, 35, 45, 61)]
    assert found == ["20", "22", "25", None, "30"]


def test_a_purge_takes_the_past_with_it(world: World) -> None:
    take(world, replace(deletion(said(3, 25)), keeps_history=True))
    items, waiting = world.services.ledger.erasable(Selection(keys=(said(1, 20).key,)))
    assert (sum(len(item.revisions) for item in items), waiting) >= (5, 0)
    world.services.ledger.erase(items)
    with world.services.ledger.examine() as examination:
        assert not [text for text in examination.texts(()) if b"days of leave" in text]
    take(world, said(6, 30))
    assert [days_at(world, START + number * DAY) for number in (15, 35, 99)] == [None] * 3
    assert days_at(world, None) == "30"


def test_retention_ends_the_past_before_its_day(world: World) -> None:
    ledger = world.services.ledger
    assert ledger.end_history(START + 25 * DAY) == 1
    world.publish()
    assert [days_at(world, START + number * DAY) for number in (15, 25, 35)] == [None, "22", "25"]
    items, _ = ledger.erasable(Selection(revisions_before=NOW + DAY))
    assert any(item.key.shown_id != item.key.document_id for item in items)


def test_the_same_record_again_is_no_change_and_an_older_one_is_stale(world: World) -> None:
    ledger, manifest = world.services.ledger, world.pipeline.manifest_hash
    for item, action in ((said(3, 25), "noop"), (said(1, 20), "stale_ignored")):
        assert ledger.dated(item).key == item.key
        (applied,) = ledger.apply([item], manifest)
        assert applied.decision is not None
        assert applied.decision.action == action


def test_what_was_a_draft_was_never_in_force() -> None:
    world = told(said(1, 20, access={"status": "draft"}), said(2, 22))
    assert [days_at(world, START + number * DAY) for number in (15, 25)] == [None, "22"]


def test_hidden_history_changes_nothing_that_others_see(world: World) -> None:
    other = told(said(3, 25))
    quiet = replace(said(9, 40), access=replace(said(9, 40).access, allow=("board",)))  # type: ignore[type-var]
    hidden = replace(quiet, key=replace(quiet.key, document_id="board.md"))
    for one in (world, other):
        take(one, hidden, replace(hidden, source_sequence=50, content=b"x", text="x"))
    assert [
        replace(one.engine.ask(ASKED, who), trace_id="") for one in (world, other) for who in (STAFF, GUEST)
    ][:2] == [replace(other.engine.ask(ASKED, who), trace_id="") for who in (STAFF, GUEST)]


def test_a_source_only_counts_its_own_documents(world: World) -> None:
    assert world.services.ledger.heads("acme", "default") == {"leave.md": (6, True)}


def test_the_past_is_listed_and_shown_too(world: World) -> None:
    at = START + 15 * DAY
    (listed,) = world.engine.documents(STAFF, as_of=at)
    shown = world.engine.document("leave.md", STAFF, as_of=at)
    assert (listed.document_id, shown.text) == ("leave.md", "Every employee has 20 days of leave.")
    assert listed.revision == shown.revision
    assert (shown.valid_from, shown.valid_to) == (
        instant_text(START + 10 * DAY),
        instant_text(START + 20 * DAY),
    )
    assert not world.engine.documents(STAFF, as_of=at, after="default\0leave.md")
    for who, then in ((GUEST, at), (STAFF, START)):
        assert not world.engine.documents(who, as_of=then)
        with pytest.raises(NotFound):
            world.engine.document("leave.md", who, as_of=then)


STATES = [said(number, 10 + number) for number in range(1, 7)]


@pytest.mark.parametrize("seed", range(6))
def test_in_whatever_order_states_come_and_how_often_the_same_history_stands(seed: int) -> None:
    mixed = [*STATES, *STATES[1:4]]
    random.Random(seed).shuffle(mixed)
    in_turn, shuffled = told(*STATES), told(*mixed)
    days = [15, 20, 29, 35, 45, 55, 65]
    found = [days_at(shuffled, START + day * DAY) for day in days]
    assert found == ["11", "12", "12", "13", "14", "15", "16"]
    for day in days:
        at = START + day * DAY
        assert shuffled.engine.documents(STAFF, as_of=at) == in_turn.engine.documents(STAFF, as_of=at), seed
    later = replace(said(9, 16), access=replace(said(9, 16).access, allow=("board",)))  # type: ignore[type-var]
    take(shuffled, later)
    assert [days_at(shuffled, START + day * DAY) for day in days] == [None] * 7
    assert days_at(shuffled, START + 15 * DAY, principal("board")) == "11"


def test_control_without_late_states_a_shuffled_history_has_holes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "late", lambda *_: iter(()))
    assert days_at(told(STATES[2], STATES[0], STATES[1]), START + 15 * DAY) is None


def test_a_state_that_comes_late_does_not_bring_back_what_was_purged() -> None:
    world = told(said(1, 20), said(2, 22))
    take(world, replace(deletion(said(2, 22)), keeps_history=True))
    items, _ = world.services.ledger.erasable(Selection(keys=(said(1, 20).key,)))
    world.services.ledger.erase(items)
    take(world, said(4, 30), said(1, 20), said(2, 22))
    assert [days_at(world, START + number * DAY) for number in (15, 25)] == [None, None]
    assert days_at(world, None) == "30"


def test_a_draft_that_comes_late_ends_what_was_in_force_and_is_never_read() -> None:
    world = told(said(1, 20), said(3, 25), said(2, 22, access={"status": "draft"}))
    assert [days_at(world, START + number * DAY) for number in (15, 25, 35)] == ["20", None, "25"]


def test_status_counts_documents_and_their_older_revisions_apart(world: World) -> None:
    found = world.services.ledger.status(in_full=True)["documents"]
    assert (found["active"], found["published"], found["older_revisions"]) == (1, 1, 2)


def test_in_two_worlds_the_history_that_is_hidden_changes_no_byte() -> None:
    """At every instant, and for whoever may not read it: not even the counts behind the scores know of it."""
    noise = [replace(item, key=replace(item.key, document_id="other.md")) for item in STATES]
    secret = [
        replace(item, key=replace(item.key, document_id=name), access=replace(item.access, allow=("board",)))  # type: ignore[type-var]
        for name in ("board.md", "a.md")
        for item in STATES
    ]
    bare, full = told(*STATES, *noise), told(*STATES, *noise, *secret)
    for day in (None, 9, 15, 25, 45, 65):
        at = None if day is None else START + day * DAY
        for world in (bare, full):
            assert not {item.document_id for item in world.engine.documents(STAFF, as_of=at)} & {
                "board.md",
                "a.md",
            }
        ways = [lambda e: e.ask(ASKED, STAFF, as_of=at), lambda e: e.search(ASKED, STAFF, as_of=at)]  # noqa: B023
        ways.append(lambda e: e.search("leave", STAFF, as_of=at, k=1, collapse="passage"))  # noqa: B023
        for way in ways:
            assert body(way(bare.engine)) == body(way(full.engine)), day
        assert bare.engine.documents(STAFF, as_of=at) == full.engine.documents(STAFF, as_of=at)
    seen = full.engine.documents(principal("board"), as_of=START + 15 * DAY)
    assert {item.document_id for item in seen} == {
        "board.md",
        "a.md",
    }  # the control: it is there for those who may


def test_a_revision_that_was_planned_for_a_day_to_come_holds_no_correction_back(world: World) -> None:
    planned = said(4, 30)
    take(world, replace(planned, access=replace(planned.access, effective_from=NOW + 100 * DAY)))  # type: ignore[type-var]
    assert days_at(world, None) == "25"
    take(world, said(5, 27))
    assert [days_at(world, moment) for moment in (None, START + 35 * DAY)] == ["27", "25"]
    world.clock.value = NOW + 101 * DAY
    assert days_at(world, None) == "27"


def test_two_planned_revisions_that_are_withdrawn_were_never_in_force(world: World) -> None:
    for number, days, ahead in ((4, 30, 100), (5, 35, 200)):
        item = said(number, days)
        take(world, replace(item, access=replace(item.access, effective_from=NOW + ahead * DAY)))  # type: ignore[type-var]
    take(world, said(6, 27, keeps=False))
    assert days_at(world, None) == "27"
    world.clock.value = NOW + 150 * DAY
    assert days_at(world, None) == "27"


def test_what_was_a_draft_is_in_force_from_when_it_was_published() -> None:
    draft = said(2, 22)
    world = told(said(1, 20), replace(draft, access=replace(draft.access, status="draft")), said(3, 22))  # type: ignore[type-var]
    first, second, third = (START + number * 10 * DAY for number in (1, 2, 3))
    assert [days_at(world, moment) for moment in (first, second, third)] == ["20", None, "22"]


def test_a_planned_revision_that_was_deleted_holds_no_later_one_back(world: World) -> None:
    planned = said(4, 30)
    take(world, replace(planned, access=replace(planned.access, effective_from=NOW + 100 * DAY)))  # type: ignore[type-var]
    take(world, replace(deletion(said(4, 30)), keeps_history=True))
    take(world, said(5, 27))
    assert [days_at(world, moment) for moment in (None, START + 35 * DAY)] == ["27", "25"]
    world.clock.value = NOW + 50 * DAY
    assert days_at(world, None) == "27"


@pytest.mark.parametrize("reason", ["user_request", "access_revoked"])
def test_what_somebody_had_taken_away_does_not_come_back_with_its_document(world: World, reason: str) -> None:
    gone = replace(deletion(said(3, 25), reason), source_time=START + 40 * DAY, keeps_history=True)
    take(world, gone)
    take(world, said(6, 30))
    found = [days_at(world, START + number * DAY) for number in (15, 25, 35, 45, 61)]
    assert found == [None, None, None, None, "30"]


def ahead(number: int, days: int, delay: int) -> SourceRecord:
    """A revision that is planned for a day to come."""
    item = said(number, days)
    return replace(item, access=replace(item.access, effective_from=NOW + delay * DAY))  # type: ignore[type-var]


def test_a_plan_that_was_deleted_with_its_document_leaves_a_gap_until_it_comes_back(world: World) -> None:
    """Neither what was to hold until the plan nor a plan that was to be replaced by another fills it."""
    take(world, ahead(4, 30, 10), ahead(5, 35, 20))
    take(world, replace(deletion(said(5, 35)), keeps_history=True))
    world.clock.value = NOW + 30 * DAY
    take(world, replace(said(7, 40), description=replace(said(7, 40).description, source_time=None)))  # type: ignore[type-var]
    world.clock.value = NOW + 40 * DAY
    moments = (START + 25 * DAY, START + 35 * DAY, NOW + DAY, NOW + 15 * DAY, NOW + 25 * DAY, NOW + 35 * DAY)
    assert [days_at(world, moment) for moment in moments] == ["22", "25", None, None, None, "40"]


def test_history_that_is_switched_off_and_on_never_gives_two_answers_for_one_moment(world: World) -> None:
    """What was replaced while it was off is not kept: then the past is empty, and never what came later."""
    take(world, said(4, 30, keeps=False))
    assert [days_at(world, START + day * DAY) for day in (15, 25, 35, 45)] == ["20", "22", None, "30"]
    assert [days_at(world, moment) for moment in (None, START + 39 * DAY)] == ["30", None]
    take(world, said(5, 35))
    assert [days_at(world, START + day * DAY) for day in (15, 25, 35, 45, 55)] == [
        "20",
        "22",
        None,
        "30",
        "35",
    ]


def test_a_state_that_took_its_place_in_the_past_is_reported_so_once(world: World) -> None:
    late = said(1, 19)
    late = replace(
        late, source_sequence=1, description=replace(late.description, source_time=START + 5 * DAY)
    )  # type: ignore[type-var]
    ledger = world.services.ledger
    assert ledger.places(late)
    actions = []
    for _ in range(2):
        (applied,) = ledger.apply([late], world.pipeline.manifest_hash)
        assert applied.decision is not None
        actions.append(applied.decision.action)
    world.publish()
    assert actions == ["placed_in_past", "stale_ignored"] and not ledger.places(late)
    assert [days_at(world, START + day * DAY) for day in (4, 7, 15)] == [None, "19", "20"]


BACK = [said(1, 20), said(2, 22), said(3, 20), said(4, 25)]
"""A text that was current, was replaced, and came back."""


@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)])
def test_a_text_that_was_current_twice_has_both_its_times(order: tuple[int, ...]) -> None:
    """Whichever came late. One that comes after both, where they came in their turn, finds the text going on, the limit
    that the page names; it takes its place when it is sent again."""
    mixed = [BACK[number] for number in order]
    world = told(*mixed, BACK[3])
    for between in ("20" if order == (0, 2, 1) else "22", "22"):
        found = [days_at(world, START + day * DAY) for day in (9, 15, 25, 35, 45)]
        assert found == [None, "20", between, "20", "25"]
        take(world, *mixed)


def test_a_store_of_before_knows_from_its_log_which_states_were_taken(tmp_path: Path) -> None:
    world = make_world(folder=tmp_path, on_disk=True)
    take(world, *BACK[:3])
    take(
        world,
        *[replace(item, key=replace(item.key, document_id="plain.md"), keeps_history=False) for item in BACK],
    )
    known = "SELECT document, source_sequence FROM history_states ORDER BY 1, 2"
    world.services.ledger.close()
    with closing(apsw.Connection(str(tmp_path / "ledger.db"))) as db:
        before = db.execute(known).fetchall()
        db.execute("DROP TABLE history_states")
        db.pragma("user_version", 12)
    assert migrate(tmp_path / "ledger.db").after == 13
    with closing(apsw.Connection(str(tmp_path / "ledger.db"))) as db:
        assert db.execute(known).fetchall() == before == [(1, 2), (1, 4), (1, 6)]
