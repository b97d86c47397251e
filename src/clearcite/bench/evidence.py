"""What a drill leaves for another person to repeat it: codes, counts and hashes. No document, text, path or time."""

import platform
import re
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Any

from clearcite.bench.answering import OPERATOR
from clearcite.bench.drill import Drill, Result
from clearcite.bench.evaluate import Subject, identity_of
from clearcite.bench.faults.site import Site
from clearcite.bench.faults.stages import STAGES
from clearcite.bench.rollback import Step
from clearcite.domain.digest import digest
from clearcite.wire import canonical
from clearcite.wire.convert import to_json
from clearcite.wiring import engine_on

PACKAGE = "clearcite"
_NEEDED = re.compile(r"[A-Za-z0-9._-]+(?!.*extra == .dev.)")
OWNERS = {stage.name: stage.owner for stage in STAGES}


def drill_evidence(found: Drill, base: Site, command: str) -> Mapping[str, bytes]:
    """``drill.json``."""
    value = {**drill_json(found), "command": command, "state": _state(base), "versions": versions()}
    return {"drill.json": canonical(value) + b"\n"}


def rollback_evidence(steps: Sequence[Step], base: Site, command: str) -> Mapping[str, bytes]:
    """``rollback.json``."""
    value = {
        "command": command,
        "state": _state(base),
        "steps": [to_json(step) for step in steps],
        "holds": all(step.holds for step in steps),
        "versions": versions(),
    }
    return {"rollback.json": canonical(value) + b"\n"}


def _state(base: Site) -> Mapping[str, str | None]:
    """Of what, under which settings, and by which policy. None: no policy was ever taken over."""
    with engine_on(base.settings) as engine:
        policy = engine.operator(OPERATOR).policy()
        identity = identity_of(Subject(engine=engine), base.suite)
    return {
        **identity,
        "config_sha256": base.settings.hash(),
        "policy_sha256": None if policy is None else policy.content,
    }


def versions() -> Mapping[str, str]:
    """Of the interpreter, of this package, and of what it needs or can use, where that is installed."""
    found = {"python": f"{platform.python_implementation()} {platform.python_version()}"}
    needed = (_NEEDED.match(line) for line in requires(PACKAGE) or ())
    for name in (PACKAGE, *(match[0] for match in needed if match is not None)):
        try:
            found[name.lower()] = version(name)
        except PackageNotFoundError:
            continue
    return dict(sorted(found.items()))


def drill_json(found: Drill) -> dict[str, Any]:
    golden = found.golden
    originals = (item.content for _, item in sorted(golden.documents.items()))
    rates = {} if golden.panel is None else golden.panel.rates
    return {
        "holds": found.holds,
        "originals_sha256": digest("originals", *originals),
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
