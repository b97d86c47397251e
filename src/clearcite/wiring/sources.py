"""Configured sources → connectors, each taken by one run at a time; and what a run would do, with nothing written."""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from clearcite.adapters.connectors.deletions import ANY_NUMBER, Deletions
from clearcite.adapters.connectors.document import FileReader
from clearcite.adapters.connectors.files import ContentReader
from clearcite.adapters.connectors.folder import FolderConnector
from clearcite.adapters.connectors.git import GitConnector
from clearcite.adapters.connectors.git_repository import GitRepository
from clearcite.adapters.connectors.jsonl import JsonlConnector
from clearcite.adapters.connectors.state import FolderState, JsonFolderState, MemoryFolderState
from clearcite.adapters.ledgers.sqlite import open_sqlite_ledger
from clearcite.adapters.presence import Lock
from clearcite.config import FILE_NAME, Settings, SourceSettings
from clearcite.domain.access import Micros
from clearcite.domain.digest import digest
from clearcite.domain.sources import Checkpoint, SourceState
from clearcite.errors import ClearciteError, InputError
from clearcite.ingest.draft import Drafter
from clearcite.ingest.pipeline import Refused, take
from clearcite.ingest.sync import Batch, Rehearsal, take_source
from clearcite.keeping import Sources
from clearcite.storing import Applied, Connector, Ledger
from clearcite.wire.instants import day_start, parse_moment
from clearcite.wire.records import RecordRules
from clearcite.wire.zones import zone_of
from clearcite.wiring.builds import manifest_for
from clearcite.wiring.drafting import ChildDrafter
from clearcite.wiring.manifests import manifest_of
from clearcite.wiring.parts import LEDGER, SystemClock
from clearcite.wiring.workshop import Workshop

_LARGE_FEED = 1_000_000
"""Bytes; taking a small one would mostly be waiting for a process that may have nothing to do."""

Kind = Literal["folder", "file", "feed", "git"]


class Taking(Struct, frozen=True, kw_only=True):
    """How sources are taken. ``skipped`` collects what is no document: (id, reason)."""

    approve_deletes: bool = False
    skip_bad: bool = False
    skipped: list[tuple[str, str]] = field(default_factory=list)


def kind_of(settings: Settings, source: SourceSettings) -> Kind:
    path = settings.path(source.path)
    if source.kind == "git":
        return "git"
    if path.suffix == ".jsonl":
        return "feed"
    return "file" if path.is_file() else "folder"


def check_there(settings: Settings, source: SourceSettings) -> None:
    """Raises InputError where nothing is at the path of a source."""
    if not settings.path(source.path).exists():
        what = "file" if kind_of(settings, source) == "feed" else "folder"
        raise InputError(
            f"The {what} {source.path} of the source {source.source_id} does not exist; see path in [[sources]]"
            f" of {FILE_NAME}."
        )


def take_one(shop: Workshop, settings: Settings, source: SourceSettings, taking: Taking) -> Iterator[Batch]:
    """Take one source into the store. Raises ClearciteError when it cannot be read; the others are not touched."""
    clock = SystemClock()
    kind = kind_of(settings, source)
    state = _state_of(shop.ledger, source, kind)
    file = _state_file(settings, source)
    lock = Lock(file.with_suffix(".lock"), f"Another run takes the source {source.source_id} at this moment.")
    with closing(lock):
        try:
            check_there(settings, source)
            if kind in ("folder", "file"):
                _check_root(file.with_suffix(".root"), settings, source, keep=True)
            connector = _connector(settings, source, (shop.ledger, JsonFolderState(file)), taking)
            if kind == "feed":
                _get_ready(shop.builder.drafter, settings.path(source.path))
        except ClearciteError as error:
            shop.ledger.put_source(replace(state, tried_at=clock.now(), outcome=error.message))
            raise
        yield from take_source(connector, shop.ledger, state, clock, shop.manifest.hash())


def _get_ready(drafter: Drafter, feed: Path) -> None:
    """The process that reads documents starts while a large feed is checked; what is wrong with it shows when it is
    needed."""
    with suppress(OSError, ClearciteError):
        if isinstance(drafter, ChildDrafter) and feed.stat().st_size > _LARGE_FEED:
            drafter.start()


@contextmanager
def rehearsed(settings: Settings) -> Iterator["Stage"]:
    """The store as it is, opened to see what taking sources would do; an empty one where there is none."""
    store = settings.path(settings.store) / LEDGER
    with closing(open_sqlite_ledger(store if store.is_file() else None, SystemClock())) as ledger:
        live = next((item for item in ledger.generations() if item.is_live and item.is_kept), None)
        manifest = manifest_for(settings) if live is None else manifest_of(live.name, live.manifest)
        yield Stage(ledger=ledger, manifest_hash=manifest.hash())


class Stage(Struct, frozen=True, kw_only=True):
    """Where a run is rehearsed."""

    ledger: Ledger
    manifest_hash: str

    def take(self, settings: Settings, source: SourceSettings, taking: Taking) -> Iterator[Applied | Refused]:
        """What ``take_one`` would give. Nothing is written, so nothing is remembered from one call to the next."""
        file = _state_file(settings, source)
        check_there(settings, source)
        if kind_of(settings, source) in ("folder", "file"):
            _check_root(file.with_suffix(".root"), settings, source, keep=False)
        state = MemoryFolderState(JsonFolderState(file).peek())
        connector = _connector(settings, source, (self.ledger, state), taking)
        for batch in take(connector.records(), Rehearsal(self.ledger), self.manifest_hash):
            yield from (item for item in batch if not isinstance(item, Checkpoint))


