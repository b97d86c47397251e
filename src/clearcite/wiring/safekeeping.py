"""Settings → backup, journal, restore and integrity.

What was taken away since a backup is taken away again before a restored store serves: from the store that is being
replaced, or from a journal kept apart. Where neither is there, only an operator who accepts the loss, with a reason,
gets a store.
"""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

from msgspec import Struct

from clearcite.adapters.backups import (
    Backup,
    copy_private,
    describe,
    link_or_copy,
    new_folder,
    read_backup,
    read_journal,
    write_backup,
    write_journal,
)
from clearcite.adapters.connectors.state import UNKNOWN, FileState, JsonFolderState
from clearcite.adapters.indexes.local import LocalIndex
from clearcite.adapters.indexes.local_manifest import (
    MANIFEST_SUFFIX,
    SEGMENT_SUFFIX,
    manifest_path,
    read_manifest,
    segment_path,
)
from clearcite.adapters.ledgers.migrate import migrate
from clearcite.adapters.ledgers.reapply import Reached, Since
from clearcite.adapters.ledgers.sqlite import SqliteLedger, is_whole, open_sqlite_ledger, seal
from clearcite.adapters.parsers.child import ChildParser
from clearcite.adapters.remains import files_of
from clearcite.adapters.traces.sqlite import open_sqlite_traces
from clearcite.config import Settings
from clearcite.domain.digest import digest
from clearcite.domain.journal import Journal, Reapplied, agree
from clearcite.domain.manifest import PipelineManifest
from clearcite.domain.policy import Accepted
from clearcite.errors import ClearciteError, DependencyUnavailable, InputError, IntegrityFault
from clearcite.ingest.reconcile import with_rebuild
from clearcite.wire import canonical, loads
from clearcite.wire.convert import from_json, to_json
from clearcite.wiring.parts import INDEX, LEDGER, TRACES, SystemClock, existing_store
from clearcite.wiring.purging import REPLACED, Purge, Say

POLICY_REVISION = "policy-revision"
SOURCES = "sources"
_TRIES = 5
_OTHER_FUTURE = (
    "Nothing was restored: the journal is of another future of this store, from before or after an earlier restore that"
    " did not know it all."
)


def backup_store(settings: Settings, target: Path, say: Say = lambda _: None) -> Backup:
    """A consistent copy of a store that may be in use. Index segments are linked where the file system can."""
    store = existing_store(settings)
    clock = SystemClock()
    if target.resolve().is_relative_to(store.resolve()):
        raise InputError("Nothing was written: a backup must not stand inside the store it is of.")
    new_folder(target)
    with ExitStack() as stack:
        ledger = stack.enter_context(closing(open_sqlite_ledger(store / LEDGER, clock)))
        traces = stack.enter_context(closing(open_sqlite_traces(store / TRACES)))
        say("copying ledger and index")
        number, position = copy_ledger_and_index(ledger, store, target)
        traces.copy_to(target / TRACES)
        for path in _plain_files(store):
            copy_private(path, target / path.relative_to(store))
        say("hashing")
        backup = Backup(
            store_id=ledger.store_id(),
            number=number,
            position=position,
            created_at=clock.now(),
            files=describe(target),
        )
    write_backup(target, backup)
    return backup


def export_journal(settings: Settings, path: Path) -> Journal:
    """Write what a restore needs to know of what was taken away; small, and to be kept apart from the backups."""
    store = existing_store(settings)
    with closing(open_sqlite_ledger(store / LEDGER, SystemClock())) as ledger:
        journal = ledger.journal()
    write_journal(path, journal)
    return journal


def _plain_files(store: Path) -> Iterator[Path]:
    """The records of folders, and the accepted revision of the policy of a store that kept it in a file."""
    for path in files_of(store):
        name = path.relative_to(store).parts[0]
        if name in (SOURCES, POLICY_REVISION):
            yield path


