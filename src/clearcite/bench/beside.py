"""No security number without the usefulness number beside it: a system that shows nothing leaks nothing."""

from msgspec.structs import replace

from clearcite.bench.gates import Gate
from clearcite.bench.judged import Judged, values_of
from clearcite.bench.stats import mean_of, micros

BESIDE = {
    "leak": ("recall@{k}", "authorized recall"),
    "expected_empty_rate": ("over_refusal", "questions with an answer that were refused"),
}
"""Gate → the score that stands beside it, and what that is called."""


def with_usefulness(gate: Gate, judged: Judged) -> Gate:
    """The gate with what it costs in its reason; its state stays what it is."""
    if gate.name not in BESIDE or gate.state == "skipped":
        return gate
    score, label = BESIDE[gate.name]
    values = values_of(judged.results, score.format(k=judged.suite.limits.k))
    cases = "1 case" if len(values) == 1 else f"{len(values)} cases"
    said = f"{label} {micros(mean_of(values))} of {cases}" if values else f"{label} not scored"
    return replace(gate, reason=said if gate.reason is None else f"{gate.reason}; {said}")
