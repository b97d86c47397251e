"""Publishing: chunks, pointers, acknowledgements and the index manifest move in one transaction.

A job is honoured while its row still stands with the same fence and names the head of its own document;
otherwise it was superseded or taken over, and leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

from clearcite.adapters.ledgers import leases, visible
from clearcite.adapters.ledgers.codec import encode, encode_notes, encode_strings, encode_units
from clearcite.adapters.ledgers.events import Entry, record_all
from clearcite.adapters.ledgers.generations import active_id
from clearcite.adapters.ledgers.leases import SQL
from clearcite.adapters.ledgers.writer import SQL as COMMON
from clearcite.adapters.ledgers.writer import Transaction
from clearcite.domain.corpus import DocumentKey, build_seal
from clearcite.domain.digest import sha256_text
from clearcite.errors import DependencyUnavailable
from clearcite.storing import Built, Job

Commit = Callable[[str | None], str]
Marks = tuple[str, str]
"""The digest of a build's text and the seal of the build."""


class Held(NamedTuple):
    """A row of the outbox that its worker still holds, in the order of the query ``held``."""

    fence: int
    tenant_id: str
    source_id: str
    document_id: str
    document: int
    kind: str
    revision: int
    access: int
    slot: int | None
    partition: int
    access_digest: str
    state_hash: str
    served: int | None
    served_slot: int
    served_revision: int
    withdrawn: int

    def belongs_to(self, job: Job) -> bool:
        """Whether it is still the row that this job was leased with, of this very document."""
        key = job.key
        identity = (key.tenant_id, key.source_id, key.document_id)
        return self.fence == job.fence and identity == (self.tenant_id, self.source_id, self.document_id)


Wanted = tuple[Built, Held, Marks]


def publish(
    tx: Transaction, generation: str, built: Sequence[Built], commit: Commit
) -> tuple[DocumentKey, ...]:
    """Write what is still wanted of ``built``.

    ``commit`` runs last, and only if something was projected, or if ``built`` is empty: a merge of the index.
    """
    number = active_id(tx, generation)
    held_by = _held_by_event(tx, number, built)
    wanted: list[Wanted] = []
    log: list[Entry] = []
    for item in built:
        held = held_by.pop(item.job.event_id, None)
        if held is None or not held.belongs_to(item.job):
            continue
        fault = _fault(item, held)
        if fault is not None:
            leases.fail(tx, item.job, fault)
            continue
        _make_way(tx, number, held)
        marks = (sha256_text(item.text), build_seal(item.title, item.normal_sha256))
        wanted.append((item, held, marks))
        log.append(_entry(tx, generation, *wanted[-1]))
    projected = [each for each in wanted if each[1].kind == "project"]
    _write_projections(tx, number, projected)
    tx.run(SQL["done"], encode([item.job.event_id for item, *_ in wanted]))
    record_all(tx, log)
    if projected or not built:
        _switch_index(tx, generation, commit)
    return tuple(item.job.key for item, *_ in wanted)


def _entry(tx: Transaction, generation: str, item: Built, held: Held, marks: Marks) -> Entry:
    """What is served from now on, and from which position; hashes only. ``source_time`` is in no hash, and decides
    which of two sides is the newer one."""
    key, job = item.job.key, item.job
    if held.kind == "delete":
        return "dropped", key, {"generation": generation, "position": tx.raised}
    if held.kind == "access":
        return (
            "acknowledged",
            key,
            {"generation": generation, "slot": held.served_slot, "state": held.state_hash},
        )
    return (
        "published",
        key,
        {
            "slot": held.slot,
            "position": tx.position(),
            "source_time": None if job.description is None else job.description.source_time,
            "text": marks[0],
            "seal": marks[1],
            "generation": generation,
            "state": held.state_hash,
        },
    )


def _switch_index(tx: Transaction, generation: str, commit: Commit) -> None:
    row = tx.row(COMMON["find_generation"], generation)
    if row is None:
        raise DependencyUnavailable("There is no such generation.")
    tx.run(SQL["set_index_manifest"], commit(row[2]), row[0])


def _held_by_event(tx: Transaction, generation: int, built: Sequence[Built]) -> dict[int, Held]:
    rows = tx.rows(SQL["held"], encode([item.job.event_id for item in built]), generation)
    return {event: Held(*row) for event, *row in rows}


def _fault(item: Built, held: Held) -> str | None:
    """Why a build must not be published: it is checked against itself before it may widen anything."""
    if item.job.kind != held.kind:
        return "the build is of another kind than its event"
    serving = held.served is not None and not held.withdrawn and held.served_revision == held.revision
    if held.kind == "access" and not serving:
        return "the access of a revision that is not served cannot be acknowledged"
    if held.kind != "project":
        return None
    if item.job.slot != held.slot:
        return "the build carries another slot than its lease"
    for ordinal, chunk in enumerate(item.chunks):
        if (
            chunk.ordinal != ordinal
            or chunk.text != item.text[chunk.start : chunk.end]
            or chunk.sha256 != sha256_text(chunk.text)
        ):
            return "a chunk does not match its text"
    if len({chunk.chunk_id for chunk in item.chunks}) != len(item.chunks):
        return "two chunks share one id"
    return None


def _make_way(tx: Transaction, generation: int, held: Held) -> None:
    """Everything that a job does but write what it built: what was served before goes, or serves others."""
    if held.kind == "access":
        state = (held.access, held.access_digest, held.state_hash)
        tx.run(SQL["acknowledge"], *state, tx.now, held.served)
    elif held.served is not None:
        visible.retire(tx, generation, held.partition, held.served_slot)
        tx.run(SQL["drop_projection"], held.served)
    if held.kind != "project":
        visible.refresh(tx, held.document)


def _write_projections(tx: Transaction, generation: int, built: Sequence[Wanted]) -> None:
    """Documents of which this generation serves nothing now."""
    if not built:
        return
    first = tx.number_after(SQL["last_projection"])
    rows = (_projection(tx, generation, first + i, each) for i, each in enumerate(built))
    tx.run_many(SQL["add_projection"], rows)
    texts = ((first + i, marks[0], item.text) for i, (item, _, marks) in enumerate(built))
    tx.run_many(SQL["add_text"], texts)
    chunks = (_chunks(generation, first + i, item, held) for i, (item, held, _) in enumerate(built))
    tx.run_many(SQL["add_chunk"], chain.from_iterable(chunks))
    visible.begin(tx, first, first + len(built) - 1)


def _projection(tx: Transaction, generation: int, number: int, wanted: Wanted) -> tuple[Any, ...]:
    item, held, (_, seal) = wanted
    described = item.job.description  # of this very revision: the fence is the one it was claimed with
    return (
        number,
        generation,
        held.document,
        held.partition,
        held.slot,
        held.revision,
        held.access,
        held.access_digest,
        held.state_hash,
        int(described is not None and bool(described.supersedes)),
        tx.now,
        item.title,
        item.normal_sha256,
        seal,
        encode_strings(item.flags),
        encode_notes(item.notes),
    )


def _chunks(generation: int, projection: int, item: Built, held: Held) -> Iterator[tuple[Any, ...]]:
    for chunk in item.chunks:
        yield (
            generation,
            projection,
            chunk.chunk_id,
            held.slot,
            chunk.ordinal,
            chunk.start,
            chunk.end,
            chunk.sha256,
            chunk.kind,
            chunk.page,
            chunk.language,
            encode_strings(chunk.heading),
            encode_strings(chunk.flags),
            encode_units(chunk.units),
            chunk.context,
            chunk.text,
            chunk.seal(),
        )