def copy_ledger_and_index(ledger: SqliteLedger, store: Path, target: Path) -> tuple[int, int]:
    """The index first, for a segment may be swept while the ledger is copied; again if one was missed."""
    for _ in range(_TRIES):
        shutil.rmtree(target / INDEX, ignore_errors=True)
        (target / LEDGER).unlink(missing_ok=True)
        _link_index(store / INDEX, target / INDEX)
        ledger.copy_to(target / LEDGER)
        with closing(open_sqlite_ledger(target / LEDGER, SystemClock(), sealed=True)) as copy:
            _, position, number = copy.journal_head()
            with copy.examine() as examination:
                generations = examination.generations()
        if all(_complete(store, target, name, manifest) for name, _, manifest in generations):
            _drop_unnamed(target / INDEX, {name: manifest for name, _, manifest in generations})
            return number, position
    raise DependencyUnavailable(
        "The index changes faster than it can be copied, or files of it are missing."
        " Try again; if that does not help, see: clearcite doctor"
    )


def _link_index(source: Path, target: Path) -> None:
    for path in files_of(source) if source.is_dir() else ():
        if path.suffix in (SEGMENT_SUFFIX, MANIFEST_SUFFIX):
            try:
                link_or_copy(path, target / path.relative_to(source))
            except FileNotFoundError:
                continue  # swept meanwhile


def _complete(store: Path, target: Path, name: str, manifest: str | None) -> bool:
    """Whether everything that a manifest names was copied; what was published meanwhile is fetched."""
    if manifest is None:
        return True
    here, there = store / INDEX / name, target / INDEX / name
    try:
        if not manifest_path(there, manifest).exists():
            link_or_copy(manifest_path(here, manifest), manifest_path(there, manifest))
        for segment in read_manifest(there, manifest).names:
            if not segment_path(there, segment).exists():
                link_or_copy(segment_path(here, segment), segment_path(there, segment))
    except (FileNotFoundError, DependencyUnavailable):
        return False
    return True


def _drop_unnamed(index: Path, manifests: dict[str, str | None]) -> None:
    for path in files_of(index) if index.is_dir() else ():
        manifest = manifests.get(path.parent.name)
        names = read_manifest(path.parent, manifest).names if manifest else frozenset()
        if path.stem != manifest and path.stem not in names:
            path.unlink()


class Restored(Struct, frozen=True, kw_only=True):
    """``journal_number``: up to where it is known what was taken away; None: not known, and accepted with
    ``reason``. ``replaced``: where the store that stood there was put."""

    backup: int
    backup_at: int
    journal_number: int | None
    reapplied: Reapplied
    purged_revisions: int
    reason: str | None
    replaced: str | None


def restore_store(
    settings: Settings, source: Path, journal_file: Path | None, loss: str | None, say: Say = lambda _: None
) -> Restored:
    """Put a backup in the place of the store, after taking away again what was taken away since.

    ``loss``: the reason for doing without that knowledge. Raises IntegrityFault for a backup that was changed and
    InputError where what was taken away is not known; then nothing is changed.
    """
    say("checking the backup")
    backup = read_backup(source)
    store = settings.path(settings.store)
    work = store.with_name(store.name + ".restoring")
    _finish_interrupted(store, work)
    journal = _newest_journal(store, backup, journal_file)
    if journal is None and loss is None:
        raise InputError(
            "Nothing was restored: what was deleted, revoked or purged since the backup is not known. Give"
            " --journal FILE (from: clearcite backup --journal FILE), or --accept-loss REASON."
        )
    shutil.rmtree(work, ignore_errors=True)
    try:
        return _Restore(store, source, work, backup, journal, loss, say).run()
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise


