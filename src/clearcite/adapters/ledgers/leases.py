"""Handing out the outbox: leases with an end, a fencing token, retries with backoff, quarantine at last.

An attempt is counted when it starts, so that a document that kills its worker is given up as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from clearcite.adapters.ledgers.codec import read_description
from clearcite.adapters.ledgers.generations import active_id
from clearcite.adapters.ledgers.queries import load
from clearcite.domain.corpus import DocumentKey
from clearcite.domain.digest import digest
from clearcite.errors import IntegrityFault
from clearcite.storing import Job

if TYPE_CHECKING:
    from clearcite.adapters.ledgers.writer import Transaction
    from clearcite.domain.access import Micros

SQL = load("outbox")

MAX_ATTEMPTS = 6
FIRST_DELAY: Micros = 1_000_000
MAX_BYTES = 500_000  # of content handed out at once, and published at once
ALONE_AFTER = 3  # a row whose attempts were lost this often may be what kills the worker
NO_SLOT = -1


class Ready(NamedTuple):
    """One row that may be leased, in the order of the query ``ready``. Content is read for ``project`` only."""

    event_id: int
    fence: int
    attempts: int
    kind: Any
    partition: int
    tenant_id: str
    source_id: str
    document_id: str
    served_slot: int | None
    content_sha256: str | None
    description: str | None
    textual: int | None
    content: bytes | None
    text: str | None


def claim(tx: Transaction, generation: str, limit: int, lease: tuple[str, Micros]) -> tuple[Job, ...]:
    """Lease up to ``limit`` rows, oldest first. ``lease``: the owner and the time he has."""
    number = active_id(tx, generation)
    tx.run(SQL["give_up_lost"], tx.now, number, MAX_ATTEMPTS)
    rows = _bounded(Ready(*row) for row in tx.stream(SQL["ready"], number, tx.now, limit))
    slots = _take_slots(tx, number, rows)
    jobs = tuple(_job(row, generation, slots) for row in rows)
    owner, duration = lease
    until = tx.now + duration
    tx.run_many(
        SQL["lease"],
        (
            (job.fence, job.attempts, owner, until, job.slot if job.kind == "project" else None, job.event_id)
            for job in jobs
        ),
    )
    return jobs


def _bounded(rows: Iterable[Ready]) -> list[Ready]:
    """The first rows up to the byte limit, at least one; a suspicious row comes alone."""
    chosen: list[Ready] = []
    size = 0
    for row in rows:
        size += len(row.content or b"") + len(row.text or "")
        if chosen and (size > MAX_BYTES or row.attempts >= ALONE_AFTER):
            break
        chosen.append(row)
        if row.attempts >= ALONE_AFTER:
            break
    return chosen


def _take_slots(tx: Transaction, generation: int, rows: Sequence[Ready]) -> dict[int, int]:
    """A fresh slot for each row to project, by event id."""
    slots: dict[int, int] = {}
    projected = [row for row in rows if row.kind == "project"]
    for partition in dict.fromkeys(row.partition for row in projected):
        events = [row.event_id for row in projected if row.partition == partition]
        first = tx.row(SQL["take_slots"], generation, partition, len(events))
        if first is None:
            raise IntegrityFault("The store numbers no slots.")
        slots.update((event, first[0] + offset) for offset, event in enumerate(events))
    return slots


def _job(row: Ready, generation: str, slots: dict[int, int]) -> Job:
    served = NO_SLOT if row.served_slot is None else row.served_slot
    content, text = _content(row) if row.kind == "project" else (b"", None)
    return Job(
        event_id=row.event_id,
        fence=row.fence + 1,
        generation=generation,
        kind=row.kind,
        key=DocumentKey(tenant_id=row.tenant_id, source_id=row.source_id, document_id=row.document_id),
        slot=slots.get(row.event_id, served),
        attempts=row.attempts + 1,
        content=content,
        text=text,
        content_sha256=row.content_sha256 or "",
        description=None if row.description is None else read_description(row.description),
    )


def _content(row: Ready) -> tuple[bytes, str | None]:
    if row.content is None:
        raise IntegrityFault("The store lost the content of a revision.")
    if not row.textual:
        return row.content, None
    try:
        return row.content, row.content.decode("utf-8") if row.text is None else row.text
    except UnicodeDecodeError as error:
        raise IntegrityFault("Stored content is damaged.") from error


def fail(tx: Transaction, job: Job, reason: str, *, final: bool = False) -> None:
    """End an attempt: again after 1 s × 2^n with jitter, or quarantined: after the sixth, or a ``final`` one."""
    if final or job.attempts >= MAX_ATTEMPTS:
        tx.run(SQL["give_up"], reason, tx.now, job.event_id, job.fence)
    else:
        again = tx.now + delay(job.event_id, job.attempts)
        tx.run(SQL["retry"], reason, again, job.event_id, job.fence)


def delay(event_id: int, attempts: int) -> Micros:
    """Before the next attempt: 1 s × 2^(attempts − 1), and up to a quarter more, fixed by the event."""
    base = FIRST_DELAY << (attempts - 1)
    return base + int(digest("jitter", event_id, attempts)[:8], 16) % (base // 4)


def release(tx: Transaction, jobs: Sequence[Job]) -> None:
    """Give leases back untouched; the attempt is not counted."""
    for job in jobs:
        tx.run(SQL["release"], tx.now, job.event_id, job.fence)
