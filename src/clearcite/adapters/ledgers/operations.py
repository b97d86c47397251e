"""What an operator alerts on: counts by tenant, source, format and language, stages, latencies, what must be nought.

Latencies and throughput are read from the log of events, so they cost nothing while work is done. Ages are whole
seconds, latencies milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

import apsw

from clearcite.adapters.ledgers.codec import decode
from clearcite.adapters.ledgers.queries import load

if TYPE_CHECKING:
    from clearcite.domain.access import Micros

SQL = load("operations")

HOUR: Micros = 3_600_000_000
DAY = 24 * HOUR
MOST_EVENTS = 200_000

_SLICE = (
    *("tenant_id", "source_id", "format", "language", "active", "current", "published", "blocked"),
    *("deleted", "waiting", "failing", "quarantined"),
)
_ACCEPTED = {
    **dict.fromkeys(("created", "revised", "restored", "reprocessed"), "project"),
    "access_changed": "access",
    "deleted": "delete",
}
_DONE = {"published": "project", "acknowledged": "access", "dropped": "delete"}


def operations(db: apsw.Connection, now: Micros) -> dict[str, Any]:
    """``cross_tenant`` and ``access`` count what should be nought; the rest has thresholds of its own."""
    without, nobody, orphans = db.execute(SQL["access"]).fetchall()[0]
    crossed = db.execute(SQL["crossed"]).fetchall()[0][0]
    return {
        "slices": [_slice(row, now) for row in db.execute(SQL["slices"])],
        "stages": _stages(db, now),
        "longest_waiting": _longest(db, now),
        "access": {"missing": without, "nobody": nobody, "unknown_collection": orphans},
        "cross_tenant": crossed,
    }


def _slice(row: Any, now: Micros) -> dict[str, Any]:
    return {**dict(zip(_SLICE, row[:-1], strict=True)), "oldest_seconds": _age(now, row[-1])}


def _longest(db: apsw.Connection, now: Micros) -> dict[str, Any] | None:
    row = db.execute(SQL["longest"]).fetchone()
    if row is None:
        return None
    names = ("tenant_id", "source_id", "document_id", "kind", "attempts")
    return {**dict(zip(names, row[:-1], strict=True)), "seconds": _age(now, row[-1])}


def _stages(db: apsw.Connection, now: Micros) -> dict[str, dict[str, Any]]:
    """``project``: new text; ``access``: a change of readers; ``delete``. Each is measured from the acceptance of the
    record to the end of its work in the live generation. What narrows or deletes acts in the accepting transaction:
    its latency is that of the last trace in the index, not of the block."""
    waiting = {row[0]: row[1:] for row in db.execute(SQL["stages"])}
    accepted, latencies = _recent(db, now)
    found = {}
    for stage in ("project", "access", "delete"):
        pending, failing, retries, quarantined, since, oldest = waiting.get(stage, (0, 0, 0, 0, None, None))
        done = latencies[stage]
        found[stage] = {
            "accepted": _throughput(accepted[stage], now),
            "done": _throughput([at for at, _ in done], now),
            "latency_ms": _spread([took for _, took in done if took is not None]),
            "waiting": pending,
            "failing": failing,
            "retries": int(retries),
            "quarantined": quarantined,
            "quarantine_seconds": _age(now, since),
            "oldest_seconds": _age(now, oldest),
        }
    return found


def _recent(
    db: apsw.Connection, now: Micros
) -> tuple[dict[str, list[Micros]], dict[str, list[tuple[Micros, Micros | None]]]]:
    """By stage, of the last day: when records were accepted; when work ended and how long after acceptance, None
    where that lies before the day."""
    accepted: dict[str, list[Micros]] = {stage: [] for stage in _DONE.values()}
    done: dict[str, list[tuple[Micros, Micros | None]]] = {stage: [] for stage in _DONE.values()}
    first: dict[tuple[str, ...], Micros] = {}
    live = [row[0] for row in db.execute(SQL["live"])]
    for at, kind, *key, detail in reversed(_last_day(db, now)):
        if kind in _ACCEPTED:
            accepted[_ACCEPTED[kind]].append(at)
            first.setdefault(tuple(key), at)
        elif kind in _DONE and decode(detail).get("generation") in live:
            since = first.pop(tuple(key), None)
            done[_DONE[kind]].append((at, None if since is None else at - since))
    return accepted, done


def _last_day(db: apsw.Connection, now: Micros) -> list[Any]:
    """Events of the last day, newest first; of a busy store, the newest of them."""
    found: list[Any] = []
    with closing(db.execute(SQL["recent"])) as rows:
        for row in rows:
            if row[0] < now - DAY or len(found) >= MOST_EVENTS:
                break
            found.append(row)
    return found


def _throughput(times: Sequence[Micros], now: Micros) -> dict[str, int]:
    return {"hour": sum(at >= now - HOUR for at in times), "day": len(times)}


def _spread(times: Sequence[Micros]) -> dict[str, int] | None:
    """Median, 95th percentile and largest, in milliseconds; None of nothing."""
    if not times:
        return None
    ordered = sorted(times)
    at = {"p50": len(ordered) // 2, "p95": len(ordered) * 95 // 100, "max": len(ordered) - 1}
    return {name: ordered[place] // 1_000 for name, place in at.items()}


def _age(now: Micros, since: Micros | None) -> int | None:
    return None if since is None else max(0, now - since) // 1_000_000
