"""Reading everything back without trust: each row against what it points to, each hash against its bytes.

One read transaction, row by row, so that memory does not grow with the store. Reconciliation is never needed for
safety: a question checks what it reads by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

import apsw
from msgspec.structs import replace

from clearcite.adapters.ledgers import visible
from clearcite.adapters.ledgers.codec import (
    class_digest,
    collection_seal,
    decode_access,
    decode_description,
    encode,
)
from clearcite.adapters.ledgers.connection import translated
from clearcite.adapters.ledgers.queries import load
from clearcite.adapters.ledgers.reader import Mask, chunk_of_row, mask_of
from clearcite.domain.corpus import PAST, Chunk, DocumentKey, build_hash, state_hash_of
from clearcite.domain.digest import digest, sha256_text
from clearcite.domain.reconcile import Kind, Mismatch
from clearcite.errors import IntegrityFault
from clearcite.keeping import Served
from clearcite.storing import Job

SQL = load("examine")

Found = Iterator[Mismatch]


class SqliteExamination:
    """Implements ``ports.Examination``. Used by one thread, inside its ``with`` block only."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        *counts, self._position = self._one("sizes") or ()
        self._sizes = dict(zip(("documents", "revisions", "builds", "chunks"), counts, strict=True))

    @property
    def position(self) -> int:
        return int(self._position)

    def sizes(self) -> Mapping[str, int]:
        return self._sizes

    def generations(self) -> Sequence[tuple[str, str, str | None]]:
        return list(self._rows("generations"))

    def manifests(self) -> Sequence[str]:
        return [row[0] for row in self._rows("manifests")]

    def waiting(self) -> int:
        row = self._one("waiting")
        return int(row[0]) if row else 0

    def slot_state(self, generation: str, partition: str, slot: int) -> Literal["served", "past", "never"]:
        end, serves = self._one("slot_state", generation, partition, slot) or (0, 0)
        if serves:
            return "served"
        return "past" if slot < end else "never"

    def chunks(self, generation: str, key: DocumentKey) -> Sequence[Chunk]:
        rows = self._rows("cut", generation, key.tenant_id, key.source_id, key.document_id)
        return [chunk_of_row(row) for row in rows]

    def live_slots(self, generation: str, partition: str) -> Mask:
        return mask_of(row[0] for row in self._rows("live_slots", generation, partition))

    def mismatches(self, manifest_hashes: Sequence[str], tick: Callable[[str], None]) -> Found:
        """See ``Examination.mismatches``."""
        for row in self._rows("heads"):
            tick("documents")
            yield from _guarded(_head(row, manifest_hashes), _key(row))
        for row in self._rows("pasts", PAST):
            yield from _past(row)
        for row in self._rows("revisions"):
            tick("revisions")
            yield from _guarded(_revision(row), _key(row))
        for row in self._rows("builds"):
            tick("builds")
            yield from _guarded(_build(row), _key(row[1:]), row[0])
        for row in self._rows("events"):
            yield from _event(row)
        for row in self._rows("accesses"):
            yield from _guarded(_access(row), None)
        for row in self._rows("lists"):
            yield from _list(row)
        for row in self._rows("places"):
            yield from _place(row)
        for row in self._rows("judged"):
            yield from _judged(row)
        for row in self._rows("unjudged"):
            detail = "a slot that serves nothing counts as readable"
            yield Mismatch(kind="visibility", generation=row[0], key=_key(row[1:]), detail=detail)
        for (detail,) in self._rows("orphans"):
            yield Mismatch(kind="orphans", detail=detail)

    def texts(self, without: Sequence[int] = ()) -> Iterator[bytes]:
        for row in self._rows("texts", encode(list(without))):
            yield row[0]

    def served(self, generation: str) -> Iterator[Served | Mismatch]:
        for row in self._rows("served", generation):
            try:
                rows = list(self._rows("chunks_of", row[0]))
                yield Served(
                    job=_job(row, generation),
                    title=row[5],
                    normal_sha256=row[6],
                    text_sha256=row[12],
                    text=row[13],
                    seal=row[14],
                    chunks=tuple(chunk_of_row(item[:-1]) for item in rows),
                    chunk_seals=tuple(item[-1] for item in rows),
                )
            except IntegrityFault as fault:
                yield _unreadable(fault, _key(row[1:]), generation)

    def _one(self, name: str, *bindings: Any) -> tuple[Any, ...] | None:
        with translated():
            return self._db.execute(SQL[name], bindings).fetchone()

    def _rows(self, name: str, *bindings: Any) -> Iterator[tuple[Any, ...]]:
        with translated():
            yield from self._db.execute(SQL[name], bindings)


