"""Accepting source events: judge the record against the head, then write what the decision says.

Everything of one record happens inside the caller's transaction: revision, access, what becomes invisible,
tombstone and outbox. A record only ever touches the document of its own (tenant, source, document).
"""

from __future__ import annotations

from typing import Any

import apsw

from clearcite.adapters.ledgers import history, visible
from clearcite.adapters.ledgers.codec import (
    class_digest,
    decode_access,
    decode_description,
    encode,
    encode_description,
)
from clearcite.adapters.ledgers.enqueue import enqueue, enqueue_new
from clearcite.adapters.ledgers.events import record as record_event
from clearcite.adapters.ledgers.events import record_accepted
from clearcite.adapters.ledgers.journal import note
from clearcite.adapters.ledgers.queries import load
from clearcite.adapters.ledgers.writer import SQL as COMMON
from clearcite.adapters.ledgers.writer import Transaction
from clearcite.domain.access import Access, Micros, meet
from clearcite.domain.corpus import DocumentKey, SourceRecord, state_hash_of
from clearcite.domain.lifecycle import Decision, Head, decide, head_of
from clearcite.errors import InputError

SQL = load("intake")


def accept(tx: Transaction, record: SourceRecord, manifest_hash: str) -> Decision:
    """Decide and write. Raises InputError, SequenceConflict among them; the caller's savepoint undoes it."""
    check(record)
    partition = partition_id(tx, record.key.tenant_id)
    was = history.before(tx, record, partition)
    said, record = record, history.dated(tx, record, was)
    decision = _settled(tx, record, manifest_hash, partition)
    if decision.action not in ("noop", "stale_ignored"):
        history.remember(tx, said, partition)
    if was is None:
        return decision
    follows = history.followers(tx, record, was, decision)
    if decision.action == "stale_ignored":
        placed = list(history.late(tx, said, was, partition))
        if placed:
            history.remember(tx, said, partition)
        follows, decision = iter(placed), Decision(action="placed_in_past") if placed else decision
    for entry in follows:
        accept(tx, entry, manifest_hash)
        history.belong(tx, was.document, partition, entry.key)
    return decision


def dated(db: apsw.Connection, record: SourceRecord, now: Micros) -> SourceRecord:
    """See ``storing.Ledger.dated``; read outside any writing."""
    tx = Transaction(db=db, now=now)
    return history.dated(tx, record, _stood(tx, record)[1])


def places(db: apsw.Connection, record: SourceRecord, now: Micros) -> bool:
    """See ``storing.Ledger.places``; read outside any writing."""
    tx = Transaction(db=db, now=now)
    partition, was = _stood(tx, record)
    return was is not None and any(history.late(tx, record, was, partition))


def _stood(tx: Transaction, record: SourceRecord) -> tuple[int, history.Before | None]:
    """The partition, 0 for one that is not known yet, and how the document stands there."""
    row = tx.row(COMMON["find_partition"], record.key.tenant_id)
    partition = 0 if row is None else int(row[0])
    return partition, history.before(tx, record, partition)


def end_history(tx: Transaction, before: Micros) -> int:
    """Delete the entries of older revisions that were replaced before an instant; returns how many there were."""
    ended = history.ended_before(tx, before)
    for tenant, source, name, sequence in ended:
        key = DocumentKey(tenant_id=tenant, source_id=source, document_id=name)
        gone = SourceRecord(
            key=key, source_sequence=sequence + 1, operation="delete", delete_reason=history.EXPIRED
        )
        accept(tx, gone, "")
    return len(ended)


def _settled(tx: Transaction, record: SourceRecord, manifest_hash: str, partition: int) -> Decision:
    """One document, by itself."""
    row = tx.row(SQL["head"], partition, record.key.source_id, record.key.document_id)
    new = head_of(record, manifest_hash)
    decision = decide(_head(row), new)
    if decision.action in ("noop", "stale_ignored"):
        return decision
    record_accepted(tx, decision.action, record.key, new)
    if row is None and decision.action == "created":
        _create(tx, record, new, partition)
        return decision
    document = _document(tx, record, partition, row)
    if decision.action == "deleted":
        _delete(tx, record, document)
    elif decision.writes_state:
        _write_state(tx, record, new, (partition, document))
    else:
        tx.run(SQL["advance"], new.source_sequence, new.build_state_hash, record.run_id, document)
    if decision.action == "deleted" or decision.access_changed:
        is_delete = decision.action == "deleted"
        note(tx, "delete" if is_delete else "access", document, record.delete_reason if is_delete else None)
    if row is not None and decision.needs_projection:
        visible.refresh(tx, document)
        enqueue(tx, document, same=decision.action == "reprocessed")
    return decision


def head(db: apsw.Connection, key: DocumentKey) -> Head | None:
    """The newest accepted state of a document, read outside any writing."""
    partition = db.execute(COMMON["find_partition"], (key.tenant_id,)).fetchone()
    if partition is None:
        return None
    return _head(db.execute(SQL["head"], (partition[0], key.source_id, key.document_id)).fetchone())


def check(record: SourceRecord) -> None:
    """Records are validated at the edge; what would break a rule of the store is refused here as well."""
    if record.source_sequence < 1:
        raise InputError("source_sequence must be at least 1.")
    if record.operation == "delete":
        if record.delete_reason is None:
            raise InputError("A delete needs a reason.")
    elif record.access is None or record.description is None:
        raise InputError("An upsert needs an access list and a description.")
    elif not record.access.allow:
        raise InputError("allowed_groups must not be empty.")


