"""Publishing: chunks, pointers, acknowledgements and the index manifest move in one transaction.

A job is honoured while its row still stands with the same fence and names the head of its own document;
otherwise it was superseded or taken over, and leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from clearcite.adapters.ledgers import leases, visible
from clearcite.adapters.ledgers.codec import encode, encode_units
from clearcite.adapters.ledgers.events import record
from clearcite.adapters.ledgers.generations import active_id
from clearcite.adapters.ledgers.leases import SQL
from clearcite.adapters.ledgers.writer import SQL as COMMON
from clearcite.adapters.ledgers.writer import Transaction
from clearcite.domain.corpus import DocumentKey, build_seal
from clearcite.domain.digest import sha256_text
from clearcite.errors import DependencyUnavailable
from clearcite.ports import Built, Job

Commit = Callable[[str | None], str]


@dataclass(frozen=True, slots=True)
class Held:
    """A row of the outbox that its worker still holds, in the order of the query ``held``."""

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


def publish(
    tx: Transaction, generation: str, built: Sequence[Built], commit: Commit
) -> tuple[DocumentKey, ...]:
    """Write what is still wanted of ``built``.

    ``commit`` runs last, and only if something was projected, or if ``built`` is empty: a merge of the index.
    """
    number = active_id(tx, generation)
    published: list[DocumentKey] = []
    projected = False
    for item in built:
        held = _held(tx, number, item.job)
        if held is None:
            continue
        fault = _fault(item, held)
        if fault is not None:
            leases.fail(tx, item.job, fault)
            continue
        _write(tx, number, item, held)
        tx.run(SQL["done"], item.job.event_id)
        _log(tx, generation, item, held)
        projected = projected or held.kind == "project"
        published.append(item.job.key)
    if projected or not built:
        _switch_index(tx, generation, commit)
    return tuple(published)


def _log(tx: Transaction, generation: str, item: Built, held: Held) -> None:
    """What is served from now on, and from which position; hashes only. ``source_time`` is in no hash, and decides
    which of two sides is the newer one."""
    if held.kind == "delete":
        record(tx, "dropped", item.job.key, generation=generation, position=tx.raised)
    elif held.kind == "access":
        slot = held.served_slot
        record(tx, "acknowledged", item.job.key, generation=generation, slot=slot, state=held.state_hash)
    else:
        described = item.job.description
        made = {"text": sha256_text(item.text), "seal": build_seal(item.title, item.normal_sha256)}
        made |= {"generation": generation, "state": held.state_hash}
        since = None if described is None else described.source_time
        record(
            tx,
            "published",
            item.job.key,
            slot=held.slot,
            position=tx.position(),
            source_time=since,
            **made,
        )


def _switch_index(tx: Transaction, generation: str, commit: Commit) -> None:
    row = tx.row(COMMON["find_generation"], generation)
    if row is None:
        raise DependencyUnavailable("There is no such generation.")
    tx.run(SQL["set_index_manifest"], commit(row[2]), row[0])


def _held(tx: Transaction, generation: int, job: Job) -> Held | None:
    key = job.key
    identity = (key.tenant_id, key.source_id, key.document_id)
    row = tx.row(SQL["held"], job.event_id, job.fence, generation, *identity)
    return None if row is None else Held(*row)


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


def _write(tx: Transaction, generation: int, item: Built, held: Held) -> None:
    if held.kind == "access":
        state = (held.access, held.access_digest, held.state_hash)
        tx.run(SQL["acknowledge"], *state, tx.now, held.served)
    else:
        if held.served is not None:
            visible.retire(tx, generation, held.partition, held.served_slot)
            tx.run(SQL["drop_projection"], held.served)
        if held.kind == "project":
            _write_projection(tx, generation, item, held)
    visible.refresh(tx, held.document)


def _write_projection(tx: Transaction, generation: int, item: Built, held: Held) -> None:
    described = item.job.description  # of this very revision: the fence is the one it was claimed with
    projection = tx.insert(
        SQL["add_projection"],
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
        build_seal(item.title, item.normal_sha256),
        encode(list(item.flags)),
        encode([list(note) for note in item.notes]),
    )
    tx.run(SQL["add_text"], projection, sha256_text(item.text), item.text)
    rows = (
        (
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
            encode(list(chunk.heading)),
            encode(list(chunk.flags)),
            encode_units(chunk.units),
            chunk.context,
            chunk.text,
            chunk.seal(),
        )
        for chunk in item.chunks
    )
    tx.run_many(SQL["add_chunk"], rows)
