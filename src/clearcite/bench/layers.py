"""Gates of the two layers that come before any question: what came in from the sources, and what became of it."""

from collections.abc import Callable

from clearcite.bench.gates import Gate, GateRow, GateState, joined, skipped
from clearcite.bench.ingestion import SourceHealth
from clearcite.bench.judged import Judged
from clearcite.bench.stats import micros, to_micros

HOUR = 3_600


def content_gate(judged: Judged) -> Gate:
    """Golden samples. Rows count what is wrong by tenant and kind; the documents are shown to the operator alone."""
    found = judged.content
    if not found.checks:
        return skipped("content", "the suite gives no golden sample")
    kinds = sorted({(tenant, item.rate, item.stage, item.owner) for tenant, item in found.findings})
    rows = tuple(
        GateRow(
            tenant=tenant,
            part=kind,
            state="fail",
            value=str(sum((t, item.rate) == (tenant, kind) for t, item in found.findings)),
            n=found.checks[tenant],
            n_scored=found.checks[tenant],
            reason=f"stage {stage}; to act: {owner}",
        )
        for tenant, kind, stage, owner in kinds
    )
    n = sum(found.checks.values())
    return Gate(
        name="content",
        state="fail" if rows else "pass",
        value=str(len(found.findings)),
        limit="0",
        n=n,
        n_scored=n,
        reason="; ".join(f"{row.value} × {row.part}" for row in rows) or None,
        rows=rows,
    )


def ingestion_gate(name: str, measure: str, limit_name: str) -> Callable[[Judged], Gate]:
    """A value of every source against a limit: the worst source decides. A source is not named."""

    def gate(judged: Judged) -> Gate:
        limit = getattr(judged.suite.limits, limit_name)
        if limit is None:
            return skipped(name, "the suite gives no limit")
        bound = to_micros(limit) if isinstance(limit, str) else limit * HOUR
        at_least = limit_name.startswith("min_")
        states = [_state(one, measure, bound, at_least=at_least) for one in judged.sources]
        values = [getattr(one, measure) for one in judged.sources if getattr(one, measure) is not None]
        worst = None if not values else min(values) if at_least else max(values)
        failed = states.count("fail")
        return Gate(
            name=name,
            state=joined(states),
            # An age is another one at each look: it is judged, and shown on the terminal, but not kept.
            value=micros(worst) if worst is not None and isinstance(limit, str) else None,
            limit=str(limit),
            n=len(states),
            n_scored=len(states) - states.count("unscored"),
            reason=_reason(failed, states.count("unscored"), len(states)),
        )

    return gate


INGESTION = (
    ingestion_gate("source_coverage", "coverage", "min_source_coverage"),
    ingestion_gate("failure_rate", "failures", "max_failure_rate"),
    ingestion_gate("source_age", "lag_seconds", "max_source_age_hours"),
    ingestion_gate("deletion_discovery", "deletes_unseen_seconds", "max_deletes_unseen_hours"),
)


def _state(one: SourceHealth, measure: str, bound: int, *, at_least: bool) -> GateState:
    """A source that is listed and never reached its end is not a source that cannot say: it fails."""
    value: int | None = getattr(one, measure)
    if value is None:
        return "fail" if one.is_listed and measure.endswith("_seconds") else "unscored"
    return "pass" if (value >= bound if at_least else value <= bound) else "fail"


def _reason(failed: int, silent: int, n: int) -> str | None:
    if failed:
        return f"{failed} of {n} sources do not keep the limit; `clearcite status` names them"
    return f"{silent} of {n} sources give no value" if silent else None
