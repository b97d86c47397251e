"""What is hidden is not looked at: it costs a reader nothing, and damage in it breaks nothing for him."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Any

import apsw
import pytest

from clearcite.adapters.ledgers.reader import Memory
from clearcite.domain.access import Acl
from clearcite.domain.corpus import Superseded
from clearcite.engine import Engine
from clearcite.errors import IntegrityFault, NotFound
from clearcite.visibility import Visibility
from tests.support.counting import calls_counted, counted
from tests.support.world import World, body, close_worlds, make_world, principal, record

STAFF, BOARD = principal("staff"), principal("board", subject="ben")
ASKED = "How many days of leave do employees have?"
OPEN = "# Leave\n\nEmployees have 25 days of leave a year."


def secret(number: int, **more: Any) -> Any:
    more = {"supersedes": (Superseded(document_id=f"other-{number}"),), **more}
    return record(f"board-{number}", f"# Plan {number}\n\nThe plan is number {number}.", ("board",), **more)


def match(number: int) -> Any:
    """A hidden document that answers the question too."""
    return record(f"board-{number}", f"# Leave\n\nEmployees have {number} days of leave a year.", ("board",))


def filled(hidden: int, make: Callable[[int], Any] = secret) -> World:
    world = make_world()
    world.put(
        record("leave", OPEN), record("notice", "# N\n\nText.", supersedes=(Superseded(document_id="x"),))
    )
    world.put(*(make(number) for number in range(hidden)))
    return world


def seen(world: World, who: Any = STAFF) -> list[Any]:
    engine = world.engine
    answers = [engine.ask(ASKED, who), engine.search("leave", who)]
    return [*map(body, answers), [item.document_id for item in engine.documents(who)]]


WAYS: dict[str, Callable[[Engine, Any], Any]] = {
    "ask": lambda engine, who: engine.ask(ASKED, who),
    "search": lambda engine, who: engine.search(ASKED, who),
    "list": lambda engine, who: engine.documents(who),
    "show": lambda engine, who: engine.document("notice", STAFF),
}


def work_of(hidden: int, make: Callable[[int], Any], who: Any = STAFF) -> dict[str, tuple[int, int]]:
    """What each way of asking costs, once everything that is remembered has been: steps of SQLite, calls of Python."""
    found = {}
    with counted() as work:
        world = filled(hidden, make)
        for name, way in WAYS.items():
            for _ in range(3):
                way(world.engine, who)
            work.reset()
            with calls_counted() as calls:
                way(world.engine, who)
            found[name] = (work.total, calls.count)
        close_worlds()
    return found


@pytest.mark.parametrize("make", [secret, match])
def test_hidden_documents_cost_a_reader_no_step_and_no_call(make: Callable[[int], Any]) -> None:
    assert work_of(5, make) == work_of(200, make)


@pytest.mark.parametrize("make", [secret, match])
def test_control_readable_documents_do_cost_steps_and_calls(make: Callable[[int], Any]) -> None:
    few, many = work_of(5, make, BOARD), work_of(200, make, BOARD)
    for name in ("list", "ask") if make is match else ("list",):
        assert many[name][0] > few[name][0] + 100 and many[name][1] > few[name][1] + 100


def spoil(world: World, statement: str) -> None:
    file = world.services.ledger._pool._path  # type: ignore[attr-defined]
    with closing(apsw.Connection(str(file))) as db:
        db.execute(statement)
        assert db.total_changes() > 0, "nothing was changed"


HIDDEN = "(SELECT id FROM documents WHERE document_id = 'board-1')"
DAMAGE = {
    "a description": f"UPDATE revisions SET description = '{{' WHERE document = {HIDDEN}",
    "a list of groups": "UPDATE access_classes SET allow = '[' WHERE allow LIKE '%board%'",
    "a list of a collection": "UPDATE collections SET allow = '[' WHERE path = 'vault'",
    "an access digest": f"UPDATE projections SET access_digest = 'x' WHERE document = {HIDDEN}",
    "the units of a chunk": "UPDATE chunks SET units = '[[1]]' WHERE text LIKE '%number 1.%'",
}


@pytest.mark.parametrize("what", DAMAGE)
def test_damage_in_hidden_rows_changes_nothing_for_a_reader(what: str) -> None:
    sound, damaged = filled(3), filled(3)
    for world in (sound, damaged):
        world.services.ledger.put_collection("acme", "vault", Acl(allow=("board",)))
        world.put(secret(9, access={"parent": "vault"}))
    spoil(damaged, DAMAGE[what])
    assert seen(damaged) == seen(sound)
    with pytest.raises(NotFound):
        damaged.engine.document("board-1", STAFF)


@pytest.mark.parametrize("what", ["a description", "an access digest"])
def test_whoever_may_read_a_damaged_document_fails_closed_and_it_is_quarantined(what: str) -> None:
    """Also the control of the damage above: it is real."""
    world = filled(3)
    spoil(world, DAMAGE[what])
    with pytest.raises(IntegrityFault):
        world.engine.documents(BOARD)
    (entry,) = world.services.ledger.status()["quarantine"]
    assert (entry["document_id"], entry["reason"]) == ("board-1", "integrity")
    assert [item.document_id for item in world.engine.documents(BOARD)] == ["board-0", "board-2"]


@pytest.mark.parametrize(
    ("what", "left"), [("a list of groups", ["inside"]), ("a list of a collection", ["board-0", "board-1"])]
)
def test_a_damaged_list_admits_nobody_to_what_it_guards(what: str, left: list[str]) -> None:
    world = filled(2)
    world.services.ledger.put_collection("acme", "vault", Acl(allow=("board",)))
    world.put(record("inside", "# In\n\nText.", ("guest",), access={"parent": "vault"}))
    both = principal("board", "guest")
    assert [item.document_id for item in world.engine.documents(both)] == ["board-0", "board-1", "inside"]
    spoil(world, DAMAGE[what])
    world.services.ledger._memory = Memory()  # type: ignore[attr-defined]  # as a new process has it
    world = world.with_services(visibility=Visibility())
    assert [item.document_id for item in world.engine.documents(both)] == left
