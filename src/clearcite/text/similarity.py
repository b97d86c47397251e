"""Nearness in meaning of short texts, in thousandths of a cosine, from an embedder's int8 vectors.

Vectors are remembered by one object, or for one question inside ``memory.remembering``: each text is embedded once.
"""

from math import isqrt
from operator import mul

from clearcite.domain.retrieval import DenseQuery
from clearcite.errors import DependencyUnavailable
from clearcite.ports import Embedder
from clearcite.text.memory import memory_of


def query_vector(embedder: Embedder, text: str) -> DenseQuery:
    """``embed_query``, once a question."""
    known: dict[tuple[str, str], DenseQuery] = memory_of("queries")
    key = (embedder.fingerprint, text)
    if key not in known:
        known[key] = embedder.embed_query(text)
    return known[key]


class Similarity:
    """``to_question`` compares with the question, ``between`` two texts. Exact integer arithmetic on vectors."""

    def __init__(self, embedder: Embedder, question: str) -> None:
        self._embedder = embedder
        self._question = memoryview(query_vector(embedder, question).vector).cast("b")
        self._vectors: dict[tuple[str, str], memoryview] = memory_of("vectors")

    def to_question(self, text: str) -> int:
        return cosine(self._question, self._vector(text))

    def between(self, left: str, right: str) -> int:
        return cosine(self._vector(left), self._vector(right))

    def _vector(self, text: str) -> memoryview:
        key = (self._embedder.fingerprint, text)
        if key not in self._vectors:
            self._vectors[key] = memoryview(self._embedder.embed_passage(text).data).cast("b")
        return self._vectors[key]


def cosine(left: memoryview, right: memoryview) -> int:
    """Thousandths, rounded towards minus infinity; 0 when either vector is empty of meaning.

    Raises DependencyUnavailable for vectors of different lengths: an embedder that gives them is not believed.
    """
    if len(left) != len(right):
        raise DependencyUnavailable("The embedder gives vectors of different lengths.")
    norms = sum(map(mul, left, left)) * sum(map(mul, right, right))
    return sum(map(mul, left, right)) * 1000 // isqrt(norms) if norms else 0
