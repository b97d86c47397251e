"""The seams: what the engine needs from the outside, each as small as it can be.

Adapters live under ``clearcite.adapters``; every port has a contract suite in ``clearcite.testing`` that each
adapter passes, the fakes included. Failures of a port raise ``DependencyUnavailable``; mismatches of what is
stored raise ``IntegrityFault``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from clearcite.keeping import (
    Collections,
    Eraser,
    EventLog,
    Examination,
    PolicyLog,
    Sources,
    TraceLog,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clearcite.domain.access import Access, Acl, Micros
    from clearcite.domain.answer import Claim, Disagreement
    from clearcite.domain.corpus import Chunk, Description, DocumentKey, ParsedDocument, SourceRecord
    from clearcite.domain.explain import Standing
    from clearcite.domain.generations import Generation, Switch, Switched
    from clearcite.domain.lifecycle import Decision, Head
    from clearcite.domain.policy import Accepted
    from clearcite.domain.retrieval import (
        Cursor,
        DenseQuery,
        Evidence,
        HitPage,
        LexicalQuery,
        Passage,
        Plan,
    )
    from clearcite.domain.sources import Checkpoint
    from clearcite.domain.terms import Terms
    from clearcite.domain.trace import Trace
    from clearcite.domain.visible import VisibilityRows
    from clearcite.errors import ClearciteError, InputError

    Mask = NDArray[np.bool_]


class Clock(Protocol):
    def now(self) -> Micros:
        """Microseconds since 1970-01-01 UTC."""


# --- ledger -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class Applied:
    """What became of one record: a decision, or the reason it was refused (then nothing was written)."""

    key: DocumentKey
    source_sequence: int
    decision: Decision | None
    error: ClearciteError | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Built:
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


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredChunk:
    """A chunk as the ledger has it, with everything needed to judge and to verify it again.

    ``present``: this chunk belongs to the served revision of a document that is not deleted or quarantined.
    ``seal`` is of the chunk, ``build_seal`` of title and normalised text.
    The digests are the stored ones; whoever confirms recomputes them.
    """

    chunk: Chunk
    key: DocumentKey
    slot: int
    present: bool
    title: str
    chunker: str
    content_sha256: str
    normal_sha256: str
    description: Description
    served_access: Access
    head_access: Access
    served_access_digest: str
    head_access_digest: str
    served_state_hash: str
    seal: str
    build_seal: str


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredDocument:
    """A document as served: its canonical text and what ``StoredChunk`` says of it."""

    key: DocumentKey
    slot: int
    present: bool
    title: str
    text: str
    text_sha256: str
    content_sha256: str
    normal_sha256: str
    description: Description
    served_access: Access
    head_access: Access
    served_access_digest: str
    head_access_digest: str
    served_state_hash: str
    build_seal: str


class Snapshot(Protocol):
    """One read transaction: everything a request sees comes from one ledger position."""

    @property
    def position(self) -> int:
        """Rises with every change of visibility."""

    @property
    def generation(self) -> str: ...

    @property
    def index_manifest(self) -> str | None: ...

    @property
    def policy(self) -> Accepted | None: ...

    def standing(self, key: DocumentKey) -> Standing | None:
        """All that decides about one document, served or not. For operators."""

    def visibility_since(self, partition: str, position: int) -> VisibilityRows:
        """The newest row of each slot of a partition that changed after ``position`` (0: all of them)."""

    def visibility_at(self, partition: str, position: int) -> VisibilityRows:
        """The rows that held at an earlier position."""

    def collections(self, partition: str) -> tuple[int, Mapping[str, Acl]]:
        """The position of the last change of a collection, and the lists by path."""

    def collections_at(self, partition: str, position: int) -> tuple[int, Mapping[str, Acl]]:
        """The same as it was at an earlier position."""

    def chunks(
        self, chunk_ids: Sequence[str], shown: Callable[[str, int], bool] | None = None
    ) -> Mapping[str, StoredChunk]:
        """``shown`` judges (partition, slot) first: what it does not admit is not even decoded. An IntegrityFault
        for a row that is admitted and damaged names its document."""

    def document(self, key: DocumentKey) -> StoredDocument | None: ...

    def named(
        self, partition: str, document_id: str, shown: Callable[[str, int], bool] | None = None
    ) -> Sequence[StoredDocument]:
        """What is served under this id, one or more a source, in the order of sources; text left empty. A kept older
        revision goes by the id of its document. ``shown``: as for ``chunks``."""

    def keys_of(
        self, partition: str, slots: Sequence[int], after: str, limit: int
    ) -> Sequence[tuple[DocumentKey, int]]:
        """Which documents these slots serve, in the order (source id, document id), after a position.

        ``after`` is ``source_id + "\\0" + document_id`` of the last one seen, or empty. Only these slots are
        looked at, however many documents there are besides.
        """

    def documents_at(self, partition: str, slots: Sequence[int]) -> Sequence[StoredDocument]:
        """What these slots serve, in the order (source id, document id), text left empty."""

    def live_slots(self, partition: str) -> Mask:
        """True for each slot whose revision is served, whoever may read it: what a merge must keep."""

    def documents_of(self, partition: str, sources: Sequence[str]) -> Sequence[int]:
        """The numbers of all documents of some sources, as ``VisibilityRow.document`` has them."""

    def partitions(self) -> Sequence[str]:
        """Every partition of the store. For operators."""

    def inventory(self, partition: str) -> Sequence[tuple[DocumentKey, int | None]]:
        """Every document the ledger knows, and the slot that serves it, if one does. For operators."""

    def numbers(self, partition: str) -> Sequence[tuple[DocumentKey, int]]:
        """Every document the ledger knows, and its number, as ``VisibilityRow.document`` has it. For operators."""


class Reader(Protocol):
    def snapshot(self, generation: str | None = None) -> AbstractContextManager[Snapshot]:
        """Of the live generation, or of a named one. Raises InputError for one that is not active."""

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


# --- index ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class Vector:
    """An int8 vector: one signed byte a dimension, and the row's scale as an integer."""

    data: bytes
    scale: int
    truncated: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Worded:
    """A text's vector, and for each of its words in order an int8 row: the direction of what it means in this text."""

    vector: Vector
    words: tuple[str, ...]
    rows: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class IndexEntry:
    """One chunk for the index. ``terms``: those of text and context; the index holds no ACL."""

    chunk_id: str
    partition: str
    slot: int
    terms: Terms
    vector: Vector | None = None


