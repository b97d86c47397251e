"""An identity that was resolved under an older policy is refused at every entrance, before anything is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from clearcite.domain.access import Principal
from clearcite.domain.policy import Accepted
from clearcite.errors import StalePolicy
from tests.support.world import NOW, World, make_world, principal, record

QUESTION = "How many days of leave do employees have?"
HOUR = 3_600_000_000
OLGA = replace(principal("staff", subject="olga"), roles=("operator",))

ENTRANCES: dict[str, Callable[[World, Principal], Any]] = {
    "ask": lambda world, who: world.engine.ask(QUESTION, who),
    "search": lambda world, who: world.engine.search("leave", who),
    "documents": lambda world, who: world.engine.documents(who),
    "document": lambda world, who: world.engine.document("leave", who),
    "operator": lambda world, who: world.engine.operator(replace(who, roles=("operator",))),
}


def filled() -> World:
    world = make_world()
    world.put(record("leave", "# Leave\n\nEmployees have 25 days of leave a year."))
    return world


def under(revision: str) -> Principal:
    return replace(principal("staff"), authorization_revision=revision)


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_every_entrance_refuses_an_identity_of_before_the_policy_in_force(entrance: str) -> None:
    world, enter = filled(), ENTRANCES[entrance]
    enter(world, under("7"))
    world.engine.operator(OLGA).announce_policy(8)
    for revision in ("7", "1", "seven", "08x", ""):
        with pytest.raises((StalePolicy,) if revision else (Exception,)):
            enter(world, under(revision))
    enter(world, under("8"))
    enter(world, under("9"))
    enter(world, under("local"))


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_every_entrance_refuses_everybody_while_the_policy_is_too_old(entrance: str) -> None:
    world = filled()
    aged = world.with_services(policy_age=HOUR)
    enter = ENTRANCES[entrance]
    with pytest.raises(StalePolicy):
        enter(aged, under("7"))
    new = Accepted(revision=7, content="c", issued_at=NOW)
    world.services.ledger.accept_policy(new, "test")
    enter(aged, under("7"))
    world.clock.value = NOW + HOUR + 1
    with pytest.raises(StalePolicy):
        enter(aged, under("7"))
    enter(world, under("7"))


def test_an_answer_given_before_is_still_verified_after_the_policy_has_moved_on() -> None:
    world = filled()
    answer = world.engine.ask(QUESTION, under("7"))
    world.engine.operator(OLGA).announce_policy(8)
    operator = world.engine.operator(replace(OLGA, authorization_revision="8"))
    assert operator.verify(answer.trace_id).outcome == "reproduced"


def test_an_explanation_of_a_stale_identity_says_so() -> None:
    world = filled()
    world.engine.operator(OLGA).announce_policy(8)
    operator = world.engine.operator(replace(OLGA, authorization_revision="8"))
    found = operator.explain(record("leave", "").key, under("7"))
    assert not found.readable
    assert [layer.name for layer in found.layers if not layer.admits] == ["policy"]
    assert operator.explain(record("leave", "").key, under("8")).readable
    assert (found.policy_revision, found.principal.authorization_revision) == (8, "7")


def test_a_revision_can_be_announced_only_forwards() -> None:
    world = filled()
    operator = world.engine.operator(replace(OLGA, authorization_revision="9"))
    operator.announce_policy(8)
    operator.announce_policy(8)
    with pytest.raises(StalePolicy):
        operator.announce_policy(7)
