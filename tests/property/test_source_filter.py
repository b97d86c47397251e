"""A filter by source acts as if the other sources were not there: on counts, ranks, order and status."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from clearcite.errors import DependencyUnavailable
from clearcite.testing.embedder import HashedEmbedder
from clearcite.visibility import Visibility
from tests.support.world import World, body, make_world, principal, record

QUESTION = "How long are audit logs kept?"
ASKER = principal("staff")
DEPTH = 3


def library(*, vectors: bool, others: bool) -> World:
    """Two documents in the small source, one of them hidden, beside two hundred of the large one that match better."""
    world = make_world(embedder=HashedEmbedder() if vectors else None).with_parts(depth=DEPTH)
    records = [
        record("kept", "Audit logs are kept for 30 days.", source="small"),
        record("hidden", "Audit logs are kept for 99 days.", ("board",), source="small"),
        record("other", "The canteen opens at noon.", source="small"),
    ]
    if others:
        text = "How long are audit logs kept? Audit logs number {} are kept for 7 days."
        records += [record(f"n{i}", text.format(i), source="large") for i in range(200)]
    world.put(*records)
    return world


@pytest.mark.parametrize("vectors", [True, False], ids=["vectors", "words"])
def test_a_small_source_beside_a_large_one_answers_as_if_it_were_alone(vectors: bool) -> None:
    alone, beside = (library(vectors=vectors, others=others).engine for others in (False, True))
    options: dict[str, Any] = {"sources": ("small",)}
    answer = beside.ask(QUESTION, ASKER, **options)
    assert answer.status == "answered" and [item.document_id for item in answer.citations] == ["kept"]
    assert body(answer) == body(alone.ask(QUESTION, ASKER))
    assert body(beside.search(QUESTION, ASKER, **options)) == body(alone.search(QUESTION, ASKER))


def test_a_filter_only_narrows() -> None:
    engine = library(vectors=False, others=True).engine
    assert engine.ask(QUESTION, ASKER, sources=("nothing",)).status == "insufficient_evidence"
    hits = engine.search(QUESTION, ASKER, sources=("small", "large", "small"), k=100).hits
    assert (
        body(engine.search(QUESTION, ASKER, k=100))[:200]
        == body(engine.search(QUESTION, ASKER, sources=("large", "small"), k=100))[:200]
    )
    assert "hidden" not in {hit.document_id for hit in hits}


def test_a_source_that_grows_is_seen_at_once() -> None:
    world = library(vectors=False, others=True)
    engine = world.engine
    assert len(engine.search(QUESTION, ASKER, sources=("small",)).hits) == 1
    world.put(record("late", "Audit logs of the vault are kept for 5 days.", source="small"))
    assert len(engine.search(QUESTION, ASKER, sources=("small",)).hits) == 2


def test_control_a_filter_that_acts_after_recall_ends_without_an_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    narrowed = Visibility._narrowed

    def unfiltered(self: Visibility, snapshot: Any, partition: str, scope: Any) -> Any:
        return narrowed(self, snapshot, partition, replace(scope, sources=()))

    monkeypatch.setattr(Visibility, "_narrowed", unfiltered)
    engine = library(vectors=False, others=True).engine
    assert engine.ask(QUESTION, ASKER, sources=("small",)).status == "dependency_unavailable"
    with pytest.raises(DependencyUnavailable):
        engine.search(QUESTION, ASKER, sources=("small",))
