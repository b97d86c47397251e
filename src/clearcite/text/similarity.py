"""Nearness in meaning of short texts, in thousandths of a cosine, from an embedder's int8 vectors.

One object serves one question and remembers its vectors for that long only: a memory kept between questions
would let one caller time which texts another caller's answer was drawn from.
"""

from math import isqrt
from operator import mul

from clearcite.ports import Embedder


class Similarity:
    """``to_question`` compares with the question, ``between`` two texts. Exact integer arithmetic on vectors."""

    def __init__(self, embedder: Embedder, question: str) -> None:
        self._embedder = embedder
        self._question = memoryview(embedder.embed_query(question).vector).cast("b")
        self._vectors: dict[str, memoryview] = {}

    def to_question(self, text: str) -> int:
        return cosine(self._question, self._vector(text))

    def between(self, left: str, right: str) -> int:
        return cosine(self._vector(left), self._vector(right))

    def _vector(self, text: str) -> memoryview:
        if text not in self._vectors:
            self._vectors[text] = memoryview(self._embedder.embed_passage(text).data).cast("b")
        return self._vectors[text]


def cosine(left: memoryview, right: memoryview) -> int:
    """Thousandths, rounded towards minus infinity; 0 when either vector is empty of meaning."""
    norms = sum(map(mul, left, left)) * sum(map(mul, right, right))
    return sum(map(mul, left, right)) * 1000 // isqrt(norms) if norms else 0
