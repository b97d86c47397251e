"""A gate of a kept run that its own cases contradict."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from clearcite.bench.evaluate import Evaluation
from clearcite.bench.gates import Gate, skipped, verdict_of
from clearcite.bench.rederived import SCORED, contradictions
from clearcite.bench.suite import Oracle
from tests.unit.bench.test_suite_gates import case, judged, key, suite, world

LIMITS = {one.limit: "1.000000" if one.limit.startswith("max_") else "0.000000" for one in SCORED}


@pytest.fixture(scope="module")
def sound() -> Evaluation:
    return judged(world(), suite(min_case_pass_rate="0.900000", **LIMITS))


@pytest.fixture(scope="module")
def broken() -> Evaluation:
    """One critical case fails, and two limits are not kept."""
    wrong = Oracle(status="answered", relevant=(key("lodging"),), nuggets=("EUR 999 a week",))
    more = case("wrong", "Who paints the bicycle shed?", wrong, critical=True)
    return judged(world(), suite(more, min_nugget_recall="0.900000", min_authorized_recall="1.000000"))


def edited(found: Evaluation, edit: Callable[[Gate], Gate]) -> list[str]:
    return list(contradictions([edit(gate) for gate in found.gates], found.results))


def test_a_run_as_it_was_written_contradicts_nothing(sound: Evaluation, broken: Evaluation) -> None:
    for found in (sound, broken):
        assert list(contradictions(found.gates, found.results)) == []
    assert sum(gate.state == "pass" for gate in sound.gates) > len(SCORED), (
        "the gates of scores are looked at"
    )
    assert broken.verdict == "BLOCK"


def test_no_gate_that_failed_can_be_called_one_that_passes(broken: Evaluation) -> None:
    failed = {gate.name for gate in broken.gates if gate.state == "fail"}
    assert {"critical", "nugget_recall", "authorized_recall"} <= failed
    for name in failed:
        passing = [replace(gate, state="pass") if gate.name == name else gate for gate in broken.gates]
        kept = [gate for gate in broken.gates if gate.name != name]
        assert f"the gate {name} does not follow from the cases" in contradictions(passing, broken.results)
        if name in ("critical", "leak", "citation"):
            assert f"it has no gate {name}" in contradictions(kept, broken.results)
            gone = [*kept, skipped(name, "no reason")]
            assert f"the gate {name} does not follow from the cases" in contradictions(gone, broken.results)


def test_a_value_that_is_not_that_of_the_cases_is_found(sound: Evaluation) -> None:
    judged_here = {one.name for one in SCORED} | {"leak", "citation", "degraded", "case_pass_rate"}
    for name in sorted(judged_here):
        for value in ("0.123456", "NaN", "7", None):

            def edit(gate: Gate, name: str = name, value: str | None = value) -> Gate:
                return replace(gate, value=value) if gate.name == name else gate

            assert edited(sound, edit) == [f"the gate {name} does not follow from the cases"], (name, value)


def test_a_limit_that_is_none_or_is_not_kept_is_found(sound: Evaluation) -> None:
    for limit in ("NaN", "abc", None, "1.100000"):

        def edit(gate: Gate, limit: str | None = limit) -> Gate:
            return replace(gate, limit=limit) if gate.name == "ndcg" else gate

        found = edited(sound, edit)
        assert found == ["the gate ndcg does not follow from the cases"], limit


def test_gates_that_are_missing_or_stand_twice_are_found(sound: Evaluation) -> None:
    only = [gate for gate in sound.gates if gate.name == "degraded"]
    assert verdict_of(only) == "PASS"
    assert "it has no gate leak" in contradictions(only, sound.results)
    assert "it has two gates leak" in contradictions(
        [*sound.gates, *(gate for gate in sound.gates if gate.name == "leak")], sound.results
    )
