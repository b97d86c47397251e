"""Two runs side by side: the gates, scores and cases in which the later one differs from the earlier one."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from clearcite.bench.judge import CaseResult
from clearcite.bench.paired import chance_of_drop
from clearcite.bench.regression import changes
from clearcite.bench.run_file import KeptRun, require_comparable
from clearcite.bench.stats import GRID, bootstrap_interval, micros


class GateChange(Struct, frozen=True, kw_only=True):
    name: str
    states: tuple[str | None, str | None]
    values: tuple[str | None, str | None]


class ScoreChange(Struct, frozen=True, kw_only=True):
    """``mean``: below 0 the later run is worse, whatever the score. ``interval``: 95 %. ``chance``: that a sum so far
    from 0 on this side comes of nothing, for this score alone."""

    tenant: str | None
    part: str
    score: str
    n_scored: int
    mean: str
    interval: tuple[str, str]
    chance: str


class CaseChange(Struct, frozen=True, kw_only=True):
    """``scores``: name → value before and after, of those that differ."""

    case_id: str
    slice: str
    statuses: tuple[str, str]
    codes: tuple[tuple[str, ...], tuple[str, ...]]
    scores: Mapping[str, tuple[str | None, str | None]]


class RunDiff(Struct, frozen=True, kw_only=True):
    """``state``: what the runs depended on and did not share, such as the generation."""

    verdicts: tuple[str, str]
    state: tuple[str, ...]
    gates: tuple[GateChange, ...]
    scores: tuple[ScoreChange, ...]
    cases: tuple[CaseChange, ...]

    @property
    def differs(self) -> bool:
        return bool(self.gates or self.scores or self.cases or len(set(self.verdicts)) > 1)


def diff(earlier: KeptRun, later: KeptRun) -> RunDiff:
    """Raises InputError for runs that cannot be compared."""
    require_comparable(later.state, earlier.state)
    names = sorted({*earlier.state, *later.state})
    return RunDiff(
        verdicts=(earlier.verdict, later.verdict),
        state=tuple(name for name in names if earlier.state.get(name) != later.state.get(name)),
        gates=_gates(earlier, later),
        scores=_scores(earlier.cases, later.cases),
        cases=_cases(earlier.cases, later.cases),
    )


def _gates(earlier: KeptRun, later: KeptRun) -> tuple[GateChange, ...]:
    old, new = ({gate.name: gate for gate in run.gates} for run in (earlier, later))
    found = []
    for name in dict.fromkeys([*old, *new]):
        pair = (old.get(name), new.get(name))
        states = tuple(None if gate is None else gate.state for gate in pair)
        values = tuple(None if gate is None else gate.value for gate in pair)
        # Whether a baseline was given is no result of a run.
        if name != "regression" and (states[0] != states[1] or values[0] != values[1]):
            found.append(GateChange(name=name, states=(states[0], states[1]), values=(values[0], values[1])))
    return tuple(found)


def _scores(earlier: Sequence[CaseResult], later: Sequence[CaseResult]) -> tuple[ScoreChange, ...]:
    """The largest drop first."""
    moved = [one for one in changes(earlier, later) if any(one.differences)]
    moved.sort(key=lambda one: (one.mean, one.part[0] or "", one.part[1], one.score))
    found = []
    for one in moved:
        signed = one.differences if sum(one.differences) < 0 else [-value for value in one.differences]
        chance = chance_of_drop(signed)
        found.append(
            ScoreChange(
                tenant=one.part[0],
                part=one.part[1],
                score=one.score,
                n_scored=len(one.differences),
                mean=micros(one.mean),
                interval=bootstrap_interval(one.differences),
                chance=micros(-(-chance.numerator * GRID // chance.denominator)),
            )
        )
    return tuple(found)


def _cases(earlier: Sequence[CaseResult], later: Sequence[CaseResult]) -> tuple[CaseChange, ...]:
    before = {one.case_id: one for one in earlier}
    pairs = [(before[one.case_id], one) for one in later if one.case_id in before]
    return tuple(
        CaseChange(
            case_id=new.case_id,
            slice=new.slice,
            statuses=(old.status, new.status),
            codes=(old.codes, new.codes),
            scores={
                name: (old.scores.get(name), new.scores.get(name))
                for name in sorted({*old.scores, *new.scores})
                if old.scores.get(name) != new.scores.get(name)
            },
        )
        for old, new in pairs
        if (old.status, old.codes, old.scores) != (new.status, new.codes, new.scores)
    )