def _key(row: Sequence[Any]) -> DocumentKey | None:
    if row[0] is None:
        return None
    return DocumentKey(tenant_id=row[0], source_id=row[1], document_id=row[2])


def _guarded(found: Found, key: DocumentKey | None, generation: str = "") -> Found:
    """A value that cannot be decoded is a finding as well, and the rest goes on."""
    try:
        yield from found
    except IntegrityFault as fault:
        yield _unreadable(fault, key, generation)


def _unreadable(fault: IntegrityFault, key: DocumentKey | None, generation: str) -> Mismatch:
    return Mismatch(kind="unreadable", generation=generation, key=key, detail=fault.message)


def _head(row: tuple[Any, ...], manifest_hashes: Sequence[str]) -> Found:
    key = _key(row)
    operation, access_digest, content_key, state, build = row[3:8]
    own_revision, stored_key, content, description, own_access, digest_of_access, has_tombstone = row[8:]
    if operation == "delete":
        if not has_tombstone:
            yield Mismatch(kind="orphans", key=key, detail="a deleted document without a tombstone")
        return
    if own_revision is None:
        yield Mismatch(kind="orphans", key=key, detail="a document without a revision")
        return
    if not own_revision:
        yield Mismatch(
            kind="cross_identity", key=key, detail="the head points to another document's revision"
        )
        return
    if own_access is None:
        yield Mismatch(kind="acl", key=key, detail="a document without an access list")
        return
    if not own_access:
        yield Mismatch(kind="cross_identity", key=key, detail="the head points to another tenant's access")
    if access_digest != digest_of_access:
        yield Mismatch(kind="acl", key=key, detail="the head carries another digest than its access")
    if content_key != stored_key:
        yield Mismatch(
            kind="content_hash", key=key, detail="the head carries another content than its revision"
        )
    expected = state_hash_of(content, digest_of_access, decode_description(description).digest())
    if state != expected:
        yield Mismatch(kind="state_hash", key=key, detail="the source state of the head")
    if build not in {build_hash(state or "", name) for name in manifest_hashes}:
        yield Mismatch(kind="build_hash", key=key, detail="the build state of the head")


def _past(row: tuple[Any, ...]) -> Found:
    """An older revision that is kept follows the document whose id its own begins with; nothing else follows one."""
    key, followed = _key(row), _key(row[3:])
    own = key is not None and PAST in key.document_id
    expected = replace(key, document_id=key.shown_id) if key is not None and own else None
    if followed != expected:
        detail = "an older revision that is kept follows another document"
        yield Mismatch(kind="cross_identity", key=key, detail=detail)


def _revision(row: tuple[Any, ...]) -> Found:
    key = _key(row)
    content_key, content_sha256, description, textual, content, text = row[3:]
    if key is None:
        yield Mismatch(kind="orphans", detail="a revision without a document")
    if content is None:
        yield Mismatch(kind="orphans", key=key, detail="a revision without its content")
    elif _content_hash(textual, content, text) != content_sha256:
        yield Mismatch(kind="content_hash", key=key, detail="the bytes of a revision")
    if content_key != content_sha256 + decode_description(description).digest():
        yield Mismatch(kind="description_hash", key=key, detail="the description of a revision")


def _content_hash(textual: int, content: bytes, text: str | None) -> str:
    if not textual:
        return digest("bytes", content)
    try:
        return sha256_text(content.decode("utf-8") if text is None else text)
    except UnicodeDecodeError:
        return "not text"


