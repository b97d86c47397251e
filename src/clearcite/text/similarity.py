"""Nearness in meaning of short texts, in thousandths of a cosine, from an embedder's int8 vectors.

Vectors are remembered for one question only, by one object or inside ``remembered_vectors``: a memory kept between
questions would let one caller time which texts another caller's answer was drawn from.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from math import isqrt
from operator import mul

from clearcite.domain.retrieval import DenseQuery
from clearcite.errors import DependencyUnavailable
from clearcite.ports import Embedder


@dataclass(kw_only=True, slots=True)
class _Memory:
    """Vectors by the fingerprint of their embedder and the text."""

    passages: dict[tuple[str, str], memoryview] = field(default_factory=dict)
    queries: dict[tuple[str, str], DenseQuery] = field(default_factory=dict)


_memory: ContextVar[_Memory | None] = ContextVar("vectors_of_this_question", default=None)


@contextmanager
def remembered_vectors() -> Iterator[None]:
    """Let all stages of one question share vectors: each text is embedded once. Results do not depend on it."""
    token = _memory.set(_Memory())
    try:
        yield
    finally:
        _memory.reset(token)


def query_vector(embedder: Embedder, text: str) -> DenseQuery:
    """``embed_query``, once inside ``remembered_vectors``."""
    memory = _memory.get()
    if memory is None:
        return embedder.embed_query(text)
    key = (embedder.fingerprint, text)
    if key not in memory.queries:
        memory.queries[key] = embedder.embed_query(text)
    return memory.queries[key]


class Similarity:
    """``to_question`` compares with the question, ``between`` two texts. Exact integer arithmetic on vectors."""

    def __init__(self, embedder: Embedder, question: str) -> None:
        self._embedder = embedder
        self._question = memoryview(query_vector(embedder, question).vector).cast("b")
        self._vectors = (_memory.get() or _Memory()).passages

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
