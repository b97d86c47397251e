"""What a drill leaves for another person to repeat it: codes, counts and hashes. No document, text, path or time."""

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

from clearcite.bench.drill import Drill, Result
from clearcite.bench.faults.stages import STAGES
from clearcite.bench.rollback import Step
from clearcite.domain.digest import digest
from clearcite.wire import canonical, to_json

OWNERS = {stage.name: stage.owner for stage in STAGES}


def drill_evidence(found: Drill, command: str) -> Mapping[str, bytes]:
    """``drill.json``."""
    value = {**drill_json(found), "command": command, "versions": {"clearcite": version("clearcite")}}
    return {"drill.json": canonical(value) + b"\n"}


def rollback_evidence(steps: Sequence[Step], suite: str, command: str) -> Mapping[str, bytes]:
    """``rollback.json``."""
    value = {
        "command": command,
        "suite_sha256": suite,
        "steps": [to_json(step) for step in steps],
        "holds": all(step.holds for step in steps),
        "versions": {"clearcite": version("clearcite")},
    }
    return {"rollback.json": canonical(value) + b"\n"}


def drill_json(found: Drill) -> dict[str, Any]:
    golden = found.golden
    originals = (item.content for _, item in sorted(golden.documents.items()))
    rates = {} if golden.panel is None else golden.panel.rates
    return {
        "holds": found.holds,
        "suite_sha256": found.suite.sha256,
        "corpus_sha256": digest("originals", *originals),
        "manifest": None if golden.live is None else golden.live.name,
        "panel": {name: {"right": rate.right, "all": rate.all} for name, rate in rates.items()},
        "stages": [{"name": stage.name, "owner": stage.owner} for stage in STAGES],
        "faults": [_result(item) for item in found.results],
    }


def _result(item: Result) -> dict[str, Any]:
    lines = list(item.failing.items())
    value: dict[str, Any] = {
        "name": item.name,
        "outcome": item.outcome,
        "first_failing_stage": item.first,
        "first_evidence": lines[0][1][0] if lines else None,
        "failing": [name for name, _ in lines],
        "owner": OWNERS.get(item.first or ""),
    }
    if item.reason:
        value["reason"] = item.reason
    if item.fault is not None:
        fault = item.fault
        value |= {"stage": fault.stage, "where": fault.where, "impact": fault.impact}
        value |= {"control": fault.control, "next_tests": fault.next_tests}
    return value
