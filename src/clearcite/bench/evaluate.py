"""A suite on an engine → everything a report says, as one value."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clearcite.bench.answering import CaseRun, run_suite
from clearcite.bench.gates import Gate, Verdict, degraded_gate, policy_gates, verdict_of
from clearcite.bench.judge import CaseResult, Statements, judge
from clearcite.bench.measures import Rate, by_slice, confusion, measures
from clearcite.bench.suite import Suite
from clearcite.engine import Engine
from clearcite.errors import InputError

HARNESS = "clearcite-bench-1"
"""Advances with every change of a measure or a check: runs of two harnesses are not compared."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Evaluation:
    """``state``: what the run depended on (suite, pipeline manifest, configuration) as hashes and labels."""

    suite: str
    state: Mapping[str, Any]
    results: tuple[CaseResult, ...]
    runs: tuple[CaseRun, ...]
    measures: Mapping[str, Rate]
    slices: Mapping[str, Mapping[str, Rate]]
    confusion: Mapping[str, Mapping[str, int]]
    gates: tuple[Gate, ...]

    @property
    def verdict(self) -> Verdict:
        return verdict_of(self.gates)


def evaluate(engine: Engine, suite: Suite, statements: Statements, *, use_topic: bool = False) -> Evaluation:
    """Raises InputError for a suite without a case or without limits: neither proves anything."""
    if not suite.cases:
        raise InputError("the suite holds no case")
    if suite.policy is None:
        raise InputError("the suite names no limits")
    runs = tuple(run_suite(engine, suite, use_topic=use_topic))
    results = tuple(judge(case, run, statements) for case, run in zip(suite.cases, runs, strict=True))
    found = measures(results)
    return Evaluation(
        suite=suite.name,
        state={"harness": HARNESS, "suite_sha256": suite.sha256, "use_topic": use_topic, **suite.labels},
        results=results,
        runs=runs,
        measures=found,
        slices=by_slice(results),
        confusion=confusion(results),
        gates=(*policy_gates(suite.policy, found, results), degraded_gate(results)),
    )
