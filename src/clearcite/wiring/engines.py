"""Settings → Engine."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from clearcite.adapters.indexes.local_open import LocalViews
from clearcite.adapters.ledgers.answering import AnsweringLedger, opened
from clearcite.adapters.rerankers.as_found import AsFound
from clearcite.adapters.traces.sqlite import open_sqlite_traces
from clearcite.adapters.writers.extractive import ExtractiveWriter
from clearcite.answer.evidence import Budget
from clearcite.answer.pipeline import Parts
from clearcite.config import Settings, load_settings
from clearcite.domain.thresholds import CLAIM_LIMITS, ClaimLimits
from clearcite.engine import Engine, Pipeline, Services
from clearcite.text.phrases import PhraseSet
from clearcite.visibility import Visibility
from clearcite.wiring.manifests import analyzer_for, manifest_of, query_embedder
from clearcite.wiring.parts import INDEX, LEDGER, TRACES, SystemClock, existing_store

if TYPE_CHECKING:
    from clearcite.adapters.embedders.minilm import MiniLM
    from clearcite.domain.purge import Receipt, Selection
    from clearcite.domain.reconcile import Reconciliation
    from clearcite.storing import Ledger


def open_engine(config: Settings | Path | str | None = None, **flags: Any) -> Engine:
    """Open the engine of a store. ``config``: settings, or the folder that holds ``clearcite.toml``."""
    settings = config if isinstance(config, Settings) else load_settings(Path(config or "."), flags=flags)
    return engine_on(settings)


def engine_on(
    settings: Settings,
    faults: Mapping[str, Exception] | None = None,
    *,
    generation: str | None = None,
    embedder: MiniLM | None = None,
) -> Engine:
    """Like ``open_engine``, with named stages that shall fail.

    ``generation``: one to look at instead of the live one; what is asked there leaves no trace behind.
    ``embedder``: one that is open already, or opening.
    """
    store = existing_store(settings)
    clock = SystemClock()
    ledger = AnsweringLedger(opened(store / LEDGER, clock))
    traces = open_sqlite_traces(store / TRACES if generation is None else None)
    services = Services(
        ledger=ledger,
        whole=lambda: whole(ledger),
        traces=traces,
        visibility=Visibility(),
        pipeline=Pipelines(settings, store, ledger, embedder),
        clock=clock,
        trace_id=lambda: secrets.token_hex(16),
        config_hash=settings.hash(),
        deadline_ms=settings.deadline_ms,
        allow_past=settings.allow_past,
        policy_age=settings.policy_age,
        faults=faults or {},
        generation=generation,
        upkeep=StoreUpkeep(settings),
    )
    return Engine(services, on_close=(ledger.close, traces.close))


def whole(ledger: AnsweringLedger) -> Ledger:
    """The same ledger with all it can do; loaded when it is called, for asking needs none of it."""
    from clearcite.adapters.ledgers.sqlite import SqliteLedger  # noqa: PLC0415

    return SqliteLedger(ledger.opened)


class StoreUpkeep:
    """Implements ``operator.Upkeep``. What it needs is loaded when it is called: asking needs none of it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def reconcile(self, *, while_pending: bool = False, vectors: bool = False) -> Reconciliation:
        from clearcite.wiring.upkeep import reconcile_store  # noqa: PLC0415

        return reconcile_store(self._settings, while_pending=while_pending, vectors=vectors)

    def purge(self, selection: Selection) -> Receipt:
        from clearcite.wiring.purging import purge_store  # noqa: PLC0415

        return purge_store(self._settings, lambda _: selection)


class Pipelines:
    """The pipeline of each generation, opened when it is first asked for."""

    def __init__(
        self, settings: Settings, store: Path, ledger: AnsweringLedger, embedder: MiniLM | None
    ) -> None:
        self._settings, self._store, self._ledger, self._embedder = settings, store, ledger, embedder
        self._lock = threading.Lock()
        self._opened: dict[str, Pipeline] = {}

    def __call__(self, generation: str) -> Pipeline:
        with self._lock:
            if generation not in self._opened:
                self._opened[generation] = self._open(generation)
            return self._opened[generation]

    def _open(self, generation: str) -> Pipeline:
        manifest = manifest_of(generation, self._ledger.manifest(generation))
        analyzer = analyzer_for(manifest)
        embedder = query_embedder(self._settings, manifest, self._embedder)
        settings = self._settings
        parts = Parts(
            analyzer=analyzer,
            live=PhraseSet(settings.tool_required),
            embedder=embedder,
            reranker=AsFound(),
            writer=ExtractiveWriter(analyzer, embedder, claim_limits(settings)),
            budget=Budget(passages=settings.evidence_limit, characters=settings.evidence_chars),
            depth=settings.depth,
        )
        index = LocalViews(self._store / INDEX / generation, manifest)
        return Pipeline(index=index, parts=parts, manifest_hash=manifest.hash())


def claim_limits(settings: Settings) -> ClaimLimits:
    """How much an answer may say, as the settings have it."""
    return replace(CLAIM_LIMITS, most=settings.claims, words=settings.answer_words)