def partition_id(tx: Transaction, name: str) -> int:
    number = tx.known.get(("partition", name))
    if number is None:
        row = tx.row(COMMON["find_partition"], name)
        number = row[0] if row is not None else tx.insert(COMMON["add_partition"], name)
        tx.known["partition", name] = number
    return int(number)


def _head(row: tuple[Any, ...] | None) -> Head | None:
    if row is None:
        return None
    _, operation, sequence, state, build, access_digest, content_key, reason, _ = row
    return Head(
        operation=operation,
        source_sequence=sequence,
        source_state_hash=state,
        build_state_hash=build,
        access_digest=access_digest,
        content_digest=content_key,
        delete_reason=reason,
    )


def _document(tx: Transaction, record: SourceRecord, partition: int, row: tuple[Any, ...] | None) -> int:
    if row is not None:
        return int(row[0])
    key = record.key
    return tx.insert(
        SQL["add_document"], partition, key.source_id, key.document_id, record.source_sequence, tx.now
    )


def _delete(tx: Transaction, record: SourceRecord, document: int) -> None:
    sequence, reason, run = record.source_sequence, record.delete_reason, record.run_id
    tx.run(SQL["set_deleted"], sequence, reason, run, tx.now, document)
    tx.run(SQL["add_tombstone"], document, sequence, reason, run, tx.now)
    tx.run(SQL["withdraw"], document)


def _create(tx: Transaction, record: SourceRecord, new: Head, partition: int) -> None:
    """A document that was never seen: nothing of it can be stored, served or waiting yet."""
    document = _document(tx, record, partition, None)
    revision = _add_revision(tx, record, new, document)
    access = access_id(tx, record.access, new.access_digest, partition) if record.access else None
    _set_head(tx, record, new, (document, revision, access))
    enqueue_new(tx, document, revision, access)


def _write_state(tx: Transaction, record: SourceRecord, new: Head, place: tuple[int, int]) -> None:
    partition, document = place
    revision = _revision(tx, record, new, document)
    access = access_id(tx, record.access, new.access_digest, partition) if record.access else None
    fold(tx, place, access)
    _set_head(tx, record, new, (document, revision, access))


def _set_head(
    tx: Transaction, record: SourceRecord, new: Head, pointers: tuple[int, int, int | None]
) -> None:
    """``pointers``: the document, its revision and its access."""
    document, revision, access = pointers
    tx.run(
        SQL["set_head"],
        new.source_sequence,
        revision,
        access,
        new.access_digest,
        new.content_digest,
        new.source_state_hash,
        new.build_state_hash,
        record.run_id,
        tx.now,
        document,
    )


def _revision(tx: Transaction, record: SourceRecord, new: Head, document: int) -> int:
    """The revision with this content and description; a change of access alone finds the one it had."""
    row = tx.row(SQL["find_revision"], document, new.content_digest)
    if row is None:
        return _add_revision(tx, record, new, document)
    _add_original(tx, record, int(row[0]))
    return int(row[0])


def _add_revision(tx: Transaction, record: SourceRecord, new: Head, document: int) -> int:
    described = encode_description(record.description) if record.description else ""
    digests = (new.content_digest, record.content_sha256)
    revision = tx.insert(SQL["add_revision"], document, *digests, described, tx.now)
    _add_original(tx, record, revision)
    return revision


def _add_original(tx: Transaction, record: SourceRecord, revision: int) -> None:
    tx.run(SQL["add_original"], *original(record, revision))


def original(record: SourceRecord, revision: int) -> tuple[int, int, bytes, str | None]:
    """The row of ``originals``: text that is the bytes in UTF-8 is not kept twice."""
    textual = record.text is not None
    same = record.text is not None and record.text.encode("utf-8") == record.content
    return revision, int(textual), record.content, None if same else record.text


def fold(tx: Transaction, place: tuple[int, int], access: int | None) -> None:
    """Keep what a change of access has narrowed, when another one comes before it was acknowledged.

    The served side then stands for both: without this, text that was revoked would be shown again, before it
    is replaced, by a later change that admits the same readers to other text.
    """
    partition, document = place
    for row in tx.rows(SQL["unacknowledged"], document, access):
        projection, content_sha256, description, *columns = row
        narrowed = meet(decode_access(tuple(columns[:7])), decode_access(tuple(columns[7:])))
        digest = narrowed.digest()
        state = state_hash_of(content_sha256, digest, decode_description(description).digest())
        tx.run(SQL["narrow"], access_id(tx, narrowed, digest, partition), digest, state, projection)
        record_event(tx, "narrowed", document, state=state)


def access_id(tx: Transaction, access: Access, digest: str | None, partition: int) -> int:
    known = tx.known.get((partition, digest))
    if known is not None:
        return int(known)
    row = tx.row(SQL["find_access"], partition, digest)
    if row is not None:
        number = int(row[0])
    else:
        state = (access.status, access.effective_from, access.effective_to, int(access.trusted))
        number = tx.insert(SQL["add_access"], partition, digest, _class(tx, access, partition), *state)
    tx.known[partition, digest] = number
    return number


def _class(tx: Transaction, access: Access, partition: int) -> int:
    digest = class_digest(access.access_class)
    row = tx.row(SQL["find_class"], partition, digest)
    if row is not None:
        return int(row[0])
    lists = (encode(list(access.allow)), encode(list(access.deny)))
    return tx.insert(SQL["add_class"], partition, digest, access.parent, *lists)
