"""What each part is worth on a suite: one thing changed at a time, the same cases, paired differences.

A case that is lost with a change counts for it only if it passes again when the change is taken back: the suite is
asked once more as configured, at the end.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from clearcite.bench.judge import CaseResult
from clearcite.bench.paired import chance_of_drop, significant
from clearcite.bench.scoring import WORSE_WHEN_HIGHER
from clearcite.bench.stats import bootstrap_interval, mean_of, micros, to_micros
from clearcite.engine import Engine
from clearcite.errors import DependencyUnavailable, InputError

CONFIGURED = "as configured"
PASSES = "cases passed"

ANYTHING = ("-1.000000", "1.000000")

Judge = Callable[[Engine], Sequence[CaseResult]]
Open = Callable[[str, str], AbstractContextManager[Engine]]
"""Axis and value → the engine with that change; two empty texts: as configured."""


class Effect(Struct, frozen=True, kw_only=True):
    """A measure with one thing changed. ``difference`` to *as configured* over the cases that have it in both, with its
    95 % interval; ``chance``: of so large a change for the worse, if the thing made none; ``significant`` over all
    tests of the run."""

    axis: str
    value: str
    measure: str
    n: int
    mean: str
    configured: str
    difference: str
    interval: tuple[str, str]
    chance: str
    significant: bool


class Lost(Struct, frozen=True, kw_only=True):
    """Cases that pass as configured and fail with one thing changed. ``attributed``: those that pass again then."""

    axis: str
    value: str
    cases: tuple[str, ...]
    attributed: tuple[str, ...]


class Ablation(Struct, frozen=True, kw_only=True):
    """``state``: harness, suite and corpus, without which a figure says nothing."""

    suite: str
    state: Mapping[str, str]
    cases: int
    means: Mapping[str, str]
    effects: tuple[Effect, ...]
    lost: tuple[Lost, ...]
    left_out: Mapping[str, str]


def ablate(
    suite: tuple[str, Mapping[str, str]],
    opened: Open,
    judge: Judge,
    changes: Sequence[tuple[str, str]],
    left_out: Mapping[str, str],
) -> Ablation:
    """``suite``: its name, and the state that all engines share. ``changes``: axis and value. ``left_out``: what was
    asked for and means nothing here, and why."""
    if not changes:
        raise InputError("There is nothing to change here: " + "; ".join(left_out.values()))
    configured = _judged(opened("", ""), judge)
    changed = {change: _unbroken(change, configured, _judged(opened(*change), judge)) for change in changes}
    again = _judged(opened("", ""), judge)
    before = _values(configured)
    raw = [
        _effect(change, measure, before, _values(results))
        for change, results in changed.items()
        for measure in before
    ]
    known = [item for item in raw if item is not None]
    marks = significant([chance for _, chance in known])
    return Ablation(
        suite=suite[0],
        state=suite[1],
        cases=len(configured),
        means={name: micros(mean_of(list(values.values()))) for name, values in before.items()},
        effects=tuple(_marked(effect, mark) for (effect, _), mark in zip(known, marks, strict=True)),
        lost=tuple(_lost(change, configured, results, again) for change, results in changed.items()),
        left_out=left_out,
    )


def _judged(opened: AbstractContextManager[Engine], judge: Judge) -> Sequence[CaseResult]:
    with opened as engine:
        return judge(engine)


def _unbroken(
    change: tuple[str, str], configured: Sequence[CaseResult], results: Sequence[CaseResult]
) -> Sequence[CaseResult]:
    """Raises DependencyUnavailable where a part that was put in failed: a fallback measures something else."""
    before = {one.case_id for one in configured if one.degraded}
    broken = [one.case_id for one in results if one.degraded and one.case_id not in before]
    if broken:
        raise DependencyUnavailable(
            f"{', '.join(change)}: a part failed and fell back in {len(broken)} cases, so nothing is measured."
        )
    return results


def _values(results: Sequence[CaseResult]) -> Mapping[str, Mapping[str, int]]:
    """Measure → case → millionths, measures in their order; those without a case are left out."""
    found: dict[str, dict[str, int]] = {
        PASSES: {one.case_id: to_micros("1") if one.passes else 0 for one in results}
    }
    for name, case, value in _scores(results):
        found.setdefault(name, {})[case] = to_micros(value)
    return found


def _scores(results: Sequence[CaseResult]) -> Iterator[tuple[str, str, str]]:
    for name in sorted({name for one in results for name in one.scores if ":" not in name}):
        for one in results:
            value = one.scores.get(name)
            if value is not None:
                yield name, one.case_id, value


def _effect(
    change: tuple[str, str],
    measure: str,
    before: Mapping[str, Mapping[str, int]],
    after: Mapping[str, Mapping[str, int]],
) -> tuple[Effect, Fraction] | None:
    """None where no case has the measure in both."""
    left, right = before[measure], after.get(measure, {})
    shared = sorted(left.keys() & right.keys())
    if not shared:
        return None
    differences = [right[case] - left[case] for case in shared]
    sign = -1 if measure in WORSE_WHEN_HIGHER else 1
    chance = chance_of_drop([sign * one for one in differences])
    effect = Effect(
        axis=change[0],
        value=change[1],
        measure=measure,
        n=len(shared),
        mean=micros(mean_of([right[case] for case in shared])),
        configured=micros(mean_of([left[case] for case in shared])),
        difference=micros(mean_of(differences)),
        # One case says nothing about others.
        interval=bootstrap_interval(differences) if len(differences) > 1 else ANYTHING,
        chance=micros(round(chance * 1_000_000)),
        significant=False,
    )
    return effect, chance


def _marked(effect: Effect, mark: bool) -> Effect:
    return replace(effect, significant=mark)


def _lost(
    change: tuple[str, str],
    configured: Sequence[CaseResult],
    changed: Sequence[CaseResult],
    again: Sequence[CaseResult],
) -> Lost:
    fails = {one.case_id for one in changed if not one.passes}
    lost = tuple(one.case_id for one in configured if one.passes and one.case_id in fails)
    recovers = {one.case_id for one in again if one.passes}
    return Lost(
        axis=change[0],
        value=change[1],
        cases=lost,
        attributed=tuple(name for name in lost if name in recovers),
    )
