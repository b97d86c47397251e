"""What a generation was built under, and the parts that have to agree with it."""

from clearcite.adapters.embedders.minilm import MiniLM
from clearcite.config import Settings
from clearcite.domain.manifest import PipelineManifest
from clearcite.errors import ConfigError, InputError, IntegrityFault
from clearcite.ports import Embedder
from clearcite.text.analysis import Analyzer
from clearcite.wire import loads
from clearcite.wire.convert import from_json
from clearcite.wiring.parts import passage_embedder

REBUILD = "Build another: clearcite index build"


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
