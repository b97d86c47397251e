"""A folder of documents as a source: what is new, what changed, what has gone since the last look."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from clearcite.adapters.connectors.deletions import Deletions
from clearcite.adapters.connectors.document import STEP, FileReader, located
from clearcite.adapters.connectors.files import read_inside
from clearcite.adapters.connectors.listing import Listing, list_file, list_folder
from clearcite.adapters.connectors.state import UNKNOWN, FileState, FolderState
from clearcite.domain.corpus import SourceRecord
from clearcite.domain.digest import digest, sha256_bytes
from clearcite.domain.sources import Checkpoint
from clearcite.errors import ClearciteError, InputError

BATCH_FILES = 500
BATCH_BYTES = 8_000_000


class FolderConnector(Struct, frozen=True, kw_only=True):
    """``state`` remembers what was seen.

    A document's id is its path. Its sequence rises when its bytes or its metadata change (times of files are
    not monotonic). Files that have gone become deletes, only after a complete listing, and within the bounds
    of ``deletions``. ``only``: take this one file and conclude nothing about the others. ``heads``: what the ledger
    has of this source, (sequence, whether it lives); what was deleted there by hand stays so until its file changes,
    whatever else of the source does.
    """

    root: Path
    reader: FileReader
    state: FolderState
    deletions: Deletions = field(default_factory=Deletions)
    only: str | None = None
    heads: Mapping[str, tuple[int, bool]] = field(default_factory=dict)

    def records(self) -> Iterator[SourceRecord | ClearciteError | Checkpoint]:
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
                yield located(name, error)
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
            newest = self._newest(name)
            is_same = before is not None and (before.content, before.metadata) == (content, metadata)
            if before is None or before.deleted or not is_same or before.sequence < newest:
                last = max(before.sequence if before else 0, newest)
                sequence = last + STEP if last else 1
                if before is not None and self._stays_deleted(name, before, content):
                    sequence = before.sequence
                changed[name] = FileState(content=content, metadata=metadata, sequence=sequence)
        if changed:
            self.state.put(changed)
            known |= changed
        for record in batch:
            yield replace(record, source_sequence=known[record.key.document_id].sequence)

    def _stays_deleted(self, name: str, before: FileState, content: str) -> bool:
        """Deleted by hand, and the same bytes stand there still, as far as is known."""
        return not self._lives(name) and not before.deleted and before.content in (content, UNKNOWN)

    def _newest(self, name: str) -> int:
        """The sequence of a document that lives: what a feed of the same source sent, or a record of the folder that
        was lost, may be ahead of what is known here, and a list that was narrowed must not count as an older one."""
        sequence, lives = self.heads.get(name, (0, True))
        return sequence if lives else 0

    def _lives(self, name: str) -> bool:
        return self.heads.get(name, (0, True))[1]

    def _deletes(
        self, listing: Listing, known: Mapping[str, FileState]
    ) -> Iterator[SourceRecord | ClearciteError | Checkpoint]:
        present = listing.files.keys() | listing.refused.keys()
        alive = [name for name, state in known.items() if not state.deleted]
        gone = {name for name in alive if name not in present}
        if gone and not listing.complete:
            yield InputError("Some folders could not be listed, so nothing is deleted.")
            return
        going, living = sum(map(self._lives, gone)), sum(map(self._lives, alive))
        if self.deletions.withhold(going, living):
            yield self.deletions.waiting(going, living, self.reader.settings)
            yield Checkpoint(covered=True, withheld=going)
            return
        marks = {
            name: state if state.deleted else replace(state, deleted=True, sequence=state.sequence + STEP)
            for name, state in known.items()
            if state.deleted or name in gone
        }
        self.state.put({name: marks[name] for name in sorted(gone)})
        # Earlier deletes are said again: a crash may have come between remembering and writing.
        for name in sorted(marks):
            if name not in present:
                yield self.reader.delete(name, marks[name].sequence)
        yield Checkpoint(covered=listing.complete)

    def _read(self, name: str, path: Path) -> SourceRecord | None:
        if not self.reader.is_document(name):
            return None
        return self.reader.read(name, read_inside(self.root, path, self.reader.max_bytes))


def _metadata_digest(record: SourceRecord) -> str:
    access = record.access.digest() if record.access else None
    return digest("folder-metadata", access, record.description.digest() if record.description else None)
