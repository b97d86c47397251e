"""How far each source has been taken: cursor, coverage, what waits for an approval."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw

from clearcite.adapters.ledgers.intake import partition_id
from clearcite.adapters.ledgers.queries import load
from clearcite.domain.sources import SourceState
from clearcite.errors import NotFound

if TYPE_CHECKING:
    from clearcite.adapters.ledgers.writer import Transaction

SQL = load("sources")

_FIELDS = (
    *("tenant_id", "source_id", "kind", "cursor", "tried_at", "finished_at", "covered_at", "outcome"),
    *("refused", "withheld", "approved"),
)


def every(db: apsw.Connection) -> list[SourceState]:
    return [SourceState(**dict(zip(_FIELDS, row, strict=True))) for row in db.execute(SQL["all"])]


def put(tx: Transaction, state: SourceState) -> None:
    values = [getattr(state, name) for name in _FIELDS[1:-1]]
    tx.run(SQL["put"], partition_id(tx, state.tenant_id), *values)


def approve(tx: Transaction, place: tuple[str, str, str], up_to: int) -> None:
    if tx.row(SQL["approve"], *place, up_to) is None:
        raise NotFound("This source was never taken.")


def heads(db: apsw.Connection, tenant_id: str, source_id: str) -> dict[str, tuple[int, bool]]:
    rows = db.execute(SQL["heads"], (tenant_id, source_id))
    return {document: (sequence, bool(alive)) for document, sequence, alive in rows}
