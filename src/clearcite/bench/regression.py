"""This run against an earlier one of the same cases: what got worse by more than it may, and by more than chance.

Every score is looked at over all cases, each slice and each cohort of a tenant; all these tests together see a drop
that is none once in twenty comparisons at most.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from clearcite.bench.gates import Gate, GateRow, GateState
from clearcite.bench.judge import CaseResult
from clearcite.bench.paired import cases_for, chance_of_drop, least_pairs, significant, smallest_drop
from clearcite.bench.scoring import WORSE_WHEN_HIGHER
from clearcite.bench.stats import GRID, bootstrap_interval, micros, to_micros

ALL = "all"
NO_BUDGET = "0.000000"
Part = tuple[str | None, str]
"""The tenant of a cohort, or None; and the name of the cohort or slice."""


class Change(Struct, frozen=True, kw_only=True):
    """``differences``: of one score in one part, millionths a case that both runs scored; below 0 is worse."""

    part: Part
    score: str
    n: int
    differences: Sequence[int]

    @property
    def mean(self) -> int:
        return sum(self.differences) // len(self.differences)

    @property
    def row_name(self) -> str:
        return f"{self.part[1]}: {self.score}"


def changes(earlier: Sequence[CaseResult], later: Sequence[CaseResult]) -> list[Change]:
    """Of every score in every part, in the order of their names; a part that is all cases stands once."""
    before = {one.case_id: one for one in earlier}
    pairs = [(before[one.case_id], one) for one in later if one.case_id in before]
    found = []
    for part, some in _parts(pairs).items():
        for score in ("passes", *sorted({name for _, one in some for name in one.scores})):
            differences = [
                _better(score, old, new)
                for old, new in ((_value(score, a), _value(score, b)) for a, b in some)
                if old is not None and new is not None
            ]
            if differences:
                found.append(Change(part=part, score=score, n=len(some), differences=differences))
    return found


def regression_gate(
    earlier: Sequence[CaseResult], later: Sequence[CaseResult], budget: str | None, *, shown: bool = False
) -> Gate:
    """Fails where a drop exceeds the budget and is more than chance. ``shown``: a drop beyond the budget that may be
    chance is inconclusive and blocks too; so it does wherever there are too few cases for any test."""
    limit = budget or NO_BUDGET
    found = changes(earlier, later)
    whole = next((one for one in found if one.part == (None, ALL) and one.score == "passes"), None)
    if whole is None:
        return Gate(
            name="regression",
            state="unscored",
            value=None,
            limit=limit,
            n=len(later),
            reason="no case was judged in both runs",
        )
    rows = _rows(found, to_micros(limit))
    blind = len(whole.differences) < least_pairs()
    state: GateState = "pass"
    if any(row.state == "fail" for row in rows):
        state = "fail"
    elif (shown or blind) and any(row.state == "inconclusive" for row in rows):
        state = "inconclusive"
    return Gate(
        name="regression",
        state=state,
        value=micros(whole.mean),
        limit=limit,
        n=len(later),
        n_scored=len(whole.differences),
        interval=bootstrap_interval(whole.differences),
        reason=_reason(whole, rows, len(found)),
        rows=rows,
    )


def _rows(found: Sequence[Change], budget: int) -> tuple[GateRow, ...]:
    """What dropped beyond the budget, the largest drop first."""
    chances = [chance_of_drop(one.differences) for one in found]
    told = significant(chances)
    beyond = [
        (one, real)
        for one, real in zip(found, told, strict=True)
        if sum(one.differences) < -budget * len(one.differences)
    ]
    beyond.sort(key=lambda item: (not item[1], item[0].mean, item[0].row_name, item[0].part[0] or ""))
    return tuple(_row(one, len(found), is_real=real) for one, real in beyond)


def _row(one: Change, tests: int, *, is_real: bool) -> GateRow:
    needed = cases_for(one.differences, max(1, -one.mean), tests)
    return GateRow(
        tenant=one.part[0],
        part=one.row_name,
        state="fail" if is_real else "inconclusive",
        value=micros(one.mean),
        n=one.n,
        n_scored=len(one.differences),
        interval=bootstrap_interval(one.differences),
        reason=None if is_real else f"it may be chance; about {needed} cases would tell",
    )


def _reason(whole: Change, rows: Sequence[GateRow], tests: int) -> str:
    real = [row.part for row in rows if row.state == "fail"]
    said = f"{tests} tests over {len(whole.differences)} cases"
    if real:
        said += f"; worse: {', '.join(real[:5])}{' and others' if len(real) > 5 else ''}"
    open_rows = len(rows) - len(real)
    if open_rows:
        said += f"; {open_rows} {'drop' if open_rows == 1 else 'drops'} beyond the budget may be chance"
    least = smallest_drop(whole.differences, tests)
    if least is None:
        return f"{said}; no drop could be shown with fewer than {least_pairs(tests)} cases"
    return f"{said}; smallest drop of the share of cases that pass that would be found: {micros(least)}"


def _parts(
    pairs: Sequence[tuple[CaseResult, CaseResult]],
) -> Mapping[Part, list[tuple[CaseResult, CaseResult]]]:
    found: dict[Part, list[tuple[CaseResult, CaseResult]]] = {(None, ALL): list(pairs)}
    for pair in pairs:
        found.setdefault((None, f"slice {pair[1].slice}"), []).append(pair)
        found.setdefault((pair[1].tenant, f"cohort {pair[1].cohort}"), []).append(pair)
    some = {part: kept for part, kept in found.items() if part == (None, ALL) or len(kept) < len(pairs)}
    return dict(sorted(some.items(), key=lambda item: (item[0][0] or "", item[0][1])))


def _value(score: str, one: CaseResult) -> int | None:
    if score == "passes":
        return GRID if one.passes else 0
    value = one.scores.get(score)
    return None if value is None else to_micros(value)


def _better(score: str, old: int, new: int) -> int:
    return old - new if score in WORSE_WHEN_HIGHER else new - old
