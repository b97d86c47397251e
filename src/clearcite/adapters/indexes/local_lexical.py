"""BM25 over the readable chunks of one question: counted, weighed and added up over all segments in scope."""

import threading
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from clearcite.adapters.indexes.local_match import Match, match
from clearcite.adapters.indexes.local_postings import Weights, ask
from clearcite.adapters.indexes.local_rank import Candidates, Scores, best_by_value, drop_until, page
from clearcite.adapters.indexes.local_readable import Part, Rows
from clearcite.adapters.indexes.local_scoring import HIGHEST_WEIGHT, idf
from clearcite.domain.retrieval import Cursor, HitPage, LexicalQuery

_ROOM = 1 << 20  # words times chunks that are matched side by side


def search_lexical(parts: Sequence[Part], query: LexicalQuery, after: Cursor | None, limit: int) -> HitPage:
    asked = ask(query)
    bounds = [0, *accumulate(part.readable.size for part in parts)]
    documents = bounds[-1]
    room, kept = _scratch(documents)
    found = match(parts, asked, room)
    factors = [n * idf(documents, df) for n, df in zip(asked.times, found.frequencies, strict=True)]
    whole = sum(factors) * HIGHEST_WEIGHT
    is_wide = whole >= 1 << 31
    sums = _add_up(found, factors, np.empty(documents, np.int64) if is_wide else kept[:documents])
    if after:
        for part, (start, end) in zip(parts, pairwise(bounds), strict=True):
            drop_until(after, part.segment, _rows(part), sums[start:end], 0)
    hits, following = page([*_candidates(parts, bounds, sums, limit + 1)], limit)
    counted = tuple(found.frequencies[place] for place in asked.place)
    return HitPage(hits=hits, next=following, documents=documents, frequencies=counted, whole=whole)


def _add_up(found: Match, factors: Sequence[int], sums: Scores) -> Scores:
    """The scores of all readable chunks; ``sums``: room for them."""
    if found.table is not None:
        return np.array(factors, sums.dtype) @ found.table
    piece = found.piece
    kind = sums.dtype.type
    of_lists = np.array([factors[word] for word in piece.words], kind)
    sums.fill(0)
    np.add.at(sums, piece.rows, piece.weights * of_lists.repeat(piece.sizes))
    for word, rows, weights in found.long:
        np.add.at(sums, rows.astype(np.intp, copy=False), weights * kind(factors[word]))
    return sums


def _candidates(
    parts: Sequence[Part], bounds: Sequence[int], sums: Scores, wanted: int
) -> Iterator[Candidates]:
    """Of all chunks that match those with at least the ``wanted``-th best sum, part by part."""
    chosen = best_by_value(sums, wanted, 1)
    reached = sums.take(chosen).astype(np.int64, copy=False)
    cuts = pairwise([0, chosen.size] if len(parts) == 1 else chosen.searchsorted(bounds).tolist())
    for part, base, (start, end) in zip(parts, bounds[:-1], cuts, strict=True):
        if start < end:
            places, rows = chosen[start:end] - base, _rows(part)
            ids = part.segment.ids.take(places if rows is None else rows.take(places), axis=0)
            yield Candidates(scores=reached[start:end], ids=ids)


def _rows(part: Part) -> Rows | None:
    return None if part.readable.all else part.readable.rows


_kept = threading.local()


def _scratch(chunks: int) -> tuple[Weights, NDArray[np.int32]]:
    """Room for weights and for one sum a chunk, kept by the thread, with anything in it."""
    arrays: tuple[Weights, NDArray[np.int32]] | None = getattr(_kept, "arrays", None)
    if arrays is None or arrays[1].size < chunks:
        arrays = _kept.arrays = (np.empty(max(chunks, _ROOM), np.uint16), np.empty(chunks, np.int32))
    return arrays
