"""A suite on an engine → everything a report says, as one value."""

import time
from collections.abc import Mapping
from functools import cache
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from clearcite.bench.ablation import Ablation
from clearcite.bench.answering import OPERATOR, CaseRun, run_suite
from clearcite.bench.apart import looked_at_apart
from clearcite.bench.beside import with_usefulness
from clearcite.bench.citing import citations_that_hold
from clearcite.bench.fault_map import FaultMap
from clearcite.bench.gates import Gate, Verdict, degraded_gate, policy_gates, skipped, verdict_of
from clearcite.bench.golden import checked
from clearcite.bench.ingestion import SourceHealth, health_of
from clearcite.bench.judge import CaseResult, judge
from clearcite.bench.judged import Judged, Tell, by_cohort, in_slices, silent
from clearcite.bench.means import Mean, means, worst_first
from clearcite.bench.measures import Rate, by_slice, confusion, measures
from clearcite.bench.noninterference import noninterference_gate
from clearcite.bench.readers import readers_of
from clearcite.bench.regression import regression_gate
from clearcite.bench.run_file import KeptRun, require_comparable
from clearcite.bench.scoring import Grounds, Statements, ranked_documents
from clearcite.bench.suite import Suite, SuiteCase
from clearcite.bench.suite_gates import GATES
from clearcite.bench.trec import Ranked, field_of
from clearcite.config import Settings
from clearcite.domain.corpus import DocumentKey
from clearcite.domain.panel import Finding
from clearcite.engine import Engine
from clearcite.errors import InputError
from clearcite.operator import Operator

HARNESS = "clearcite-bench-5"
"""Advances with every change of a measure or a check: runs of two harnesses are not compared."""

JUDGED_BY_POLICY = ("leak", "authorized_recall", "underfill")


class Subject(Struct, frozen=True, kw_only=True):
    """What is evaluated. ``settings``: of a store that may be copied. ``statements``: where expected facts stand.
    ``tries_windows``: whether questions are asked again at the ends of windows. ``tell`` is told how far it is."""

    engine: Engine
    settings: Settings | None = None
    tries_windows: bool = True
    tell: Tell = silent
    statements: Statements = field(default_factory=dict)


class Evaluation(Struct, frozen=True, kw_only=True):
    """``state``: what the run depended on (suite, pipeline manifest, configuration) as hashes and labels.

    ``sources`` and ``findings`` name sources and documents: they are shown to the operator and stand in no file."""

    suite: str
    state: Mapping[str, Any]
    results: tuple[CaseResult, ...]
    runs: tuple[CaseRun, ...]
    measures: Mapping[str, Rate]
    slices: Mapping[str, Mapping[str, Rate]]
    scores: Mapping[str, Mean]
    cohorts: Mapping[tuple[str, str], Mapping[str, Mean]]
    slice_scores: Mapping[str, Mapping[str, Mean]]
    confusion: Mapping[str, Mapping[str, int]]
    gates: tuple[Gate, ...]
    sources: tuple[SourceHealth, ...] = ()
    findings: tuple[Finding, ...] = ()
    ranked: tuple[Ranked, ...] = ()
    drilled: FaultMap | None = None
    ablated: Ablation | None = None

    @property
    def verdict(self) -> Verdict:
        return verdict_of(self.gates)


def evaluate(
    subject: Subject, suite: Suite, *, use_topic: bool = False, baseline: KeptRun | None = None
) -> Evaluation:
    """Raises InputError for a suite without a case, which proves nothing, and for a baseline of something else."""
    if not suite.cases:
        raise InputError("the suite holds no case")
    identity = identity_of(subject, suite)
    if baseline is not None:
        require_comparable(identity, baseline.state)
    with looked_at_apart(subject.settings, suite) as hidden:
        judged = replace(judged_of(subject, suite, use_topic=use_topic), hidden=hidden)
        found = measures(judged.results)
        gates = (*_gates(judged, found), _regression(judged, baseline))
    return Evaluation(
        suite=suite.name,
        state={**identity, "use_topic": use_topic, **_state(judged), **suite.labels},
        results=judged.results,
        runs=judged.runs,
        measures=found,
        slices=by_slice(judged.results),
        scores=means(judged.results),
        cohorts=worst_first({cohort: means(some) for cohort, some in by_cohort(judged.results).items()}),
        slice_scores=worst_first({name: means(some) for name, some in in_slices(judged.results).items()}),
        confusion=confusion(judged.results),
        gates=gates,
        sources=judged.sources,
        findings=tuple(found for _, found in judged.content.findings),
        ranked=judged.ranked,
    )


