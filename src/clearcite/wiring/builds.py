"""Generations: under which manifest one is built, which of them can be built here, and which one serves."""

import itertools
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import Struct
from msgspec.structs import asdict, replace

from clearcite.adapters.indexes.local import LocalIndex
from clearcite.adapters.indexes.local_format import Shape
from clearcite.adapters.indexes.local_manifest import SEGMENT_SUFFIX
from clearcite.adapters.ledgers.sqlite import open_sqlite_ledger
from clearcite.adapters.parsers.registry import parser_fingerprint
from clearcite.config import Settings
from clearcite.domain.generations import Generation, Switch, SwitchKind
from clearcite.domain.manifest import PipelineManifest
from clearcite.errors import ClearciteError, ConfigError, DependencyUnavailable, InputError, IntegrityFault
from clearcite.ingest.build import Builder
from clearcite.ingest.chunk import CHUNKER
from clearcite.ports import Embedder
from clearcite.storing import Ledger
from clearcite.text.analysis import Analyzer
from clearcite.wire import canonical
from clearcite.wire.convert import to_json
from clearcite.wiring.drafting import ChildDrafter
from clearcite.wiring.manifests import analyzer_for, manifest_of, name_of
from clearcite.wiring.parts import INDEX, LEDGER, SystemClock, existing_store, passage_embedder

LOOKS = 4
HEADER = 128
"""Bytes that hold the header of a segment, and some more."""

OTHER_SETTINGS = (
    "The settings describe another index than the one that an operator made live, which goes on. To build theirs:"
    " clearcite index build"
)


class Recipe(Struct, frozen=True, kw_only=True):
    """What a build may set beside the settings; see ``PipelineManifest``. None: as usual."""

    chunk_words: int | None = None
    bm25_k1: int | None = None
    bm25_b: int | None = None
    average_length: int | None = None

    def applied(self, manifest: PipelineManifest) -> PipelineManifest:
        given = {name: value for name, value in asdict(self).items() if value is not None}
        for name, value in given.items():
            low, high = RANGES[name]
            if not low <= value <= high:
                raise InputError(f"--{name.replace('_', '-')} must lie between {low} and {high}.")
        return replace(manifest, **given)


RANGES = {
    "chunk_words": (20, 2_000),
    "bm25_k1": (0, 1_000),
    "bm25_b": (0, 100),
    "average_length": (1, 10_000),
}


class Target(Struct, frozen=True, kw_only=True):
    """The generation that ingestion builds. ``switch``: how it may become live when it is complete; None: it is
    live, or an operator has to promote it. ``note``: what whoever runs the command should know."""

    name: str
    manifest: PipelineManifest
    switch: Switch | None = None
    note: str = ""


def manifest_for(settings: Settings) -> PipelineManifest:
    """What the settings, this version and the models installed here make of a document."""
    embedder = passage_embedder(settings)
    return PipelineManifest(
        parser=parser_fingerprint(),
        chunker=CHUNKER,
        analysis=Analyzer(languages=settings.languages, synonyms=dict(settings.synonyms)).fingerprint,
        embedder=embedder.fingerprint if embedder else None,
        languages=settings.languages,
        synonyms=settings.synonyms,
    )


def builder_for(settings: Settings, manifest: PipelineManifest) -> Builder:
    """Raises ConfigError for a manifest that this version, with the models installed here, cannot build."""
    embedder = _embedder_for(settings, manifest)
    return Builder(drafter=ChildDrafter(manifest), embedder=embedder)


def _embedder_for(settings: Settings, manifest: PipelineManifest) -> Embedder | None:
    """Raises ConfigError where ``builder_for`` does."""
    analyzer_for(manifest)
    if (manifest.parser, manifest.chunker) != (parser_fingerprint(), CHUNKER):
        raise ConfigError("The index was built by another version, which read or cut documents otherwise.")
    embedder = None if manifest.embedder is None else passage_embedder(replace(settings, semantic="on"))
    if embedder is not None and embedder.fingerprint != manifest.embedder:
        raise ConfigError("The index holds vectors of another model than the one installed here.")
    return embedder


def is_sound(ledger: Ledger, store: Path, generation: Generation) -> bool:
    """Whether its index can be opened and gives its checksums.

    One that was published and swept anew in between is looked at again; what moves all the time is alive.
    """
    for _ in range(LOOKS):
        try:
            manifest = manifest_of(generation.name, generation.manifest)
            LocalIndex(store / INDEX / generation.name, manifest).open(generation.index_manifest).check()
        except (DependencyUnavailable, IntegrityFault):
            (newer,) = [item for item in ledger.generations() if item.name == generation.name]
            if newer.index_manifest == generation.index_manifest:
                return False
            generation = newer
        else:
            return True
    return True


def vector_lengths(settings: Settings, generation: str) -> frozenset[int]:
    """The lengths of the vectors that stand in the segments of a generation; 0 where there are none. A segment that
    cannot be read is left out: opening the index finds it."""
    found = set()
    for path in sorted((existing_store(settings) / INDEX / generation).glob(f"*{SEGMENT_SUFFIX}")):
        try:
            with path.open("rb") as file:
                found.add(Shape.unpack(file.read(HEADER))[0].dims)
        except IntegrityFault:
            continue
    return frozenset(found)