def _build(row: tuple[Any, ...]) -> Found:
    generation, key = row[0], _key(row[1:])
    own_partition, own_revision, own_access, access_digest, digest_of_access, state, content, description = (
        row[4:12]
    )
    deleted, withdrawn, is_newest, active, chunks, strangers, has_text = row[12:]

    def found(kind: Kind, detail: str, number: int = 1) -> Mismatch:
        return Mismatch(kind=kind, generation=generation or "", key=key, detail=detail, number=number)

    if not (own_partition and own_revision and own_access):
        yield found("cross_identity", "a build points into another identity")
    else:
        if access_digest != digest_of_access:
            yield found("acl", "a build carries another digest than its access")
        if state != state_hash_of(content, digest_of_access, decode_description(description).digest()):
            yield found("state_hash", "the source state of a build")
    if not has_text:
        yield found("orphans", "a build without its text")
    if strangers:
        yield found("chunk_parent", "chunks carry another slot or generation than their build", strangers)
    if deleted and chunks:
        yield found("residual_chunks", "chunks of a deleted document", chunks)
    if not active:
        yield found("stale_projections", "a build of a generation that is retired")
    elif withdrawn or not is_newest:
        yield found("stale_projections", "a build that is not of the newest revision, or withdrawn")


def _event(row: tuple[Any, ...]) -> Found:
    generation, key = row[0] or "", _key(row[1:])
    kind, given_up, sound = row[4:]
    detail = f"{kind}, given up" if given_up is not None else kind
    yield Mismatch(kind="pending_events", generation=generation, key=key, detail=detail)
    if not sound:
        detail = "an event points into another identity"
        yield Mismatch(kind="cross_identity", generation=generation, key=key, detail=detail)


def _access(row: tuple[Any, ...]) -> Found:
    tenant, stored, stored_class, same_partition, *columns = row
    if stored_class is None:
        yield Mismatch(kind="orphans", detail="an access without its list")
        return
    access = decode_access(tuple(columns))
    if access.digest() != stored or class_digest(access.access_class) != stored_class:
        yield Mismatch(kind="acl", detail=f"an access of the tenant {tenant} does not give its digest")
    if not same_partition:
        yield Mismatch(
            kind="cross_identity", detail=f"an access of the tenant {tenant} has another tenant's list"
        )


def _list(row: tuple[Any, ...]) -> Found:
    tenant, path, allow, deny, seal = row
    if collection_seal(path, allow, deny) != seal:
        yield Mismatch(kind="acl", detail=f"a collection of the tenant {tenant} does not give its seal")


def _place(row: tuple[Any, ...]) -> Found:
    """An active document in one active generation."""
    generation, key = row[0], _key(row[1:])
    serves, newest, acknowledged, quarantined, waits = row[4:]
    if not serves:
        yield Mismatch(kind="unpublished_active", generation=generation, key=key)
    elif quarantined or not acknowledged:
        detail = "quarantined" if quarantined else "its newest access is not acknowledged"
        yield Mismatch(kind="blocked_active", generation=generation, key=key, detail=detail)
    if not (serves and newest and acknowledged) and not waits:
        yield Mismatch(kind="no_publish_path", generation=generation, key=key)


def _judged(row: tuple[Any, ...]) -> Found:
    expected = visible.row_for(row[4], row[8:22])
    if tuple(row[22:]) != expected:
        detail = "what decides about a slot is not what both sides say"
        yield Mismatch(kind="visibility", generation=row[0], key=_key(row[1:]), detail=detail)


def _job(row: tuple[Any, ...], generation: str) -> Job:
    key = DocumentKey(tenant_id=row[1], source_id=row[2], document_id=row[3])
    textual, content, text = row[9:12]
    try:
        decoded = (content.decode("utf-8") if text is None else text) if textual else None
    except UnicodeDecodeError as error:
        raise IntegrityFault("Stored content is damaged.") from error
    return Job(
        event_id=0,
        fence=0,
        generation=generation,
        kind="project",
        key=key,
        slot=row[4],
        attempts=0,
        content=content,
        text=decoded,
        content_sha256=row[7],
        description=decode_description(row[8]),
    )
