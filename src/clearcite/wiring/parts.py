"""What engines and workshops share: clock, store, analysis and the embedder."""

import time
from pathlib import Path

from clearcite.adapters.embedders.minilm import MiniLM
from clearcite.adapters.indexes.local_format import has_vectors
from clearcite.config import Settings
from clearcite.domain.access import Micros
from clearcite.domain.manifest import PipelineManifest
from clearcite.errors import ClearciteError, ConfigError, InputError, IntegrityFault, MissingExtra
from clearcite.ports import Embedder
from clearcite.text.analysis import Analyzer
from clearcite.wire import loads
from clearcite.wire.convert import from_json

LEDGER, TRACES, INDEX = "ledger.db", "traces.db", "index"
REBUILD = "Build another: clearcite index build"


class SystemClock:
    """The machine's clock."""

    def now(self) -> Micros:
        return time.time_ns() // 1_000


def existing_store(settings: Settings) -> Path:
    store = settings.path(settings.store)
    if not (store / LEDGER).is_file():
        raise ConfigError("There is no store here yet. Make one with: clearcite ingest FOLDER")
    return store


def manifest_of(generation: str, text: str | None) -> PipelineManifest:
    """The stored manifest of a generation, which its name is made of. Raises IntegrityFault for a damaged one."""
    if text is None:
        raise ConfigError("The store holds no index yet. Fill it with: clearcite ingest FOLDER")
    try:
        manifest: PipelineManifest = from_json(PipelineManifest, loads(text))
    except InputError as error:
        raise IntegrityFault(f"The manifest of a generation is damaged. {REBUILD}") from error
    if not generation.startswith(name_of(manifest)):
        raise IntegrityFault(f"The manifest of a generation is not the one it was built under. {REBUILD}")
    return manifest


def name_of(manifest: PipelineManifest) -> str:
    """What the names of all generations of a manifest begin with."""
    return f"g-{manifest.hash()[:12]}"


def analyzer_for(manifest: PipelineManifest) -> Analyzer:
    """The analysis a generation was built with; another one would ask for words it does not hold."""
    analyzer = Analyzer(languages=manifest.languages, synonyms=dict(manifest.synonyms))
    if analyzer.fingerprint != manifest.analysis:
        raise ConfigError(f"The index was built by another version. {REBUILD}")
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


def query_embedder(
    settings: Settings, manifest: PipelineManifest, given: MiniLM | None = None
) -> Embedder | None:
    """The embedder a generation was built with, ``given`` one if there is; two vector spaces never mix."""
    if manifest.embedder is None or settings.semantic == "off":
        return None
    embedder = given or passage_embedder(settings)
    if embedder is not None and embedder.fingerprint != manifest.embedder:
        raise ConfigError(f"The index holds vectors of another model. {REBUILD}")
    return embedder