def target_for(settings: Settings, ledger: Ledger, store: Path) -> Target:
    """Which generation ingestion builds now.

    The one of the settings, which then becomes live; but once an operator has promoted or built the live one it
    is that one, and only operators switch, except from an index that cannot be read any more.
    """
    wanted = manifest_for(settings)
    live = next((item for item in ledger.generations() if item.is_live), None)
    if live is None:
        return Target(name=start(ledger, store, wanted), manifest=wanted)
    if not is_sound(ledger, store, live):
        manifest = _manifest_again(settings, live) or wanted
        name = start(ledger, store, manifest, kept=live.is_kept)
        return Target(name=name, manifest=manifest, switch=_switch("repair", "The index cannot be read."))
    if live.is_kept:
        manifest = manifest_of(live.name, live.manifest)
        note = "" if manifest == wanted else OTHER_SETTINGS
        return Target(name=live.name, manifest=manifest, note=note)
    name = start(ledger, store, wanted)
    switch = None if name == live.name else _switch("ingest", "The settings describe another index.")
    return Target(name=name, manifest=wanted, switch=switch)


def live_target(_settings: Settings, ledger: Ledger, store: Path) -> Target:
    """The generation that serves, whatever the settings say: a worker finishes what there is and starts nothing."""
    live = next((item for item in ledger.generations() if item.is_live), None)
    if live is None:
        raise ConfigError("The store holds no index yet. Fill it with: clearcite ingest FOLDER")
    if not is_sound(ledger, store, live):
        raise ConfigError("The index cannot be read. Build it again with: clearcite index build")
    return Target(name=live.name, manifest=manifest_of(live.name, live.manifest))


def build_target(recipe: Recipe) -> Callable[[Settings, Ledger, Path], Target]:
    """Chooses the generation of the settings and a recipe, to stand beside the live one until it is promoted.

    It takes the place of a live one that cannot be read any more.
    """

    def choose(settings: Settings, ledger: Ledger, store: Path) -> Target:
        manifest = recipe.applied(manifest_for(settings))
        live = next((item for item in ledger.generations() if item.is_live), None)
        if live is not None and not is_sound(ledger, store, live):
            switch = _switch("repair", "The index cannot be read.")
            return Target(
                name=start(ledger, store, manifest, kept=live.is_kept), manifest=manifest, switch=switch
            )
        is_live = live is not None and manifest == manifest_of(live.name, live.manifest)
        return Target(name=start(ledger, store, manifest, kept=not is_live), manifest=manifest)

    return choose


def start(ledger: Ledger, store: Path, manifest: PipelineManifest, *, kept: bool = False) -> str:
    """The active generation of a manifest, else a new one that is built beside the live one.

    One that was retired is not revived, and one that is damaged is left alone: the manifest is built again.
    """
    text = canonical(to_json(manifest)).decode("utf-8")
    known = {item.name: item for item in ledger.generations()}
    for number in itertools.count(1):
        name = name_of(manifest) + (f"-{number}" if number > 1 else "")
        there = known.get(name)
        if there is None or (
            there.state == "active" and there.manifest == text and is_sound(ledger, store, there)
        ):
            ledger.start_generation(name, text, kept=kept)
            return name
    raise ConfigError("No name is left for a generation.")


def others(settings: Settings, ledger: Ledger, store: Path, target: str) -> Iterator[Generation]:
    """Generations that are kept beside the target, have something to take in, and can do so here."""
    for item in ledger.generations():
        if item.state != "active" or item.name == target or not item.waiting:
            continue
        try:
            _embedder_for(settings, manifest_of(item.name, item.manifest))
        except ClearciteError:
            continue  # `index list` shows that it waits
        if is_sound(ledger, store, item):
            yield item


def retire(ledger: Ledger, store: Path, name: str) -> None:
    """Drop a generation and its files. Raises InputError for the live one."""
    ledger.retire(name)
    shutil.rmtree(store / INDEX / name, ignore_errors=True)


def retire_in(settings: Settings, name: str) -> None:
    """``retire`` in the store of the settings."""
    store = existing_store(settings)
    ledger = open_sqlite_ledger(store / LEDGER, SystemClock())
    try:
        retire(ledger, store, name)
    finally:
        ledger.close()


def retire_unkept(ledger: Ledger, store: Path, target: str) -> None:
    """Drop generations that nobody asked for any more: those before, and half-built ones of settings that went
    back; and files that a worker killed while it retired one has left."""
    folders = [path for path in (store / INDEX).glob("*") if path.is_dir()]  # before the names they must have
    for item in ledger.generations():
        if item.state == "active" and not (item.is_live or item.is_kept or item.name == target):
            retire(ledger, store, item.name)
    active = {item.name for item in ledger.generations() if item.state == "active"}
    for path in folders:
        if path.name not in active:
            shutil.rmtree(path, ignore_errors=True)


def _switch(kind: SwitchKind, reason: str) -> Switch:
    return Switch(kind=kind, actor="ingest", reason=reason, forced=True)


def _manifest_again(settings: Settings, live: Generation) -> PipelineManifest | None:
    """The manifest of a damaged generation that an operator wanted, if it can be built here."""
    if not live.is_kept:
        return None
    try:
        manifest = manifest_of(live.name, live.manifest)
        _embedder_for(settings, manifest)
    except ClearciteError:
        return None
    return manifest
