"""A case is attributed to a change only if it comes back without it, and a drop is told from chance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import Any

import pytest
from msgspec.structs import replace

from clearcite.answer.weigh import weigh
from clearcite.bench.ablation import PASSES, Ablation, ablate
from clearcite.bench.axes import adaptive_weights
from clearcite.bench.judge import CaseResult
from clearcite.domain.retrieval import Ranked
from clearcite.errors import DependencyUnavailable, InputError
from tests.support.passages import passages, plan_for

STATE = {"harness": "h", "suite_sha256": "s", "corpus_sha256": "c"}
CASES = tuple(f"c{n:02}" for n in range(20))


def result(name: str, passes: bool) -> CaseResult:
    return CaseResult(
        case_id=name,
        slice="all",
        tenant="acme",
        cohort="staff",
        critical=False,
        expected="answered",
        status="answered" if passes else "refused",
        wanted=0,
        found={},
        disclosures=0,
        degraded=False,
        codes=() if passes else ("status_mismatch",),
        scores={"rr": "1.000000" if passes else "0.000000", "recall@10": None},
    )


def ablated(*failing: set[str]) -> Ablation:
    """Each asking of the suite fails the cases of its turn: as configured, changed, as configured again."""
    turns: Iterator[set[str]] = iter(failing)

    def judge(_: Any) -> Sequence[CaseResult]:
        fails = next(turns)
        return [result(name, name not in fails) for name in CASES]

    return ablate(("suite", STATE), lambda *_: nullcontext(), judge, [("checks", "off")], {})  # type: ignore[arg-type, return-value]


def test_what_comes_back_without_the_change_is_attributed_to_it() -> None:
    (lost,) = ablated(set(), {"c01", "c02"}, set()).lost
    assert lost.cases == lost.attributed == ("c01", "c02")


def test_what_stays_lost_without_the_change_is_not() -> None:
    (lost,) = ablated(set(), {"c01", "c02"}, {"c02"}).lost
    assert (lost.cases, lost.attributed) == (("c01", "c02"), ("c01",))


def test_a_large_drop_is_significant_and_a_small_one_is_not() -> None:
    for failing, mark in ((set(CASES[:15]), True), ({"c01"}, False)):
        found = ablated(set(), failing, set())
        (effect,) = (item for item in found.effects if item.measure == PASSES)
        assert (effect.significant, effect.n) == (mark, 20)


def test_a_change_whose_part_falls_back_is_not_measured() -> None:
    turns: Iterator[bool] = iter((False, True))

    def judge(_: Any) -> Sequence[CaseResult]:
        falls_back = next(turns)
        return [replace(result(name, True), degraded=falls_back) for name in CASES]

    with pytest.raises(DependencyUnavailable, match="fell back in 20 cases"):
        ablate(("suite", STATE), lambda *_: nullcontext(), judge, [("reranker", "x")], {})  # type: ignore[arg-type, return-value]


def ranked(*kinds: str) -> tuple[Ranked, ...]:
    """One passage a kind of source, the first the best."""
    return tuple(
        Ranked(passage=passages(f"d{n}", f"T | H | Text {n}.", source_type=kind)[0], score=1_000 - n)
        for n, kind in enumerate(kinds)
    )


def test_adaptive_weights_favour_what_the_best_passages_come_from_and_the_fixed_ones_what_is_fixed() -> None:
    found = ranked("documentation", *["forum"] * 9, "documentation", "forum")
    plan = plan_for("What is the text?")

    def kinds(weigh: Any) -> list[str]:
        return [item.passage.description.source_type for item in weigh(plan, found)]

    assert kinds(adaptive_weights)[-2:] == ["documentation"] * 2
    assert kinds(weigh)[:2] == ["documentation"] * 2, "the control"
    assert {item.passage.chunk_id for item in adaptive_weights(plan, found)} == {
        item.passage.chunk_id for item in found
    }
    nothing = tuple(replace(item, score=0) for item in found)
    assert len(adaptive_weights(plan, nothing)) == len(nothing)


def test_of_a_measure_of_which_less_is_better_a_rise_is_significant_and_a_drop_is_not() -> None:
    for before, after, mark in (("0.000000", "1.000000", True), ("1.000000", "0.000000", False)):
        turns = iter((before, after, before))

        def judge(_: Any, turns: Iterator[str] = turns) -> Sequence[CaseResult]:
            value = next(turns)
            return [replace(result(name, True), scores={"underfill": value}) for name in CASES]

        found = ablate(("suite", STATE), lambda *_: nullcontext(), judge, [("checks", "off")], {})  # type: ignore[arg-type, return-value]
        assert {one.measure: one.significant for one in found.effects} == {PASSES: False, "underfill": mark}


def test_a_measure_that_no_case_has_is_left_out_and_nothing_to_change_is_refused() -> None:
    found = ablated(set(), set(), set())
    assert {item.measure for item in found.effects} == {PASSES, "rr"}
    with pytest.raises(InputError, match="nothing to change"):
        ablate(("suite", STATE), lambda *_: nullcontext(), lambda _: [], [], {"retrieval": "no vectors"})  # type: ignore[arg-type, return-value]
