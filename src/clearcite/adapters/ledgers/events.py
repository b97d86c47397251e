"""The log of what happened, written in the transaction of what it tells. See ``domain.audit``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import apsw
from msgspec import Struct, field

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


class _Told(Struct, kw_only=True):
    """What the log says last, with the number of the event: of each document, of each collection, of the policy."""

    documents: dict[Identity, tuple[int, dict[str, Any]]] = field(default_factory=dict)
    lists: dict[tuple[str, str], tuple[int, Any]] = field(default_factory=dict)
    policy: tuple[int, dict[str, Any]] | None = None
    is_whole: bool = True
    """False for a store that is older than its log: nothing was logged of its lists so far."""


def _told(db: apsw.Connection) -> _Told:
    told = _Told()
    for event in entries(db):
        if event.kind in STATES:
            told.is_whole &= event.kind != "found"
            who = event.tenant_id, event.source_id, event.document_id
            told.documents[who] = (event.number, decode(event.detail))
        elif event.kind == "collection":
            detail = decode(event.detail)
            told.lists[detail.get("tenant"), detail.get("path")] = (event.number, detail.get("list"))
        elif event.kind == "policy":
            told.policy = (event.number, decode(event.detail))
    return told


def unlogged(db: apsw.Connection) -> Iterator[Finding]:
    """What stands otherwise than the log says: data and hashes that were changed together, and a list or a policy of
    before that was put back, which is sealed and true, and not in force any more."""
    told = _told(db)
    yield from _unlogged_heads(db, told)
    yield from _unlogged_lists(db, told)
    number, said = told.policy or (0, {})
    row = db.execute(SQL["newest_policy"]).fetchone()
    revision, content = row or (None, None)
    if said.get("revision") != revision or said.get("content") not in (None, content):
        yield Finding(log="events", number=number, what="another policy is in force than was logged last")


def _unlogged_heads(db: apsw.Connection, told: _Told) -> Iterator[Finding]:
    said = told.documents
    for tenant_id, source_id, document_id, operation, sequence, state, access in db.execute(SQL["heads"]):
        number, last = said.pop((tenant_id, source_id, document_id), (0, {}))
        is_deleted = operation == "delete"
        same = last.get("operation") == operation and last.get("sequence") == sequence
        same = same and (is_deleted or (last.get("state") == state and last.get("access") == access))
        if not same:
            what = f"the ledger holds another state of {tenant_id}/{source_id}/{document_id} than was logged last"
            yield Finding(log="events", number=number, what=what)
    for (tenant_id, source_id, document_id), (number, _) in said.items():
        what = f"the ledger has lost {tenant_id}/{source_id}/{document_id}"
        yield Finding(log="events", number=number, what=what)


def _unlogged_lists(db: apsw.Connection, told: _Told) -> Iterator[Finding]:
    said = dict(told.lists)
    for tenant_id, path, allow, deny in db.execute(SQL["lists"]):
        if (tenant_id, path) not in said and not told.is_whole:
            continue
        number, last = said.pop((tenant_id, path), (0, None))
        if last != {"allow": None if allow is None else decode(allow), "deny": decode(deny)}:
            what = f"the collection {path} of {tenant_id} has another list than was logged last"
            yield Finding(log="events", number=number, what=what)
    for (tenant_id, path), (number, last) in said.items():
        if last is not None:
            yield Finding(
                log="events", number=number, what=f"the list of the collection {path} of {tenant_id} is lost"
            )


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
