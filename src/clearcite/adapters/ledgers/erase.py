"""Erasing content of the ledger. What stays: identity, sequence and tombstone, so that no older event comes back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import apsw

from clearcite.adapters.ledgers.codec import decode, encode
from clearcite.adapters.ledgers.events import record
from clearcite.adapters.ledgers.journal import note, revision_digest
from clearcite.adapters.ledgers.queries import load
from clearcite.domain.corpus import DocumentKey
from clearcite.domain.purge import Erasable, Erased, Selection
from clearcite.errors import DependencyUnavailable, InputError, NotFound

if TYPE_CHECKING:
    from clearcite.adapters.ledgers.writer import Transaction

SQL = load("erase")

WAITING = "The deletion has not been projected yet. Work it off first: clearcite ingest"


def erasable(db: apsw.Connection, selection: Selection) -> tuple[list[Erasable], int]:
    """What a selection stands for, and how many deleted documents have to wait for their projection.

    Raises NotFound, InputError for a named document that is not deleted, DependencyUnavailable for one whose
    deletion has not been projected.
    """
    chosen: dict[int, Erasable] = {}
    waiting = 0
    for key in selection.keys:
        found = _named(db, key)
        chosen[found.document] = found
        for row in db.execute(SQL["history"], (found.document,)):
            if row[5]:
                raise DependencyUnavailable(WAITING)
            chosen[row[0]] = _erasable(row, deleted=True)
    if selection.deleted_before is not None:
        for row in db.execute(SQL["deleted"], (selection.deleted_before,)):
            if row[5]:
                waiting += 1
            else:
                chosen[row[0]] = _erasable(row, deleted=True)
    if selection.revisions_before is not None:
        for row in db.execute(SQL["old"], (selection.revisions_before,)):
            chosen[row[0]] = _erasable(row, deleted=False)
        for row in db.execute(SQL["history"], (None,)):
            if row[5]:
                waiting += 1
            else:
                chosen[row[0]] = _erasable(row, deleted=True)
    return list(chosen.values()), waiting


def _named(db: apsw.Connection, key: DocumentKey) -> Erasable:
    row = db.execute(SQL["one"], (key.tenant_id, key.source_id, key.document_id)).fetchone()
    if row is None:
        raise NotFound("There is no such document.")
    if row[7] != "delete":
        raise InputError("The document is not deleted. Delete it first: clearcite delete")
    if row[5]:
        raise DependencyUnavailable(WAITING)
    return _erasable(row, deleted=True)


def _erasable(row: Sequence[Any], *, deleted: bool) -> Erasable:
    return Erasable(
        document=row[0],
        key=DocumentKey(tenant_id=row[1], source_id=row[2], document_id=row[3]),
        source_sequence=row[4],
        revisions=tuple(decode(row[6])),
        deleted=deleted,
    )


def contents(db: apsw.Connection, item: Erasable) -> Iterator[tuple[str, bool, bytes, str | None]]:
    """Of each revision: its description as stored, whether it is text, its bytes, and the decoded text where that
    is kept beside them."""
    for revision in item.revisions:
        for description, textual, content, text in db.execute(SQL["content"], (revision,)):
            yield description, bool(textual), content or b"", text


def erase(tx: Transaction, items: Sequence[Erasable]) -> list[Erased]:
    """Erase what may still be erased: a document that came back meanwhile keeps what it needs."""
    done: list[Erased] = []
    for item in items:
        gone = [name for revision in item.revisions if (name := _erase_revision(tx, item, revision))]
        if gone:
            detail = None if item.deleted else encode(gone)
            note(tx, "purge" if item.deleted else "erase", item.document, detail)
            record(tx, "purged" if item.deleted else "erased", item.key, revisions=len(gone))
            done.append(
                Erased(
                    key=item.key,
                    source_sequence=item.source_sequence,
                    revisions=len(gone),
                    deleted=item.deleted,
                )
            )
    return done


def _erase_revision(tx: Transaction, item: Erasable, revision: int) -> str | None:
    """The digest that names what was erased."""
    row = tx.row(SQL["still_erasable"], item.document, revision)
    if row is None or row[1] or row[2] or (item.deleted and row[0] != "delete"):
        return None
    tx.run(SQL["drop_original"], revision)
    tx.run(SQL["drop_revision"], revision)
    return revision_digest(row[3])
