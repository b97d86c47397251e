"""A folder of documents as a source: what is new, what changed, what has gone since the last look."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from clearcite.adapters.connectors.files import read_inside
from clearcite.adapters.connectors.front import clean_labels, front_fields
from clearcite.adapters.connectors.listing import Listing, list_file, list_folder
from clearcite.adapters.connectors.state import FileState, FolderState
from clearcite.config import SourceSettings
from clearcite.domain.corpus import DocumentKey, SourceRecord
from clearcite.domain.digest import digest, sha256_bytes, sha256_text
from clearcite.errors import ClearciteError, InputError
from clearcite.wire import loads, media
from clearcite.wire.decode import decode_text
from clearcite.wire.frontmatter import body_of, read_front_matter, split_front_matter
from clearcite.wire.instants import zone_of
from clearcite.wire.records import RecordRules, read_record
from clearcite.wire.strict import shown
from clearcite.wire.threads import looks_like_thread, read_thread

BATCH_FILES = 500
BATCH_BYTES = 8_000_000
WITHHELD_COUNT = 20
WITHHELD_PERCENT = 20
STEP = 2
"""By which a sequence rises, so that there is room for an operator's delete between two states of a file: a file
that is deleted by hand stays deleted until it changes."""

_WITH_FRONT_MATTER = (media.MARKDOWN, media.PLAIN, media.RST)


@dataclass(frozen=True, kw_only=True, slots=True)
class FolderConnector:
    """``settings`` give what documents do not say themselves; ``state`` remembers what was seen.

    A document's id is its path. Its sequence rises when its bytes or its metadata change (times of files are
    not monotonic). Files that have gone become deletes, only after a complete listing; when more than
    ``WITHHELD_COUNT`` and ``WITHHELD_PERCENT`` % of the documents have gone at once, the deletes are withheld
    unless ``approve_deletes``. ``skipped`` lists what is no document: (id, reason). ``only``: take this one
    file and conclude nothing about the others.
    """

    root: Path
    settings: SourceSettings
    state: FolderState
    max_bytes: int = 10_000_000
    approve_deletes: bool = False
    skipped: list[tuple[str, str]] = field(default_factory=list)
    only: str | None = None

    def records(self) -> Iterator[SourceRecord | ClearciteError]:
        """All documents in the order of their ids, unchanged ones too (the ledger judges), then deletes."""
        listing = list_folder(self.root) if self.only is None else list_file(self.root, self.only)
        yield from listing.refused.values()
        known = dict(self.state.all())
        batch: list[SourceRecord] = []
        size = 0
        for name, path in listing.files.items():
            try:
                record = self._read(name, path)
            except InputError as error:
                yield _located(name, error)
                continue
            if record is None:
                continue
            batch.append(record)
            size += len(record.content)
            if len(batch) >= BATCH_FILES or size >= BATCH_BYTES:
                yield from self._sequenced(batch, known)
                batch, size = [], 0
        yield from self._sequenced(batch, known)
        if self.only is None:
            yield from self._deletes(listing, known)

    def _sequenced(self, batch: list[SourceRecord], known: dict[str, FileState]) -> Iterator[SourceRecord]:
        """Raise sequences where something changed, durably, before any record of the batch is given away."""
        changed: dict[str, FileState] = {}
        for record in batch:
            name = record.key.document_id
            content, metadata = sha256_bytes(record.content), _metadata_digest(record)
            before = known.get(name)
            if before is None or before.deleted or (before.content, before.metadata) != (content, metadata):
                sequence = before.sequence + STEP if before else 1
                changed[name] = FileState(content=content, metadata=metadata, sequence=sequence)
        if changed:
            self.state.put(changed)
            known |= changed
        for record in batch:
            yield replace(record, source_sequence=known[record.key.document_id].sequence)

    def _deletes(
        self, listing: Listing, known: Mapping[str, FileState]
    ) -> Iterator[SourceRecord | ClearciteError]:
        present = listing.files.keys() | listing.refused.keys()
        alive = [name for name, state in known.items() if not state.deleted]
        gone = sorted(name for name in alive if name not in present)
        if gone and not listing.complete:
            yield InputError("Some folders could not be listed, so nothing is deleted.")
            return
        is_many = len(gone) > WITHHELD_COUNT and len(gone) * 100 > WITHHELD_PERCENT * len(alive)
        if is_many and not self.approve_deletes:
            yield InputError(
                f"{len(gone)} of {len(alive)} documents have gone; their deletes wait for approval."
            )
            return
        marks = {
            name: state if state.deleted else replace(state, deleted=True, sequence=state.sequence + STEP)
            for name, state in known.items()
            if state.deleted or name in set(gone)
        }
        self.state.put({name: marks[name] for name in gone})
        # Earlier deletes are said again: a crash may have come between remembering and writing.
        for name in sorted(marks):
            if name not in present:
                yield SourceRecord(
                    key=self._key(name),
                    source_sequence=marks[name].sequence,
                    operation="delete",
                    delete_reason="source_deleted",
                )

    def _key(self, name: str) -> DocumentKey:
        settings = self.settings
        return DocumentKey(tenant_id=settings.tenant, source_id=settings.source_id, document_id=name)

    # --- one file -----------------------------------------------------------------------------------------

    def _read(self, name: str, path: Path) -> SourceRecord | None:
        """The record of a file, its sequence not yet set; None for what is no document."""
        media_type = media.media_type_of(name)
        if media_type is None:
            self.skipped.append((name, "unknown file type"))
            return None
        raw = read_inside(self.root, path, self.max_bytes)
        fields: dict[str, Any] = {}
        if media_type == media.THREAD:
            if not looks_like_thread(loads(raw)):
                self.skipped.append((name, "JSON that is not a forum thread"))
                return None
            fields = _thread_fields(raw, self.settings)
        elif media_type in _WITH_FRONT_MATTER:
            fields = front_fields(read_front_matter(split_front_matter(decode_text(raw))[0]))
            if "denied_groups" in fields:
                # A document may deny more than its source, never less.
                denied = {*self.settings.denied_groups, *fields["denied_groups"]}
                fields["denied_groups"] = sorted(denied)
        record = self._defaults(name, media_type) | {"source_version": _version(raw, media_type)} | fields
        return read_record(record, self._rules(raw, media_type))

    def _defaults(self, name: str, media_type: str) -> dict[str, Any]:
        settings = self.settings
        values: dict[str, Any] = {
            "tenant_id": settings.tenant,
            "source_id": settings.source_id,
            "document_id": name,
            "source_sequence": 1,
            "source_uri": name,
            "content_path": name,
            "media_type": media_type,
            "allowed_groups": list(settings.allowed_groups),
            "denied_groups": list(settings.denied_groups),
            "parent": settings.parent,
            "status": settings.status,
            "source_type": settings.source_type,
            "authority": settings.authority,
            "language": settings.language,
            "product_version": settings.product_version,
        }
        return values

    def _rules(self, raw: bytes, media_type: str) -> RecordRules:
        return RecordRules(
            zone=zone_of(self.settings.zone),
            max_bytes=self.max_bytes,
            trusted=self.settings.trusted,
            read_content=lambda _: raw,
            front_matter_is_read=media_type in _WITH_FRONT_MATTER,
        )


def _thread_fields(raw: bytes, settings: SourceSettings) -> dict[str, Any]:
    thread = read_thread(raw)
    fields: dict[str, Any] = {"title": thread.title, "labels": clean_labels(list(thread.tags))}
    if thread.url:
        fields["source_uri"] = thread.url
    if thread.product_version:
        fields["product_version"] = thread.product_version
    if thread.created_at:
        fields["published_at"] = thread.created_at
    if settings.source_type == SourceSettings(path="").source_type:
        fields["source_type"] = "forum"
    return fields


def _version(raw: bytes, media_type: str) -> str:
    """A name for this state of the text. Newline form, NFC and front matter do not count, as in the content hash."""
    if media_type not in media.TEXTUAL:
        return sha256_bytes(raw)[:12]
    text = decode_text(raw)
    return sha256_text(body_of(text) if media_type in _WITH_FRONT_MATTER else text)[:12]


def _metadata_digest(record: SourceRecord) -> str:
    access = record.access.digest() if record.access else None
    return digest("folder-metadata", access, record.description.digest() if record.description else None)


def _located(name: str, error: InputError) -> InputError:
    place = f"{shown(name, 200)}: "
    return type(error)(place + error.message, tuple(place + fault for fault in error.violations))