def _finish_interrupted(store: Path, work: Path) -> None:
    """Where a restore was killed between two moves of a folder, there is no store: put there what knows most.

    That is the store it had put aside and not sealed yet; after that, the restored one. A store that was sealed stays
    where it is: a later one may have stood in its place and be lost.
    """
    if store.exists():
        return
    number = 1
    while _aside(store, number).exists():
        number += 1
    newest = _aside(store, number - 1)
    if is_whole(newest / LEDGER):
        newest.rename(store)
    elif newest.exists() and is_whole(work / LEDGER):
        work.rename(store)


def _aside(store: Path, number: int) -> Path:
    return store.with_name(f"{store.name}{REPLACED}{number}")


def _newest_journal(store: Path, backup: Backup, file: Path | None) -> Journal | None:
    """Of the store that is replaced and the file, whichever knows more."""
    found = []
    if file is not None:
        found.append(read_journal(file))
    if (store / LEDGER).is_file():
        try:
            with closing(open_sqlite_ledger(store / LEDGER, SystemClock())) as ledger:
                found.append(ledger.journal())
        except ClearciteError:
            pass  # a damaged store tells nothing: then a journal is needed
    for journal in found:
        if journal.store_id != backup.store_id:
            raise InputError(
                "Nothing was restored: the backup is of another store than the one here or the journal."
            )
    if not all(agree(found[0], journal) for journal in found):
        raise InputError(f"{_OTHER_FUTURE} Without --journal, what the store here knows is taken away again.")
    known = max(found, key=lambda journal: (journal.number, journal.position), default=None)
    if known is not None and known.number < backup.number:
        raise InputError("Nothing was restored: the journal is older than the backup.")
    return known


def _know_policy(ledger: SqliteLedger, journal: Journal) -> None:
    """An identity of before the policy that was in force is refused, also where the backup is from before it."""
    newest, here = journal.policy_revision, ledger.policy()
    if newest is not None and newest.isdigit() and (here is None or here.revision < int(newest)):
        ledger.accept_policy(Accepted(revision=int(newest), content=None, issued_at=None), "restore")


