"""Record → searchable, on one page.

``take`` judges records and writes them to the ledger; ``project`` claims what is pending, parses, chunks,
analyses, embeds and indexes it, and publishes each batch in one transaction, while the next one is being taken and
read. Both can be stopped at any moment and go on where they were: what is acknowledged is durable, what is not is done
again.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Protocol

from msgspec import Struct, field

from clearcite.domain.corpus import DocumentKey, SourceRecord
from clearcite.domain.sources import Checkpoint
from clearcite.errors import ClearciteError, ReadingFailed
from clearcite.ingest.build import Builder, Outcome
from clearcite.ports import IndexEntry
from clearcite.storing import Applied, Built, Index, Job, Ledger

BATCH_RECORDS = 500
BATCH_BYTES = 500_000
"""While a batch is judged or published nobody takes what the drafter answers, and a pipe does not hold much of it."""
BATCH_JOBS = 500
RENEW_SECONDS = 60
"""A lease of five minutes is renewed well before its end, also when one document takes a minute to read."""
MERGE_EVERY = 32
"""Batches, each of which leaves a segment: a question goes through all of them, and a commit names them all."""

Refused = ClearciteError
Said = SourceRecord | Refused | Checkpoint
"""What a connector says."""


class Projected(Struct, frozen=True, kw_only=True):
    """One batch: documents published, jobs that failed with their reason, chunks written."""

    published: tuple[DocumentKey, ...]
    failed: tuple[tuple[Job, str], ...]
    chunks: int


class Worker(Struct, frozen=True, kw_only=True):
    """What projects one generation; ``owner`` is the name its leases carry."""

    ledger: Ledger
    index: Index
    builder: Builder
    generation: str
    owner: str


class Judge(Protocol):
    """The part of ``Intake`` that takes records, or says what would become of them."""

    def apply(self, records: Sequence[SourceRecord], manifest_hash: str) -> tuple[Applied, ...]: ...


def take(
    records: Iterable[Said], ledger: Judge, manifest_hash: str
) -> Iterator[Sequence[Applied | Refused | Checkpoint]]:
    """Apply records in bounded batches; a refused one is reported and the others go on. Of a batch's checkpoints
    the last one is given, after the records before it are durable, and one that nothing comes before at once."""
    for batch in _batches(records):
        good = [item for item in batch if isinstance(item, SourceRecord)]
        refused = [item for item in batch if isinstance(item, ClearciteError)]
        point = [item for item in batch if isinstance(item, Checkpoint)][-1:]
        yield [*refused, *(ledger.apply(good, manifest_hash) if good else ()), *point]


def project(worker: Worker, taken: Iterable[object] = ()) -> Iterator[Projected]:
    """Work through the outbox of one generation until nothing is claimable, batch by batch.

    ``taken``: batches that are taken meanwhile, one before each claim, so that documents are being read in the
    drafter's process while records are judged in this one.
    """
    claims = _Claims(worker=worker, taken=iter(taken))
    while not claims.is_exhausted:
        try:
            for number, batch in enumerate(_built(claims, worker.builder), start=1):
                yield _publish(batch, worker)
                claims.held.popleft()
                if number % MERGE_EVERY == 0:
                    tidy(worker.ledger, worker.index, worker.generation)
        except BaseException:
            claims.give_back()
            raise


class _Claims(Struct, kw_only=True):
    """Jobs of a generation, claimed batch by batch as they are taken; ``held`` are those not yet done."""

    worker: Worker
    taken: Iterator[object]
    held: deque[Sequence[Job]] = field(default_factory=deque)
    is_exhausted: bool = False
    renewed: float = field(default_factory=time.monotonic)

    def __iter__(self) -> Iterator[Job]:
        """Ends when nothing is claimable, and before that after jobs which a worker was lost with: nothing else
        is in hand when they are tried again, so that they take nothing with them."""
        worker = self.worker
        while True:
            is_last = next(self.taken, None) is None
            jobs = worker.ledger.claim(worker.generation, BATCH_JOBS, worker.owner)
            if jobs:
                self.held.append(jobs)
                yield from jobs
                if any(job.attempts > 1 for job in jobs):
                    return
            elif is_last:
                self.is_exhausted = True
                return

    def keep(self) -> None:
        """Called while the work goes on: a lease that ends meanwhile would let another worker do it as well."""
        if time.monotonic() - self.renewed > RENEW_SECONDS:
            self.renewed = time.monotonic()
            self.worker.ledger.renew([job for jobs in self.held for job in jobs])

    def give_back(self) -> None:
        """A store that cannot be written keeps the leases; they end with this worker, see ``Outbox.reclaim``."""
        with suppress(ClearciteError):
            self.worker.ledger.release([job for jobs in self.held for job in jobs])


def _built(claims: _Claims, builder: Builder) -> Iterator[list[tuple[Job, Outcome]]]:
    """The results of each batch that was claimed; the drafts of the next one are made meanwhile."""
    done: list[tuple[Job, Outcome]] = []
    for result in builder.build_all(claims):
        done.append(result)
        claims.keep()
        if result[0] is claims.held[0][-1]:
            yield done
            done = []


def _publish(batch: Sequence[tuple[Job, Outcome]], worker: Worker) -> Projected:
    built: list[Built] = []
    entries: list[IndexEntry] = []
    failed: list[tuple[Job, str]] = []
    for job, result in batch:
        if isinstance(result, ClearciteError):
            worker.ledger.fail(job, result.message, final=not isinstance(result, ReadingFailed))
            failed.append((job, result.message))
        else:
            built.append(result[0])
            entries += result[1]
    segments = worker.index.write(entries) if entries else ()
    published = worker.ledger.publish(worker.generation, built, _committer(worker.index, segments))
    return Projected(published=published, failed=tuple(failed), chunks=len(entries))


def _committer(index: Index, segments: Sequence[str]) -> Callable[[str | None], str]:
    def commit(base: str | None) -> str:
        return base if base is not None and not segments else index.commit(base, segments)

    return commit


def tidy(ledger: Ledger, index: Index, generation: str) -> bool:
    """Merge small segments and drop what is no longer served. Never part of a question's path."""
    with ledger.snapshot(generation) as snapshot:
        if snapshot.index_manifest is None:
            return False
        merged = index.merge(snapshot.index_manifest, snapshot.live_slots)
    if merged is None:
        return False
    new, replaced = merged
    ledger.publish(generation, (), lambda base: index.commit(base, new, replaced))
    sweep(ledger, index, generation)
    return True


def sweep(ledger: Ledger, index: Index, generation: str) -> None:
    """Remove what the published manifest does not name, inside a transaction, where no other one is published."""

    def commit(base: str | None) -> str:
        if base is None:
            return index.commit(None, ())
        index.sweep((base,))
        return base

    ledger.publish(generation, (), commit)


def _batches(records: Iterable[Said]) -> Iterator[list[Said]]:
    source = iter(records)
    while first := next(source, None):
        batch, size = [first], _size(first)
        if isinstance(first, Checkpoint):
            yield batch
            continue
        for item in islice(source, BATCH_RECORDS - 1):
            batch.append(item)
            size += _size(item)
            if size >= BATCH_BYTES:
                break
        yield batch


def _size(item: Said) -> int:
    return len(item.content) if isinstance(item, SourceRecord) else 0
