"""What is left to do for a document, a generation each: the difference between its head and what is served.

There is at most one row a document and generation. A newer event takes its place under a new number, so a
worker that still holds the older one publishes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clearcite.adapters.ledgers.queries import load

if TYPE_CHECKING:
    from clearcite.adapters.ledgers.writer import Transaction

SQL = load("enqueue")


def enqueue(tx: Transaction, document: int, *, same: bool = False) -> None:
    """Put, replace or drop the outbox rows of a document, whose head has just been written.

    ``same``: it is what it was, under another manifest. Then a row that asks for it stays, with its lease: after a
    change of the manifest every document waits, and its source sends each again while workers build it.
    """
    head = tx.row(SQL["head_pointers"], document)
    if head is None:
        return
    for row in tx.rows(SQL["served_and_waiting"], document):
        generation, revision, access, withdrawn, event, since, failed, *asked = row
        kind = _kind(head, (revision, access, withdrawn))
        if kind is not None:
            wanted = [kind, None, None] if kind == "delete" else [kind, *head[1:]]
            if not same or failed or asked != wanted:
                tx.run(SQL["put_event"], generation, document, *wanted, since or tx.now, tx.now)
        elif event is not None:
            tx.run(SQL["drop_event"], event)


def enqueue_new(tx: Transaction, document: int, revision: int, access: int | None) -> None:
    """A document that has just been created waits in every active generation; nothing of it can be served."""
    for generation in _active(tx):
        tx.run(SQL["put_new"], generation, document, revision, access, tx.now, tx.now)


def enqueue_arrived(tx: Transaction, first: int, last: int) -> None:
    """``enqueue_new`` for the documents of these numbers."""
    for generation in _active(tx):
        tx.run(SQL["put_arrived"], generation, tx.now, first, last)


def _active(tx: Transaction) -> tuple[int, ...]:
    found = tx.known.get("active generations")
    if found is None:
        found = tuple(row[0] for row in tx.rows(SQL["active"]))
        tx.known["active generations"] = found
    return tuple(found)


def _kind(
    head: tuple[str, int | None, int | None], served: tuple[int | None, int | None, int | None]
) -> str | None:
    operation, revision, access = head
    served_revision, served_access, withdrawn = served
    if operation == "delete":
        return None if served_revision is None else "delete"
    if withdrawn or served_revision != revision:
        return "project"
    return None if served_access == access else "access"
