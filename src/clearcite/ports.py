"""The seams: what a question needs from the outside, each as small as it can be. What fills a store stands in
``storing``, what keeps it in order in ``keeping``.

Adapters live under ``clearcite.adapters``; every port has a contract suite in ``clearcite.testing`` that each
adapter passes, the fakes included. Failures of a port raise ``DependencyUnavailable``; mismatches of what is
stored raise ``IntegrityFault``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Literal, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clearcite.domain.access import Access, Acl, Micros
    from clearcite.domain.answer import Claim, Disagreement
    from clearcite.domain.corpus import Chunk, Description, DocumentKey
    from clearcite.domain.explain import Standing
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
    from clearcite.domain.terms import Terms
    from clearcite.domain.visible import VisibilityRows

    Mask = NDArray[np.bool_]


class Clock(Protocol):
    def now(self) -> Micros:
        """Microseconds since 1970-01-01 UTC."""


# --- ledger -----------------------------------------------------------------------------------------------


class StoredChunk(Struct, frozen=True, kw_only=True):
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


class StoredDocument(Struct, frozen=True, kw_only=True):
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


class Snapshots(Protocol):
    """What asking needs of a ledger."""

    def snapshot(self, generation: str | None = None) -> AbstractContextManager[Snapshot]:
        """Of the live generation, or of a named one. Raises InputError for one that is not active."""


# --- index ------------------------------------------------------------------------------------------------


class Vector(Struct, frozen=True, kw_only=True):
    """An int8 vector: one signed byte a dimension, and the row's scale as an integer (``SCALE_BITS``)."""

    data: bytes
    scale: int
    truncated: bool = False


class Worded(Struct, frozen=True, kw_only=True):
    """A text's vector, and for each of its words in order an int8 row: the direction of what it means in this text."""

    vector: Vector
    words: tuple[str, ...]
    rows: bytes


class IndexEntry(Struct, frozen=True, kw_only=True):
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


class IndexDifference(Struct, frozen=True, kw_only=True):
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


class Views(Protocol):
    """What asking needs of an index."""

    def open(self, manifest: str | None) -> IndexView: ...


# --- text and models --------------------------------------------------------------------------------------


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

    def answers(self, question: str, text: str) -> int | None:
        """Both read together: log odds in thousandths that the text tells what is asked. None from an embedder that
        reads one text at a time only, for whatever it is given."""


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
