"""A small real engine for tests: the SQLite ledger in memory, the local index in a folder, no child process."""

from __future__ import annotations

import atexit
import itertools
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct, field
from msgspec.structs import replace

from clearcite.adapters.indexes.local import LocalIndex
from clearcite.adapters.ledgers.sqlite import open_sqlite_ledger
from clearcite.adapters.parsers.formats import LocalParser
from clearcite.adapters.rerankers.as_found import AsFound
from clearcite.adapters.traces.sqlite import open_sqlite_traces
from clearcite.adapters.writers.extractive import ExtractiveWriter
from clearcite.answer.evidence import Budget
from clearcite.answer.pipeline import Parts
from clearcite.domain.access import Access, Principal
from clearcite.domain.corpus import Description, DocumentKey, SourceRecord
from clearcite.domain.manifest import PipelineManifest
from clearcite.engine import Engine, Pipeline, Services
from clearcite.ingest.build import Builder
from clearcite.ingest.chunk import CHUNKER
from clearcite.ingest.draft import LocalDrafter, Recipe
from clearcite.ingest.pipeline import Worker, project, tidy
from clearcite.testing.embedder import HashedEmbedder
from clearcite.text.analysis import Analyzer
from clearcite.text.phrases import PhraseSet
from clearcite.visibility import Visibility
from clearcite.wire import canonical
from clearcite.wire.convert import to_json

DAY = 86_400_000_000
NOW = 1_790_000_000_000_000
GENERATION = "g-test"
LEGS = pytest.mark.parametrize("embedder", [None, HashedEmbedder()], ids=["words", "words-and-vectors"])
"""With vectors a question has a second leg, legs are fused, and sufficiency compares meanings."""


@dataclass
class FixedClock:
    value: int = NOW

    def now(self) -> int:
        return self.value


def principal(*groups: str, tenant: str = "acme", subject: str = "alice") -> Principal:
    return Principal(tenant_id=tenant, subject_id=subject, groups=groups, authorization_revision="1")


def record(
    document: str,
    text: str,
    groups: Sequence[str] = ("staff",),
    *,
    tenant: str = "acme",
    source: str = "default",
    sequence: int = 1,
    access: Mapping[str, Any] | None = None,
    **description: Any,
) -> SourceRecord:
    return SourceRecord(
        key=DocumentKey(tenant_id=tenant, source_id=source, document_id=document),
        source_sequence=sequence,
        content=text.encode("utf-8"),
        text=text,
        access=Access(allow=tuple(sorted(groups)), **(access or {})),
        description=Description(
            source_uri=description.pop("source_uri", document),
            source_version=description.pop("source_version", "1"),
            **description,
        ),
    )


def pdf_record(document: str, content: bytes, groups: Sequence[str] = ("staff",)) -> SourceRecord:
    return SourceRecord(
        key=DocumentKey(tenant_id="acme", source_id="default", document_id=document),
        source_sequence=1,
        content=content,
        access=Access(allow=tuple(groups)),
        description=Description(source_uri=document, source_version="1", media_type="application/pdf"),
    )


def deletion(item: SourceRecord, reason: str = "source_deleted") -> SourceRecord:
    return SourceRecord(
        key=item.key,
        source_sequence=item.source_sequence + 1,
        operation="delete",
        delete_reason=reason,  # type: ignore[arg-type]
    )


def fast_folder() -> Path:
    """A new folder in memory where there is one: tests of behaviour need no disk."""
    base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    return Path(tempfile.mkdtemp(prefix="clearcite-", dir=base))


