"""Settings → what keeps a store in order: reconciliation."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack

from clearcite.adapters.indexes.local import LocalIndex
from clearcite.adapters.ledgers.sqlite import open_sqlite_ledger
from clearcite.adapters.parsers.registry import parser_fingerprint
from clearcite.config import Settings
from clearcite.domain.manifest import PipelineManifest
from clearcite.domain.reconcile import Reconciliation
from clearcite.errors import ConfigError
from clearcite.ingest.build import Builder
from clearcite.ingest.reconcile import Remaker, reconcile
from clearcite.wiring.drafting import ChildDrafter
from clearcite.wiring.parts import INDEX, LEDGER, SystemClock, existing_store, passage_embedder

ROWS = ("documents", "revisions", "builds", "chunks")
"""What a reconciliation looks at row by row."""


def reconcile_store(
    settings: Settings,
    *,
    while_pending: bool = False,
    vectors: bool = False,
    begin: Callable[[Mapping[str, int]], Callable[[str], None]] = lambda _: lambda __: None,
) -> Reconciliation:
    """See ``ingest.reconcile``. ``begin`` is told the sizes and returns what is told of each row.

    ``vectors``: compute every vector again as well, which takes as long as it took to make them.
    """
    store = existing_store(settings)
    with ExitStack() as stack:
        ledger = open_sqlite_ledger(store / LEDGER, SystemClock())
        stack.callback(ledger.close)

        def remake(generation: str, manifest: PipelineManifest, index_manifest: str | None) -> Remaker:
            view = LocalIndex(store / INDEX / generation, manifest).open(index_manifest)
            if manifest.parser != parser_fingerprint():
                return Remaker(view=view, builder=None)
            drafter = ChildDrafter(manifest)
            stack.callback(drafter.close)
            embedder = passage_embedder(settings) if vectors and manifest.embedder is not None else None
            if vectors and manifest.embedder != (embedder.fingerprint if embedder else None):
                raise ConfigError("The vectors were made by another model, or none is installed here.")
            return Remaker(view=view, builder=Builder(drafter=drafter, embedder=embedder))

        with ledger.examine() as examination:
            tick = begin({name: examination.sizes()[name] for name in ROWS})
            return reconcile(examination, remake, while_pending=while_pending, tick=tick)