def identity_of(subject: Subject, suite: Suite) -> Mapping[str, str]:
    """What two runs must share before a figure of one says anything about the other."""
    corpus = subject.engine.operator(OPERATOR).corpus_digest()
    return {"harness": HARNESS, "suite_sha256": suite.sha256, "corpus_sha256": corpus}


def judged_of(subject: Subject, suite: Suite, *, use_topic: bool = False) -> Judged:
    """Every case asked and judged; no gate is looked at yet."""
    now = time.time_ns() // 1_000
    operator = subject.engine.operator(OPERATOR)
    if not operator.known():
        raise InputError("the store holds no document: nothing that is asked of it proves anything")
    readers = readers_of(operator, now)
    runs: list[CaseRun] = []
    results, ranked = [], []
    text = cache(lambda key: _text(operator, key))
    for case, run in zip(suite.cases, run_suite(subject.engine, suite, use_topic=use_topic), strict=True):
        subject.tell("questions", len(runs), len(suite.cases))
        runs.append(run)
        readable = readers.readable(case.asked)
        grounds = Grounds(
            statements=subject.statements,
            readable=readable,
            stale=frozenset(key for key in run.candidates if not readers.is_current(key, case.asked)),
            held=citations_that_hold(run, readable, operator),
            k=suite.limits.k,
            text=text,
        )
        results.append(judge(case, run, grounds))
        ranked.append(_ranked(case, run, readable))
    return Judged(
        suite=suite,
        engine=subject.engine,
        operator=operator,
        readers=readers,
        settings=subject.settings,
        tries_windows=subject.tries_windows,
        tell=subject.tell,
        now=now,
        runs=tuple(runs),
        results=tuple(results),
        content=checked(suite.golden, operator, readers),
        sources=health_of(operator.status(in_full=True)),
        ranked=tuple(ranked),
    )


def _text(operator: Operator, key: DocumentKey) -> str:
    stored = operator.stored(key)
    return "" if stored is None else stored.text


def _ranked(case: SuiteCase, run: CaseRun, readable: frozenset[DocumentKey]) -> Ranked:
    """A leak is counted elsewhere; here it leaves no id."""
    return Ranked(
        query=field_of(case.id),
        documents=tuple(_name(key) for key in ranked_documents(run) if key in readable),
        grades={_name(key): grade for key, grade in case.oracle.graded.items() if key in readable},
    )


def _name(key: DocumentKey) -> str:
    return field_of(key.tenant_id, key.source_id, key.document_id)


def _gates(judged: Judged, found: Mapping[str, Rate]) -> tuple[Gate, ...]:
    policy = judged.suite.policy
    if policy is None:
        return tuple(with_usefulness(gate(judged), judged) for gate in GATES)
    left_out = (skipped(name, "a fixture is judged by its own policy alone") for name in JUDGED_BY_POLICY)
    own = (degraded_gate(judged.results), noninterference_gate(judged))
    return (*policy_gates(policy, found, judged.results), *own, *left_out)


def _regression(judged: Judged, baseline: KeptRun | None) -> Gate:
    if baseline is None:
        return skipped("regression", "no baseline was given")
    limits = judged.suite.limits
    return regression_gate(baseline.cases, judged.results, limits.max_drop, shown=limits.shown)


def _state(judged: Judged) -> Mapping[str, Any]:
    """What else the run depended on. Nothing here names a document."""
    live = next((item for item in judged.operator.generations() if item.is_live), None)
    policy = judged.operator.policy()
    return {
        "generation": None if live is None else live.name,
        "policy_sha256": None if policy is None else policy.content,
        "config_sha256": None if judged.settings is None else judged.settings.hash(),
    }
