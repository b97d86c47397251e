"""Small builders: source records, and the builds a worker would make of their jobs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

from clearcite.domain.access import Access, Principal
from clearcite.domain.corpus import (
    Chunk,
    DeleteReason,
    Description,
    DocumentKey,
    SourceRecord,
    Unit,
    chunk_id,
)
from clearcite.domain.digest import sha256_text
from clearcite.storing import Built, Job, Ledger

CHUNKER = "lines-1"
MANIFEST = '{"chunker":"lines-1"}'
GENERATION = "g1"
MANIFEST_HASH = "manifest-1"


def key(document_id: str = "d1", tenant_id: str = "acme", source_id: str = "default") -> DocumentKey:
    return DocumentKey(tenant_id=tenant_id, source_id=source_id, document_id=document_id)


def access(*allow: str, **fields: Any) -> Access:
    """``allow`` defaults to the group ``staff``."""
    return Access(allow=allow or ("staff",), **fields)


def upsert(
    text: str,
    sequence: int = 1,
    who: DocumentKey | None = None,
    rights: Access | None = None,
    **description: Any,
) -> SourceRecord:
    fields = {"source_uri": "d.md", "source_version": "1", **description}
    return SourceRecord(
        key=who or key(),
        source_sequence=sequence,
        content=text.encode("utf-8"),
        text=text,
        access=rights or access(),
        description=Description(**fields),
    )


def delete(
    sequence: int, who: DocumentKey | None = None, reason: DeleteReason = "source_deleted"
) -> SourceRecord:
    return SourceRecord(key=who or key(), source_sequence=sequence, operation="delete", delete_reason=reason)


def principal(*groups: str, tenant_id: str = "acme", subject_id: str = "alice") -> Principal:
    """``groups`` defaults to ``staff``."""
    return Principal(
        tenant_id=tenant_id,
        subject_id=subject_id,
        groups=groups or ("staff",),
        authorization_revision="policy-1",
    )


def build(job: Job) -> Built:
    """One chunk a line, as a worker would build it."""
    if job.kind != "project":
        return Built(job=job)
    text = job.text if job.text is not None else job.content.decode("utf-8")
    title = (job.description.title if job.description else None) or "Untitled"
    return Built(
        job=job, text=text, title=title, normal_sha256=sha256_text(text), chunks=chunks_of(job, text)
    )


def chunks_of(job: Job, text: str) -> tuple[Chunk, ...]:
    chunks: list[Chunk] = []
    start = 0
    for line in text.split("\n"):
        end = start + len(line)
        if line:
            chunks.append(_chunk(job, line, start, len(chunks)))
        start = end + 1
    return tuple(chunks)


def _chunk(job: Job, line: str, start: int, ordinal: int) -> Chunk:
    end = start + len(line)
    return Chunk(
        chunk_id=chunk_id(job.key, job.content_sha256, CHUNKER, (start, end)),
        ordinal=ordinal,
        start=start,
        end=end,
        text=line,
        sha256=sha256_text(line),
        context="Untitled",
        units=(Unit(kind="sentence", start=start, end=end),),
    )


def commit(base: str | None) -> str:
    """A stand-in for ``Index.commit``: a name that follows from the one before."""
    return hashlib.sha256((base or "").encode()).hexdigest()[:16]


def work(
    ledger: Ledger,
    generation: str = GENERATION,
    *,
    limit: int = 100,
    builder: Callable[[Job], Built] = build,
) -> Sequence[DocumentKey]:
    """Claim, build and publish until nothing is claimable; the documents published."""
    published: list[DocumentKey] = []
    while jobs := ledger.claim(generation, limit, "worker"):
        published += ledger.publish(generation, [builder(job) for job in jobs], commit)
    return published
