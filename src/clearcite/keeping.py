"""The seams for keeping a store in order: reading everything back without trust, erasing, and who is who."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Literal, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    from clearcite.domain.access import Acl, Micros
    from clearcite.domain.audit import Event, Finding, Head, TraceEntry
    from clearcite.domain.corpus import Chunk, DocumentKey
    from clearcite.domain.policy import Accepted, Policy, PolicyDecision
    from clearcite.domain.purge import Erasable, Erased, Selection
    from clearcite.domain.reconcile import Mismatch
    from clearcite.domain.sources import SourceState
    from clearcite.ports import Mask
    from clearcite.storing import Job


class Served(Struct, frozen=True, kw_only=True):
    """One build as it is stored, and the original it was made of as a job, so that it can be made again."""

    job: Job
    text: str
    text_sha256: str
    title: str
    normal_sha256: str
    seal: str
    chunks: tuple[Chunk, ...]
    chunk_seals: tuple[str, ...]


class Examination(Protocol):
    """Everything a store holds, from one position, row by row and without trust. For operators."""

    @property
    def position(self) -> int: ...

    def sizes(self) -> Mapping[str, int]:
        """How many documents, revisions, builds and chunks there are to look at."""

    def generations(self) -> Sequence[tuple[str, str, str | None]]:
        """Each active generation: name, manifest (canonical JSON), name of its index manifest."""

    def manifests(self) -> Sequence[str]:
        """The manifest of every generation there ever was."""

    def waiting(self) -> int:
        """Events that a worker would still take."""

    def mismatches(self, manifest_hashes: Sequence[str], tick: Callable[[str], None]) -> Iterator[Mismatch]:
        """What is wrong with the rows themselves. ``tick`` is told of each row that was looked at, by ``sizes``."""

    def live_slots(self, generation: str, partition: str) -> Mask:
        """True for each slot of a generation that is served: what a merge must keep."""

    def texts(self, without: Sequence[int] = ()) -> Iterator[bytes]:
        """Every text and name that is stored, as it stands in the file; not those of some revisions."""

    def served(self, generation: str) -> Iterator[Served | Mismatch]:
        """The builds of a generation in the order (partition, slot)."""

    def chunks(self, generation: str, key: DocumentKey) -> Sequence[Chunk]:
        """How a generation has cut a document, in order; empty where it serves none."""

    def slot_state(self, generation: str, partition: str, slot: int) -> Literal["served", "past", "never"]:
        """Whether a slot serves, has been handed out and serves no more, or never was handed out."""


class Eraser(Protocol):
    """Erasing content for good. What stays of a purged document: its identity, newest sequence and tombstone."""

    def end_history(self, before: Micros) -> int:
        """Delete the older revisions that sources keep and that were replaced before an instant; how many."""

    def erasable(self, selection: Selection) -> tuple[Sequence[Erasable], int]:
        """What a selection stands for, and how many deleted documents have to wait for their projection."""

    def contents(self, item: Erasable) -> Sequence[tuple[str, bool, bytes, str | None]]:
        """Of each revision: its description as stored, whether it is text, its bytes, and the decoded text where
        that is kept beside them."""

    def begin_purge(self, policy: str | None = None) -> int:
        """Write down that a purge has begun, before anything is erased; its number. ``policy``: the rule of
        retention it follows, as JSON."""

    def erase(self, items: Sequence[Erasable]) -> Sequence[Erased]:
        """Erase in one transaction what may still be erased; what it was."""

    def scrub(self, *, rewrite: bool = False) -> bool:
        """Leave nothing erased in the log, nor, with ``rewrite``, anywhere in the file. False while it is read."""

    def finish_purge(self, number: int, receipt: str) -> None:
        """Keep the receipt. Purges that were interrupted before are finished with it."""

    def store_id(self) -> str:
        """128 random bits in hex, given when the store was made."""


class Sources(Protocol):
    """How far each source has been taken."""

    def sources(self) -> Sequence[SourceState]: ...

    def put_source(self, state: SourceState) -> None:
        """Keep a state, all but ``approved``."""

    def approve(self, tenant_id: str, source_id: str, kind: str, up_to: int) -> None:
        """Let up to so many withheld deletes go. Raises NotFound."""

    def heads(self, tenant_id: str, source_id: str) -> Mapping[str, tuple[int, bool]]:
        """Every document a source ever had: its newest sequence, and whether it is alive."""


class EventLog(Protocol):
    """What happened to a ledger, written in the transactions of what it tells. See ``domain.audit``."""

    def event_head(self) -> Head:
        """How many events there are, and the link of the last one."""

    def events(self) -> AbstractContextManager[Iterator[Event]]:
        """Everything that happened, in order, read as it goes."""

    def unlogged(self) -> Sequence[Finding]:
        """Documents whose state is another one than the last event about them says."""


class TraceLog(Protocol):
    """The log that the traces are."""

    def head(self) -> Head:
        """How many entries there are, and the link of the last one."""

    def entries(self) -> AbstractContextManager[Iterator[TraceEntry]]:
        """All of them in order, read as it goes."""


Configured = Literal["set", "same", "kept"]


class Collections(Protocol):
    """Access lists of paths. They are copied nowhere and judged live."""

    def put_collection(self, tenant_id: str, path: str, acl: Acl | None) -> None:
        """Set a collection's own list; None removes the collection (then everything below is denied). Raises
        InputError for a path or a group that cannot be compared exactly."""

    def configure_collection(self, tenant_id: str, path: str, acl: Acl) -> Configured:
        """Apply an entry of a configuration, if it has changed since it was last applied. ``set``: it holds now;
        ``same``: it held already; ``kept``: something else has been put since, and stays."""


class PolicyLog(Protocol):
    """Which policy is in force: the newest one accepted. Its revision only rises; every process sees it at once."""

    def policy(self) -> Accepted | None: ...

    def policy_snapshot(self) -> str | None:
        """The newest accepted policy as JSON, so that names can be resolved while its source is away."""

    def accept_policy(self, new: Accepted, origin: str, snapshot: str | None = None) -> PolicyDecision:
        """Durable on return, and it ends an alarm. Raises StalePolicy by ``decide_policy``; then nothing is written.

        ``origin``: a name of the source for operators.
        """

    def policy_failed(self, origin: str, reason: str) -> None:
        """Raise an alarm, or count one more failure; the policy in force stays. ``reason`` is for operators."""


class GroupSource(Protocol):
    """Where a policy comes from: a file, a command, a directory service. It gives the whole of it or fails."""

    @property
    def origin(self) -> str:
        """A name for operators that tells nothing of the machine."""

    def read(self) -> Policy:
        """The newest snapshot. Raises ConfigError for one that is not sure of itself, DependencyUnavailable for a
        source that cannot be reached or gives a part."""
