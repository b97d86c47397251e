"""An index that is merged and swept between a question's snapshot and its opening costs a retry, not the answer."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

import clearcite.engine
from clearcite.ingest.pipeline import sweep
from tests.support.world import GENERATION, World, make_world, principal, record

QUESTION = "How long are audit logs kept?"


class Hurried:
    """The real index, where somebody publishes and sweeps just before each opening, a number of times."""

    def __init__(self, real: Any, times: int, publish: Callable[[], None]) -> None:
        self._real, self._left, self._publish = real, times, publish
        self.opened = 0

    def open(self, manifest: str | None) -> Any:
        self.opened += 1
        if self._left:
            self._left -= 1
            self._publish()
        return self._real.open(manifest)


def hurried(times: int) -> tuple[World, Hurried]:
    world, numbers = make_world(), count()
    world.put(record("kept", "Audit logs are kept for 30 days."))

    def publish() -> None:
        world.put(record(f"more{next(numbers)}", "The canteen opens at noon."))
        sweep(world.services.ledger, world.pipeline.index, GENERATION)
        world.pipeline.index._views.clear()

    index = Hurried(world.pipeline.index, times, publish)
    return world.with_index(index), index


@pytest.mark.parametrize("times", [1, 3])
def test_a_question_takes_a_newer_snapshot_when_its_index_was_swept(times: int) -> None:
    world, index = hurried(times)
    assert world.engine.ask(QUESTION, principal("staff")).status == "answered"
    assert index.opened == times + 1
    world, _ = hurried(times)
    assert len(world.engine.search(QUESTION, principal("staff")).hits) == 1


def test_it_does_so_a_few_times_only() -> None:
    world, index = hurried(99)
    assert world.engine.ask(QUESTION, principal("staff")).status == "dependency_unavailable"
    assert index.opened == clearcite.engine.SIGHTS


def test_an_index_that_is_lost_for_good_is_not_tried_again() -> None:
    world, index = hurried(0)
    for path in (world.folder / "index").iterdir():
        path.unlink()
    world.services.pipeline(GENERATION).index._real._views.clear()  # type: ignore[attr-defined]
    assert world.engine.ask(QUESTION, principal("staff")).status == "dependency_unavailable"
    assert index.opened == 1


def test_control_with_one_snapshot_the_question_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clearcite.engine, "SIGHTS", 1)
    world, _ = hurried(1)
    assert world.engine.ask(QUESTION, principal("staff")).status == "dependency_unavailable"
