"""What took something away, as it leaves a store: small enough to be kept apart from every backup."""

from typing import Literal

from msgspec import Struct

from clearcite.domain.access import Access, Acl, Micros
from clearcite.domain.corpus import DocumentKey

EntryKind = Literal["access", "delete", "quarantine", "reinstate", "erase", "purge"]


class Entry(Struct, frozen=True, kw_only=True):
    """One change of one document, with its newest state then.

    ``access``: its list, also where only the list changed. ``detail``: the reason of a delete. ``revisions``: digests
    of the revisions that were erased while the document lived on.
    """

    number: int
    kind: EntryKind
    key: DocumentKey
    source_sequence: int
    at: Micros
    access: Access | None = None
    state_hash: str | None = None
    detail: str | None = None
    revisions: tuple[str, ...] = ()


class CollectionState(Struct, frozen=True, kw_only=True):
    """A collection's own list between two positions; ``to_position`` None: it holds now."""

    tenant_id: str
    path: str
    from_position: int
    to_position: int | None
    acl: Acl


class Journal(Struct, frozen=True, kw_only=True):
    """Everything that took something away from a store, up to entry ``number`` and ``position``."""

    store_id: str
    number: int
    position: int
    taken_at: Micros
    policy_revision: str | None
    entries: tuple[Entry, ...]
    collections: tuple[CollectionState, ...]
    schema: Literal["clearcite-journal-1"] = "clearcite-journal-1"


def agree(one: Journal, other: Journal) -> bool:
    """Whether both can be of one history: no number stands for two entries.

    A restore from a journal that was not the newest begins another future: what is taken away then gets numbers that
    stand for something else in a journal of the first one, and neither knows what the other does.
    """
    known = {entry.number: entry for entry in one.entries}
    return all(known.get(entry.number, entry) == entry for entry in other.entries)


class Reapplied(Struct, frozen=True, kw_only=True):
    """What a restore took away again. ``collections``: lists that were narrowed or removed; those that were made
    after the backup have to be set again."""

    deleted: int = 0
    narrowed: int = 0
    quarantined: int = 0
    collections: int = 0
    collections_to_set: tuple[str, ...] = ()