class Readable(Protocol):
    """What one scope may read at one ledger position. The only thing about access an index ever sees."""

    @property
    def partitions(self) -> tuple[str, ...]: ...

    @property
    def token(self) -> tuple[Any, ...]:
        """Equal tokens mean equal masks: a key for what is derived from them."""

    def mask(self, partition: str) -> Mask:
        """True for each readable slot. Slots beyond its length are not readable."""

    def counts(self, partition: str) -> Mapping[str, int]:
        """For the trace: how many builds are served, and how many of them each reason keeps from this scope."""


@dataclass(frozen=True, kw_only=True, slots=True)
class IndexDifference:
    """An entry that should stand in an index and does not, that stands in it and should not, or that differs."""

    what: Literal["missing", "extra", "differs"]
    partition: str
    slot: int
    chunk_id: str


class IndexView(Protocol):
    """An immutable opened index."""

    def search(
        self, query: LexicalQuery | DenseQuery, readable: Readable, after: Cursor | None, limit: int
    ) -> HitPage:
        """Hits in the order (−score, chunk id) after the cursor, counted over readable chunks only."""

    def differences(self, entries: Iterable[IndexEntry]) -> Iterator[IndexDifference]:
        """Compare with what should stand in it: entries in the order (partition, slot, chunk id), read once.

        An entry without a vector is compared by its terms alone.
        """

    def check(self) -> None:
        """Read everything and compare it with its checksums. Raises IntegrityFault when something is damaged."""


class Index(Protocol):
    """A rebuildable projection. Segments are immutable; a manifest names the ones that belong together."""

    def write(self, entries: Sequence[IndexEntry]) -> tuple[str, ...]:
        """Write segments durably under new names; they are part of nothing until a commit names them."""

    def commit(self, base: str | None, segments: Sequence[str], replaces: Sequence[str] = ()) -> str:
        """A new manifest: the base's segments without ``replaces``, plus the new ones. Durable on return."""

    def open(self, manifest: str | None) -> IndexView: ...

    def merge(
        self, manifest: str, live: Callable[[str], Mask], *, erase: bool = False
    ) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
        """Merge small segments, dropping chunks whose slot is not live. Returns (new, replaced) or None.

        ``live`` is asked once a partition: it may have to read all of it.
        ``erase``: rewrite every segment that holds a chunk that is not live, as a purge needs it.
        """

    def sweep(self, keep: Sequence[str]) -> None:
        """Remove segments and manifests that no kept manifest names."""


# --- text and models --------------------------------------------------------------------------------------


class Parser(Protocol):
    def parse(self, content: bytes, media_type: str) -> ParsedDocument:
        """Raises InputError for a document that cannot be parsed, with a message that names no path."""

    def parse_many(self, documents: Sequence[tuple[bytes, str]]) -> Iterator[ParsedDocument | InputError]:
        """Results, or refusals, in the order of the documents (content, media type)."""


class Embedder(Protocol):
    """Text → int8 vector. Deterministic, one text at a time, so that no text changes another's vector."""

    @property
    def fingerprint(self) -> str:
        """Names the vector space: model, revision, quantisation. Stands in the manifest and every trace."""

    @property
    def dims(self) -> int: ...

    def embed_passage(self, text: str) -> Vector: ...

    def embed_query(self, text: str) -> DenseQuery: ...

    def embed_words(self, text: str) -> Worded:
        """The vector of ``embed_passage`` with those of the words, which are folded and hold a letter or digit."""


class Reranker(Protocol):
    @property
    def fingerprint(self) -> str: ...

    def rerank(self, plan: Plan, passages: Sequence[Passage]) -> Sequence[tuple[str, int]]:
        """A score for each passage, exactly once: (chunk id, integer). Checked by the caller."""


class Writer(Protocol):
    @property
    def fingerprint(self) -> str: ...

    def compose(
        self, plan: Plan, evidence: Sequence[Evidence], disagreements: Sequence[Disagreement]
    ) -> Sequence[Claim]:
        """Draft claims from numbered evidence, best first. Nothing is believed before it is checked."""


# --- outside ----------------------------------------------------------------------------------------------


class Connector(Protocol):
    def records(self) -> Iterator[SourceRecord | ClearciteError | Checkpoint]:
        """Validated records in source order; an error stands for one refused input. Raises ClearciteError when
        the source itself cannot be read any further."""
