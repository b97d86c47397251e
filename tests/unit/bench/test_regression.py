"""The regression gate: blocks a real drop, passes what is the same, and says what it could not have seen."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from clearcite.bench.gates import verdict_of
from clearcite.bench.judge import CaseResult
from clearcite.bench.regression import regression_gate


def case(number: int, *, fails: bool = False, kind: str = "a", scores: dict | None = None) -> CaseResult:
    return CaseResult(
        case_id=f"c{number:03}",
        slice=kind,
        tenant="t",
        cohort="readers",
        critical=False,
        expected="answered",
        status="answered",
        wanted=0,
        found={},
        disclosures=0,
        degraded=False,
        codes=("status_mismatch",) if fails else (),
        scores=scores or {},
    )


def run(failing: Sequence[int] = (), n: int = 60) -> list[CaseResult]:
    return [case(i, fails=i in failing, kind="ab"[i % 2]) for i in range(n)]


def test_a_run_against_itself_passes() -> None:
    gate = regression_gate(run(range(7)), run(range(7)), None)
    assert (gate.state, gate.value, gate.rows) == ("pass", "0.000000", ())
    assert "smallest drop" in (gate.reason or "")


def test_a_drop_that_is_real_fails_and_names_the_slices_that_dropped() -> None:
    gate = regression_gate(run(), run(range(0, 60, 4)), None)
    assert gate.state == "fail" and gate.value == "-0.250000"
    assert [row.part for row in gate.rows if row.state == "fail"] == ["slice a: passes", "all: passes"]
    assert verdict_of([gate]) == "BLOCK"


def test_a_drop_within_the_budget_passes_and_one_beyond_it_does_not() -> None:
    assert regression_gate(run(), run(range(0, 60, 4)), "0.600000").state == "pass"
    assert regression_gate(run(), run(range(0, 60, 4)), "0.240000").state == "fail"


def test_a_drop_that_may_be_chance_blocks_only_where_it_must_be_shown_and_says_what_would_tell() -> None:
    gate = regression_gate(run(), run([3]), None)
    assert gate.state == "pass" and {row.state for row in gate.rows} == {"inconclusive"}
    assert all("cases would tell" in (row.reason or "") for row in gate.rows)
    assert regression_gate(run(), run([3]), None, shown=True).state == "inconclusive"


def test_too_few_cases_for_any_test_do_not_pass_a_drop() -> None:
    gate = regression_gate(run(n=4), run([0, 1, 2, 3], n=4), None)
    assert gate.state == "inconclusive" and "no drop could be shown" in (gate.reason or "")
    assert regression_gate(run(n=4), run(n=4), None).state == "pass"


@pytest.mark.parametrize(("score", "state"), [("underfill", "fail"), ("recall@10", "pass")])
def test_a_score_whose_rise_is_bad_is_judged_the_other_way_round(score: str, state: str) -> None:
    low, high = ([case(i, scores={score: value}) for i in range(60)] for value in ("0.000000", "1.000000"))
    assert regression_gate(low, high, None).state == state


def test_cases_that_were_scored_once_only_are_left_out_and_no_common_case_is_unscored() -> None:
    old = [case(i, scores={"rr": "1.000000" if i < 5 else None}) for i in range(60)]
    new = [case(i, scores={"rr": "0.000000" if i < 5 else "1.000000"}) for i in range(60)]
    rows = {row.part: row for row in regression_gate(old, new, None).rows}
    assert rows["all: rr"].n_scored == 5 and rows["all: rr"].n == 60
    assert regression_gate([case(1)], [case(2)], None).state == "unscored"


def test_two_runs_that_differ_by_chance_block_at_most_once_in_twenty() -> None:
    """Two scores in two slices and over all, 60 pairs of runs, seeds 0 to 59."""
    blocked = 0
    for seed in range(60):
        source = Random(seed)
        one, other = (noisy(source) for _ in range(2))
        blocked += regression_gate(one, other, None).state == "fail"
    assert blocked <= 8, f"{blocked} of 60; one in a hundred such counts would be over 8"


def noisy(source: Random) -> list[CaseResult]:
    return [
        case(
            i,
            fails=source.random() < 0.3,
            kind="ab"[i % 2],
            scores={"status": f"{source.randrange(2)}.000000"},
        )
        for i in range(40)
    ]
