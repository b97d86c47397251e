"""Where the words of a question stand: their postings in the readable chunks of one segment.

A word has several forms, each with a list of postings; a chunk counts once for a word, by its best form.
Postings of chunks that are not readable are dropped before anything is counted. There are two ways to the
same result: list by list where much is readable, and all lists at once where little is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearcite.adapters.indexes.local_build import pack_postings, unpack_postings
from clearcite.adapters.indexes.local_format import Segment, term_digest, term_keys
from clearcite.adapters.indexes.local_readable import Part, Rows, Selection
from clearcite.domain.retrieval import LexicalQuery

_List = tuple[Rows, NDArray[np.uint16]]

_FEW = 20  # up to one readable chunk in twenty, all lists are taken at once


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """A question without repetitions: the keys of distinct forms, and distinct words as indices of their
    forms.

    ``times``: how often each distinct word was asked; ``place``: the distinct word of each term of the query.
    """

    keys: NDArray[np.uint64]
    words: tuple[tuple[int, ...], ...]
    times: tuple[int, ...]
    place: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Postings:
    """Readable chunks and what a word weighs there; ``word``: one for all, or one each.

    Added up over all postings of a word, each chunk has the weight of its best form.
    """

    word: int | NDArray[np.intp]
    rows: Rows
    weights: NDArray[Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Match:
    """``frequencies``: in how many readable chunks of the segment each distinct word stands."""

    postings: tuple[Postings, ...]
    frequencies: NDArray[np.intp]


def ask(query: LexicalQuery) -> Asked:
    forms: dict[str, int] = {}
    words: dict[tuple[int, ...], int] = {}
    place: list[int] = []
    for term in query.terms:
        word = tuple(sorted({forms.setdefault(form, len(forms)) for form in term.forms}))
        place.append(words.setdefault(word, len(words)))
    times = [0] * len(words)
    for word_number in place:
        times[word_number] += 1
    keys = term_keys(map(term_digest, forms))
    return Asked(keys=keys, words=tuple(words), times=tuple(times), place=tuple(place))


def match(part: Part, asked: Asked, best: NDArray[np.uint16]) -> Match:
    """``best``: zeros, one for each chunk, and zeros again afterwards."""
    positions = part.segment.find(asked.keys).tolist()
    lists = [
        (word, positions[form])
        for word, forms in enumerate(asked.words)
        for form in forms
        if positions[form] >= 0
    ]
    if not lists:
        return Match(postings=(), frequencies=np.zeros(len(asked.words), np.intp))
    if part.readable.size * _FEW < part.segment.chunks:
        return _at_once(part, lists, len(asked.words))
    return _one_by_one(part, lists, len(asked.words), best[: part.segment.chunks])


def _at_once(part: Part, lists: Sequence[tuple[int, int]], words: int) -> Match:
    segment = part.segment
    word_of, positions = np.array(lists, np.intp).T
    starts, ends = segment.offsets[positions], segment.offsets[positions + 1]
    spans = zip(starts.tolist(), ends.tolist(), strict=True)
    rows = np.concatenate([segment.ordinals[start:end] for start, end in spans], dtype=np.intp)
    chosen = np.flatnonzero(part.readable.mask.take(rows))
    bounds = np.cumsum(ends - starts)
    list_of = np.searchsorted(bounds, chosen, side="right")
    weights = segment.weights.take(chosen + (ends - bounds)[list_of])
    packed = pack_postings(word_of[list_of], rows.take(chosen), weights)
    word, rows, weights = unpack_postings(packed)
    is_best = np.ones(rows.size, np.bool_)
    is_best[:-1] = (rows[1:] != rows[:-1]) | (word[1:] != word[:-1])
    word, rows, weights = word[is_best], rows[is_best], weights[is_best]
    frequencies = np.bincount(word, minlength=words)
    return Match(postings=(Postings(word=word, rows=rows, weights=weights),), frequencies=frequencies)


def _one_by_one(part: Part, lists: Sequence[tuple[int, int]], words: int, best: NDArray[np.uint16]) -> Match:
    found: list[list[_List]] = [[] for _ in range(words)]
    for word, position in lists:
        found[word].append(_readable(part.segment, part.readable, position))
    postings: list[Postings] = []
    frequencies = np.zeros(words, np.intp)
    for word, some in enumerate(found):
        gains, frequencies[word] = _gains(some, best)
        postings += [Postings(word=word, rows=rows, weights=weights) for rows, weights in gains]
    return Match(postings=tuple(postings), frequencies=frequencies)


def _readable(segment: Segment, readable: Selection, position: int) -> _List:
    span = slice(int(segment.offsets[position]), int(segment.offsets[position + 1]))
    rows, weights = segment.ordinals[span].astype(np.intp), segment.weights[span]
    if readable.all:
        return rows, weights
    chosen = np.flatnonzero(readable.mask.take(rows))
    return rows.take(chosen), weights.take(chosen)


def _gains(lists: list[_List], best: NDArray[np.uint16]) -> tuple[list[_List], int]:
    """Of the longest list everything, of each other one what it weighs more than those before it; and in how
    many chunks any of them stands.
    """
    if len(lists) < 2:
        return lists, sum(rows.size for rows, _ in lists)
    first, *others = sorted(lists, key=lambda some: -some[0].size)
    rows, weights = first
    best[rows] = weights
    gains, frequency = [first], rows.size
    for more_rows, more_weights in others:
        before = best.take(more_rows)
        better = np.flatnonzero(more_weights > before)
        if better.size:
            rows, weights, before = more_rows.take(better), more_weights.take(better), before.take(better)
            best[rows] = weights
            frequency += int(np.count_nonzero(before == 0))
            gains.append((rows, weights - before))
    if frequency * _FEW > best.size:
        best.fill(0)
    for rows, _ in gains if frequency * _FEW <= best.size else ():
        best[rows] = 0
    return gains, frequency
