"""Record → searchable, on one page.

``take`` judges records and writes them to the ledger; ``project`` claims what is pending, parses, chunks,
analyses, embeds and indexes it, and publishes each batch in one transaction. Both can be stopped at any moment
and go on where they were: what is acknowledged is durable, what is not is done again.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from clearcite.domain.corpus import DocumentKey, SourceRecord
from clearcite.errors import ClearciteError
from clearcite.ingest.build import Builder
from clearcite.ports import Applied, Built, Index, IndexEntry, Job, Ledger

BATCH_RECORDS = 500
BATCH_BYTES = 8_000_000
BATCH_JOBS = 200

Refused = ClearciteError


@dataclass(frozen=True, kw_only=True, slots=True)
class Projected:
    """One batch: documents published, jobs that failed with their reason, chunks written."""

    published: tuple[DocumentKey, ...]
    failed: tuple[tuple[Job, str], ...]
    chunks: int


def take(
    records: Iterable[SourceRecord | Refused], ledger: Ledger, manifest_hash: str
) -> Iterator[Applied | Refused]:
    """Apply records in bounded batches; a refused one is reported and the others go on."""
    for batch in _batches(records):
        good = [item for item in batch if isinstance(item, SourceRecord)]
        yield from (item for item in batch if isinstance(item, ClearciteError))
        if good:
            yield from ledger.apply(good, manifest_hash)


def project(
    ledger: Ledger, index: Index, builder: Builder, generation: str, owner: str
) -> Iterator[Projected]:
    """Work through the outbox of one generation until nothing is claimable, batch by batch."""
    while jobs := ledger.claim(generation, BATCH_JOBS, owner):
        yield _project_batch(jobs, ledger, index, builder, generation)


def _project_batch(
    jobs: Sequence[Job], ledger: Ledger, index: Index, builder: Builder, generation: str
) -> Projected:
    built: list[Built] = []
    entries: list[IndexEntry] = []
    failed: list[tuple[Job, str]] = []
    try:
        for job, result in builder.build_all(jobs):
            if isinstance(result, ClearciteError):
                ledger.fail(job, result.code)
                failed.append((job, result.message))
            else:
                built.append(result[0])
                entries += result[1]
    except BaseException:
        ledger.release(jobs)
        raise
    segments = index.write(entries) if entries else ()
    published = ledger.publish(generation, built, _committer(index, segments))
    return Projected(published=published, failed=tuple(failed), chunks=len(entries))


def _committer(index: Index, segments: Sequence[str]) -> Callable[[str | None], str]:
    def commit(base: str | None) -> str:
        return base if base is not None and not segments else index.commit(base, segments)

    return commit


def tidy(ledger: Ledger, index: Index, generation: str) -> bool:
    """Merge small segments and drop what is no longer served. Never part of a question's path."""
    with ledger.snapshot() as snapshot:
        if snapshot.index_manifest is None or snapshot.generation != generation:
            return False
        merged = index.merge(snapshot.index_manifest, snapshot.live_slots)
    if merged is None:
        return False
    new, replaced = merged
    ledger.publish(generation, (), lambda base: index.commit(base, new, replaced))
    return True


def _batches(records: Iterable[SourceRecord | Refused]) -> Iterator[list[SourceRecord | Refused]]:
    source = iter(records)
    while first := next(source, None):
        batch, size = [first], _size(first)
        for item in islice(source, BATCH_RECORDS - 1):
            batch.append(item)
            size += _size(item)
            if size >= BATCH_BYTES:
                break
        yield batch


def _size(item: SourceRecord | Refused) -> int:
    return len(item.content) if isinstance(item, SourceRecord) else 0
