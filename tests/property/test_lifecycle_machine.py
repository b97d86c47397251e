"""Random lives of a ledger against a dict: what each reader may read, step by step, crashes included.

The model is in ``lifecycle_model``, what may happen in ``lifecycle_lives``. Every life ends with a rebuild from scratch
that must hold the same documents, chunks and visibility.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import (
    run_state_machine_as_test,
)

from clearcite.adapters.ledgers import enqueue, visible
from clearcite.adapters.ledgers.sqlite import SqliteLedger
from clearcite.domain.journal import Reapplied
from clearcite.testing.records import access, delete, upsert
from tests.property.lifecycle_lives import Lives
from tests.property.lifecycle_model import KEYS

SETTINGS = settings(
    max_examples=60,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)


def test_any_life_of_a_ledger_shows_each_reader_what_the_model_says() -> None:
    run_state_machine_as_test(Lives, settings=SETTINGS)  # type: ignore[no-untyped-call]


def served_side_only(refresh: Callable[..., None]) -> Callable[..., None]:
    """The mistake the both-sides rule prevents: rows follow publications, not the head."""

    def late(tx: Any, document: int) -> None:
        waiting = tx.row("SELECT 1 FROM outbox WHERE document = ?", document)
        if waiting is None or tx.row("SELECT 1 FROM visibility WHERE document = ?", document) is None:
            refresh(tx, document)

    return late


FINDING = settings(SETTINGS, max_examples=300, database=None, phases=(Phase.generate,))


def test_control_a_ledger_that_trusts_the_served_side_alone_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(visible, "refresh", served_side_only(visible.refresh))
    with pytest.raises(AssertionError):
        run_state_machine_as_test(Lives, settings=FINDING)  # type: ignore[no-untyped-call]


class LiveOnly:
    """A transaction in which a document is served by the live generation alone, as far as can be seen."""

    def __init__(self, real: Any) -> None:
        self._real = real

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def rows(self, sql: str, *bindings: Any) -> list[Any]:
        (live,) = self._real.row("SELECT generation FROM aliases WHERE name = 'live'")
        return [row for row in self._real.rows(sql, *bindings) if row[0] == live]


def one_life() -> None:
    """A document, two generations, a delete, a switch: nothing of it is left to chance."""
    life = Lives()
    try:
        life.start()
        life.apply(
            [upsert("alpha", 1, KEYS[0], access("staff")), upsert("beta\ngamma", 1, KEYS[1], access("guest"))]
        )
        life.build_a_generation("g1", wholly=True)
        life.build_a_generation("g2", wholly=True)
        life.apply([delete(2, KEYS[0], "user_request")])
        life.promote("g2", forced=True, expected="g1")
        life.every_reader_reads_what_the_model_says()
        life.roll_back(forced=True)
    finally:
        life.teardown()


def test_control_a_change_that_is_told_to_the_live_generation_alone_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one_life()
    refresh = visible.refresh
    monkeypatch.setattr(visible, "refresh", lambda tx, document: refresh(LiveOnly(tx), document))  # type: ignore[arg-type]
    with pytest.raises(AssertionError):
        one_life()


def test_control_a_newer_event_that_keeps_the_number_of_the_older_one_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keeping = enqueue.SQL["put_event"].replace("INSERT OR REPLACE", "INSERT") + (
        " ON CONFLICT (generation, document) DO UPDATE"
        " SET kind = excluded.kind, revision = excluded.revision, access = excluded.access"
    )
    monkeypatch.setattr(enqueue, "SQL", {**enqueue.SQL, "put_event": keeping})
    with pytest.raises(AssertionError):
        run_state_machine_as_test(Lives, settings=FINDING)  # type: ignore[no-untyped-call]


def test_control_a_backup_that_is_put_back_as_it_is_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SqliteLedger, "reapply", lambda self, since: (Reapplied(), [], []))
    with pytest.raises(AssertionError):
        run_state_machine_as_test(Lives, settings=FINDING)  # type: ignore[no-untyped-call]


@pytest.mark.soak
@pytest.mark.skipif("CLEARCITE_SOAK" not in os.environ, reason="long: set CLEARCITE_SOAK to run it")
def test_many_long_lives() -> None:
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        Lives, settings=settings(SETTINGS, max_examples=1_000, stateful_step_count=60)
    )
