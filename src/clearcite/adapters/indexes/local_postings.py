"""From the words of a question to the postings of their forms in the readable chunks of one segment."""

from collections.abc import Iterable
from itertools import chain, repeat
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from clearcite.adapters.indexes.local_format import term_keys
from clearcite.adapters.indexes.local_readable import Part, Rows
from clearcite.domain.retrieval import LexicalQuery
from clearcite.text.keys import term_key

Weights = NDArray[np.uint16]
Postings = tuple[int, NDArray[Any], Weights]
"""A word, and of one of its forms in one segment: the chunks, ascending, and what it weighs there."""


class Asked(Struct, frozen=True, kw_only=True):
    """A question without repetitions: for each form of each distinct word its key, and the number of the word.

    ``times``: how often each distinct word was asked; ``place``: the distinct word of each term of the query.
    """

    keys: NDArray[np.uint64]
    word: Rows
    times: tuple[int, ...]
    place: tuple[int, ...]


def ask(query: LexicalQuery) -> Asked:
    words: dict[tuple[str, ...], int] = {}
    place = [words.setdefault(tuple(dict.fromkeys(term.forms)), len(words)) for term in query.terms]
    times = [0] * len(words)
    for number in place:
        times[number] += 1
    return Asked(
        keys=term_keys(map(term_key, chain.from_iterable(words))),
        word=np.arange(len(words)).repeat([len(forms) for forms in words]),
        times=tuple(times),
        place=tuple(place),
    )


def postings(part: Part, asked: Asked, base: int) -> list[Postings]:
    """Of each form that stands in readable chunks: word after word, the longest first. Chunks are numbered among the
    readable ones, from ``base`` on.
    """
    known, places = part.segment.find(asked.keys)
    if not known.size:
        return []
    words = asked.word.take(known).tolist()
    covers: Iterable[int] = repeat(-1)
    if (lists := part.lists) is None:
        rows, weights, bounds = _readable(part, places)
        starts, ends = bounds[:-1], bounds[1:]
    else:
        rows, weights = lists.ordinals, lists.weights
        starts, ends = lists.offsets.take(places), lists.offsets.take(places + 1)
        if lists.covers is not None:
            covers = lists.covers.take(places).tolist()
    forms = set(zip(words, places.tolist(), strict=True))
    spans = sorted(
        (word, start - end, start, end)
        for word, cover, start, end in zip(words, covers, starts.tolist(), ends.tolist(), strict=False)
        if start < end and (word, cover) not in forms
    )
    if base:
        return [(word, rows[start:end] + base, weights[start:end]) for word, _, start, end in spans]
    return [(word, rows[start:end], weights[start:end]) for word, _, start, end in spans]


def cells(part: Part, asked: Asked, base: int, chunks: int) -> tuple[Rows, Weights]:
    """The same for few chunks, in one piece and in any order: places in a table that has a line of ``chunks`` places
    for each word, and the weights.
    """
    known, places = part.segment.find(asked.keys)
    if not known.size:
        return np.zeros(0, np.intp), np.zeros(0, np.uint16)
    if (lists := part.lists) is None:
        rows, weights, bounds = _readable(part, places)
        sizes = bounds[1:] - bounds[:-1]
    else:
        starts, ends = lists.offsets.take(places), lists.offsets.take(places + 1)
        sizes = ends - starts
        chosen = (ends - sizes.cumsum()).repeat(sizes)
        chosen += np.arange(chosen.size)
        rows, weights = lists.ordinals.take(chosen), lists.weights.take(chosen)
    return (asked.word.take(known) * chunks + base).repeat(sizes) + rows, weights


def _readable(part: Part, places: Rows) -> tuple[NDArray[np.int32], Weights, Rows]:
    """The readable postings of the terms at these places, one list after the other, and where each begins and ends."""
    segment = part.segment
    starts, ends = segment.offsets.take(places), segment.offsets.take(places + 1)
    spans = zip(starts.tolist(), ends.tolist(), strict=True)
    numbers = part.readable.number.take(np.concatenate([segment.ordinals[start:end] for start, end in spans]))
    chosen = (numbers >= 0).nonzero()[0]
    last = (ends - starts).cumsum()
    bounds = chosen.searchsorted(np.concatenate([[0], last]))
    weights = segment.weights.take(chosen + (ends - last).repeat(bounds[1:] - bounds[:-1]))
    return numbers.take(chosen), weights, bounds
