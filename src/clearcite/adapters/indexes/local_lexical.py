"""BM25 over the readable chunks of one question.

A word of the question has several forms, each with a posting list. A chunk counts once for a word and
scores by its best form. Postings of chunks that are not readable are dropped before anything is counted
or added.
"""

import contextlib
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearcite.adapters.indexes.local_format import Segment, term_key
from clearcite.adapters.indexes.local_rank import Candidates, Scores, candidates, drop_until, page
from clearcite.adapters.indexes.local_readable import Part, Rows, Selection
from clearcite.adapters.indexes.local_scoring import HIGHEST_WEIGHT, idf
from clearcite.domain.retrieval import Cursor, HitPage, LexicalQuery

Posting = tuple[Rows, NDArray[np.uint16]]
"""Chunk numbers, ascending, and what the word weighs in each."""

_DENSE_SHARE = 6  # from one chunk in six on, adding over all chunks beats adding at places


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
class Match:
    """For each distinct word its readable postings in one segment, and in how many chunks it stands.

    The postings of one word add up to the best weight of its forms in each chunk.
    """

    postings: tuple[tuple[Posting, ...], ...]
    frequencies: tuple[int, ...]


def search_lexical(parts: Sequence[Part], query: LexicalQuery, after: Cursor | None, limit: int) -> HitPage:
    asked = _asked(query)
    documents = sum(part.readable.size for part in parts)
    largest = max((part.segment.chunks for part in parts), default=0)
    found: list[Candidates] = []
    with _scratch(largest) as (best, narrow):
        matches = [_match(part, asked, best) for part in parts]
        frequencies = [sum(counts) for counts in zip(*(match.frequencies for match in matches), strict=True)]
        frequencies = frequencies or [0] * len(asked.words)
        factors = [
            times * idf(documents, frequency)
            for times, frequency in zip(asked.times, frequencies, strict=True)
        ]
        is_wide = sum(factors) * HIGHEST_WEIGHT >= 1 << 31
        sums = np.zeros(largest, np.int64) if is_wide else narrow
        for part, match in zip(parts, matches, strict=True):
            rows, scores = _add_up(part, match, factors, (best, sums))
            if after:
                drop_until(after, part.segment, rows, scores, 0)
            found.append(candidates(part.segment, rows, scores, limit + 1, 1))
            sums[: part.segment.chunks] = 0
    hits, following = page(found, limit)
    counted = tuple(frequencies[place] for place in asked.place)
    return HitPage(hits=hits, next=following, documents=documents, frequencies=counted)


def _asked(query: LexicalQuery) -> Asked:
    forms: dict[str, int] = {}
    words: dict[tuple[int, ...], int] = {}
    place: list[int] = []
    for term in query.terms:
        word = tuple(sorted({forms.setdefault(form, len(forms)) for form in term.forms}))
        place.append(words.setdefault(word, len(words)))
    times = [0] * len(words)
    for word_number in place:
        times[word_number] += 1
    keys = np.array([term_key(form) for form in forms], np.uint64).reshape(-1, 2)
    return Asked(keys=keys, words=tuple(words), times=tuple(times), place=tuple(place))


def _match(part: Part, asked: Asked, best: NDArray[np.uint16]) -> Match:
    segment = part.segment
    positions = segment.find(asked.keys)
    postings: list[tuple[Posting, ...]] = []
    frequencies: list[int] = []
    for word in asked.words:
        lists = [_readable(segment, part.readable, positions[form]) for form in word if positions[form] >= 0]
        merged, frequency = _best_of(lists, best[: segment.chunks])
        postings.append(merged)
        frequencies.append(frequency)
    return Match(postings=tuple(postings), frequencies=tuple(frequencies))


def _readable(segment: Segment, readable: Selection, position: int) -> Posting:
    """The postings of one term in readable chunks."""
    span = slice(int(segment.offsets[position]), int(segment.offsets[position + 1]))
    rows, weights = segment.ordinals[span].astype(np.intp), segment.weights[span]
    if readable.all:
        return rows, weights
    chosen = np.flatnonzero(readable.mask.take(rows))
    return rows.take(chosen), weights.take(chosen)


def _best_of(lists: list[Posting], best: NDArray[np.uint16]) -> tuple[tuple[Posting, ...], int]:
    """Postings that add up to the highest weight of each chunk, and the number of chunks.

    ``best`` is all zero before and after. Of the longest list everything is kept; of each other one only
    what it weighs more than those before it.
    """
    lists = sorted((posting for posting in lists if posting[0].size), key=lambda posting: -posting[0].size)
    if len(lists) < 2:
        return tuple(lists), sum(rows.size for rows, _ in lists)
    rows, weights = lists[0]
    best[rows] = weights
    merged, frequency = [lists[0]], rows.size
    for rows, weights in lists[1:]:
        before = best.take(rows)
        better = np.flatnonzero(weights > before)
        if better.size:
            gained_rows, gained = rows.take(better), weights.take(better)
            best[gained_rows] = gained
            before = before.take(better)
            frequency += int(np.count_nonzero(before == 0))
            merged.append((gained_rows, gained - before))
    _clear(best, [rows for rows, _ in merged])
    return tuple(merged), frequency


def _add_up(
    part: Part, match: Match, factors: Sequence[int], scratch: tuple[NDArray[np.uint16], Scores]
) -> tuple[Rows | None, Scores]:
    """Scores of the readable chunks; rows None stands for all chunks of the segment."""
    chunks = part.segment.chunks
    best, sums = scratch[0][:chunks], scratch[1][:chunks]
    for postings, factor in zip(match.postings, factors, strict=True):
        scale = sums.dtype.type(factor)
        for rows, weights in postings:
            if rows.size * _DENSE_SHARE < chunks:
                sums[rows] += weights * scale
            else:
                best[rows] = weights
                sums += best * scale
                best.fill(0)
    if part.readable.all:
        return None, sums
    return part.readable.rows, sums.take(part.readable.rows)


def _clear(values: NDArray[Any], lists: Sequence[Rows]) -> None:
    if sum(rows.size for rows in lists) * 32 > values.size:
        values.fill(0)
        return
    for rows in lists:
        values[rows] = 0


_held = threading.local()


@contextlib.contextmanager
def _scratch(chunks: int) -> Iterator[tuple[NDArray[np.uint16], Scores]]:
    """Two arrays of zeros, one element a chunk, kept by the thread. After an error they are not used
    again.
    """
    kept = getattr(_held, "arrays", None)
    _held.arrays = None
    if kept is None or kept[0].size < chunks:
        kept = (np.zeros(chunks, np.uint16), np.zeros(chunks, np.int32))
    yield kept
    _held.arrays = kept
