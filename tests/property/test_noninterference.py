"""I1: what a caller may not read changes nothing that he sees, to the byte.

Two worlds hold the same readable documents; one of them also holds, changes and loses documents outside the
caller's view, written before, between and after the readable ones. Every public body must be equal.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clearcite.domain.access import Acl
from clearcite.domain.purge import Selection
from tests.support.world import (
    DAY,
    LEGS,
    NOW,
    World,
    body,
    close_worlds,
    deletion,
    make_world,
    principal,
    record,
)

WORDS = [
    *("queue", "worker", "retry", "limit", "backlog", "invoice", "export", "quota", "replica"),
    *("region", "token", "webhook", "archive", "report", "holiday", "allowance", "kettle", "bicycle"),
]
VALUES = ("5 days", "12 hours", "EUR 40", "300 requests", "HX-12", "2.4", "yes", "no")
SOAK = os.environ.get("CLEARCITE_SOAK") == "1"


@st.composite
def sentences(draw: st.DrawFn) -> str:
    words = draw(st.lists(st.sampled_from(WORDS), min_size=3, max_size=8))
    value = draw(st.sampled_from(VALUES))
    return f"The {' '.join(words)} is {value}."


@st.composite
def texts(draw: st.DrawFn) -> str:
    lines = draw(st.lists(sentences(), min_size=1, max_size=4))
    heading = draw(st.sampled_from(WORDS))
    return f"# {heading.title()}\n\n" + "\n\n".join(lines)


@dataclass(frozen=True)
class Hidden:
    """A document outside the view, the way it is kept out, and what happens to it later."""

    text: str
    how: str
    later: str
    when: int


HOW = ("other_group", "denied", "other_tenant", "draft", "archived", "expired", "future", "untrusted",
       "missing_parent", "nobody_parent", "revoked")  # fmt: skip
"""``revoked``: readable at first, and taken away before anything is asked."""
LATER = ("nothing", "edit", "delete", "narrow", "purge")

hidden_documents = st.builds(
    Hidden,
    text=texts(),
    how=st.sampled_from(HOW),
    later=st.sampled_from(LATER),
    when=st.integers(0, 4),
)
questions = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(
    lambda words: f"What is the {' '.join(words)}?"
)


def hidden_record(n: int, item: Hidden, text: str, sequence: int):  # type: ignore[no-untyped-def]
    access: dict[str, object] = {}
    groups, tenant = ("staff",), "acme"
    if item.how == "other_group" or (item.how == "revoked" and sequence > 1):
        groups = ("board",)
    elif item.how == "denied":
        access = {"deny": ("staff",)}
    elif item.how == "other_tenant":
        tenant = "rival"
    elif item.how in ("draft", "archived"):
        access = {"status": item.how}
    elif item.how == "expired":
        access = {"effective_to": NOW - DAY}
    elif item.how == "future":
        access = {"effective_from": NOW + DAY}
    elif item.how == "revoked":
        groups = ("staff",)
    elif item.how == "untrusted":
        access = {"trusted": False}
    elif item.how == "missing_parent":
        access = {"parent": "nowhere"}
    else:
        access = {"parent": "vault"}
    if sequence > 1 and item.later == "narrow":
        access = {**access, "deny": (*access.get("deny", ()), "everyone")}  # type: ignore[misc]
    name = f"hidden-{n}"
    return record(name, text, groups, tenant=tenant, access=access, sequence=sequence, authority=100)


def fill(world: World, readable: list[str], hidden: list[Hidden]) -> None:
    world.services.ledger.put_collection("acme", "vault", Acl(allow=()))
    for step in range(5):
        for n, text in enumerate(readable):
            if n % 5 == step:
                world.put(record(f"doc-{n}", text))
        for n, item in enumerate(hidden):
            if item.when == step:
                world.put(hidden_record(n, item, item.text, 1))
    for n, item in enumerate(hidden):
        if item.how == "revoked" and item.later in ("nothing", "narrow"):
            world.put(hidden_record(n, item, item.text, 2))
        elif item.later == "edit":
            world.put(hidden_record(n, item, item.text + "\n\nMore of the same queue worker.", 2))
        elif item.later == "narrow":
            world.put(hidden_record(n, item, item.text, 2))
        elif item.later in ("delete", "purge"):
            world.put(deletion(hidden_record(n, item, item.text, 1)))
    if any(item.later == "purge" for item in hidden):
        ledger = world.services.ledger
        assert ledger.erase(ledger.erasable(Selection(deleted_before=2**60))[0])


def seen(world: World, asked: list[str]) -> list[bytes]:
    caller = principal("staff")
    engine = world.engine
    bodies = [body(engine.ask(question, caller)) for question in asked]
    for question in asked:
        first = engine.search(question, caller, k=2, collapse="passage")
        bodies.append(body(first))
        if first.next:
            bodies.append(body(engine.search(question, caller, k=2, collapse="passage", after=first.next)))
        bodies.append(body(engine.search(question, caller, k=3)))
    bodies.extend(body(item) for item in engine.documents(caller))
    return bodies


def check(readable: list[str], hidden: list[Hidden], asked: list[str], embedder: Any) -> None:
    plain, crowded = make_world(embedder=embedder), make_world(embedder=embedder)
    fill(plain, readable, [])
    fill(crowded, readable, hidden)
    try:
        assert seen(crowded, asked) == seen(plain, asked)
    finally:
        close_worlds()


case = given(
    readable=st.lists(texts(), min_size=1, max_size=6),
    hidden=st.lists(hidden_documents, min_size=1, max_size=6),
    asked=st.lists(questions, min_size=1, max_size=2),
)
relaxed = {"deadline": None, "suppress_health_check": list(HealthCheck)}


@LEGS
@settings(max_examples=150, **relaxed)  # type: ignore[arg-type]
@case
def test_what_a_caller_may_not_read_changes_nothing_he_sees(
    embedder: Any, readable: list[str], hidden: list[Hidden], asked: list[str]
) -> None:
    check(readable, hidden, asked, embedder)


@pytest.mark.soak
@pytest.mark.skipif(not SOAK, reason="long; run with `make soak`")
@LEGS
@settings(max_examples=10_000, **relaxed)  # type: ignore[arg-type]
@case
def test_ten_thousand_pairs_of_worlds_look_alike(
    embedder: Any, readable: list[str], hidden: list[Hidden], asked: list[str]
) -> None:
    check(readable, hidden, asked, embedder)


class SeesEverything:
    """The mitigation off: the index counts hidden chunks; confirmation still drops them."""

    def __init__(self, real: Any) -> None:
        self._real = real

    def readable(self, snapshot: Any, scope: Any) -> Any:
        real = self._real.readable(snapshot, scope)

        class Everything:
            partitions = real.partitions
            token = ("everything", snapshot.position)

            def mask(self, partition: str) -> Any:
                return np.ones(64, dtype=np.bool_)

            def slots(self, partition: str) -> Any:
                return real.slots(partition)

            def superseding(self, partition: str) -> Any:
                return real.superseding(partition)

            def shows(self, partition: str, slot: int) -> bool:
                return True

            def counts(self, partition: str) -> Any:
                return real.counts(partition)

        return Everything()


@LEGS
def test_control_with_hidden_chunks_counted_the_same_worlds_differ(embedder: Any) -> None:
    """A correct access list on results alone does not keep the promise: rank and count betray what is hidden."""
    readable = [
        "# A\n\nThe worker backlog is long. The worker sleeps.",
        "# B\n\nThe kettle bicycle is long. The kettle boils.",
    ]
    hidden = [Hidden(text=f"# H\n\nThe worker number {n} waits.", how="other_group", later="nothing", when=2)
              for n in range(5)]  # fmt: skip
    plain, crowded = make_world(embedder=embedder), make_world(embedder=embedder)
    fill(plain, readable, [])
    fill(crowded, readable, hidden)
    asked = ["worker kettle"]
    assert seen(crowded, asked) == seen(plain, asked)
    bent = [
        world.with_services(visibility=SeesEverything(world.services.visibility))
        for world in (plain, crowded)
    ]
    assert seen(bent[1], asked) != seen(bent[0], asked)


@LEGS
def test_control_a_document_that_is_readable_does_change_what_is_seen(embedder: Any) -> None:
    """The test above can fail: the same worlds differ as soon as the extra document may be read."""
    readable = ["# Queue\n\nThe queue worker retry limit is 5 days."]
    plain, crowded = make_world(embedder=embedder), make_world(embedder=embedder)
    fill(plain, readable, [])
    fill(crowded, readable, [])
    crowded.put(record("extra", "# Queue\n\nThe queue worker retry limit is 12 hours."))
    asked = ["What is the queue worker retry limit?"]
    assert seen(crowded, asked) != seen(plain, asked)
