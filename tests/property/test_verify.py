"""I17, the stored half: a trace reproduces its answer from the position it was given at, whatever came after, until
something it needs is gone; and the third outcome is never mistaken for the other two."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from clearcite import engine as engine_module
from clearcite.answer.verify import Verdict
from clearcite.domain.access import Acl, Principal
from clearcite.domain.corpus import DocumentKey
from clearcite.domain.trace import Trace
from clearcite.errors import DependencyUnavailable
from clearcite.wire.convert import to_json
from tests.support.world import (
    DAY,
    GENERATION,
    LEGS,
    NOW,
    World,
    close_worlds,
    deletion,
    make_world,
    principal,
    record,
)

STAFF = principal("staff")
OPERATOR = Principal(
    tenant_id="acme", subject_id="op", groups=("staff",), authorization_revision="1", roles=("operator",)
)
QUESTION = "What is the retry limit of the worker queue?"
QUEUE = "# Worker queue\n\nThe retry limit of the worker queue is {} attempts."
EXPORT = "# Export\n\nAn export of the worker queue is kept for 30 days. It can be downloaded as CSV."


def filled(embedder: Any = None) -> World:
    world = make_world(embedder=embedder)
    world.services.ledger.put_collection("acme", "open", Acl(allow=("staff",)))
    world.put(
        record("queue.md", QUEUE.format(8)),
        record("export.md", EXPORT, access={"parent": "open"}),
        record("secret.md", QUEUE.format(9), ("board",)),
        record("rival.md", QUEUE.format(7), tenant="rival"),
    )
    return world


def verified(world: World, trace_id: str, response: Any = None) -> Verdict:
    return world.engine.operator(OPERATOR).verify(trace_id, response)


def asked_and_searched(world: World) -> list[Any]:
    """Public responses of several kinds."""
    engine = world.engine
    first = engine.search(QUESTION, STAFF, k=1, collapse="passage")
    found = [engine.ask(QUESTION, STAFF), engine.ask("Who wrote the operating system?", STAFF), first]
    if first.next:
        found.append(engine.search(QUESTION, STAFF, k=1, collapse="passage", after=first.next))
    return found


Event = Callable[[World], None]
LATER: dict[str, Event] = {
    "a document joins": lambda w: w.put(record("new.md", QUEUE.format(5))),
    "a superseding document joins": lambda w: w.put(
        record("newer.md", QUEUE.format(4), supersedes=(engine_superseded("queue.md"),))
    ),
    "a hidden document is edited": lambda w: w.put(
        record("secret.md", QUEUE.format(6) + " More of the worker queue.", ("board",), sequence=2)
    ),
    "a hidden document is opened": lambda w: w.put(record("secret.md", QUEUE.format(9), sequence=3)),
    "another tenant edits": lambda w: w.put(record("rival.md", QUEUE.format(1), tenant="rival", sequence=2)),
    "a readable document is closed": lambda w: w.put(record("export.md", EXPORT, ("board",), sequence=2)),
    "a quoted document is closed": lambda w: w.put(
        record("queue.md", QUEUE.format(8), ("board",), sequence=2)
    ),
    "a quoted document expires": lambda w: w.put(
        record("queue.md", QUEUE.format(8), ("board",), sequence=3, access={"effective_to": NOW - DAY})
    ),
    "a quoted document is quarantined": lambda w: w.services.ledger.quarantine(key("queue.md"), "test"),
    "a collection is closed": lambda w: w.services.ledger.put_collection("acme", "open", Acl(allow=())),
    "a collection is removed": lambda w: w.services.ledger.put_collection("acme", "open", None),
    "a collection is opened": lambda w: w.services.ledger.put_collection("acme", "open", Acl(allow=None)),
    "everything is merged": lambda w: w.publish(merge=True),
}


def engine_superseded(document: str) -> Any:
    from clearcite.domain.corpus import Superseded

    return Superseded(document_id=document)


def key(document: str) -> DocumentKey:
    return DocumentKey(tenant_id="acme", source_id="default", document_id=document)


@LEGS
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(events=st.lists(st.sampled_from(sorted(LATER)), min_size=1, max_size=5, unique=True))
def test_a_trace_reproduces_its_answer_from_its_position_whatever_came_after(
    embedder: Any, events: list[str]
) -> None:
    world = filled(embedder)
    given_then = asked_and_searched(world)
    for name in events:
        LATER[name](world)
    for public in given_then:
        assert verified(world, public.trace_id, to_json(public)) == Verdict(outcome="reproduced"), events
    close_worlds()


@pytest.mark.parametrize(
    "name", ["a document joins", "a quoted document is closed", "a collection is closed"]
)
def test_control_without_the_past_position_the_same_trace_is_not_reproduced(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = filled()
    public = world.engine.ask("How long is an export of the worker queue kept, and the retry limit?", STAFF)
    LATER["a collection is closed"](world)
    LATER["a quoted document is closed"](world)
    LATER["a document joins"](world)
    assert verified(world, public.trace_id).outcome == "reproduced"
    monkeypatch.setattr(engine_module, "Past", lambda now, position: now)
    assert verified(world, public.trace_id).outcome == "unverifiable"


GONE: dict[str, tuple[Event, str]] = {
    "a quoted document is edited": (
        lambda w: w.put(record("queue.md", QUEUE.format(3), sequence=2)),
        "retired: a document that could be read then has been replaced or deleted since",
    ),
    "a quoted document is deleted": (
        lambda w: w.put(deletion(record("queue.md", QUEUE.format(8)))),
        "retired: a document that could be read then has been replaced or deleted since",
    ),
    "the rows of visibility are gone": (
        lambda w: _execute(w, "UPDATE visibility SET served_class = head_class, present = 0"),
        "purged: who could read what at that position cannot be rebuilt",
    ),
}


def _execute(world: World, statement: str) -> None:
    world.services.ledger._writer._db.execute(statement)


@pytest.mark.parametrize("what", GONE)
def test_what_is_gone_makes_a_trace_unverifiable_and_the_reason_is_said(what: str) -> None:
    world = filled()
    public = world.engine.ask(QUESTION, STAFF)
    change, reason = GONE[what]
    change(world)
    assert verified(world, public.trace_id) == Verdict(outcome="unverifiable", detail=reason)


def test_a_generation_that_is_kept_reproduces_its_answers_after_another_was_promoted() -> None:
    world = filled()
    public = world.engine.ask(QUESTION, STAFF)
    ledger = world.services.ledger
    ledger.start_generation("g-next", ledger.manifest(GENERATION) or "")
    ledger.promote("g-next")
    assert world.engine.ask(QUESTION, STAFF).status == "insufficient_evidence", "nothing is built in it"
    assert verified(world, public.trace_id, to_json(public)).outcome == "reproduced"
    ledger.retire(GENERATION)
    wanted = Verdict(outcome="unverifiable", detail="retired: its generation serves no more")
    assert verified(world, public.trace_id) == wanted


def test_other_settings_are_named() -> None:
    world = filled()
    public = world.engine.ask(QUESTION, STAFF)
    smaller = world.with_parts(budget=replace(world.pipeline.parts.budget, passages=1, characters=1))
    smaller = smaller.with_services(config_hash="other")
    verdict = verified(smaller, public.trace_id)
    assert verdict.detail == "settings have changed since: config_hash, parts"
    assert verdict.outcome == "unverifiable"


FORGED: dict[str, Callable[[Trace], Trace]] = {
    "the status": lambda t: replace(t, response={**t.response, "status": "conflict"}),
    "a citation": lambda t: replace(t, response={**t.response, "citations": []}),
    "the hash": lambda t: replace(t, response={**t.response, "sha256": "0" * 64}),
    "the groups of the asker": lambda t: replace(
        t, request={**t.request, "principal": {**t.request["principal"], "groups": ["guest"]}}
    ),
}


@pytest.mark.parametrize("what", FORGED)
def test_a_trace_that_says_something_else_differs(what: str) -> None:
    world = filled()
    public = world.engine.ask(QUESTION, STAFF)
    stored = world.services.traces.get(public.trace_id)
    assert stored is not None

    class Forged:
        def get(self, trace_id: str) -> Trace:
            return FORGED[what](stored)

    verdict = verified(world.with_services(traces=Forged()), public.trace_id)
    assert verdict.outcome == ("unverifiable" if "groups" in what else "differs")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE projections SET title = 'Forged title'",
        "UPDATE chunks SET heading = '[\"Forged\"]'",
        "UPDATE chunks SET page = 3",
    ],
)
def test_an_edit_of_title_heading_or_page_is_found_by_verify_and_by_the_next_question(statement: str) -> None:
    world = filled()
    public = world.engine.ask(QUESTION, STAFF)
    assert public.citations[0].title == "Worker queue"
    _execute(world, statement)
    assert verified(world, public.trace_id) == Verdict(outcome="differs", detail="integrity")
    again = world.engine.reply(QUESTION, STAFF)
    assert again.public.status != "answered"


def trace_of(world: World, trace_id: str) -> Trace:
    found = world.services.traces.get(trace_id)
    assert found is not None
    return found


@pytest.mark.parametrize("stage", ["open_sight", "recall", "confirm", "publish_search"])
def test_a_search_that_fails_leaves_a_trace(stage: str) -> None:
    world = filled().with_services(faults={stage: DependencyUnavailable("injected")})
    with pytest.raises(DependencyUnavailable):
        world.engine.search(QUESTION, STAFF)
    (trace,) = world.services.traces.newest(10)
    assert (trace.kind, trace.cause, trace.degraded) == ("search", "dependency_unavailable", True)
    assert trace.stages[-1].outcome == "failed" and trace.response["hits"] == []
    assert verified(world.with_services(faults={}), trace.trace_id).outcome == "unverifiable"


def test_control_a_search_that_works_is_reproduced() -> None:
    world = filled()
    public = world.engine.search(QUESTION, STAFF)
    assert verified(world, public.trace_id, to_json(public)).outcome == "reproduced"
    bent = to_json(public)
    bent["hits"].reverse()
    assert verified(world, public.trace_id, bent).outcome == "differs"


@LEGS
def test_a_trace_names_parts_view_and_every_factor(embedder: Any) -> None:
    world = filled(embedder)
    trace = trace_of(world, world.engine.ask(QUESTION, STAFF).trace_id)
    assert set(trace.state["parts"]) >= {"writer", "reranker", "embedder", "analysis"}
    assert (trace.state["parts"]["embedder"] is None) == (embedder is None)
    stages = {stage.stage: stage.detail for stage in trace.stages}
    seen = stages["open_sight"]["filter"]["acme"]
    assert (seen["served"], seen["acl_denied"], seen["readable"]) == (3, 1, 2)
    factors = stages["weigh"]["factors"]
    assert {"lexical", "authority", "source_type", "version"} <= set(factors)
    assert ("dense" in factors) == (embedder is not None)
    for stage, names in (("weigh", set(factors)), ("rerank", {"rerank"})):
        columns = stages[stage]["factors"]
        assert set(columns) == names
        assert {len(column) for column in columns.values()} == {len(stages[stage]["ranked"])}
    assert "worker" in stages["plan_query"]["terms"]


def test_reasons_are_those_of_the_traced_position() -> None:
    world = filled()
    public = world.engine.ask(QUESTION, STAFF)
    trace = trace_of(world, public.trace_id)
    wanted = {
        "acme/default/queue.md": [],
        "acme/default/export.md": [],
        "acme/default/secret.md": ["acl_denied"],
        "rival/default/rival.md": ["tenant_mismatch"],
    }
    operator = world.engine.operator(OPERATOR)
    assert operator.reasons(trace) == wanted
    for event in LATER.values():
        event(world)
    later = operator.reasons(trace)
    assert {name: later[name] for name in wanted} == wanted
    assert later["acme/default/new.md"] == ["not_published"], "it was not there"
