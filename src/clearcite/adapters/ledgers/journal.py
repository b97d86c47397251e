"""What took something away from a document, in order: see the migration ``journal``."""

from __future__ import annotations

from clearcite.adapters.ledgers.queries import load
from clearcite.adapters.ledgers.writer import Transaction

SQL = load("journal")


def note(tx: Transaction, kind: str, document: int, detail: str | None = None) -> None:
    """Append an entry with the head of the document as it now is."""
    tx.run(SQL["note"], kind, document, detail, tx.now)
