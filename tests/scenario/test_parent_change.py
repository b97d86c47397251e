"""A change of a collection costs the same whatever is below it: counted in rows, steps, pages and judgements."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec import Struct
from msgspec.structs import replace

from clearcite.domain.access import Acl
from clearcite.domain.retrieval import Scope
from tests.support.counting import Work, counted
from tests.support.world import NOW, World, close_worlds, make_world, principal, record

ALICE = principal("staff")
SCOPE = Scope(principal=ALICE, as_of=NOW, partitions=("acme",))


class Cost(Struct, frozen=True):
    """``changed``: rows; ``steps``: of SQLite; ``pages``: added to the write log; ``judged``: lists looked at."""

    changed: int
    steps: int
    pages: int
    reading: int
    judged: int


def filled(below: int) -> World:
    """Every document stands deep below ``hr`` and has a list of its own."""
    world = make_world()
    for path in ("hr", "hr/pay", "hr/pay/old"):
        world.services.ledger.put_collection("acme", path, Acl(allow=None))
    world.put(
        *(
            record(f"d{n}", f"# {n}\n\nText {n}.", ("staff", f"g{n}"), access={"parent": "hr/pay/old"})
            for n in range(below)
        )
    )
    return world


def cost(below: int, change: Callable[[World, int], None], monkeypatch: pytest.MonkeyPatch) -> Cost:
    with counted() as work:
        world = filled(below)
        assert readable(world) == below
        before = work.pages
        work.reset()
        change(world, below)
        changed, steps, pages = work.changed, work.total, work.pages - before
        judged, read = judging(world, work, monkeypatch)
        close_worlds()
        return Cost(changed=changed, steps=steps, pages=pages, reading=read, judged=judged)


def judging(world: World, work: Work, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """What the next request looks at: lists of groups, and steps of SQLite. Nothing is readable any more."""
    admits: Callable[[Acl, frozenset[str]], bool] = Acl.admits
    judged = 0

    def counting(self: Acl, groups: frozenset[str]) -> bool:
        nonlocal judged
        judged += 1
        return admits(self, groups)

    work.reset()
    with monkeypatch.context() as patch:
        patch.setattr(Acl, "admits", counting)
        assert readable(world) == 0
    return judged, work.total


def readable(world: World) -> int:
    with world.services.ledger.snapshot() as snapshot:
        return int(world.services.visibility.readable(snapshot, SCOPE).mask("acme").sum())


def close_the_parent(world: World, _: int) -> None:
    world.services.ledger.put_collection("acme", "hr", Acl(allow=("board",)))


def close_each_document(world: World, below: int) -> None:
    closed = [
        record(f"d{n}", f"# {n}\n\nText {n}.", (f"g{n}",), access={"parent": "hr/pay/old"}, sequence=2)
        for n in range(below)
    ]
    world.put(*closed, publish=False)


def test_closing_a_parent_costs_the_same_above_ten_documents_and_above_a_thousand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    few, many = (cost(below, close_the_parent, monkeypatch) for below in (10, 1_000))
    assert replace(few, pages=0) == replace(many, pages=0)
    assert few.judged == 3, "the levels of the path"
    assert 0 < few.pages < 12 and 0 < many.pages < 12, (
        "a tree that is one level deeper, or a page that is split"
    )


def test_control_closing_each_document_costs_more_the_more_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = (cost(below, close_each_document, monkeypatch) for below in (10, 100))
    assert many.changed > 5 * few.changed
    assert many.steps > 5 * few.steps
    assert many.judged > 5 * few.judged
