"""Where the words of a question stand: their postings in the readable chunks of one segment.

A word has several forms, each with a list of postings; a chunk counts once for a word, by its best form.
Postings of chunks that are not readable are dropped before anything is counted. There are two ways to the
best form: in a table of all words and readable chunks where it is small, and from word to word elsewhere.
"""

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from clearcite.adapters.indexes.local_format import term_keys
from clearcite.adapters.indexes.local_readable import Lists, Part, Rows
from clearcite.domain.retrieval import LexicalQuery
from clearcite.text.keys import term_key

_List = tuple[NDArray[Any], NDArray[np.uint16]]

_CELLS = 1 << 16  # words times chunks: up to here a table beats going from word to word
_SHORT = 8  # a list that many times as long is searched for each chunk of a short one
_CLEAR = 20  # from one chunk in twenty on, clearing all beats clearing places


class Asked(Struct, frozen=True, kw_only=True):
    """A question without repetitions: the keys of distinct forms, and pairs of a distinct word and one of its
    forms.

    ``times``: how often each distinct word was asked; ``place``: the distinct word of each term of the query.
    """

    keys: NDArray[np.uint64]
    word: Rows
    form: Rows
    times: tuple[int, ...]
    place: tuple[int, ...]


class Postings(Struct, frozen=True, kw_only=True):
    """Readable chunks and what a word weighs there. Added up over all postings of a word, each chunk has the
    weight of its best form. ``rows`` ascend.
    """

    word: int
    rows: NDArray[Any]
    weights: NDArray[np.uint16]


class Match(Struct, frozen=True, kw_only=True):
    """``frequencies``: in how many readable chunks of the segment each distinct word stands. ``table``: what each
    word weighs in each readable chunk; then there are no postings.
    """

    frequencies: NDArray[np.intp]
    postings: tuple[Postings, ...] = ()
    table: NDArray[np.uint16] | None = None


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
    return Asked(
        keys=term_keys(map(term_key, forms)),
        word=np.array([number for number, forms in enumerate(words) for _ in forms], np.intp),
        form=np.array(list(chain.from_iterable(words)), np.intp),
        times=tuple(times),
        place=tuple(place),
    )


def match(part: Part, asked: Asked, best: NDArray[np.uint16]) -> Match:
    """``best``: zeros, one for each chunk, and zeros again afterwards."""
    words = len(asked.times)
    places = part.segment.find(asked.keys).take(asked.form)
    known = np.flatnonzero(places >= 0)
    if not known.size:
        return Match(frequencies=np.zeros(words, np.intp))
    places, word = places.take(known), asked.word.take(known)
    if part.lists is not None:
        if part.lists.covers is not None:
            word, places = _uncovered(part.lists.covers, word, places)
        return _match_lists(part.lists, (word, places), words, best)
    starts, ends = part.segment.offsets.take(places), part.segment.offsets.take(places + 1)
    rows, weights, bounds = _readable(part, starts, ends)
    if words * part.readable.size <= _CELLS:
        shape = (words, part.readable.size)
        positions = np.searchsorted(part.readable.rows, rows)
        return _best_in_table(np.repeat(word, np.diff(bounds)), positions, weights, shape)
    spans = zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
    lists = [(rows[a:b], weights[a:b]) for a, b in spans]
    return _best_of_lists(word, lists, words, best[: part.segment.chunks])


def _uncovered(covers: NDArray[np.int32], word: Rows, places: Rows) -> tuple[Rows, Rows]:
    """The pairs of a word and the place of a form of it, without forms that another form of the word covers."""
    numbers, forms = word.tolist(), places.tolist()
    asked = set(zip(numbers, forms, strict=True))
    left = [pair not in asked for pair in zip(numbers, covers.take(places).tolist(), strict=True)]
    return word.compress(left), places.compress(left)


def _match_lists(lists: Lists, pairs: tuple[Rows, Rows], words: int, best: NDArray[np.uint16]) -> Match:
    """``pairs``: the words and the places of their forms. Nothing has to be dropped."""
    word, places = pairs
    starts, ends = lists.offsets.take(places), lists.offsets.take(places + 1)
    if words * lists.size <= _CELLS:
        sizes = ends - starts
        chosen = np.repeat(ends - np.cumsum(sizes), sizes)
        chosen += np.arange(chosen.size)
        positions, weights = lists.ordinals.take(chosen), lists.weights.take(chosen)
        return _best_in_table(np.repeat(word, sizes), positions, weights, (words, lists.size))
    spans = zip(starts.tolist(), ends.tolist(), strict=True)
    found = [(lists.ordinals[a:b], lists.weights[a:b]) for a, b in spans if a < b]
    return _best_of_lists(word.compress(starts < ends), found, words, best[: lists.size])


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


def _best_in_table(
    word: Rows, positions: NDArray[Any], weights: NDArray[np.uint16], shape: tuple[int, int]
) -> Match:
    """``positions``: of postings among the readable chunks; ``shape``: how many words and readable chunks."""
    table = np.zeros(shape, np.uint16)
    np.maximum.at(table.reshape(-1), word * shape[1] + positions, weights)
    return Match(frequencies=np.array([np.count_nonzero(line) for line in table], np.intp), table=table)


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
    if len(others) == 1 and others[0][0].size * _SHORT < first[0].size:
        return _gain_of_short(first, others[0])
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


def _gain_of_short(first: _List, other: _List) -> tuple[list[_List], int]:
    """``_gains`` of two lists, the other one so short that it is looked up in the first."""
    rows, weights = other
    places = first[0].searchsorted(rows)
    is_known = first[0].take(places, mode="clip") == rows
    before = first[1].take(places, mode="clip") * is_known
    better = np.flatnonzero(weights > before)
    gains = (
        [first, (rows.take(better), weights.take(better) - before.take(better))] if better.size else [first]
    )
    return gains, first[0].size + rows.size - int(np.count_nonzero(is_known))
