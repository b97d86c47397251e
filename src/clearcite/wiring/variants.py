"""The engine of a store with one thing about it changed, to measure what that thing is worth.

What happens while a question is answered is changed by another function in place of a stage; what happens while
documents are taken in, by another generation that is built in a copy of the store.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from clearcite.adapters.embedders.minilm import MiniLM
from clearcite.adapters.embedders.minilm_rows import MiniLMRows
from clearcite.adapters.indexes.local import LocalIndex
from clearcite.adapters.ledgers.sqlite import open_sqlite_ledger
from clearcite.adapters.parsers.child import ChildParser
from clearcite.adapters.rerankers.cross_encoder import CrossEncoder
from clearcite.adapters.writers.extractive import ExtractiveWriter
from clearcite.config import Settings
from clearcite.domain.manifest import PipelineManifest
from clearcite.engine import Engine, Pipeline
from clearcite.errors import InputError
from clearcite.ingest.build import Builder
from clearcite.ingest.chunk import Cut, cut_document
from clearcite.ingest.draft import LocalDrafter, Recipe
from clearcite.ingest.pipeline import Worker, project
from clearcite.ports import Embedder, Reranker
from clearcite.wire import canonical
from clearcite.wire.convert import to_json
from clearcite.wiring.copies import scratch_copy
from clearcite.wiring.engines import claim_limits, engine_on
from clearcite.wiring.manifests import analyzer_for, manifest_of, name_of
from clearcite.wiring.parts import INDEX, LEDGER, SystemClock, existing_store, passage_embedder

Say = Callable[[str], None]


class Variant(Struct, frozen=True, kw_only=True):
    """``instead``: stage → the function in its place. ``cut``: another way to cut documents. ``embedder``,
    ``reranker``: another one; None: as configured. ``rebuilt``: whether documents must be taken in again for it."""

    instead: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    cut: Callable[..., tuple[Cut, ...]] = cut_document
    embedder: Embedder | None = None
    reranker: Reranker | None = None
    rebuilt: bool = False


@contextmanager
def engine_of(settings: Settings, live: str, variant: Variant, say: Say = lambda _: None) -> Iterator[Engine]:
    """The engine, looked at so that it leaves no trace. ``live``: the generation that is changed or built anew."""
    with ExitStack() as stack:
        generation = live
        if variant.rebuilt:
            settings = stack.enter_context(scratch_copy(settings))
            generation = _built(settings, live, variant, say)
        if variant.embedder is not None:
            # It takes the place of the configured one, which would refuse to ask another's vectors.
            settings = replace(settings, semantic="off")
        engine = stack.enter_context(engine_on(settings, generation=generation))
        pipeline = _varied(engine._services.pipeline, variant, settings)
        yield Engine(replace(engine._services, instead=variant.instead, pipeline=pipeline))


def transformer(settings: Settings) -> Embedder:
    """The installed model. Raises MissingExtra with the command that installs it."""
    return MiniLM(settings.model_path or None)


def static_rows(settings: Settings) -> Embedder:
    """The installed model's rows of word pieces alone. Raises MissingExtra with the command that installs it."""
    return MiniLMRows(settings.model_path or None)


def cross_encoder(folder: Path) -> Reranker:
    """Raises ConfigError for a folder that holds none."""
    return CrossEncoder(folder)


def _varied(
    pipeline: Callable[[str], Pipeline], variant: Variant, settings: Settings
) -> Callable[[str], Pipeline]:
    def opened(generation: str) -> Pipeline:
        found = pipeline(generation)
        parts = replace(found.parts, reranker=variant.reranker or found.parts.reranker)
        if variant.embedder is not None:
            writer = ExtractiveWriter(parts.analyzer, variant.embedder, claim_limits(settings))
            parts = replace(parts, embedder=variant.embedder, writer=writer)
        return replace(found, parts=parts)

    return opened


def _built(settings: Settings, live: str, variant: Variant, say: Say) -> str:
    """A generation of the copy, beside the live one and with its manifest, the changed thing apart."""
    store = existing_store(settings)
    with closing(open_sqlite_ledger(store / LEDGER, SystemClock())) as ledger, ChildParser() as parser:
        manifest = _manifest(manifest_of(live, ledger.manifest(live)), variant)
        name = f"{name_of(manifest)}-ablated"
        ledger.start_generation(name, canonical(to_json(manifest)).decode("utf-8"), kept=True)
        recipe = Recipe(analyzer=analyzer_for(manifest), chunk_words=manifest.chunk_words, cut=variant.cut)
        builder = Builder(
            drafter=LocalDrafter(parser=parser, recipe=recipe),
            embedder=_embedder(settings, manifest, variant),
        )
        index = LocalIndex(Path(store) / INDEX / name, manifest)
        with closing(index):
            worker = Worker(ledger=ledger, index=index, builder=builder, generation=name, owner="ablation")
            for done in project(worker):
                say(f"{len(done.published)} documents taken in again")
                if done.failed:
                    raise InputError(f"a document could not be taken in again: {done.failed[0][1]}")
    return name


def _manifest(live: PipelineManifest, variant: Variant) -> PipelineManifest:
    return live if variant.embedder is None else replace(live, embedder=variant.embedder.fingerprint)


def _embedder(settings: Settings, manifest: PipelineManifest, variant: Variant) -> Embedder | None:
    if variant.embedder is not None:
        return variant.embedder
    return None if manifest.embedder is None else passage_embedder(settings)
