"""Job → chunks and index entries: parse, chunk, analyse, embed. One document at a time, each by itself."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from clearcite.domain.corpus import Chunk, Description, ParsedDocument
from clearcite.domain.digest import sha256_text
from clearcite.errors import InputError, IntegrityFault
from clearcite.ingest.chunk import chunk_document
from clearcite.ingest.enrich import derive_title
from clearcite.ports import Built, Embedder, IndexEntry, Job, Parser
from clearcite.text.analysis import Analyzer
from clearcite.text.phrases import folded_words

Outcome = tuple[Built, list[IndexEntry]] | InputError


@dataclass(frozen=True, kw_only=True, slots=True)
class Builder:
    """The parts of one pipeline manifest that turn a revision into chunks and entries."""

    parser: Parser
    analyzer: Analyzer
    embedder: Embedder | None
    chunk_words: int

    def build_all(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, Outcome]]:
        """The result of each job, in order; InputError for a document that cannot be parsed."""
        parsing = [job for job in jobs if job.kind == "project"]
        parsed = self.parser.parse_many([_document(job) for job in parsing])
        for job in jobs:
            if job.kind != "project":
                yield job, (Built(job=job), [])
                continue
            result = next(parsed)
            yield job, result if isinstance(result, InputError) else self._build(job, result)

    def _build(self, job: Job, parsed: ParsedDocument) -> tuple[Built, list[IndexEntry]]:
        description = _described(job)
        title = description.title or parsed.title or derive_title(job.key.document_id)
        chunks = self._chunks(job, parsed, title)
        built = Built(
            job=job,
            text=parsed.text,
            title=title,
            normal_sha256=sha256_text(" ".join(folded_words(parsed.text))),
            chunks=chunks,
            flags=parsed.flags,
            notes=parsed.notes,
        )
        return built, [self._entry(job, chunk) for chunk in chunks]

    def _chunks(self, job: Job, parsed: ParsedDocument, title: str) -> tuple[Chunk, ...]:
        return chunk_document(parsed, job.key, job.content_sha256, title=title, words=self.chunk_words)

    def _entry(self, job: Job, chunk: Chunk) -> IndexEntry:
        whole = f"{chunk.context}\n{chunk.text}"
        vector = None if self.embedder is None else self.embedder.embed_passage(whole)
        return IndexEntry(
            chunk_id=chunk.chunk_id,
            partition=job.key.tenant_id,
            slot=job.slot,
            terms=self.analyzer.analyze_document(whole, chunk.language or _described(job).language),
            vector=vector,
        )


def _described(job: Job) -> Description:
    if job.description is None:
        raise IntegrityFault("A revision has no description.")
    return job.description


def _document(job: Job) -> tuple[bytes, str]:
    content = job.content if job.text is None else job.text.encode("utf-8")
    return content, _described(job).media_type
