"""The both-sides rule, written down: one row a slot says what the served *and* the head state admit.

A change that narrows acts here, in the transaction that accepts it, because the head side already denies;
what it widens waits for the served side, which only ``publish`` moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from clearcite.adapters.ledgers.queries import load

if TYPE_CHECKING:
    from clearcite.adapters.ledgers.writer import Transaction

SQL = load("visible")

NOT_PUBLISHED = 1
QUARANTINED = 2


def refresh(tx: Transaction, document: int) -> None:
    """Append a row for every generation that serves the document, where what it may show has changed."""
    for row in tx.rows(SQL["states_of_document"], document):
        generation, partition, slot, *states = row
        _append(tx, (generation, partition, slot), row_for(document, states))


def begin(tx: Transaction, first: int, last: int) -> None:
    """The first row of each of these projections: their slots have none yet."""
    position = tx.position()
    rows = tx.rows(SQL["states_of_projections"], first, last)
    tx.run_many(SQL["put_row"], ((*row[:3], position, *row_for(row[3], row[4:])) for row in rows))


def row_for(document: int, states: Sequence[Any]) -> tuple[Any, ...]:
    """What a row says, from (withdrawn, supersedes, operation, quarantined) and both states: class, status,
    window, trust."""
    return (document, *_judged(tuple(states)))


@lru_cache(maxsize=256)
def _judged(states: tuple[Any, ...]) -> tuple[Any, ...]:
    """Nearly all documents of a run are alike in this."""
    withdrawn, supersedes, operation, quarantined, *sides = states
    served, head = sides[:5], sides[5:]
    unpublished = withdrawn or operation == "delete" or not served[1] == head[1] == "published"
    distrusted = quarantined or not served[4] or not head[4]
    reasons = (NOT_PUBLISHED if unpublished else 0) | (QUARANTINED if distrusted else 0)
    window = (_latest(served[2], head[2]), _earliest(served[3], head[3]))
    return (served[0], head[0], *window, int(not reasons), reasons, 0, supersedes)


def retire(tx: Transaction, generation: int, partition: int, slot: int) -> None:
    """The slot serves nothing from now on; it is never used again."""
    current = tx.row(SQL["current_row"], generation, partition, slot)
    if current is not None:
        document, served, head = current[1:4]
        _append(
            tx, (generation, partition, slot), (document, served, head, None, None, 0, NOT_PUBLISHED, 1, 0)
        )


def _append(tx: Transaction, place: tuple[int, int, int], values: tuple[Any, ...]) -> None:
    current = tx.row(SQL["current_row"], *place)
    if current is not None and current[1:] == values:
        return
    position = tx.position()
    if current is not None:
        tx.run(SQL["close_row"], position, *place, current[0])
    tx.run(SQL["put_row"], *place, position, *values)  # takes the place of a row of this same transaction


def _latest(one: int | None, other: int | None) -> int | None:
    return max((value for value in (one, other) if value is not None), default=None)


def _earliest(one: int | None, other: int | None) -> int | None:
    return min((value for value in (one, other) if value is not None), default=None)
