"""Job → chunks and index entries: a draft of the document, named by its revision, with vectors."""

from collections import deque
from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from clearcite.domain.corpus import Chunk
from clearcite.domain.digest import digest, sha256_text
from clearcite.domain.terms import Terms
from clearcite.errors import InputError
from clearcite.ingest.chunk import name_chunks
from clearcite.ingest.draft import Draft, Drafter, description_of
from clearcite.ports import Embedder, IndexEntry, Vector
from clearcite.storing import Built, Job

VECTOR_TRUNCATED = "vector_truncated"
"""Flag of a chunk that was longer than its embedder takes."""

Outcome = tuple[Built, list[IndexEntry]] | InputError


class Builder(Struct, frozen=True, kw_only=True):
    """The parts of one pipeline manifest that turn a revision into chunks and entries."""

    drafter: Drafter
    embedder: Embedder | None

    def build_all(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Outcome]]:
        """The result of each job, in order; InputError for a document that cannot be parsed. Jobs may be taken
        ahead of their results."""
        taken: deque[Job] = deque()

        def noted() -> Iterator[Job]:
            for job in jobs:
                taken.append(job)
                yield job

        for draft in self.drafter.draft_many(noted()):
            job = taken.popleft()
            yield job, draft if isinstance(draft, InputError) else self._built(job, draft)

    def _built(self, job: Job, draft: Draft | None) -> Outcome:
        try:
            return self._build(job, draft)
        except InputError as error:
            return error

    def _build(self, job: Job, draft: Draft | None) -> tuple[Built, list[IndexEntry]]:
        if draft is None:
            return Built(job=job), []
        check_content(job)
        check_facts(job, draft)
        chunks = name_chunks(draft.text, draft.cuts, job.key, job.content_sha256)
        entries = [self._entry(job, *pair) for pair in zip(chunks, draft.terms, strict=True)]
        built = Built(
            job=job,
            text=draft.text,
            title=draft.title,
            normal_sha256=draft.normal_sha256,
            chunks=tuple(_marked(*pair) for pair in zip(chunks, entries, strict=True)),
            flags=draft.flags,
            notes=draft.notes,
        )
        return built, entries

    def _entry(self, job: Job, chunk: Chunk, terms: Terms) -> IndexEntry:
        return IndexEntry(
            chunk_id=chunk.chunk_id,
            partition=job.key.tenant_id,
            slot=job.slot,
            terms=terms,
            vector=None if self.embedder is None else self._vector(self.embedder, chunk),
        )

    @staticmethod
    def _vector(embedder: Embedder, chunk: Chunk) -> Vector:
        return embedder.embed_passage(f"{chunk.context}\n{chunk.text}")


def _marked(chunk: Chunk, entry: IndexEntry) -> Chunk:
    """The chunk, flagged where its vector stands for its beginning only."""
    if entry.vector is None or not entry.vector.truncated:
        return chunk
    return replace(chunk, flags=(*chunk.flags, VECTOR_TRUNCATED))


def check_content(job: Job) -> None:
    """What is stored must be what was accepted: a build of other content would vouch for it."""
    content = sha256_text(job.text) if job.text is not None else digest("bytes", job.content)
    if content != job.content_sha256:
        raise InputError("the stored content is not what its source sent; send it again")


def check_facts(job: Job, draft: Draft) -> None:
    """Each statement that the source vouches for must stand verbatim in the canonical text, for that is what is
    cited: of a web page, a PDF or a document with front matter it is known only here. Raises InputError."""
    for fact in description_of(job).facts:
        if fact.statement not in draft.text:
            raise InputError(f"the statement of the fact {fact.fact_id} does not stand verbatim in its text")
