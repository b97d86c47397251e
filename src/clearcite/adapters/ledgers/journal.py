"""What took something away from a document, in order: see the migration ``journal``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import apsw

from clearcite.adapters.ledgers import policies
from clearcite.adapters.ledgers.codec import decode_access, decode_acl, decode_strings
from clearcite.adapters.ledgers.queries import load
from clearcite.domain.corpus import DocumentKey
from clearcite.domain.digest import digest
from clearcite.domain.journal import CollectionState, Entry, Journal
from clearcite.errors import IntegrityFault

if TYPE_CHECKING:
    from clearcite.adapters.ledgers.writer import Transaction
    from clearcite.domain.access import Micros

SQL = load("journal")


def note(tx: Transaction, kind: str, document: int, detail: str | None = None) -> None:
    """Append an entry with the head of the document as it now is."""
    tx.run(SQL["note"], kind, document, detail, tx.now)


def revision_digest(content_key: str) -> str:
    """Names an erased revision without its content hash."""
    return digest("revision", content_key)


def head(db: apsw.Connection) -> tuple[str, int, int]:
    """The id of the store, its position, and the number of its last entry."""
    row = db.execute(SQL["head"]).fetchone()
    if row is None:
        raise IntegrityFault("The store has lost its identity.")
    store_id, position, number = row
    return store_id, position, number


def export(db: apsw.Connection, now: Micros) -> Journal:
    """All of it, from one read transaction."""
    store_id, position, number = head(db)
    policy = policies.newest(db)
    return Journal(
        store_id=store_id,
        number=number,
        position=position,
        taken_at=now,
        policy_revision=None if policy is None else str(policy.revision),
        entries=tuple(map(_entry, db.execute(SQL["entries"]))),
        collections=tuple(map(_collection, db.execute(SQL["collections"]))),
    )


def _entry(row: tuple[Any, ...]) -> Entry:
    number, kind, tenant, source, document, sequence, at, state_hash, detail, *access = row
    return Entry(
        number=number,
        kind=kind,
        key=DocumentKey(tenant_id=tenant, source_id=source, document_id=document),
        source_sequence=sequence,
        at=at,
        access=None if access[1] is None else decode_access(tuple(access)),
        state_hash=state_hash,
        detail=None if kind == "erase" else detail,
        revisions=decode_strings(detail) if kind == "erase" else (),
    )


def _collection(row: tuple[Any, ...]) -> CollectionState:
    tenant, path, start, end, allow, deny = row
    return CollectionState(
        tenant_id=tenant, path=path, from_position=start, to_position=end, acl=decode_acl(allow, deny)
    )