class World(Struct):
    """``services`` may be replaced in part by a test, for example with a failing port."""

    services: Services
    builder: Builder
    clock: FixedClock
    folder: Path
    sequence: Any = field(default_factory=lambda: itertools.count(1))

    @property
    def engine(self) -> Engine:
        return Engine(self.services)

    @property
    def pipeline(self) -> Pipeline:
        return self.services.pipeline(GENERATION)

    def builder_with(self, parser: Any) -> Builder:
        return replace(self.builder, drafter=replace(self.builder.drafter, parser=parser))  # type: ignore[type-var]

    def put(self, *records: SourceRecord, publish: bool = True) -> None:
        for applied in self.services.ledger.apply(records, self.pipeline.manifest_hash):
            if applied.error is not None:
                raise applied.error
        if publish:
            self.publish()

    @property
    def worker(self) -> Worker:
        return Worker(
            ledger=self.services.ledger,
            index=self.pipeline.index,
            builder=self.builder,
            generation=GENERATION,
            owner="test",
        )

    def publish(self, *, merge: bool = False) -> None:
        for batch in project(self.worker):
            if batch.failed:
                raise AssertionError(batch.failed)
        if merge:
            tidy(self.services.ledger, self.pipeline.index, GENERATION)

    def close(self) -> None:
        self.services.ledger.close()
        self.services.traces.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def with_services(self, **changes: Any) -> World:
        return replace(self, services=replace(self.services, **changes))

    def with_index(self, index: Any) -> World:
        pipeline = replace(self.pipeline, index=index)
        return self.with_services(pipeline=lambda generation: pipeline)

    def with_parts(self, **changes: Any) -> World:
        pipeline = replace(self.pipeline, parts=replace(self.pipeline.parts, **changes))
        return self.with_services(pipeline=lambda generation: pipeline)


_OPEN: list[World] = []


def close_worlds() -> None:
    """Close what was made since the last call; after each test, and inside long ones after each example."""
    while _OPEN:
        _OPEN.pop().close()


def make_world(
    *,
    embedder: Any = None,
    live: Sequence[str] = (),
    synonyms: Mapping[str, Sequence[str]] | None = None,
    folder: Path | None = None,
    keep: bool = False,
    on_disk: bool = False,
) -> World:
    """``keep``: not closed after the test that made it, for fixtures of a module. ``on_disk``: every file of the
    store stands in ``folder``."""
    clock = FixedClock()
    folder = folder or fast_folder()
    analyzer = Analyzer(languages=("en", "pt"), synonyms=synonyms or {})
    manifest = PipelineManifest(
        parser="direct",
        chunker=CHUNKER,
        analysis=analyzer.fingerprint,
        embedder=embedder.fingerprint if embedder else None,
    )
    ledger = open_sqlite_ledger(folder / "ledger.db" if on_disk else None, clock)
    ledger.start_generation(GENERATION, canonical(to_json(manifest)).decode())
    numbers = itertools.count(1)
    parts = Parts(
        analyzer=analyzer,
        live=PhraseSet(tuple(live)),
        embedder=embedder,
        reranker=AsFound(),
        writer=ExtractiveWriter(analyzer, embedder),
        budget=Budget(passages=8, characters=12_000),
        depth=100,
    )
    index = LocalIndex(folder / "index", manifest)
    pipeline = Pipeline(index=index, parts=parts, manifest_hash=manifest.hash())
    services = Services(
        ledger=ledger,
        whole=lambda: ledger,
        traces=open_sqlite_traces(folder / "traces.db" if on_disk else None),
        visibility=Visibility(),
        pipeline=lambda generation: pipeline,
        clock=clock,
        trace_id=lambda: f"{next(numbers):032x}",
        config_hash="test",
    )
    recipe = Recipe(analyzer=analyzer, chunk_words=manifest.chunk_words)
    builder = Builder(drafter=LocalDrafter(parser=LocalParser(), recipe=recipe), embedder=embedder)
    world = World(services=services, builder=builder, clock=clock, folder=folder)
    if keep:
        atexit.register(world.close)
    else:
        _OPEN.append(world)
    return world


def body(public: Any) -> bytes:
    """The public bytes without the random trace id."""
    plain = to_json(public)
    plain.pop("trace_id", None)
    return canonical(plain)
