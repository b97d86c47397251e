"""Pure rules for the order of source events: what an event is, given what the ledger holds.

``decide`` never looks at a clock or a store. Source: the sequence rules of the contracts page.
"""

from functools import lru_cache
from typing import Literal

from msgspec import Struct

from clearcite.domain.access import Access
from clearcite.domain.corpus import DeleteReason, Operation, SourceRecord, build_hash, state_hash_of
from clearcite.errors import SequenceConflict

Action = Literal[
    "created",
    "revised",
    "access_changed",
    "reprocessed",
    "checkpoint_advanced",
    "noop",
    "stale_ignored",
    "placed_in_past",
    "deleted",
    "restored",
]


class Head(Struct, frozen=True, kw_only=True):
    """The newest state of a document that the ledger has accepted."""

    operation: Operation
    source_sequence: int
    source_state_hash: str | None = None
    build_state_hash: str | None = None
    access_digest: str | None = None
    content_digest: str | None = None
    delete_reason: DeleteReason | None = None

    @property
    def content_sha256(self) -> str | None:
        """The part of ``content_digest`` that is the record's."""
        return self.content_digest[:_SHA256] if self.content_digest else None


class Decision(Struct, frozen=True, kw_only=True):
    """What to write. ``access_changed`` is also set beside ``revised`` and ``restored`` when access moved.

    ``placed_in_past``: stale for what is current, and in force before it, as a source that keeps its history says."""

    action: Action
    access_changed: bool = False

    @property
    def writes_state(self) -> bool:
        return self.action in ("created", "revised", "access_changed", "restored")

    @property
    def needs_projection(self) -> bool:
        return self.writes_state or self.action in ("reprocessed", "placed_in_past", "deleted")


_SHA256 = 64
_access_digest = lru_cache(maxsize=256)(Access.digest)
"""Documents by the thousand have few access lists between them."""


def head_of(record: SourceRecord, manifest_hash: str) -> Head:
    """The head this record becomes when it is accepted."""
    if record.operation == "delete":
        return Head(
            operation="delete", source_sequence=record.source_sequence, delete_reason=record.delete_reason
        )
    content = record.content_sha256
    access = _access_digest(record.access) if record.access else None
    description = record.description.digest() if record.description else None
    state = state_hash_of(content, access, description)
    return Head(
        operation="upsert",
        source_sequence=record.source_sequence,
        source_state_hash=state,
        build_state_hash=build_hash(state, manifest_hash),
        access_digest=access,
        content_digest=content + (description or ""),
    )


def decide(head: Head | None, new: Head) -> Decision:
    """Judge a new state against the accepted one. Raises SequenceConflict; then nothing may be written."""
    if head is None:
        return Decision(action="deleted" if new.operation == "delete" else "created")
    if new.source_sequence < head.source_sequence:
        return Decision(action="stale_ignored")
    if new.source_sequence == head.source_sequence:
        return _decide_same_sequence(head, new)
    if new.operation == "delete":
        same = head.operation == "delete" and head.delete_reason == new.delete_reason
        return Decision(action="checkpoint_advanced" if same else "deleted")
    if head.operation == "delete":
        return Decision(action="restored", access_changed=True)
    return _decide_update(head, new)


def _decide_same_sequence(head: Head, new: Head) -> Decision:
    same_operation = head.operation == new.operation
    if not same_operation or head.delete_reason != new.delete_reason:
        raise SequenceConflict("The same source sequence carries another operation or reason.")
    if head.source_state_hash != new.source_state_hash:
        raise SequenceConflict("The same source sequence carries another state.")
    rebuilt = head.build_state_hash != new.build_state_hash
    return Decision(action="reprocessed" if rebuilt else "noop")


def _decide_update(head: Head, new: Head) -> Decision:
    if head.source_state_hash == new.source_state_hash:
        rebuilt = head.build_state_hash != new.build_state_hash
        return Decision(action="reprocessed" if rebuilt else "checkpoint_advanced")
    access_changed = head.access_digest != new.access_digest
    if head.content_digest != new.content_digest:
        return Decision(action="revised", access_changed=access_changed)
    return Decision(action="access_changed", access_changed=True)