class _Restore(Struct, frozen=True):
    """One restore, made in a folder of its own and moved into place at the end."""

    store: Path
    source: Path
    work: Path
    backup: Backup
    journal: Journal | None
    loss: str | None
    say: Say

    def run(self) -> Restored:
        self.work.mkdir(mode=0o700, parents=True)
        self.say("copying")
        for item in self.backup.files:
            copy_private(self.source / item.name, self.work / item.name)
        self._keep_traces()
        migrate(self.work / LEDGER)
        for path in self.work.glob(LEDGER + ".*.backup"):
            path.unlink()
        self.say("taking away again")
        restored = self._bring_up_to_date()
        return self._move(restored)

    def _keep_traces(self) -> None:
        """What was asked stays known: the traces of the store that is replaced hold those of the backup."""
        here = self.store / TRACES
        try:
            if here.is_file():
                with closing(open_sqlite_traces(here)) as traces:
                    (self.work / TRACES).unlink(missing_ok=True)
                    traces.copy_to(self.work / TRACES)
        except ClearciteError:
            copy_private(self.source / TRACES, self.work / TRACES)

    def _bring_up_to_date(self) -> Restored:
        with ExitStack() as stack:
            clock = SystemClock()
            ledger = stack.enter_context(closing(open_sqlite_ledger(self.work / LEDGER, clock, sealed=True)))
            done, revisions = Reapplied(), 0
            if self.journal is not None:
                if not agree(ledger.journal(), self.journal):
                    raise InputError(f"{_OTHER_FUTURE} It does not fit the backup.")
                since = Since(self.journal, self.backup.number, self.backup.position, _hashes(ledger))
                done, doomed, reached = ledger.reapply(since)
                self._move_sources_on(reached)
                _know_policy(ledger, self.journal)
                traces = stack.enter_context(closing(open_sqlite_traces(self.work / TRACES)))
                parser = stack.enter_context(ChildParser())
                purge = Purge(store=self.work, ledger=ledger, traces=traces, parser=parser, say=self.say)
                receipt = purge.erase(doomed, clock.now())
                revisions = sum(item.revisions for item in receipt.documents)
            number = None if self.journal is None else self.journal.number
            record = (self.backup.created_at, self.backup.number, number, self.loss)
            ledger.unseal(
                (*record, canonical(to_json(done)).decode("utf-8")),
                _fresh_id(self) if number is None else None,
            )
            ledger.scrub()
        return Restored(
            backup=self.backup.number,
            backup_at=self.backup.created_at,
            journal_number=number,
            reapplied=done,
            purged_revisions=revisions,
            reason=self.loss,
            replaced=None,
        )

    def _move_sources_on(self, reached: list[Reached]) -> None:
        """What a folder sends next must be newer than what was taken away; a file that stood there when its document
        was deleted by hand is not."""
        for key, sequence, was_replaced in reached:
            file = self.work / SOURCES / f"{digest(key.tenant_id, key.source_id)[:16]}.jsonl"
            if not file.is_file():
                continue
            states = JsonFolderState(file)
            if key.shown_id != key.document_id:  # an older revision: no file stands for it
                continue
            known = states.all().get(key.document_id)
            if known is None or known.sequence < sequence:
                gone = was_replaced or (known is not None and known.deleted)
                unknown = FileState(content=UNKNOWN, metadata=UNKNOWN, sequence=sequence, deleted=gone)
                states.put({key.document_id: unknown})

    def _move(self, restored: Restored) -> Restored:
        replaced = None
        if self.store.exists():
            number = 1
            while (aside := _aside(self.store, number)).exists():
                number += 1
            self.store.rename(aside)
            self._seal(aside)
            replaced = str(aside)
        self.work.rename(self.store)
        return Restored(
            **{name: getattr(restored, name) for name in Restored.__struct_fields__ if name != "replaced"},
            replaced=replaced,
        )

    def _seal(self, aside: Path) -> None:
        """Afterwards, for a crash between must not leave the store here sealed; one that is damaged or
        too old for it cannot be asked as it is."""
        try:
            if (aside / LEDGER).is_file():
                seal(aside / LEDGER)
        except IntegrityFault:
            self.say("what was put aside cannot be sealed")
        except BaseException:
            aside.rename(self.store)
            raise


def _fresh_id(restore: _Restore) -> str:
    """A store that lost what it knew is another one: no journal of the old one fits it."""
    return digest("restored with loss", restore.backup.store_id, SystemClock().now())[:32]


def _hashes(ledger: SqliteLedger) -> list[str]:
    with ledger.examine() as examination:
        raws = examination.manifests()
    return [from_json(PipelineManifest, loads(raw), what="a stored manifest").hash() for raw in raws]


def check_integrity(settings: Settings) -> Iterator[tuple[str, str]]:
    """(what, fault) for everything checked; an empty fault is none: databases, index segments, file modes."""
    store = existing_store(settings)
    with closing(open_sqlite_ledger(store / LEDGER, SystemClock())) as ledger:
        yield LEDGER, "; ".join(ledger.faults())
        with ledger.examine() as examination:
            generations = examination.generations()
    with closing(open_sqlite_traces(store / TRACES)) as traces:
        yield TRACES, "; ".join(traces.faults())
    for name, raw, manifest in generations:
        yield f"index {name}", _index_fault(store / INDEX / name, raw, manifest)
    # No content stands in files of sources.
    files = [store, *(path for path in files_of(store) if path.parent.name != SOURCES)]
    loose = [str(path.relative_to(store.parent)) for path in files if path.stat().st_mode & 0o077]
    yield "file modes", f"others may read or change: {', '.join(loose)}" if loose else ""


def _index_fault(folder: Path, raw: str, manifest: str | None) -> str:
    try:
        pipeline: PipelineManifest = from_json(PipelineManifest, loads(raw), what="the stored manifest")
        LocalIndex(folder, pipeline).open(manifest).check()
    except ClearciteError as error:
        return with_rebuild(error.message)
    return ""
