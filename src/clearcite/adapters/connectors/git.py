"""A git repository as a source: each commit of one branch is a step of its documents' history.

The chain of first parents is taken, oldest first: what the branch said at each moment. A commit is a sequence
number, a file that goes is a delete, a file that moves is a delete and a new document. What was taken before is
gone on from; a branch whose past was rewritten is listed whole, as is one whose settings changed.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from clearcite.adapters.connectors.deletions import Deletions
from clearcite.adapters.connectors.document import STEP, UNKNOWN_TYPE, FileReader, located
from clearcite.adapters.connectors.git_repository import Entry, GitRepository, Step
from clearcite.adapters.connectors.listing import CONFIGURATION
from clearcite.domain.corpus import SourceRecord
from clearcite.domain.digest import digest
from clearcite.domain.sources import Checkpoint
from clearcite.errors import ClearciteError, InputError, IntegrityFault
from clearcite.wire import canonical, loads
from clearcite.wire.convert import from_json, to_json
from clearcite.wire.media import media_type_of

Item = SourceRecord | ClearciteError | Checkpoint
Heads = Mapping[str, tuple[int, bool]]

NOTHING = ""
"""The commit before the first one: a first run that was cut short goes on commit by commit."""


class GitCursor(Struct, frozen=True, kw_only=True):
    """The last commit taken, the sequence it had, and the settings it was read with. ``settled``: False while
    deletes of a rewritten branch wait, so that they are looked for again."""

    commit: str
    sequence: int
    settings: str
    settled: bool = True


class GitConnector(Struct, kw_only=True):
    """``heads``: what the ledger has of this source. ``cursor``: as the last run left it."""

    repository: GitRepository
    reader: FileReader
    heads: Heads
    cursor: str | None = None
    deletions: Deletions = field(default_factory=Deletions)
    _alive: set[str] = field(default_factory=set)
    _said: set[tuple[str, str]] = field(default_factory=set)

    def records(self) -> Iterator[Item]:
        self._alive = {name for name, (_, lives) in self.heads.items() if lives}
        known = self._known()
        with self.repository as repository:
            head = repository.head()
            if repository.is_shallow:
                self._skip(".", "the history is cut off; it begins where the clone does")
            chain = None
            if known is None and not self.heads:
                known = self._cursor(NOTHING, 0)
                yield _point(known)
            if known is not None and known.settled and known.settings == self._settings():
                chain = repository.chain(known.commit or None)
            if chain is None:
                yield from self._listed(head, self._deleted_by_hand(known))
            else:
                yield from self._followed(head, chain, known.sequence if known else 0)

    def _known(self) -> GitCursor | None:
        if self.cursor is None:
            return None
        try:
            return from_json(GitCursor, loads(self.cursor.encode()), what="the cursor of the source")
        except InputError as error:
            raise IntegrityFault("The cursor of the source is damaged.") from error

    def _settings(self) -> str:
        """What makes other records of the same commits."""
        return digest("git-settings", repr(self.reader.settings), self.reader.max_bytes)

    def _cursor(self, commit: str, sequence: int, *, settled: bool = True) -> GitCursor:
        return GitCursor(commit=commit, sequence=sequence, settings=self._settings(), settled=settled)

    # --- commit by commit ---------------------------------------------------------------------------------

    def _followed(self, head: Step, chain: list[Step], sequence: int) -> Iterator[Item]:
        """The commits after the last one taken, each at a sequence of its own."""
        places = {step.commit: (sequence + STEP * number, step) for number, step in enumerate(chain, start=1)}
        for commit, changes in self.repository.changes(chain):
            place, step = places[commit]
            yield from self._changed(changes, place, step)
            yield _point(self._cursor(commit, place))
        yield _point(self._cursor(head.commit, sequence + STEP * len(chain)), covered=True)

    def _changed(self, changes: list[Entry], sequence: int, step: Step) -> Iterator[Item]:
        """One commit's records, one a document: a name in another Unicode form is no delete beside an upsert."""
        blobs: dict[str, str | None] = {}
        for entry in changes:
            name = self._name(entry)
            if isinstance(name, InputError):
                yield name
            elif name is not None:
                blobs[name] = (entry.blob if self._is_document(name, entry) else None) or blobs.get(name)
        for name in sorted(blobs):
            blob = blobs[name]
            if blob is not None:
                self._alive.add(name)
                yield from self._document(name, blob, sequence, step)
            elif name in self._alive:
                self._alive.remove(name)
                yield self.reader.delete(name, sequence, step.instant)

    # --- the whole branch ---------------------------------------------------------------------------------

    def _deleted_by_hand(self, known: GitCursor | None) -> Mapping[str, str | None]:
        """Documents that are deleted though the branch had them when it was last taken, and what stood there.
        None: that is not known, and the document stays deleted until it changes."""
        dead = {name for name, (_, lives) in self.heads.items() if not lives}
        then = self.repository.tree_then(known.commit) if dead and known is not None else None
        if then is None:
            return dict.fromkeys(dead)
        named = {self._name(entry): entry.blob for entry in then}
        return {name: named[name] for name in dead if name in named}

    def _listed(self, head: Step, by_hand: Mapping[str, str | None]) -> Iterator[Item]:
        """Every document of the newest commit, above every sequence ever used, and what has gone."""
        sequence = max((number for number, _ in self.heads.values()), default=0) + STEP
        present: set[str] = set()
        for entry in self.repository.tree():
            name = self._name(entry)
            if isinstance(name, InputError):
                yield name
            elif name is not None and self._is_document(name, entry):
                if name in present:
                    yield located(name, InputError("two files have this name in different Unicode forms"))
                    continue
                present.add(name)
                if by_hand.get(name, NOTHING) in (None, entry.blob):
                    self._skip(name, "it was deleted, and stays so until it changes")
                    continue
                yield from self._document(name, entry.blob, sequence, head)
        alive = len(self._alive)
        gone = sorted(self._alive - present)
        withheld = self.deletions.withhold(len(gone), alive)
        if withheld:
            yield self.deletions.waiting(len(gone), alive, self.reader.settings)
        else:
            yield from (self.reader.delete(name, sequence, head.instant) for name in gone)
        cursor = self._cursor(head.commit, sequence, settled=not withheld)
        yield _point(cursor, covered=True, withheld=len(gone) if withheld else 0)

    # --- one file -----------------------------------------------------------------------------------------

    def _document(self, name: str, blob: str, sequence: int, step: Step) -> Iterator[Item]:
        try:
            raw = self.repository.content(blob, self.reader.max_bytes)
            record = self.reader.read(name, raw, source_time=step.instant)
        except InputError as error:
            yield located(name, error)
            return
        if record is not None:
            yield replace(record, source_sequence=sequence)

    def _name(self, entry: Entry) -> str | InputError | None:
        """The id of a path; None for what a folder would not show either."""
        try:
            name = unicodedata.normalize("NFC", entry.path.decode("utf-8"))
        except UnicodeDecodeError:
            return InputError(f"{ascii(entry.path)[2:-1]}: its name is not valid Unicode")
        hidden = any(part.startswith(".") for part in name.split("/"))
        return None if hidden or name in CONFIGURATION else name

    def _is_document(self, name: str, entry: Entry) -> bool:
        if entry.mode == "120000":
            self._skip(name, "a link is not followed")
        elif entry.mode == "160000":
            self._skip(name, "a submodule is not followed")
        elif entry.mode.startswith("100") and media_type_of(name) is None:
            self._skip(name, UNKNOWN_TYPE)
        return entry.mode.startswith("100") and media_type_of(name) is not None

    def _skip(self, name: str, reason: str) -> None:
        """Say once what is no document, however often it changed."""
        if (name, reason) not in self._said:
            self._said.add((name, reason))
            self.reader.skip(name, reason)


def _point(cursor: GitCursor, *, covered: bool = False, withheld: int = 0) -> Checkpoint:
    return Checkpoint(cursor=canonical(to_json(cursor)).decode(), covered=covered, withheld=withheld)
