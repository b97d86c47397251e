"""Nearness in meaning of short texts, in thousandths of a cosine, from an embedder's int8 vectors.

Vectors are remembered by one object, or for one question inside ``memory.remembering``: each text is embedded once.
"""

import os
import threading
from collections.abc import Callable, Iterable
from math import isqrt
from operator import mul

from clearcite.domain.retrieval import DenseQuery
from clearcite.errors import DependencyUnavailable
from clearcite.ports import Embedder
from clearcite.text.memory import memory_of

MOST_THREADS = 4
"""For one question: embedding sixteen sentences gains little from more."""
_PROCESSORS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


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
        self._question = _Direction(query_vector(embedder, question).vector)
        self._vectors: dict[tuple[str, str], _Direction] = memory_of("vectors")

    def prepare(self, texts: Iterable[str]) -> None:
        """Embed what will be compared, side by side on the processors there are. Results do not depend on it."""
        unknown = [text for text in dict.fromkeys(texts) if self._key(text) not in self._vectors]
        _side_by_side(self._vector, unknown)

    def to_question(self, text: str) -> int:
        return _cosine(self._question, self._vector(text))

    def between(self, left: str, right: str) -> int:
        return _cosine(self._vector(left), self._vector(right))

    def _key(self, text: str) -> tuple[str, str]:
        return self._embedder.fingerprint, text

    def _vector(self, text: str) -> "_Direction":
        key = self._key(text)
        if key not in self._vectors:
            self._vectors[key] = _Direction(self._embedder.embed_passage(text).data)
        return self._vectors[key]


class _Direction:
    """A vector with the square of its length."""

    __slots__ = ("square", "values")

    def __init__(self, data: bytes | memoryview) -> None:
        self.values = memoryview(data).cast("b")
        self.square = sum(map(mul, self.values, self.values))


def cosine(left: memoryview, right: memoryview) -> int:
    """Thousandths, rounded towards minus infinity; 0 when either vector is empty of meaning.

    Raises DependencyUnavailable for vectors of different lengths: an embedder that gives them is not believed.
    """
    return _cosine(_Direction(left), _Direction(right))


def _cosine(left: _Direction, right: _Direction) -> int:
    if len(left.values) != len(right.values):
        raise DependencyUnavailable("The embedder gives vectors of different lengths.")
    squares = left.square * right.square
    return sum(map(mul, left.values, right.values)) * 1000 // isqrt(squares) if squares else 0


def _side_by_side(work: Callable[[str], object], texts: list[str]) -> None:
    """Do the work for each text, in this thread and in one more for each further processor. Raises the first fault."""
    rest, faults = iter(texts), list[Exception]()

    def run() -> None:
        try:
            while not faults and (text := next(rest, None)) is not None:  # a list's iterator is shared safely
                work(text)
        except Exception as fault:  # noqa: BLE001 - it is raised again below, in the thread of the question
            faults.append(fault)

    helpers = [
        threading.Thread(target=run, daemon=True)
        for _ in range(min(_PROCESSORS, MOST_THREADS, len(texts)) - 1)
    ]
    for helper in helpers:
        helper.start()
    run()
    for helper in helpers:
        helper.join()
    if faults:
        raise faults[0]
