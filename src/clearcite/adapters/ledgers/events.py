"""The log of what happened, written in the transaction of what it tells. See ``domain.audit``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import apsw

from clearcite.adapters.ledgers.codec import decode, encode
from clearcite.adapters.ledgers.queries import load
from clearcite.domain.audit import GENESIS, Event, Finding, Head, event_link
from clearcite.domain.corpus import DocumentKey

if TYPE_CHECKING:
    from clearcite.adapters.ledgers.writer import Transaction
    from clearcite.domain.lifecycle import Head as DocumentHead

SQL = load("events")

STATES = frozenset(
    (
        "found",
        "created",
        "revised",
        "access_changed",
        "reprocessed",
        "checkpoint_advanced",
        "restored",
        "put_back",
        "deleted",
    )
)
"""The kinds whose detail tells the head of a document."""

Identity = tuple[str, str, str]


Entry = tuple[str, DocumentKey | int | None, dict[str, Any]]
"""A kind, the document it is about, by key or number, and its detail: JSON values, no text."""


def record(tx: Transaction, kind: str, who: DocumentKey | int | None = None, **detail: Any) -> None:
    """Append an event."""
    record_all(tx, [(kind, who, detail)])


def record_all(tx: Transaction, entries: Sequence[Entry]) -> None:
    """Append events in this order."""
    number, link = _last(tx)
    rows: list[tuple[Any, ...]] = []
    for kind, who, detail in entries:
        number += 1
        columns = (number, tx.now, kind, *_identity(tx, who), encode(detail))
        link = event_link(link, *columns)
        rows.append((*columns, link))
    tx.run_many(SQL["add_event"], rows)
    tx.known["last event"] = (number, link)


def record_accepted(tx: Transaction, action: str, key: DocumentKey, new: DocumentHead) -> None:
    """A record was accepted: what the head of its document is now."""
    record_all(tx, [accepted(action, key, new)])


def accepted(action: str, key: DocumentKey, new: DocumentHead) -> Entry:
    """See ``record_accepted``."""
    state: dict[str, Any] = {
        "operation": new.operation,
        "sequence": new.source_sequence,
        "state": new.source_state_hash,
        "access": new.access_digest,
    }
    if new.delete_reason is not None:
        state["reason"] = new.delete_reason
    return action, key, state


def head(db: apsw.Connection) -> Head:
    row = db.execute(SQL["last_event"]).fetchone()
    return Head(size=0, root=GENESIS) if row is None else Head(size=row[0], root=row[1])


def entries(db: apsw.Connection) -> Iterator[Event]:
    """All events in order, row by row."""
    for number, at, kind, *who, detail, link in db.execute(SQL["events"], (0,)):
        tenant_id, source_id, document_id = who
        yield Event(
            number=number,
            at=at,
            kind=kind,
            tenant_id=tenant_id,
            source_id=source_id,
            document_id=document_id,
            detail=detail,
            link=link,
        )


def unlogged(db: apsw.Connection) -> Iterator[Finding]:
    """Documents whose head is not what the last event about it says: data and hashes that were changed together."""
    said: dict[Identity, tuple[int, dict[str, Any]]] = {}
    for event in entries(db):
        if event.kind in STATES:
            said[event.tenant_id, event.source_id, event.document_id] = (event.number, decode(event.detail))
    for tenant_id, source_id, document_id, operation, sequence, state, access in db.execute(SQL["heads"]):
        number, told = said.pop((tenant_id, source_id, document_id), (0, {}))
        is_deleted = operation == "delete"
        same = told.get("operation") == operation and told.get("sequence") == sequence
        same = same and (is_deleted or (told.get("state") == state and told.get("access") == access))
        if not same:
            what = f"the ledger holds another state of {tenant_id}/{source_id}/{document_id} than was logged last"
            yield Finding(log="events", number=number, what=what)
    for (tenant_id, source_id, document_id), (number, _) in said.items():
        what = f"the ledger has lost {tenant_id}/{source_id}/{document_id}"
        yield Finding(log="events", number=number, what=what)


def _last(tx: Transaction) -> tuple[int, str]:
    known = tx.known.get("last event")
    if known is None:
        known = tx.row(SQL["last_event"]) or (0, GENESIS)
    return int(known[0]), str(known[1])


def _identity(tx: Transaction, who: DocumentKey | int | None) -> Identity:
    if isinstance(who, DocumentKey):
        return who.tenant_id, who.source_id, who.document_id
    row = None if who is None else tx.row(SQL["identity"], who)
    return ("", "", "") if row is None else (row[0], row[1], row[2])
