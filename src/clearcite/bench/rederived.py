"""What the cases of a run that was kept say of its gates: a gate that says something else was written by hand.

Only what cases alone decide is looked at. Gates that asked again or looked into the store (hidden documents, windows,
sources) must not pass with faults counted against a limit of 0, and that is all that can be said of them here.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from clearcite.bench.gates import Gate
from clearcite.bench.judge import CaseResult
from clearcite.bench.judged import by_cohort, values_of
from clearcite.bench.measures import measures
from clearcite.bench.stats import GRID, mean_of, micros, to_micros

_SHARE = re.compile(r"[01]\.[0-9]{6}")


class Scored(Struct, frozen=True, kw_only=True):
    """A gate over the mean of a score, and the limit that asks for it. ``cohorts``: of each cohort by itself."""

    name: str
    score: str
    limit: str
    cohorts: bool = False

    @property
    def at_most(self) -> bool:
        return self.limit.startswith("max_")


SCORED = (
    Scored(name="status", score="status", limit="min_status_accuracy"),
    Scored(name="authorized_recall", score="recall@{k}", limit="min_authorized_recall", cohorts=True),
    Scored(name="underfill", score="underfill", limit="max_underfill_rate", cohorts=True),
    Scored(name="ndcg", score="ndcg@{k}", limit="min_ndcg"),
    Scored(name="context_recall", score="context_recall", limit="min_context_recall"),
    Scored(name="citation_precision", score="citation_precision", limit="min_citation_precision"),
    Scored(name="citation_recall", score="citation_recall", limit="min_citation_recall"),
    Scored(name="nugget_recall", score="nugget_recall", limit="min_nugget_recall"),
    Scored(name="expected_empty_rate", score="expected_empty", limit="min_expected_empty_rate"),
    Scored(name="over_refusal_rate", score="over_refusal", limit="max_over_refusal_rate"),
)
COUNTED: Mapping[str, Callable[[CaseResult], int]] = {
    "leak": lambda one: one.disclosures > 0,
    "non_disclosure_violations": lambda one: one.disclosures,
    "citation": lambda one: "citation_does_not_hold" in one.codes,
    "critical": lambda one: one.critical and not one.passes,
    "degraded": lambda one: one.degraded,
}
"""Gates that count cases, and what a case adds."""
OF_A_FIXTURE = "non_disclosure_violations"
ALWAYS = {
    False: ("leak", "noninterference", "citation", "critical", "degraded"),
    True: (OF_A_FIXTURE, "noninterference", "degraded", "case_pass_rate"),
}
"""What every run has a gate of, and a fixture's run, which is judged by its own policy."""


def contradictions(gates: Sequence[Gate], cases: Sequence[CaseResult]) -> Iterator[str]:
    """Each gate that the cases, or its own numbers, contradict, and each that is missing or stands twice."""
    names = [gate.name for gate in gates]
    fixture = OF_A_FIXTURE in names
    yield from (f"it has no gate {name}" for name in ALWAYS[fixture] if name not in names)
    yield from (
        f"it has two gates {name}" for name in sorted({name for name in names if names.count(name) > 1})
    )
    for gate in gates:
        if not _follows(gate, cases, fixture=fixture):
            yield f"the gate {gate.name} does not follow from the cases"


def _follows(gate: Gate, cases: Sequence[CaseResult], *, fixture: bool) -> bool:
    if gate.name in COUNTED:
        return _counts(gate, sum(map(COUNTED[gate.name], cases)), cases, fixture=fixture)
    if gate.state == "skipped":
        needless = gate.name != "case_pass_rate" or any(one.passes for one in cases)
        return gate.value is None and needless
    scored = next((one for one in SCORED if one.name == gate.name), None)
    if scored is not None and not fixture:
        return _means(gate, scored, cases)
    if fixture and gate.name in measures(()):
        rate = measures(cases)[gate.name].decimal()
        return gate.value == rate and _kept(gate, rate, at_most=False)
    if gate.name == "case_pass_rate":
        rate = micros(mean_of([GRID if one.passes else 0 for one in cases])) if cases else None
        return gate.value == rate and _kept(gate, rate, at_most=False)
    return gate.state != "pass" or gate.limit != "0" or gate.value == "0"


def _counts(gate: Gate, count: int, cases: Sequence[CaseResult], *, fixture: bool) -> bool:
    if gate.state == "skipped":
        # A fixture counts its leaks itself; a suite may allow answers on a fallback.
        if gate.name == "critical":
            return not any(one.critical for one in cases)
        return gate.name == "degraded" or (gate.name == "leak" and fixture) or not count
    if gate.value is None:
        return not count and gate.state != "pass"
    limit = int(gate.limit) if gate.limit is not None and gate.limit.isdecimal() else -1
    return gate.value == str(count) and (gate.state != "pass" or count <= limit)


def _means(gate: Gate, scored: Scored, cases: Sequence[CaseResult]) -> bool:
    """The mean is that of the cases, and what passes keeps the limit: in each cohort, where that is judged."""
    score = _name(scored.score, cases)
    values = values_of(cases, score)
    if gate.value != (micros(mean_of(values)) if values else None):
        return False
    parts = [values_of(some, score) for some in by_cohort(cases).values()] if scored.cohorts else [values]
    means: list[str | None] = [micros(mean_of(part)) for part in parts if part]
    return all(_kept(gate, mean, at_most=scored.at_most) for mean in means or [None])


def _kept(gate: Gate, mean: str | None, *, at_most: bool) -> bool:
    """Whether a mean is one with which the gate can pass, where it says it does. Rounding is half a millionth."""
    if gate.state != "pass":
        return True
    if mean is None or gate.limit is None or not _SHARE.fullmatch(gate.limit):
        return False
    value, limit = to_micros(mean), to_micros(gate.limit)
    return value <= limit if at_most else value >= limit


def _name(score: str, cases: Sequence[CaseResult]) -> str:
    """``recall@{k}`` as these cases call it: the depth is said nowhere else."""
    start = score.removesuffix("{k}")
    if start == score:
        return score
    names = {name for one in cases for name in one.scores if name.startswith(start) and ":" not in name}
    return min(names, default=score)
