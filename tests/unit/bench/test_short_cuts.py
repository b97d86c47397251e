"""What was made faster gives the same, to the digit, as the plain way; what a run remembers hides no change."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearcite.answer.deduplicate import deduplicate
from clearcite.bench.evaluate import Subject, evaluate
from clearcite.bench.stats import RESAMPLES, bootstrap_interval, mean_of, micros
from clearcite.text.memory import remembering_a_run
from clearcite.wire import canonical
from tests.support.dice import new_seed
from tests.support.world import World, make_world, principal, record
from tests.unit.answer.test_stages import passage, ranked
from tests.unit.bench.test_suite_gates import suite, world

WORDS = st.text(alphabet="aB \n\tß0", max_size=12)


def plain_interval(values: list[int], seed: int) -> tuple[str, str]:
    source = Random(seed)
    means = sorted(mean_of(source.choices(values, k=len(values))) for _ in range(RESAMPLES))
    return micros(means[RESAMPLES // 40]), micros(means[-1 - RESAMPLES // 40])


def test_a_bootstrap_draws_what_the_plain_generator_draws() -> None:
    seed = new_seed()
    dice = Random(seed)
    for size in (1, 2, 7, 40, 113):
        values = [dice.randrange(-1_000_000, 1_000_001) for _ in range(size)]
        assert bootstrap_interval(values, size) == plain_interval(values, size), f"seed {seed}"


@settings(max_examples=60, deadline=None)
@given(st.lists(WORDS, max_size=12))
def test_texts_are_one_where_all_of_their_words_are(texts: list[str]) -> None:
    long = [f"one two three four five six seven eight {text}" for text in texts]
    items = ranked(*(passage(f"d{n:02}", text) for n, text in enumerate([*texts, *long])))
    kept, dropped = deduplicate(items)
    first: dict[str, str] = {}
    for item in items:
        first.setdefault(" ".join(item.passage.text.casefold().split()), item.passage.key.document_id)
    assert [item.passage.key.document_id for item in kept] == list(first.values())
    assert len(kept) + len(dropped) == len(items)


KEYS = st.text(alphabet="aé\ue000\U0001f600", min_size=1, max_size=3)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | st.sampled_from("abc"), inner),
    max_leaves=12,
)


def by_utf_16(value: object) -> object:
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
        return {key: by_utf_16(value[key]) for key in keys}
    return [by_utf_16(item) for item in value] if isinstance(value, list) else value


@settings(max_examples=150, deadline=None)
@given(VALUES)
def test_canonical_keys_stand_in_the_order_of_utf_16(value: object) -> None:
    expected = json.dumps(by_utf_16(value), ensure_ascii=False, separators=(",", ":"))
    assert canonical(value) == expected.encode("utf-8")


@pytest.fixture
def pump(tmp_path: Path) -> World:
    made = make_world(folder=tmp_path, on_disk=True)
    made.put(record("pump", "# Pump\n\nThe pump is switched off with breaker Q7.\n", ("staff",)))
    return made


def status(made: World) -> str:
    return made.engine.ask("How is the pump switched off?", principal("staff")).status


def tampered(made: World) -> None:
    with closing(apsw.Connection(str(made.folder / "ledger.db"))) as db:
        db.execute("UPDATE chunks SET text = replace(text, 'Q7', 'Q8')")
        assert db.total_changes() > 0


def revoked(made: World) -> None:
    made.put(record("pump", "# Pump\n\nThe pump is switched off with breaker Q7.\n", ("vault",), sequence=2))


@pytest.mark.parametrize(
    ("change", "then"), [(tampered, "dependency_unavailable"), (revoked, "insufficient_evidence")]
)
def test_a_change_within_a_run_is_seen_by_its_next_question(
    pump: World, change: Callable[[World], None], then: str
) -> None:
    with remembering_a_run():
        assert [status(pump), status(pump)] == ["answered", "answered"]
        change(pump)
        assert status(pump) == then


def test_control_within_a_run_equal_bytes_are_verified_once(
    pump: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[object] = []
    monkeypatch.setattr("clearcite.answer.confirm.verify", seen.append)
    with remembering_a_run():
        status(pump)
        once = len(seen)
        status(pump)
    assert once == len(seen) > 0
    status(pump)
    assert len(seen) == 2 * once


def test_a_run_tells_how_far_it_is() -> None:
    told: list[tuple[str, int, int]] = []
    asked = suite()
    made = world()
    evaluate(Subject(engine=made.engine, tell=lambda *how_far: told.append(how_far)), asked)
    number = len(asked.cases)
    assert told == [("questions", done, number) for done in range(number)]


def test_windows_are_not_tried_twice_where_another_check_tries_them() -> None:
    found = evaluate(Subject(engine=world().engine, tries_windows=False), suite())
    (gate,) = [gate for gate in found.gates if gate.name == "revision_currency"]
    assert (gate.state, gate.reason) == ("skipped", "windows are tried elsewhere")
