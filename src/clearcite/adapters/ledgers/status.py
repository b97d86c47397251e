"""Counts and ages for an operator, from one read transaction; they name what is hidden from others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import apsw

from clearcite.adapters.ledgers import policies, sources
from clearcite.adapters.ledgers.codec import decode
from clearcite.adapters.ledgers.generations import SQL as GENERATIONS
from clearcite.adapters.ledgers.operations import operations
from clearcite.adapters.ledgers.queries import load

if TYPE_CHECKING:
    from clearcite.domain.access import Micros
    from clearcite.domain.sources import SourceState

SQL = load("status")

_DOCUMENTS = (
    *("active", "deleted", "quarantined", "published", "withheld", "hidden"),
    *("content_pending", "access_pending", "older_revisions"),
)


_PARTS = ("parser", "chunker", "analysis", "embedder")


def status(db: apsw.Connection, now: Micros) -> dict[str, Any]:
    """``outbox`` is a list, one entry a generation; ages are whole seconds.

    Of the active documents, ``published`` ones can be read by somebody, ``withheld`` ones are served and read by
    nobody (draft, archived, not trusted), ``hidden`` ones wait for their first projection. ``older_revisions``: kept
    by sources with history, and counted nowhere else among the documents.
    """
    counts = _rows(db, "documents")[0]
    revisions, tombstones, chunks, position = _rows(db, "totals")[0]
    return {
        "position": position,
        "sqlite": apsw.sqlite_lib_version(),
        "schema": db.pragma("user_version"),
        "documents": dict(zip(_DOCUMENTS, counts, strict=True)),
        "revisions": revisions,
        "tombstones": tombstones,
        "chunks": chunks,
        "truncated_vectors": _rows(db, "truncated")[0][0],
        "generations": generations(db),
        "outbox": [_outbox(row, now) for row in _rows(db, "outbox", now)],
        "refused_events": [
            {"event_id": event, "generation": generation, **_identity(key)}
            for event, generation, *key in _rows(db, "unsound_events")
        ],
        "quarantine": [
            *(_quarantined(row, now, "document") for row in _rows(db, "quarantined_documents")),
            *(_quarantined(row, now, "event") for row in _rows(db, "quarantined_events")),
        ],
        **_purges(db),
        "restores": [
            dict(zip(("restored_at", "backup_at", "journal_number", "reason"), row, strict=True))
            for row in _rows(db, "restores")
        ],
        "failing": [_failing(row, now) for row in _rows(db, "failing_events")],
        "policy": policies.status(db, now),
        "sources": _sources(db, now),
    }


def status_in_full(db: apsw.Connection, now: Micros) -> dict[str, Any]:
    """``status`` with what takes a walk over all documents and the events of a day."""
    return {**status(db, now), "versions": _versions(db), **operations(db, now)}


def _versions(db: apsw.Connection) -> dict[str, dict[str, int]]:
    """By part of the pipeline: how many served documents each of its versions made, over all generations."""
    found: dict[str, dict[str, int]] = {name: {} for name in ("generation", *_PARTS)}
    for row in generations(db):
        if row["state"] != "active":
            continue
        manifest = decode(row["manifest"])
        for name, counts in found.items():
            version = row["name"] if name == "generation" else str(manifest.get(name) or "none")
            counts[version] = counts.get(version, 0) + row["served"]
    return found


def _purges(db: apsw.Connection) -> dict[str, Any]:
    """How many purges there were, and when the last one by a rule of retention was completed."""
    (count, unfinished), last = _rows(db, "purges")[0], _rows(db, "retention")
    found: dict[str, Any] = {"purges": {"count": count, "unfinished": unfinished}, "retention": None}
    if last:
        number, started, finished, policy, receipt = last[0]
        done = receipt is not None and receipt.startswith("{") and bool(decode(receipt)["complete"])
        times = {"started_at": started, "finished_at": finished}
        found["retention"] = {"purge": number, **times, "complete": done, "policy": decode(policy)}
    return found


def generations(db: apsw.Connection) -> list[dict[str, Any]]:
    names = ("name", "manifest", "index_manifest", "state", "live", "waiting", "served")
    rows = db.execute(GENERATIONS["all_generations"]).fetchall()
    return [{**dict(zip(names, row, strict=True)), "live": bool(row[4])} for row in rows]


def _rows(db: apsw.Connection, name: str, *bindings: Any) -> list[Any]:
    return db.execute(SQL[name], bindings).fetchall()


def _identity(row: Any) -> dict[str, str]:
    return dict(zip(("tenant_id", "source_id", "document_id"), row[:3], strict=True))


def _seconds(now: Micros, since: Micros | None) -> int:
    return 0 if since is None else max(0, now - since) // 1_000_000


def _outbox(row: Any, now: Micros) -> dict[str, Any]:
    generation, waiting, leased, retrying, quarantined, oldest = row
    return {
        "generation": generation,
        "waiting": waiting,
        "leased": leased,
        "retrying": retrying,
        "quarantined": quarantined,
        "oldest_seconds": _seconds(now, oldest),
    }


def _quarantined(row: Any, now: Micros, what: str) -> dict[str, Any]:
    return {"what": what, **_identity(row), "reason": row[3], "seconds": _seconds(now, row[4])}


def _failing(row: Any, now: Micros) -> dict[str, Any]:
    return {
        **_identity(row),
        "reason": row[3],
        "attempts": row[5],
        "generation": row[6],
        "next_seconds": max(0, row[4] - now) // 1_000_000,
    }


def _sources(db: apsw.Connection, now: Micros) -> list[dict[str, Any]]:
    """Each source that has documents or was ever taken. ``lag_seconds``: since the last run that reached its end;
    ``covered_seconds``: since the last full listing; null where there was none."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for tenant_id, source_id, documents, sequence, accepted in _rows(db, "sources"):
        found[tenant_id, source_id] = {
            "documents": documents,
            "last_sequence": sequence,
            "last_accepted_seconds": _seconds(now, accepted),
        }
    runs: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for state in sources.every(db):
        runs.setdefault((state.tenant_id, state.source_id), []).append(_run(state, now))
    none = {"documents": 0, "last_sequence": 0, "last_accepted_seconds": 0}
    return [
        {"tenant_id": key[0], "source_id": key[1], **found.get(key, none), "runs": runs.get(key, [])}
        for key in sorted({*found, *runs})
    ]


def _run(state: SourceState, now: Micros) -> dict[str, Any]:
    return {
        "kind": state.kind,
        "outcome": state.outcome,
        "cursor": state.cursor,
        "tried_seconds": _age(now, state.tried_at),
        "lag_seconds": _age(now, state.finished_at),
        "covered_seconds": _age(now, state.covered_at),
        "refused": state.refused,
        "withheld": state.withheld,
        "approved": state.approved,
    }


def _age(now: Micros, since: Micros | None) -> int | None:
    return None if since is None else _seconds(now, since)
