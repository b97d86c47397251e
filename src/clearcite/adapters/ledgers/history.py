"""Older revisions of a source that keeps them, so that a question about the past is answered from what was current.

An older revision is an entry of its own: a document whose id no source can give, in force from when it was current to
when the next one was. So everything that holds for documents holds for it: build, access, check, purge, generations.
Its window is its own; who may read it is judged as for its document, now: each change of access, and each delete,
goes on to the entries in the same transaction.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from clearcite.adapters.ledgers.codec import decode_access, decode_description
from clearcite.adapters.ledgers.queries import load
from clearcite.domain.lifecycle import Decision, head_of

if TYPE_CHECKING:
    from clearcite.adapters.ledgers.writer import Transaction
    from clearcite.domain.access import Access, Micros
    from clearcite.domain.corpus import DeleteReason, DocumentKey, SourceRecord

SQL = load("history")

EXPIRED: DeleteReason = "retention_expired"


class Before(Struct, frozen=True, kw_only=True):
    """A document as it stood before a record. ``since``: when its newest revision began to be current."""

    document: int
    operation: str
    sequence: int
    revision: int | None
    content_key: str | None
    access: Access
    since: Micros

    @property
    def lives(self) -> bool:
        return self.operation == "upsert"

    @property
    def is_in_use(self) -> bool:
        """What is withheld as a draft or in an archive is in force at no time."""
        return self.lives and self.access.status == "published"


def before(tx: Transaction, record: SourceRecord, partition: int) -> Before | None:
    """None for a document that was never seen, or one that has no history and will have none by this record."""
    row = tx.row(SQL["before"], partition, record.key.source_id, record.key.document_id)
    if row is None or (not record.keeps_history and tx.row(SQL["has_history"], row[0]) is None):
        return None
    document, operation, sequence, revision, content_key, accepted_at, *columns = row
    if columns[1] is None:  # deleted before it ever was
        return None
    access = decode_access(tuple(columns))
    since = accepted_at if access.effective_from is None else access.effective_from
    return Before(
        document=document,
        operation=operation,
        sequence=sequence,
        revision=revision,
        content_key=content_key,
        access=access,
        since=since or 0,
    )


def dated(tx: Transaction, record: SourceRecord, was: Before | None) -> SourceRecord:
    """The record with a window that begins when its state did: never before it says, nor before its predecessor.

    A document that has a past goes on having a window when its source keeps none any more: in force at every moment,
    it would answer beside what was current then."""
    has_past = record.keeps_history or was is not None
    if not has_past or record.access is None or record.description is None:
        return record
    starts = [record.access.effective_from]
    goes_on = was is not None and was.is_in_use and record.access.status == "published"
    if was is not None and goes_on and was.content_key == head_of(record, "").content_digest:
        starts.append(_by_now(tx, was.access.effective_from))
    else:
        said = record.description.source_time
        starts.append(tx.now if said is None else min(said, tx.now))
        if was is not None:
            starts.append(_by_now(tx, was.since if was.lives else _newest_end(tx, was.document)))
    start = max((moment for moment in starts if moment is not None), default=None)
    return replace(record, access=replace(record.access, effective_from=start))


def followers(
    tx: Transaction, record: SourceRecord, was: Before, decision: Decision
) -> Iterator[SourceRecord]:
    """What has to happen to entries because of a record that was accepted, in this order. ``record`` is dated."""
    if record.keeps_history or decision.action == "deleted":
        yield from _ended(tx, record, was, decision)
    if decision.action == "deleted":
        yield from _gone(tx, record, was)
        return
    if decision.access_changed and record.access is not None:
        again = decision.action == "restored" and record.keeps_history
        if again or _without_window(record.access) != _without_window(was.access):
            yield from _readmitted(tx, record, was, again=again)
    if decision.writes_state and record.access is not None:
        yield from _cut_short(tx, record, was)


def _ended(tx: Transaction, record: SourceRecord, was: Before, decision: Decision) -> Iterator[SourceRecord]:
    """The entry of the revision that was current until now. What was withheld then was never in force; what is withheld
    from now on was until now."""
    is_withheld = record.access is not None and record.access.status != "published"
    ends_it = decision.action in ("revised", "deleted") or (decision.access_changed and is_withheld)
    if not ends_it or not was.is_in_use:
        return
    if decision.action == "deleted" and not (
        record.keeps_history or tx.row(SQL["has_history"], was.document)
    ):
        return
    ends: list[Micros | None] = [was.access.effective_to]
    if decision.action == "deleted":
        ends.append(_end_of(tx, record))
    elif record.access is not None:
        ends.append(record.access.effective_from)
    end = min(moment for moment in ends if moment is not None)
    if end <= was.since or was.revision is None:
        return
    entry = replace(
        record,
        key=record.key.at(was.since),
        operation="upsert",
        delete_reason=None,
        source_sequence=was.sequence if decision.action == "deleted" else record.source_sequence,
        access=replace(record.access or was.access, effective_from=was.since, effective_to=end),
    )
    yield from _with_content(tx, entry, was.revision)


def _gone(tx: Transaction, record: SourceRecord, was: Before) -> Iterator[SourceRecord]:
    """The entries of a document that is deleted go with it. They come back with it if nothing worse was said than that
    its source had it no longer. What was to be in force after the delete ends for good: a plan, and until when the
    revision before the plan was to hold."""
    end_of_all = max(_end_of(tx, record), min(was.since, tx.now))
    for name, operation, sequence, start, end, revision in tx.rows(SQL["entries"], was.document):
        gone = replace(
            record,
            key=replace(record.key, document_id=name),
            source_sequence=max(record.source_sequence, sequence + 1),
            keeps_history=False,
        )
        if operation == "delete":
            if record.delete_reason != "source_deleted":
                yield gone
            continue
        if start < end_of_all < end:
            window = replace(was.access, effective_from=start, effective_to=end_of_all)
            shorter = replace(gone, operation="upsert", delete_reason=None, access=window)
            yield from _with_content(tx, shorter, revision)
            gone = replace(gone, source_sequence=gone.source_sequence + 1)
        yield gone if start < end_of_all else replace(gone, delete_reason=EXPIRED)


def late(tx: Transaction, record: SourceRecord, was: Before, partition: int) -> Iterator[SourceRecord]:
    """What becomes of entries because of a record that came after a newer one, not dated: it stands between its
    neighbours in time, as if it had come in its turn. Only where its source says when its state began, and only what
    no delete, purge or retention has ended since: nothing of that comes back."""
    start = _start_of(tx, record)
    if not (record.keeps_history and was.lives) or start is None or start >= was.since:
        return
    place = (partition, record.key.source_id, record.key.at(start).document_id)
    if tx.row(SQL["was_deleted_after"], was.document, record.source_sequence) or tx.row(
        SQL["is_taken"], *place
    ):
        return
    if tx.row(SQL["is_known"], was.document, record.source_sequence) is not None:
        return
    entries = tx.rows(SQL["entries"], was.document)
    (known,) = tx.row(SQL["next_state"], was.document, record.source_sequence, start) or (None,)
    later = [begun for _, _, _, begun, _, _ in entries if begun > start]
    end = min([was.since, *later, *([] if known is None else [known])])
    for entry in entries:
        if entry[1] == "upsert" and entry[3] <= start < entry[4]:
            yield from _parted(tx, replace(record, keeps_history=False), was, (entry, start, end, partition))
    said = record.access
    if said is not None and said.status == "published":
        until = end if said.effective_to is None else min(end, said.effective_to)
        window = replace(was.access, effective_from=start, effective_to=until)
        if start < until:
            between = replace(record, source_sequence=was.sequence, keeps_history=False)
            yield replace(between, key=record.key.at(start), access=window)


def _parted(
    tx: Transaction, record: SourceRecord, was: Before, place: tuple[tuple[Any, ...], Micros, Micros, int]
) -> Iterator[SourceRecord]:
    """An entry that a late state stands inside of: it ends there, and where its text came back after that, as a state
    that was taken before says, it begins again. ``place``: the entry, start and end of the late state, partition."""
    (name, _, sequence, begun, ended, revision), start, end, partition = place
    upsert = replace(record, operation="upsert", delete_reason=None)
    cut = replace(was.access, effective_from=begun, effective_to=start)
    key = replace(record.key, document_id=name)
    yield from _with_content(tx, replace(upsert, key=key, source_sequence=sequence + 1, access=cut), revision)
    again = record.key.at(end)
    is_taken = tx.row(SQL["is_taken"], partition, again.source_id, again.document_id)
    if end < ended and is_taken is None:
        rest = replace(was.access, effective_from=end, effective_to=ended)
        yield from _with_content(
            tx, replace(upsert, key=again, source_sequence=was.sequence, access=rest), revision
        )


def _start_of(tx: Transaction, record: SourceRecord) -> Micros | None:
    """When the state of a record began, by its source; None if it does not say."""
    described = record.description
    said = record.source_time if described is None else described.source_time
    if said is None:
        return None
    own = None if record.access is None else record.access.effective_from
    return min(said, tx.now) if own is None else max(min(said, tx.now), own)


def _cut_short(tx: Transaction, record: SourceRecord, was: Before) -> Iterator[SourceRecord]:
    """Entries that were to be in force until a day to come, where the document is in force before that day now."""
    access: Any = record.access
    begins = access.effective_from
    for name, operation, sequence, start, end, revision in tx.rows(SQL["entries"], was.document):
        if operation != "upsert" or end <= begins:
            continue
        entry = replace(
            record,
            key=replace(record.key, document_id=name),
            source_sequence=max(record.source_sequence, sequence + 1),
        )
        if start < begins:
            limits = replace(access, effective_from=start, effective_to=begins)
            yield from _with_content(tx, replace(entry, access=limits), revision)
        else:
            yield replace(
                entry,
                operation="delete",
                delete_reason=EXPIRED,
                content=b"",
                text=None,
                access=None,
                description=None,
                keeps_history=False,
            )


def _by_now(tx: Transaction, moment: Micros | None) -> Micros | None:
    """A beginning that was planned and has not come holds nothing back."""
    return None if moment is None else min(moment, tx.now)


def _end_of(tx: Transaction, record: SourceRecord) -> Micros:
    return tx.now if record.source_time is None else min(record.source_time, tx.now)


def _readmitted(tx: Transaction, record: SourceRecord, was: Before, *, again: bool) -> Iterator[SourceRecord]:
    """Every entry with who may read its document now. ``again``: those too that went with it."""
    access: Any = record.access
    for name, operation, sequence, start, end, revision in tx.rows(SQL["entries"], was.document):
        if operation == "upsert" or again:
            entry = replace(
                record,
                key=replace(record.key, document_id=name),
                source_sequence=max(record.source_sequence, sequence + 1),
                access=replace(access, effective_from=start, effective_to=end),
            )
            yield from _with_content(tx, entry, revision)


def _with_content(tx: Transaction, entry: SourceRecord, revision: int | None) -> Iterator[SourceRecord]:
    """Nothing where the content has been erased."""
    row = None if revision is None else tx.row(SQL["content"], revision)
    if row is not None:
        description, textual, content, text = row
        decoded = content.decode("utf-8") if textual and text is None else text
        yield replace(
            entry,
            content=content,
            text=decoded,
            description=decode_description(description),
            keeps_history=False,
        )


def remember(tx: Transaction, record: SourceRecord, partition: int) -> None:
    """That this state was taken, in its turn or late, not dated: sent again it is no news."""
    if record.keeps_history:
        place = (partition, record.key.source_id, record.key.document_id)
        began = _start_of(tx, record)
        tx.run(SQL["add_state"], *place, record.source_sequence, tx.now if began is None else began)


def belong(tx: Transaction, document: int, partition: int, entry: DocumentKey) -> None:
    tx.run(SQL["belongs_to"], document, partition, entry.source_id, entry.document_id)


def ended_before(tx: Transaction, instant: Micros) -> list[tuple[str, str, str, int]]:
    """Entries that live and were current before an instant: tenant, source, id and sequence."""
    return [(row[0], row[1], row[2], row[3]) for row in tx.rows(SQL["ended_before"], instant)]


def _newest_end(tx: Transaction, document: int) -> Micros | None:
    row = tx.row(SQL["newest_end"], document)
    return None if row is None else row[0]


def _without_window(access: Access) -> Access:
    return replace(access, effective_from=None, effective_to=None)
