"""The ledger as it stood at an earlier position, rebuilt over what is stored now; for ``verify`` and ``inspect``.

Who could read which build is exact: visibility and collections are kept as rows from one position to another. The
builds themselves are those that are still served: a build that was replaced since is no longer in the index, so the
counts of words of that time cannot be had again. ``doubt`` says so where a traced view needs it.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from clearcite.answer.confirm import verify, verify_access
from clearcite.domain.access import Access, AccessClass, Acl
from clearcite.domain.corpus import DocumentKey, state_hash_of
from clearcite.domain.explain import Standing
from clearcite.domain.policy import Accepted
from clearcite.domain.visible import VisibilityRow, VisibilityRows
from clearcite.ports import Readable, Snapshot, StoredChunk, StoredDocument

if TYPE_CHECKING:
    from clearcite.ports import Mask

Shown = Callable[[str, int], bool]
Stored = TypeVar("Stored", StoredChunk, StoredDocument)


class Past:
    """Implements ``ports.Snapshot`` over a newer one of the same generation.

    ``guessed`` holds the documents that were looked at and whose access has changed since: of that time only the
    window both sides together left open is known.
    """

    def __init__(self, now: Snapshot, position: int) -> None:
        self._now = now
        self._position = position
        self._rows: dict[str, _Rows] = {}
        self.guessed: set[DocumentKey] = set()

    @property
    def position(self) -> int:
        return self._position

    @property
    def is_ahead(self) -> bool:
        """The position lies after what the ledger holds, as in one that was restored from a copy."""
        return self._position > self._now.position

    @property
    def generation(self) -> str:
        return self._now.generation

    @property
    def index_manifest(self) -> str | None:
        return self._now.index_manifest

    @property
    def policy(self) -> Accepted | None:
        return self._now.policy

    def standing(self, key: DocumentKey) -> Standing | None:
        return self._now.standing(key)

    def visibility_since(self, partition: str, position: int) -> VisibilityRows:  # noqa: ARG002
        """Every row that held then, whatever ``position``: nothing is kept between questions about the past."""
        return self._of(partition).then

    def visibility_at(self, partition: str, position: int) -> VisibilityRows:
        return self._now.visibility_at(partition, position)

    def collections(self, partition: str) -> tuple[int, Mapping[str, Acl]]:
        return self._now.collections_at(partition, self._position)

    def collections_at(self, partition: str, position: int) -> tuple[int, Mapping[str, Acl]]:
        return self._now.collections_at(partition, position)

    def chunks(self, chunk_ids: Sequence[str], shown: Shown | None = None) -> Mapping[str, StoredChunk]:
        found = self._now.chunks(chunk_ids, shown)
        return {name: self._as_then(stored) for name, stored in found.items()}

    def document(self, key: DocumentKey) -> StoredDocument | None:
        stored = self._now.document(key)
        return None if stored is None else self._as_then(stored)

    def named(self, partition: str, document_id: str, shown: Shown | None = None) -> Sequence[StoredDocument]:
        return [self._as_then(stored) for stored in self._now.named(partition, document_id, shown)]

    def keys_of(
        self, partition: str, slots: Sequence[int], after: str, limit: int
    ) -> Sequence[tuple[DocumentKey, int]]:
        return self._now.keys_of(partition, slots, after, limit)

    def documents_at(self, partition: str, slots: Sequence[int]) -> Sequence[StoredDocument]:
        return [self._as_then(stored) for stored in self._now.documents_at(partition, slots)]

    def documents_of(self, partition: str, sources: Sequence[str]) -> Sequence[int]:
        return self._now.documents_of(partition, sources)

    def live_slots(self, partition: str) -> "Mask":
        return self._now.live_slots(partition)

    def partitions(self) -> Sequence[str]:
        return self._now.partitions()

    def inventory(self, partition: str) -> Sequence[tuple[DocumentKey, int | None]]:
        return self._now.inventory(partition)

    def numbers(self, partition: str) -> Sequence[tuple[DocumentKey, int]]:
        return self._now.numbers(partition)

    def _of(self, partition: str) -> "_Rows":
        if partition not in self._rows:
            self._rows[partition] = _Rows(
                then=self._now.visibility_at(partition, self._position),
                now=self._now.visibility_since(partition, 0),
            )
        return self._rows[partition]

    def _as_then(self, stored: Stored) -> Stored:
        """A stored build with the access it had; what is stored is verified before any of it is put aside."""
        rows = self._of(stored.key.tenant_id)
        then = rows.by_slot_then.get(stored.slot)
        if then is None or not then.present:
            return replace(stored, present=False)
        if then == rows.by_slot_now.get(stored.slot):
            return stored
        if isinstance(stored, StoredChunk):
            verify(stored)
        else:
            verify_access(stored)
        self.guessed.add(stored.key)
        served, head = _access(then.served, then), _access(then.head, then)
        return replace(
            stored,
            present=True,
            served_access=served,
            head_access=head,
            served_access_digest=served.digest(),
            head_access_digest=head.digest(),
            served_state_hash=state_hash_of(
                stored.content_sha256, served.digest(), stored.description.digest()
            ),
        )


class _Rows(Struct, frozen=True, dict=True):
    then: VisibilityRows
    now: VisibilityRows

    @cached_property
    def by_slot_then(self) -> Mapping[int, VisibilityRow]:
        return {row.slot: row for row in self.then}

    @cached_property
    def by_slot_now(self) -> Mapping[int, VisibilityRow]:
        return {row.slot: row for row in self.now}


def _access(cls: AccessClass, row: VisibilityRow) -> Access:
    return Access(
        allow=cls.acl.allow or (),
        deny=cls.acl.deny,
        parent=cls.parent,
        effective_from=row.valid_from,
        effective_to=row.valid_to,
    )


GONE = ("retired: ", "purged: ")
"""How a doubt begins that says that something is not there any more."""


def mask_sha256(mask: "Mask") -> str:
    """Of which slots are readable; what lies beyond the last of them does not count."""
    return hashlib.sha256(np.packbits(mask).tobytes().rstrip(b"\0")).hexdigest()


def doubt(past: Snapshot, readable: Readable, generation: str, seen: Mapping[str, Any]) -> str | None:
    """Why a view of the past may not be the traced one; None if it is. ``seen``: the filter summary of the trace."""
    if past.generation != generation:
        return "retired: its generation serves no more"
    for partition in readable.partitions:
        mask = readable.mask(partition)
        if mask_sha256(mask) != seen.get(partition, {}).get("mask_sha256"):
            return "purged: who could read what at that position cannot be rebuilt"
        live = past.live_slots(partition)
        kept = np.zeros(len(mask), dtype=np.bool_)
        kept[: len(live)] = live[: len(mask)]
        if np.any(mask & ~kept):
            return "retired: a document that could be read then has been replaced or deleted since"
    if isinstance(past, Past) and past.is_ahead:
        return "retired: the ledger is older than the trace"
    if isinstance(past, Past) and past.guessed:
        return "the access of a document has changed since, and its validity then is not known exactly"
    return None
