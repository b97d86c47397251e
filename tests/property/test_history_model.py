"""Random lives of a document whose source keeps its history, against a list of who held when.

The model is a line of time: from when on which text was in force, or none. What came later in the order of the source
takes the place of what was to be from its own beginning on. Who may read is judged now, for all of it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from clearcite.adapters.ledgers import history
from clearcite.domain.corpus import SourceRecord
from clearcite.errors import NotFound
from tests.support.world import DAY, NOW, World, close_worlds, make_world, principal, record

STAFF = principal("staff")
TEXTS = ("alpha", "beta", "gamma")


@dataclass(frozen=True)
class Step:
    """``days`` pass, then a record comes. ``text`` None: a delete. ``ahead``: in so many days it is in force."""

    days: int
    text: str | None
    ahead: int = 0
    status: str = "published"
    groups: tuple[str, ...] = ("staff",)
    reason: str = "source_deleted"


@dataclass
class Line:
    """``marks``: (from when, which text is in force). The last that has begun counts."""

    marks: list[tuple[int, str | None]] = field(default_factory=list)
    newest: Step | None = None

    def take(self, step: Step, now: int) -> None:
        before, self.newest = self.newest, step
        if step.text is None:
            if before is not None and before.text is not None:
                self._from(now, None)
            if step.reason != "source_deleted":
                self.marks = []
            return
        start = now + step.ahead * DAY
        if before is not None and (before.text, before.status) == (step.text, step.status):
            begun = self.marks.pop()[0]  # another window of the same state: it counts for all of it
            if step.ahead:
                self._from(begun, None)
            else:
                start = min(begun, now)
        self._from(start, step.text if step.status == "published" else None)

    def _from(self, start: int, text: str | None) -> None:
        self.marks = [mark for mark in self.marks if mark[0] < start]
        self.marks.append((start, text))

    def at(self, instant: int) -> str | None:
        now = self.newest
        if now is None or now.text is None or now.status != "published" or "staff" not in now.groups:
            return None
        held = [mark for mark in self.marks if mark[0] <= instant]
        return held[-1][1] if held else None


texts = st.sampled_from(TEXTS)
steps = st.builds(
    Step,
    days=st.integers(1, 9),
    text=st.one_of(texts, texts, texts, st.none()),
    ahead=st.sampled_from([0, 0, 0, 0, 5, 12]),
    status=st.sampled_from(["published"] * 5 + ["draft"]),
    groups=st.sampled_from([("staff",)] * 4 + [("board",)]),
    reason=st.sampled_from(["source_deleted"] * 4 + ["user_request"]),
)


def record_of(step: Step, sequence: int, now: int) -> SourceRecord:
    if step.text is None:
        made = SourceRecord(
            key=record("a.md", "x").key,
            source_sequence=sequence,
            operation="delete",
            delete_reason=step.reason,  # type: ignore[arg-type]
        )
    else:
        access = {"status": step.status, "effective_from": now + step.ahead * DAY if step.ahead else None}
        made = record("a.md", step.text, step.groups, sequence=sequence, access=access)
    return replace(made, keeps_history=True)


def shown(world: World, instant: int) -> str | None:
    """What is shown as of an instant, and listed."""
    try:
        text = world.engine.document("a.md", STAFF, as_of=instant).text
    except NotFound:
        text = None
    listed = [item.document_id for item in world.engine.documents(STAFF, as_of=instant)]
    assert listed == ([] if text is None else ["a.md"])
    return text


def live(life: list[Step]) -> None:
    world, line = make_world(), Line()
    began = world.clock.value = NOW
    for sequence, step in enumerate(life, start=1):
        world.clock.value += step.days * DAY
        now = world.clock.value
        world.put(record_of(step, sequence, now))
        line.take(step, now)
    world.clock.value += 15 * DAY
    for day in range((world.clock.value - began) // DAY + 1):
        for instant in (began + day * DAY - 1, began + day * DAY):
            assert shown(world, instant) == line.at(instant), ((instant - began) / DAY, life)
    close_worlds()


SETTINGS = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


lives = st.lists(steps, min_size=1, max_size=7)


@SETTINGS
@given(lives)
def test_at_every_instant_of_any_life_what_was_in_force_is_shown(life: list[Step]) -> None:
    live(life)


@pytest.mark.parametrize("part", ["followers", "dated"])
def test_control_a_ledger_that_leaves_out_a_part_of_it_is_caught(
    monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    instead = {"followers": lambda *_: iter(()), "dated": lambda _tx, record, _was: record}
    monkeypatch.setattr(history, part, instead[part])
    caught = settings(SETTINGS, database=None, phases=(Phase.generate,))(given(lives)(live))
    with pytest.raises(AssertionError):
        caught()


@pytest.mark.soak
@pytest.mark.skipif("CLEARCITE_SOAK" not in os.environ, reason="long: set CLEARCITE_SOAK to run it")
@settings(SETTINGS, max_examples=2_000)
@given(st.lists(steps, min_size=1, max_size=12))
def test_at_every_instant_of_many_long_lives_what_was_in_force_is_shown(life: list[Step]) -> None:
    live(life)
