"""Documents that were never seen, written together.

Nothing of such a document is stored, served or waiting, so one statement for a run of them does what one for each
would, in the same order and with the same numbers. Whatever is not that plain is left to ``intake.accept``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from clearcite.adapters.ledgers import history
from clearcite.adapters.ledgers.codec import encode, encode_description
from clearcite.adapters.ledgers.enqueue import enqueue_arrived
from clearcite.adapters.ledgers.events import accepted, record_all
from clearcite.adapters.ledgers.intake import SQL, access_id, check, original, partition_id
from clearcite.domain.lifecycle import Decision, Head, decide, head_of
from clearcite.errors import InputError
from clearcite.storing import Applied

if TYPE_CHECKING:
    from clearcite.adapters.ledgers.writer import Transaction
    from clearcite.domain.corpus import DocumentKey, SourceRecord


class _Arrival(NamedTuple):
    record: SourceRecord
    new: Head
    decision: Decision
    partition: int
    access: int


def take(tx: Transaction, records: Sequence[SourceRecord], manifest_hash: str) -> list[Applied]:
    """Accept the first records, up to one that is not about a document never seen. None of them is accepted if one must
    be refused: then each has to be judged by itself."""
    try:
        with tx.savepoint():
            run = list(_arrivals(tx, records, manifest_hash))
            if run:
                _write(tx, run)
    except (InputError, UnicodeEncodeError, OverflowError):
        return []
    return [
        Applied(key=item.record.key, source_sequence=item.record.source_sequence, decision=item.decision)
        for item in run
    ]


def _arrivals(tx: Transaction, records: Sequence[SourceRecord], manifest_hash: str) -> Iterator[_Arrival]:
    for record in _unseen(tx, records):
        if record.access is None:
            return
        check(record)
        partition = partition_id(tx, record.key.tenant_id)
        dated = history.dated(tx, record, None)
        new = head_of(dated, manifest_hash)
        access = access_id(tx, dated.access or record.access, new.access_digest, partition)
        yield _Arrival(dated, new, decide(None, new), partition, access)


def _unseen(tx: Transaction, records: Sequence[SourceRecord]) -> Sequence[SourceRecord]:
    """The first records, up to one that is not about a document never seen."""
    places: dict[DocumentKey, int] = {}
    named: dict[tuple[str, str], tuple[list[int], list[str]]] = {}
    for place, record in enumerate(records):
        key = record.key
        if record.operation != "upsert" or places.setdefault(key, place) != place:
            break
        numbers, names = named.setdefault((key.tenant_id, key.source_id), ([], []))
        numbers.append(place)
        names.append(key.document_id)
    end = len(places)
    for source, (numbers, names) in named.items():
        row = tx.row(SQL["first_seen"], encode(names), *source)
        if row is not None and row[0] is not None:
            end = min(end, numbers[row[0]])
    return records[:end]


def _write(tx: Transaction, run: Sequence[_Arrival]) -> None:
    record_all(tx, [accepted(item.decision.action, item.record.key, item.new) for item in run])
    document, revision = tx.number_after(SQL["last_document"]), tx.number_after(SQL["last_revision"])
    tx.run_many(SQL["add_arrival"], (_document(tx, document + i, item) for i, item in enumerate(run)))
    tx.run_many(
        SQL["add_arrived_revision"],
        (
            (
                revision + i,
                document + i,
                item.new.content_digest,
                item.new.content_sha256,
                encode_description(item.record.description) if item.record.description else "",
                tx.now,
            )
            for i, item in enumerate(run)
        ),
    )
    tx.run_many(SQL["add_original"], (original(item.record, revision + i) for i, item in enumerate(run)))
    last = document + len(run) - 1
    tx.run(SQL["point_at_revisions"], revision - document, document, last)
    enqueue_arrived(tx, document, last)
    for item in run:
        history.remember(tx, item.record, item.partition)


def _document(tx: Transaction, number: int, item: _Arrival) -> tuple[Any, ...]:
    record, new = item.record, item.new
    return (
        number,
        item.partition,
        record.key.source_id,
        record.key.document_id,
        new.source_sequence,
        item.access,
        new.access_digest,
        new.content_digest,
        new.source_state_hash,
        new.build_state_hash,
        record.run_id,
        tx.now,
    )
