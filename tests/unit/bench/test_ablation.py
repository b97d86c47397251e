"""A case is attributed to a change only if it comes back without it, and a drop is told from chance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import Any

import pytest

from clearcite.bench.ablation import PASSES, Ablation, ablate
from clearcite.bench.judge import CaseResult
from clearcite.errors import InputError

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


def test_a_measure_that_no_case_has_is_left_out_and_nothing_to_change_is_refused() -> None:
    found = ablated(set(), set(), set())
    assert {item.measure for item in found.effects} == {PASSES, "rr"}
    with pytest.raises(InputError, match="nothing to change"):
        ablate(("suite", STATE), lambda *_: nullcontext(), lambda _: [], [], {"retrieval": "no vectors"})  # type: ignore[arg-type, return-value]
