"""Where the words of a question stand: their postings in the readable chunks of one segment.

A word has several forms, each with a list of postings; a chunk counts once for a word, by its best form.
Postings of chunks that are not readable are dropped before anything is counted. There are two ways to the
best form: word by word where there are many postings, and by sorting all of them where there are few.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearcite.adapters.indexes.local_build import pack_postings, unpack_postings
from clearcite.adapters.indexes.local_format import term_keys
from clearcite.adapters.indexes.local_readable import Lists, Part, Rows
from clearcite.domain.retrieval import LexicalQuery
from clearcite.text.keys import term_key

_List = tuple[Rows, NDArray[np.uint16]]

_FEW = 3_000  # postings: up to here sorting them beats going from word to word
_CLEAR = 20  # from one chunk in twenty on, clearing all beats clearing places


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
    keys = term_keys(map(term_key, forms))
    return Asked(keys=keys, words=tuple(words), times=tuple(times), place=tuple(place))


def match(part: Part, asked: Asked, best: NDArray[np.uint16]) -> Match:
    """``best``: zeros, one for each chunk, and zeros again afterwards."""
    positions = part.segment.find(asked.keys).tolist()
    pairs = [
        (word, positions[form])
        for word, forms in enumerate(asked.words)
        for form in forms
        if positions[form] >= 0
    ]
    words = len(asked.words)
    if not pairs:
        return Match(postings=(), frequencies=np.zeros(words, np.intp))
    word_of, places = np.array(pairs, np.intp).T
    if part.lists is not None:
        return _match_lists(part.lists, (word_of, places), words, best)
    starts, ends = part.segment.offsets[places], part.segment.offsets[places + 1]
    rows, weights, bounds = _readable(part, starts, ends)
    if rows.size <= _FEW:
        return _best_by_sorting(np.repeat(word_of, np.diff(bounds)), rows, weights, words)
    spans = zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
    lists = [(rows[a:b], weights[a:b]) for a, b in spans]
    return _best_of_lists(word_of, lists, words, best[: part.segment.chunks])


def _match_lists(lists: Lists, pairs: tuple[Rows, Rows], words: int, best: NDArray[np.uint16]) -> Match:
    """``pairs``: the words and the places of their forms. Nothing has to be dropped."""
    word_of, places = pairs
    starts, ends = lists.offsets[places], lists.offsets[places + 1]
    sizes = ends - starts
    spans = list(zip(starts.tolist(), ends.tolist(), strict=True))
    if sizes.sum() > _FEW:
        found = [(lists.ordinals[a:b].astype(np.intp), lists.weights[a:b]) for a, b in spans]
        return _best_of_lists(word_of, found, words, best[: lists.size])
    rows = np.concatenate([lists.ordinals[a:b] for a, b in spans])
    weights = np.concatenate([lists.weights[a:b] for a, b in spans])
    return _best_by_sorting(np.repeat(word_of, sizes), rows, weights, words)


def _readable(
    part: Part, starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[Rows, NDArray[np.uint16], NDArray[np.intp]]:
    """The readable postings of all lists, one list after the other, and where each begins and ends."""
    segment = part.segment
    spans = zip(starts.tolist(), ends.tolist(), strict=True)
    rows = np.concatenate([segment.ordinals[start:end] for start, end in spans], dtype=np.intp)
    chosen = np.flatnonzero(part.readable.mask.take(rows))
    last = np.cumsum(ends - starts)
    bounds = np.searchsorted(chosen, np.concatenate([[0], last]))
    places = chosen + np.repeat(ends - last, np.diff(bounds))
    return rows.take(chosen), segment.weights.take(places), bounds


def _best_by_sorting(word: NDArray[np.intp], rows: Rows, weights: NDArray[np.uint16], words: int) -> Match:
    """In the order (word, chunk, weight) the best form of a chunk is the last one."""
    word, rows, weights_in_order = unpack_postings(pack_postings(word, rows, weights))
    is_best = np.ones(rows.size, np.bool_)
    is_best[:-1] = (rows[1:] != rows[:-1]) | (word[1:] != word[:-1])
    word, rows, weights_in_order = word[is_best], rows[is_best], weights_in_order[is_best]
    postings = Postings(word=word, rows=rows, weights=weights_in_order)
    return Match(postings=(postings,), frequencies=np.bincount(word, minlength=words))


def _best_of_lists(
    word_of: NDArray[np.intp], lists: Sequence[_List], words: int, best: NDArray[np.uint16]
) -> Match:
    found: list[list[_List]] = [[] for _ in range(words)]
    for word, some in zip(word_of.tolist(), lists, strict=True):
        found[word].append(some)
    postings: list[Postings] = []
    frequencies = np.zeros(words, np.intp)
    for word, forms in enumerate(found):
        gains, frequencies[word] = _gains(forms, best)
        postings += [Postings(word=word, rows=rows, weights=weights) for rows, weights in gains]
    return Match(postings=tuple(postings), frequencies=frequencies)


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
    if frequency * _CLEAR > best.size:
        best.fill(0)
    else:
        for rows, _ in gains:
            best[rows] = 0
    return gains, frequency
