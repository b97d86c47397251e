"""What a reconciliation may find, by name, and the report it ends with."""

from collections.abc import Mapping
from typing import Literal, get_args

from msgspec import Struct

from clearcite.domain.corpus import DocumentKey

Kind = Literal[
    "pending_events",
    "unpublished_active",
    "blocked_active",
    "no_publish_path",
    "stale_projections",
    "residual_chunks",
    "orphans",
    "cross_identity",
    "unreadable",
    "content_hash",
    "description_hash",
    "state_hash",
    "build_hash",
    "acl",
    "visibility",
    "text_hash",
    "chunk_hash",
    "chunk_order",
    "chunk_parent",
    "projection",
    "index_missing",
    "index_extra",
    "index_differs",
]
"""
``pending_events``      work that waits, or was given up, of a generation
``unpublished_active``  a document that is not deleted and is not served
``blocked_active``      one that is served and hidden: quarantined, or its newest access is not acknowledged
``no_publish_path``     one that is not served as it should be, and nothing waits that would mend it
``stale_projections``   a build of a revision that is not the document's newest, or of a withdrawn document
``residual_chunks``     chunks of deleted documents
``orphans``             a row that belongs to nothing, or lacks what belongs to it
``cross_identity``      a pointer to another document's revision, or to another tenant's access; an older revision that
                        follows another document
``unreadable``          a stored value that cannot be decoded
``content_hash``        the original bytes, or the decoded text, do not give the revision's hash
``description_hash``    a description does not give the digest it was accepted under
``state_hash``          content, access and description do not give the source state
``build_hash``          the source state does not give the build state under any manifest the store knows
``acl``                 a list, status or window does not give its digest, or is missing
``visibility``          what decides about a slot is not what the served and the head state say
``text_hash``           a served text does not give its hash, or the title of a build not its seal
``chunk_hash``          a chunk's text, span or identity is not what its hash, text and id say, or what else it says not
                        what its seal does
``chunk_order``         the chunks of a build are not numbered 0, 1, 2 … in the order of the text
``chunk_parent``        a chunk carries another slot or generation than its build
``projection``          reading the original bytes again gives another text, title or chunks
``index_missing``       a served chunk that does not stand in the index
``index_extra``         an entry of the index that was never a chunk
``index_differs``       an entry whose terms, weights or vector are not those of its chunk, or a segment that does
                        not give its checksum; an index that cannot be opened
"""

KINDS: tuple[Kind, ...] = get_args(Kind)
MOST_EXAMPLES = 10


class Mismatch(Struct, frozen=True, kw_only=True):
    """One finding. ``generation`` is empty for what belongs to none; ``number``: how many rows it stands for."""

    kind: Kind
    generation: str = ""
    key: DocumentKey | None = None
    detail: str = ""
    number: int = 1


class Reconciliation(Struct, frozen=True, kw_only=True):
    """The report: what was looked at, how often each mismatch was found, and the first of each.

    ``checked`` counts documents, revisions, builds, chunks and index entries; ``not_read_again`` are builds whose
    original bytes were not parsed again (another parser made them), ``without_vector`` entries whose vector was
    not computed again, ``unmerged`` entries of builds that serve no more and leave the index with a merge.
    """

    position: int
    checked: Mapping[str, int]
    mismatches: Mapping[Kind, int]
    examples: tuple[Mismatch, ...] = ()

    @property
    def total(self) -> int:
        return sum(self.mismatches.values())
