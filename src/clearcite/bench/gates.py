"""Gates: each says whether a release may go out, on what it says so, and what it would take where it cannot say.

The verdict is a function of the gates and of nothing else.
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Literal

from msgspec import Struct

from clearcite.bench.fixture import FixturePolicy
from clearcite.bench.judge import CaseResult
from clearcite.bench.measures import Rate, decimal

GateState = Literal["pass", "fail", "unscored", "inconclusive", "skipped", "error"]
Verdict = Literal["PASS", "BLOCK"]


class GateRow(Struct, frozen=True, kw_only=True):
    """One part of what a gate judges: a cohort of a tenant, or another part by its name."""

    tenant: str | None
    part: str
    state: GateState
    value: str | None
    n: int
    n_scored: int
    interval: tuple[str, str] | None = None
    reason: str | None = None


class Gate(Struct, frozen=True, kw_only=True):
    """``value``, ``limit`` and the ends of ``interval`` (95 %) are decimal strings.

    ``n`` things were looked at, ``n_scored`` of them could be measured. ``reason`` says why a gate is not scored, what
    failed it, or what it would take to tell.
    """

    name: str
    state: GateState
    value: str | None
    limit: str | None
    n: int
    reason: str | None = None
    n_scored: int | None = None
    interval: tuple[str, str] | None = None
    rows: tuple[GateRow, ...] = ()


def skipped(name: str, reason: str) -> Gate:
    return Gate(name=name, state="skipped", value=None, limit=None, n=0, reason=reason)


def joined(states: Iterable[GateState]) -> GateState:
    """The state of a whole by its parts: the worst, and unscored only where no part could be scored."""
    found = set(states)
    for worst in ("error", "fail", "inconclusive"):
        if worst in found:
            return worst
    return "pass" if "pass" in found else "unscored"


def verdict_of(gates: Iterable[Gate]) -> Verdict:
    """BLOCK unless every gate passes or was left out on purpose, and at least one passes."""
    states = [gate.state for gate in gates]
    held = all(state in ("pass", "skipped") for state in states)
    return "PASS" if held and "pass" in states else "BLOCK"


def policy_gates(
    policy: FixturePolicy, found: Mapping[str, Rate], results: Sequence[CaseResult]
) -> tuple[Gate, ...]:
    """A fixture is judged by its own policy alone."""
    limits = {
        name.removeprefix("min_"): Fraction(str(getattr(policy, name)))
        for name in policy.__struct_fields__
        if name.startswith("min_")
    }
    gates = [at_least(name, found[name], limit) for name, limit in limits.items()]
    disclosures = sum(one.disclosures for one in results)
    most = policy.max_non_disclosure_violations
    gates.append(
        Gate(
            name="non_disclosure_violations",
            state="pass" if disclosures <= most and results else "fail",
            value=str(disclosures),
            limit=str(most),
            n=len(results),
        )
    )
    return tuple(gates)


def at_least(name: str, found: Rate, limit: Fraction) -> Gate:
    if found.value is None:
        return Gate(name=name, state="unscored", value=None, limit=decimal(limit), n=0, reason=found.reason)
    state: GateState = "pass" if found.value >= limit else "fail"
    return Gate(name=name, state=state, value=found.decimal(), limit=decimal(limit), n=found.n)


def degraded_gate(results: Sequence[CaseResult]) -> Gate:
    """Answers given on a fallback: they may be right, and still nobody should release on them."""
    degraded = sum(one.degraded for one in results)
    if not results:
        return skipped("degraded", "there is no case")
    return Gate(
        name="degraded", state="fail" if degraded else "pass", value=str(degraded), limit="0", n=len(results)
    )
