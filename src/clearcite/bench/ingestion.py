"""The first layer: whether sources are taken in whole and in time. What a source does not tell is null with a reason.

Ages move with the clock, so they are judged and never kept: a report holds the same bytes on every run.
"""

from collections.abc import Mapping
from typing import Any

from clearcite.bench.gates import Gate, GateRow, GateState, joined, skipped
from clearcite.bench.judged import Judged
from clearcite.bench.ranking import share

HOUR = 3_600
NO_LIMIT = "the suite gives no limit"


def failure_rate_gate(judged: Judged) -> Gate:
    """Documents that could not be taken in, of all that live."""
    limit = judged.suite.limits.max_failure_rate
    if limit is None:
        return skipped("failure_rate", NO_LIMIT)
    status = judged.operator.status()
    broken = {
        (row["tenant_id"], row["source_id"], row["document_id"])
        for row in (*status["failing"], *status["quarantine"])
    }
    active = int(status["documents"]["active"])
    if not active:
        return Gate(
            name="failure_rate",
            state="unscored",
            value=None,
            limit=limit,
            n=0,
            n_scored=0,
            reason="no document lives",
        )
    value = share(min(len(broken), active), active)
    state: GateState = "pass" if value <= limit else "fail"
    return Gate(name="failure_rate", state=state, value=value, limit=limit, n=active, n_scored=active)


def source_age_gate(judged: Judged) -> Gate:
    """How long ago each source was last taken to its end, and listed whole where its deletes are found that way."""
    hours = judged.suite.limits.max_source_age_hours
    if hours is None:
        return skipped("source_age", NO_LIMIT)
    rows = tuple(
        _row(source, run, hours) for source in judged.operator.status()["sources"] for run in source["runs"]
    )
    if not rows:
        reason = "no source was taken by a connector"
        return Gate(
            name="source_age", state="unscored", value=None, limit=str(hours), n=0, n_scored=0, reason=reason
        )
    late = sum(row.state == "fail" for row in rows)
    return Gate(
        name="source_age",
        state=joined(row.state for row in rows),
        value=str(late),
        limit=str(hours),
        n=len(rows),
        n_scored=sum(row.n_scored for row in rows),
        rows=rows,
    )


def _row(source: Mapping[str, Any], run: Mapping[str, Any], hours: int) -> GateRow:
    reasons = []
    lag, covered = run["lag_seconds"], run["covered_seconds"]
    if lag is None:
        reasons.append("it was never taken to its end")
    elif lag > hours * HOUR:
        reasons.append(f"it was last taken more than {hours} hours ago")
    if covered is not None and covered > hours * HOUR:
        reasons.append(f"its deletes were last looked for more than {hours} hours ago")
    if run["withheld"]:
        reasons.append("deletes wait for an approval")
    return GateRow(
        tenant=source["tenant_id"],
        part=source["source_id"],
        state="fail" if reasons else "pass",
        value=None,
        n=1,
        n_scored=1,
        reason="; ".join(reasons) or None,
    )
