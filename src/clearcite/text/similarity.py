"""Nearness in meaning of short texts, in thousandths of a cosine, from an embedder's int8 vectors.

Vectors are remembered by one object, or for one question inside ``memory.remembering``: each text is embedded once.
"""

import os
import threading
from collections.abc import Callable, Iterable
from contextvars import copy_context
from math import isqrt
from operator import mul

import numpy as np

from clearcite.domain.retrieval import DenseQuery
from clearcite.errors import DependencyUnavailable
from clearcite.ports import Embedder, Worded
from clearcite.text.memory import memory_of

MOST_THREADS = 4
"""For one question: embedding twelve sentences gains little from more."""
_PROCESSORS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def query_vector(embedder: Embedder, text: str) -> DenseQuery:
    """``embed_query``, once a question."""
    known: dict[tuple[str, str], DenseQuery] = memory_of("queries")
    key = (embedder.fingerprint, text)
    if key not in known:
        known[key] = embedder.embed_query(text)
    return known[key]


class Similarity:
    """``to_question`` compares with the question, ``between`` two texts, ``met_by`` the question's words with those of
    a text, ``answered_by`` reads both together. Exact integer arithmetic on vectors."""

    def __init__(self, embedder: Embedder, question: str) -> None:
        self._embedder = embedder
        self._text = question
        self._question = _Direction(query_vector(embedder, question).vector)
        self._vectors: dict[tuple[str, str], _Direction] = memory_of("vectors")
        self._words: dict[tuple[str, str], _Words] = memory_of("words")

    def prepare(self, texts: Iterable[str], by_words: Iterable[str] = ()) -> None:
        """Embed what will be compared, side by side on the processors there are. Results do not depend on it.

        ``by_words``: texts that ``met_by`` will read; their vectors come with their words.
        """
        read = {text: None for text in by_words if self._key(text) not in self._words}
        unknown = {text: None for text in texts if text not in read and self._key(text) not in self._vectors}
        # The last ones are short, so that no processor waits long for another.
        ordered = sorted([*read, *unknown], key=len, reverse=True)
        _side_by_side(lambda text: self._read(text) if text in read else self._vector(text), ordered)

    def to_question(self, text: str) -> int:
        return _cosine(self._question, self._vector(text))

    def between(self, left: str, right: str) -> int:
        return _cosine(self._vector(left), self._vector(right))

    def met_by(self, text: str) -> dict[str, int]:
        """For each word of the question, in thousandths, how near its nearest word of the text is."""
        mine, theirs = self._read(self._text), self._read(text)
        if not mine.words or not theirs.words:
            return {}
        found: dict[str, int] = {}
        products = (mine.rows @ theirs.rows.T).tolist()
        for word, square, row in zip(mine.words, mine.squares, products, strict=True):
            pairs = zip(row, theirs.squares, strict=True)
            nearest = max(product * 1000 // max(1, isqrt(square * other)) for product, other in pairs)
            found[word] = max(nearest, found.get(word, nearest))
        return found

    def answered_by(self, text: str) -> int | None:
        """Thousandths of log odds that the text answers the question, by an embedder that reads pairs."""
        known: dict[tuple[str, str, str], int | None] = memory_of("pairs")
        key = (self._embedder.fingerprint, self._text, text)
        if key not in known:
            said = self._embedder.answers(self._text, text)
            if said is not None and type(said) is not int:
                raise DependencyUnavailable("The embedder gives no number for a pair.")
            known[key] = said
        return known[key]

    def _read(self, text: str) -> "_Words":
        key = self._key(text)
        if key not in self._words:
            worded = self._embedder.embed_words(text)
            self._words[key] = _Words(worded, len(self._question.values))
            self._vectors.setdefault(key, _Direction(worded.vector.data))
        return self._words[key]

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


class _Words:
    """The words of a text with their rows (words × dims) and the square of the length of each."""

    __slots__ = ("rows", "squares", "words")

    def __init__(self, worded: Worded, dims: int) -> None:
        if len(worded.rows) != dims * len(worded.words):
            raise DependencyUnavailable("The embedder gives vectors of different lengths.")
        self.words = worded.words
        self.rows = np.frombuffer(worded.rows, np.int8).reshape(-1, dims).astype(np.int32)
        self.squares: list[int] = (self.rows * self.rows).sum(axis=1).tolist()


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
    """Do the work for each text, in this thread and in one more for each further processor, which
    remember as one. Raises the first fault."""
    rest, faults = iter(texts), list[Exception]()

    def run() -> None:
        try:
            while not faults and (text := next(rest, None)) is not None:  # a list's iterator is shared safely
                work(text)
        except Exception as fault:  # noqa: BLE001 - it is raised again below, in the thread of the question
            faults.append(fault)

    helpers = [
        threading.Thread(target=copy_context().run, args=(run,), daemon=True)
        for _ in range(min(_PROCESSORS, MOST_THREADS, len(texts)) - 1)
    ]
    for helper in helpers:
        helper.start()
    run()
    for helper in helpers:
        helper.join()
    if faults:
        raise faults[0]
