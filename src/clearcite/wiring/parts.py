"""What engines and workshops share: clock, store and the embedder, which a question opens before all else is loaded."""

import time
from pathlib import Path

from clearcite.adapters.embedders.minilm import MiniLM
from clearcite.adapters.indexes.local_format import has_vectors
from clearcite.config import Settings
from clearcite.domain.access import Micros
from clearcite.errors import ClearciteError, ConfigError, MissingExtra

LEDGER, TRACES, INDEX = "ledger.db", "traces.db", "index"


class SystemClock:
    """The machine's clock."""

    def now(self) -> Micros:
        return time.time_ns() // 1_000


def existing_store(settings: Settings) -> Path:
    store = settings.path(settings.store)
    if not (store / LEDGER).is_file():
        raise ConfigError("There is no store here yet. Make one with: clearcite ingest FOLDER")
    return store


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


def opening_embedder(settings: Settings, question: str) -> MiniLM | None:
    """The embedder that a question will most likely need, opening in a thread of its own while the rest is loaded;
    then it reads the question there.

    None where no vectors are stored or none is to be had; whoever then needs it learns why.
    """
    if not has_vectors(settings.path(settings.store) / INDEX):
        return None
    try:
        embedder = passage_embedder(settings)
    except ClearciteError:
        return None
    if embedder is not None:
        embedder.open_beside(question)
    return embedder
