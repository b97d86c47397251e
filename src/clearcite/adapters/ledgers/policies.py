"""Which policy is in force: the newest revision accepted, and the alarm of a source that fails since."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import apsw

from clearcite.adapters.ledgers.events import record as record_event
from clearcite.adapters.ledgers.queries import load
from clearcite.domain.policy import MAX_SKEW, Accepted, PolicyDecision, decide_policy
from clearcite.errors import InputError

if TYPE_CHECKING:
    from clearcite.adapters.ledgers.writer import Transaction
    from clearcite.domain.access import Micros

SQL = load("policies")


def accept(tx: Transaction, new: Accepted, origin: str, snapshot: str | None) -> PolicyDecision:
    """Decide and write. Raises StalePolicy; then nothing is written, and the older one stays."""
    if new.issued_at is not None and new.issued_at > tx.now + MAX_SKEW:
        raise InputError("The policy says that it was issued in the future, so its age cannot be known.")
    decision = decide_policy(newest(tx.db), new)
    if decision == "accepted":
        tx.run(SQL["add_policy"], new.revision, new.content, new.issued_at, tx.now, origin, snapshot)
        tx.run(SQL["drop_older_snapshots"], new.revision)
        record_event(tx, "policy", revision=new.revision, content=new.content, origin=origin)
    elif decision == "reissued":
        tx.run(SQL["reissue_policy"], new.content, new.issued_at, tx.now, origin, snapshot, new.revision)
    tx.run(SQL["end_alarm"])
    return decision


def newest(db: apsw.Connection) -> Accepted | None:
    row = db.execute(SQL["newest_policy"]).fetchone()
    return None if row is None else Accepted(revision=row[0], content=row[1], issued_at=row[2])


def snapshot(db: apsw.Connection) -> str | None:
    row = db.execute(SQL["newest_snapshot"]).fetchone()
    return None if row is None else row[0]


def status(db: apsw.Connection, now: Micros) -> dict[str, Any]:
    """``revision`` and ``alarm`` are null where there is none; ages are whole seconds."""
    row = db.execute(SQL["policy_status"]).fetchone()
    revision, issued, accepted, origin, _ = row or (None, None, None, None, 0)
    return {
        "revision": revision,
        "origin": origin,
        "issued_seconds": _age(now, issued),
        "accepted_seconds": _age(now, accepted),
        "alarm": _alarm(db.execute(SQL["alarm_status"]).fetchone(), now),
    }


def _alarm(row: Any, now: Micros) -> dict[str, Any] | None:
    if row is None:
        return None
    return {"reason": row[3], "origin": row[2], "failures": row[1], "seconds": _age(now, row[0])}


def _age(now: Micros, since: Micros | None) -> int | None:
    return None if since is None else max(0, now - since) // 1_000_000
