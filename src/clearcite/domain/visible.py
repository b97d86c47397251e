"""What decides about the builds of documents, slot by slot, as a ledger tells it.

Rows come as columns, because a store is opened by reading one for each document: an object for each of them would cost
more than the reading.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

if TYPE_CHECKING:
    from clearcite.domain.access import AccessClass, Micros

ALWAYS: Micros = -(2**63)
NEVER: Micros = 2**63 - 1
"""Bounds of a window that is open, where a column of integers needs one."""

Column = NDArray[np.int64]


class VisibilityRow(NamedTuple):
    """What decides about one slot from ``position`` on. Both sides must admit: the served and the head state.

    ``present`` is False when nothing may be read whatever the caller (deleted, not published, not trusted,
    superseded, quarantined). ``supersedes``: its description names documents that it takes the place of."""

    slot: int
    document: int
    position: int
    served: AccessClass
    head: AccessClass
    valid_from: Micros | None
    valid_to: Micros | None
    present: bool
    reasons: tuple[str, ...] = ()
    supersedes: bool = False


class VisibilityRows(Struct, frozen=True, kw_only=True, eq=False):
    """Rows of one partition, a column a field. ``served`` and ``head`` number ``classes``, ``why`` numbers
    ``reasons``; windows that are open have the bounds ``ALWAYS`` and ``NEVER``. Iterating gives the rows."""

    slot: Column
    document: Column
    position: Column
    valid_from: Column
    valid_to: Column
    present: Column
    why: Column
    served: Column
    head: Column
    supersedes: Column
    classes: Mapping[int, AccessClass]
    reasons: Mapping[int, tuple[str, ...]]

    def __len__(self) -> int:
        return len(self.slot)

    def __iter__(self) -> Iterator[VisibilityRow]:
        columns = (self.slot, self.document, self.position, self.valid_from, self.valid_to)
        marks = (self.present, self.why, self.served, self.head, self.supersedes)
        lists = [column.tolist() for column in (*columns, *marks)]
        for slot, document, position, start, end, present, why, served, head, supersedes in zip(
            *lists, strict=True
        ):
            yield VisibilityRow(
                slot=slot,
                document=document,
                position=position,
                served=self.classes[served],
                head=self.classes[head],
                valid_from=None if start == ALWAYS else start,
                valid_to=None if end == NEVER else end,
                present=bool(present),
                reasons=self.reasons[why],
                supersedes=bool(supersedes),
            )
