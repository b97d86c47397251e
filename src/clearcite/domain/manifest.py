"""The pipeline manifest: everything that turns a source state into an index entry, by version.

Two generations with equal manifests hold equal bytes. What stands here changes no permission.
"""

from msgspec import Struct

from clearcite.domain.digest import digest


class PipelineManifest(Struct, frozen=True, kw_only=True):
    """``bm25_k1`` and ``bm25_b`` in hundredths; ``average_length`` in analysed words.

    ``bm25_b``: low, for chunks are cut to one size, and the shorter ones tell no more than others (decision 0031).
    """

    parser: str
    chunker: str
    analysis: str
    embedder: str | None
    languages: tuple[str, ...] = ("en", "pt")
    synonyms: tuple[tuple[str, tuple[str, ...]], ...] = ()
    chunk_words: int = 180
    bm25_k1: int = 120
    bm25_b: int = 30
    average_length: int = 100

    def hash(self) -> str:
        parts: list[str | int | None] = [self.parser, self.chunker, self.analysis, self.embedder]
        parts += [len(self.languages), *self.languages]
        for word, others in self.synonyms:
            parts += [word, len(others), *others]
        parts += [self.chunk_words, self.bm25_k1, self.bm25_b, self.average_length]
        return digest("manifest", *parts)
