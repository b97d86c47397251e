"""The only module that knows adapters: settings → Engine, or the parts an ingestion needs."""

from __future__ import annotations

import os
import secrets
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clearcite.adapters.embedders.minilm import MiniLM
from clearcite.adapters.indexes.local import LocalIndex
from clearcite.adapters.ledgers.sqlite import open_sqlite_ledger
from clearcite.adapters.parsers.child import ChildParser
from clearcite.adapters.parsers.registry import parser_fingerprint
from clearcite.adapters.rerankers.lexical import LexicalReranker
from clearcite.adapters.resolvers.policy_file import PolicyFile
from clearcite.adapters.traces.sqlite import open_sqlite_traces
from clearcite.adapters.writers.extractive import ExtractiveWriter
from clearcite.answer.evidence import Budget
from clearcite.answer.pipeline import Parts
from clearcite.config import Settings, load_settings
from clearcite.domain.access import Micros
from clearcite.domain.manifest import PipelineManifest
from clearcite.engine import Engine, Services
from clearcite.errors import ConfigError, MissingExtra
from clearcite.ingest.build import Builder
from clearcite.ingest.chunk import CHUNKER
from clearcite.ports import Embedder, Ledger
from clearcite.text.analysis import Analyzer
from clearcite.text.phrases import PhraseSet
from clearcite.visibility import Visibility
from clearcite.wire import canonical, from_json, loads, to_json

LEDGER, TRACES, INDEX = "ledger.db", "traces.db", "index"


class SystemClock:
    """The machine's clock."""

    def now(self) -> Micros:
        return time.time_ns() // 1_000


def open_engine(config: Settings | Path | str | None = None, **flags: Any) -> Engine:
    """Open the engine of a store. ``config``: settings, or the folder that holds ``clearcite.toml``."""
    settings = config if isinstance(config, Settings) else load_settings(Path(config or "."), flags=flags)
    return engine_on(settings)


def engine_on(settings: Settings, faults: Mapping[str, Exception] | None = None) -> Engine:
    """Like ``open_engine``, with named stages that shall fail."""
    store = existing_store(settings)
    clock = SystemClock()
    ledger = open_sqlite_ledger(store / LEDGER, clock)
    traces = open_sqlite_traces(store / TRACES)
    manifest = live_manifest(ledger)
    analyzer = analyzer_for(manifest)
    embedder = query_embedder(settings, manifest)
    parts = Parts(
        analyzer=analyzer,
        live=PhraseSet(settings.tool_required),
        embedder=embedder,
        reranker=LexicalReranker(analyzer),
        writer=ExtractiveWriter(analyzer, embedder),
        budget=Budget(passages=settings.evidence_limit, characters=settings.evidence_chars),
        depth=settings.depth,
    )
    services = Services(
        ledger=ledger,
        index=LocalIndex(store / INDEX, manifest),
        traces=traces,
        visibility=Visibility(),
        parts=parts,
        clock=clock,
        trace_id=lambda: secrets.token_hex(16),
        config_hash=settings.hash(),
        manifest_hash=manifest.hash(),
        deadline_ms=settings.deadline_ms,
        allow_past=settings.allow_past,
        faults=faults or {},
    )
    return Engine(services, on_close=(ledger.close, traces.close))


@dataclass(frozen=True, kw_only=True, slots=True)
class Workshop:
    """What ingestion needs, opened on one store."""

    ledger: Ledger
    index: LocalIndex
    builder: Builder
    parser: ChildParser
    manifest: PipelineManifest
    generation: str
    owner: str

    def close(self) -> None:
        self.parser.close()
        self.ledger.close()


def open_workshop(settings: Settings) -> Workshop:
    """Open a store for writing, making it if it is new."""
    store = settings.path(settings.store)
    store.mkdir(mode=0o700, parents=True, exist_ok=True)
    ledger = open_sqlite_ledger(store / LEDGER, SystemClock())
    embedder = passage_embedder(settings)
    analyzer = Analyzer(languages=settings.languages, synonyms=dict(settings.synonyms))
    manifest = PipelineManifest(
        parser=parser_fingerprint(),
        chunker=CHUNKER,
        analysis=analyzer.fingerprint,
        embedder=embedder.fingerprint if embedder else None,
        languages=settings.languages,
        synonyms=settings.synonyms,
    )
    generation = _generation_for(ledger, manifest)
    parser = ChildParser()
    return Workshop(
        ledger=ledger,
        index=LocalIndex(store / INDEX, manifest),
        builder=Builder(
            parser=parser, analyzer=analyzer, embedder=embedder, chunk_words=manifest.chunk_words
        ),
        parser=parser,
        manifest=manifest,
        generation=generation,
        owner=f"{socket.gethostname()}:{os.getpid()}",
    )


def existing_store(settings: Settings) -> Path:
    store = settings.path(settings.store)
    if not (store / LEDGER).is_file():
        raise ConfigError("There is no store here yet. Make one with: clearcite ingest FOLDER")
    return store


def resolver_for(settings: Settings, policy: str | None = None) -> PolicyFile:
    """The policy file named by a flag or the settings; its last accepted revision is kept in the store."""
    name = policy or settings.policy
    if not name:
        raise ConfigError("No policy file is configured. Give one with --policy policy.toml")
    path = Path(policy) if policy else settings.path(settings.policy)
    store = settings.path(settings.store)
    return PolicyFile(path, store / "policy-revision" if store.is_dir() else None)


def live_manifest(ledger: Ledger) -> PipelineManifest:
    with ledger.snapshot() as snapshot:
        text = ledger.manifest(snapshot.generation)
    if text is None:
        raise ConfigError("The store holds no index yet. Fill it with: clearcite ingest FOLDER")
    manifest: PipelineManifest = from_json(PipelineManifest, loads(text), what="the stored manifest")
    return manifest


def analyzer_for(manifest: PipelineManifest) -> Analyzer:
    """The analysis a generation was built with; another one would ask for words it does not hold."""
    analyzer = Analyzer(languages=manifest.languages, synonyms=dict(manifest.synonyms))
    if analyzer.fingerprint != manifest.analysis:
        raise ConfigError("The index was built by another version. Rebuild it with: clearcite ingest")
    return analyzer


def passage_embedder(settings: Settings) -> MiniLM | None:
    """The embedder for ingestion: with ``semantic = "auto"`` only where it is installed."""
    if settings.semantic == "off":
        return None
    try:
        return MiniLM(settings.model_path or None)
    except MissingExtra:
        if settings.semantic == "on":
            raise
        return None


def query_embedder(settings: Settings, manifest: PipelineManifest) -> Embedder | None:
    """The embedder a generation was built with; two vector spaces never mix."""
    if manifest.embedder is None or settings.semantic == "off":
        return None
    embedder = passage_embedder(settings)
    if embedder is not None and embedder.fingerprint != manifest.embedder:
        raise ConfigError("The index holds vectors of another model. Rebuild it with: clearcite ingest")
    return embedder


def _generation_for(ledger: Ledger, manifest: PipelineManifest) -> str:
    """The live generation if it has this manifest, else a new one that is built beside it."""
    name = f"g-{manifest.hash()[:12]}"
    if ledger.manifest(name) is None:
        ledger.start_generation(name, canonical(to_json(manifest)).decode("utf-8"))
    return name



