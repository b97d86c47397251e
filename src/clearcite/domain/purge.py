"""Erasing: what is chosen, what was erased, and the receipt that says of every store how it was left."""

from typing import Literal

from msgspec import Struct

from clearcite.domain.access import Micros
from clearcite.domain.corpus import DocumentKey

StoreState = Literal["erased", "absent", "unsupported", "remains", "in_use"]
"""``absent``: read, and nothing of it stands there; or nothing is ever written there. ``erased``: something stood
there, and it was read again after.
``unsupported``: clearcite cannot erase or read it. ``remains`` and ``in_use``: not done, and ``detail`` says why."""


class Selection(Struct, frozen=True, kw_only=True):
    """What to erase: deleted documents by name, all that were deleted before an instant, revisions of living
    documents that were accepted before an instant and are neither the newest nor served, and traces of questions
    asked before an instant. ``policy``: the days of the rule of retention that chose it, empty for none."""

    keys: tuple[DocumentKey, ...] = ()
    deleted_before: Micros | None = None
    revisions_before: Micros | None = None
    traces_before: Micros | None = None
    policy: tuple[tuple[str, int], ...] = ()


class Erasable(Struct, frozen=True, kw_only=True):
    """Revisions of one document that may be erased. ``deleted``: they are all it has."""

    document: int
    key: DocumentKey
    source_sequence: int
    revisions: tuple[int, ...]
    deleted: bool


class Erased(Struct, frozen=True, kw_only=True):
    """What was erased of one document."""

    key: DocumentKey
    source_sequence: int
    revisions: int
    deleted: bool


class StoreLine(Struct, frozen=True, kw_only=True):
    """One store of the receipt."""

    store: str
    state: StoreState
    detail: str = ""

    @property
    def is_done(self) -> bool:
        return self.state in ("erased", "absent", "unsupported")


class Receipt(Struct, frozen=True, kw_only=True):
    """What a purge did and how it was checked: ``fragments`` of the erased texts were looked for in every byte of
    ``files`` files. ``waiting``: deleted documents, and older revisions that were kept, left out
    because their deletion is not projected yet: then it is not ``complete``."""

    purge: int
    store_id: str
    at: Micros
    documents: tuple[Erased, ...]
    waiting: int
    stores: tuple[StoreLine, ...]
    fragments: int
    files: int
    bytes: int
    keeps: tuple[str, ...]
    not_proven: tuple[str, ...]
    complete: bool
    schema: str = "clearcite-purge-receipt-1"
