"""The seams of what fills a store: the whole ledger, the index as it is written, parsers and sources.

Asking needs none of them; what it needs stands in ``ports``. The same holds of them: an adapter passes its contract
suite, a failure is ``DependencyUnavailable``, a mismatch of what is stored ``IntegrityFault``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Literal, Protocol

from msgspec import Struct

from clearcite.keeping import Collections, Eraser, EventLog, Examination, PolicyLog, Sources, TraceLog
from clearcite.ports import Snapshots, Views

if TYPE_CHECKING:
    from clearcite.domain.access import Micros
    from clearcite.domain.corpus import Chunk, Description, DocumentKey, ParsedDocument, SourceRecord
    from clearcite.domain.generations import Generation, Switch, Switched
    from clearcite.domain.lifecycle import Decision, Head
    from clearcite.domain.sources import Checkpoint
    from clearcite.domain.trace import Trace
    from clearcite.errors import ClearciteError, InputError
    from clearcite.ports import IndexEntry, Mask


class Applied(Struct, frozen=True, kw_only=True):
    """What became of one record: a decision, or the reason it was refused (then nothing was written)."""

    key: DocumentKey
    source_sequence: int
    decision: Decision | None
    error: ClearciteError | None = None


class Job(Struct, frozen=True, kw_only=True):
    """One leased piece of work of the outbox, for one generation.

    ``project``: parse, chunk and index the revision. ``access``: only the access changed; acknowledging it is
    enough. ``delete``: drop what is indexed. ``slot`` numbers this build of the revision inside its partition
    and generation: it is what index entries carry, and never used twice, so that segments of a lost attempt
    stay invisible. ``fence`` must match when the job is finished; a lost lease publishes nothing.
    ``attempts`` counts this one.
    """

    event_id: int
    fence: int
    generation: str
    kind: Literal["project", "access", "delete"]
    key: DocumentKey
    slot: int
    attempts: int
    content: bytes = b""
    text: str | None = None
    content_sha256: str = ""
    description: Description | None = None


class Built(Struct, frozen=True, kw_only=True):
    """The result of a job. ``normal_sha256``: of the normalised text, by which mirrors are recognised."""

    job: Job
    text: str = ""
    title: str = ""
    normal_sha256: str = ""
    chunks: tuple[Chunk, ...] = ()
    flags: tuple[str, ...] = ()
    notes: tuple[tuple[str, str], ...] = ()


class Intake(Protocol):
    """Writing. Bounded transactions (500 records, 8 MB, 50 ms), a savepoint a record; durable on return."""

    def apply(self, records: Sequence[SourceRecord], manifest_hash: str) -> tuple[Applied, ...]:
        """Decide and write each record, in order; a refused one writes nothing and the others go on."""


class Outbox(Protocol):
    """Projecting. Rows are claimed by lease; several workers may run."""

    def claim(self, generation: str, limit: int, owner: str) -> tuple[Job, ...]: ...

    def publish(
        self, generation: str, built: Sequence[Built], commit: Callable[[str | None], str]
    ) -> tuple[DocumentKey, ...]:
        """Write chunks, pointers, acknowledgements and the index manifest in one transaction.

        ``commit`` receives the name of the current index manifest and returns the name of the new one; it
        runs inside the transaction, so that two workers never lose each other's segments. A job that was
        superseded meanwhile leaves nothing behind; a build that does not match its own text is a failed
        attempt. ``commit`` is called if anything was projected, or if ``built`` is empty (a merge). Returns
        the documents published.
        """

    def fail(self, job: Job, reason: str, *, final: bool = False) -> None:
        """Record a failed attempt: retried with backoff, then quarantined; at once if ``final``. No text in it."""

    def release(self, jobs: Sequence[Job]) -> None:
        """Give leases back untouched, for a worker that is stopped; the attempt is not counted."""

    def reclaim(self, owners: Sequence[str]) -> int:
        """End the leases of owners that are known to be gone; the attempts stay counted. Returns how many."""

    def renew(self, jobs: Sequence[Job]) -> None:
        """Let leases that are still held last as long as new ones."""


class Reader(Snapshots, Protocol):
    def quarantine(self, key: DocumentKey, reason: str) -> None:
        """Take a document out of sight after an integrity fault, until an operator looks at it."""

    def reinstate(self, key: DocumentKey) -> None:
        """End a quarantine and try failed work again. A document that was out of sight is built again from
        its content before it is served.
        """


class Ledger(Intake, Outbox, Sources, Reader, Eraser, Collections, PolicyLog, EventLog, Protocol):
    """The canonical store: the only truth about what exists and who may read it."""

    def head(self, key: DocumentKey) -> Head | None:
        """The newest state accepted of a document: what the next record is judged against."""

    def dated(self, record: SourceRecord) -> SourceRecord:
        """The record as it would be accepted now: one of a source that keeps its history begins when its state did."""

    def places(self, record: SourceRecord) -> bool:
        """Whether a record that is stale for what is current would become part of the past, if it came now."""

    def start_generation(self, generation: str, manifest: str, *, kept: bool = False) -> None:
        """Register a generation with its manifest (canonical JSON); the first one becomes ``live``."""

    def generations(self) -> Sequence[Generation]:
        """Every generation there was, in the order they were started."""

    def manifest(self, generation: str) -> str | None: ...

    def promote(self, generation: str, switch: Switch | None = None, *, expected: str | None = None) -> None:
        """Point ``live`` at a generation; a rollback is the promotion of an older one.

        ``switch`` is recorded in the same transaction; unless it is forced, a generation for which events wait is
        refused, and one that an operator switches to or from is kept. ``expected``: refused when another one is
        live. Raises InputError.
        """

    def switches(self) -> Sequence[Switched]:
        """Every recorded switch, oldest first."""

    def retire(self, generation: str) -> None:
        """Drop what a generation holds. Raises InputError for the live one."""

    def status(self, *, in_full: bool = False) -> Mapping[str, Any]:
        """Counts and ages for an operator; ``in_full``: with all that docs/operations.md names."""

    def examine(self) -> AbstractContextManager[Examination]:
        """One long read transaction over everything."""

    def close(self) -> None: ...


class TraceStore(TraceLog, Protocol):
    def append(self, trace: Trace) -> None:
        """Durable on return: an answer leaves only after its trace is written."""

    def get(self, trace_id: str) -> Trace | None: ...

    def newest(self, limit: int) -> Sequence[Trace]: ...

    def forget(self, numbers: Sequence[int]) -> int:
        """Erase the traces with these numbers in the log; how many there were. What the log needs stays, and says that
        they were erased; ``get`` and ``newest`` know them no more."""

    def forget_before(self, instant: Micros) -> int:
        """Erase the traces of questions asked before an instant; how many there were."""

    def scrub(self, *, rewrite: bool = False) -> bool:
        """Leave nothing erased in the log, nor, with ``rewrite``, anywhere in the file. False while it is read."""

    def close(self) -> None: ...


class Index(Views, Protocol):
    """A rebuildable projection. Segments are immutable; a manifest names the ones that belong together."""

    def write(self, entries: Sequence[IndexEntry]) -> tuple[str, ...]:
        """Write segments durably under new names; they are part of nothing until a commit names them."""

    def commit(self, base: str | None, segments: Sequence[str], replaces: Sequence[str] = ()) -> str:
        """A new manifest: the base's segments without ``replaces``, plus the new ones. Durable on return."""

    def merge(
        self, manifest: str, live: Callable[[str], Mask], *, erase: bool = False
    ) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
        """Merge small segments, dropping chunks whose slot is not live. Returns (new, replaced) or None.

        ``live`` is asked once a partition: it may have to read all of it.
        ``erase``: rewrite every segment that holds a chunk that is not live, as a purge needs it.
        """

    def sweep(self, keep: Sequence[str]) -> None:
        """Remove segments and manifests that no kept manifest names."""


class Parser(Protocol):
    def parse(self, content: bytes, media_type: str) -> ParsedDocument:
        """Raises InputError for a document that cannot be parsed, with a message that names no path."""

    def parse_many(self, documents: Sequence[tuple[bytes, str]]) -> Iterator[ParsedDocument | InputError]:
        """Results, or refusals, in the order of the documents (content, media type)."""


class Connector(Protocol):
    def records(self) -> Iterator[SourceRecord | ClearciteError | Checkpoint]:
        """Validated records in source order; an error stands for one refused input. Raises ClearciteError when
        the source itself cannot be read any further."""