def _connector(
    settings: Settings, source: SourceSettings, books: tuple[Sources, FolderState], taking: Taking
) -> Connector:
    """``books``: what is known of sources, and of the files of a folder."""
    path = settings.path(source.path)
    window_of(source)
    kind = kind_of(settings, source)
    if kind == "feed":
        return JsonlConnector(source=path, rules=_rules(settings, source), skip_bad=taking.skip_bad)
    ledger, files = books
    state = _state_of(ledger, source, kind)
    reader = FileReader(settings=source, max_bytes=settings.max_document_bytes, skipped=taking.skipped)
    deletions = Deletions(
        count=settings.max_deletions,
        share=settings.max_deletion_share,
        approved=ANY_NUMBER if taking.approve_deletes else state.approved,
    )
    heads = ledger.heads(source.tenant, source.source_id)
    if kind == "git":
        return GitConnector(
            repository=GitRepository(path=path, folder=source.folder, ref=source.ref),
            reader=reader,
            heads=heads,
            cursor=state.cursor,
            deletions=deletions,
        )
    _check_no_repository(ledger, source)
    only = path.name if kind == "file" else None
    return FolderConnector(
        root=_root(path), only=only, reader=reader, state=files, deletions=deletions, heads=heads
    )


def _check_no_repository(books: Sources, source: SourceSettings) -> None:
    """A folder counts its own sequences: where a repository has counted further, they would be taken for older ones,
    and a list that was narrowed since for an older list."""
    if any(
        (state.tenant_id, state.source_id, state.kind) == (source.tenant, source.source_id, "git")
        for state in books.sources()
    ):
        raise InputError(
            f"The source {source.source_id} of the tenant {source.tenant} has been a git repository. Give the folder"
            " a name of its own: --source NAME, or source_id in its [[sources]] table."
        )


def unlisted(settings: Settings, books: Sources) -> dict[tuple[str, str], int]:
    """Sources that were taken once and are not configured any more: (tenant, source) → documents that go on answering.

    Empty where no source is configured at all: such a store is kept by ``ingest PATH``.
    """
    listed = {(source.tenant, source.source_id) for source in settings.sources}
    places = {(state.tenant_id, state.source_id) for state in books.sources()} if listed else set()
    alive = {place: sum(lives for _, lives in books.heads(*place).values()) for place in places - listed}
    return {place: alive[place] for place in sorted(alive) if alive[place]}


def _rules(settings: Settings, source: SourceSettings) -> RecordRules:
    reader = ContentReader(root=settings.path(source.path).parent, max_bytes=settings.max_document_bytes)
    return RecordRules(
        zone=zone_of(source.zone),
        max_bytes=settings.max_document_bytes,
        source_id=source.source_id,
        source_type=source.source_type,
        authority=source.authority,
        trusted=source.trusted,
        read_content=reader,
        keeps_history=source.history,
        defaults=_defaults(source),
    )


def window_of(source: SourceSettings) -> tuple[Micros | None, Micros | None]:
    """When the documents of a source hold that say nothing themselves. Raises InputError for a window that is none."""
    zone = zone_of(source.zone)
    try:
        start = None if source.effective_from is None else parse_moment(source.effective_from, zone)
        end = None if source.effective_to is None else parse_moment(source.effective_to, zone)
        if source.effective_through is not None:
            if end is not None:
                raise InputError("effective_through cannot stand beside effective_to")
            end = day_start(source.effective_through, zone, 1)
        if start is not None and end is not None and start >= end:
            raise InputError("effective_from must be before the end of the window")
    except InputError as error:
        raise InputError(f"The source {source.source_id}: its window {error.message}.") from error
    return start, end


def _defaults(source: SourceSettings) -> dict[str, Any]:
    """Fields of a feed's records where they say nothing. What the source denies is denied in each."""
    given = {
        "allowed_groups": list(source.allowed_groups) or None,
        "denied_groups": list(source.denied_groups) or None,
        "parent": source.parent,
        "status": None if source.status == "published" else source.status,
        "language": source.language,
        "product_version": source.product_version,
        "effective_from": source.effective_from,
        "effective_to": source.effective_to,
        "effective_through": source.effective_through,
    }
    return {name: value for name, value in given.items() if value is not None}


def _state_of(books: Sources, source: SourceSettings, kind: Kind) -> SourceState:
    new = SourceState(tenant_id=source.tenant, source_id=source.source_id, kind=kind)
    return next((state for state in books.sources() if state.place == new.place), new)


def _state_file(settings: Settings, source: SourceSettings) -> Path:
    name = digest(source.tenant, source.source_id)[:16]
    return settings.path(settings.store) / "sources" / f"{name}.jsonl"


def _root(path: Path) -> Path:
    """One that has gone is still itself: its parent must never be remembered as the folder of a source."""
    return path.parent if path.is_file() else path


def _check_root(file: Path, settings: Settings, source: SourceSettings, *, keep: bool) -> None:
    """A source is one folder: taken from another one, every document of the first would count as deleted.

    The place is kept relative to the store, so that both can be copied together. A folder that has moved is not
    there any more, and its new place takes over.
    """
    root = _root(settings.path(source.path))
    kept = os.path.relpath(root.resolve(), file.parent.resolve())
    before = os.fsdecode(file.read_bytes()) if file.is_file() else None
    if before == kept:
        return
    if before is not None and (file.parent / before).is_dir():
        raise InputError(
            f"The source {source.source_id} of the tenant {source.tenant} is another folder already:"
            f" {(file.parent / before).resolve()}. Give {root} a name of its own: --source NAME, or source_id in"
            " its [[sources]] table."
        )
    if keep:
        fresh = file.with_suffix(".new-root")
        fresh.write_bytes(os.fsencode(kept))
        fresh.replace(file)
