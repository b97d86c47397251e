"""BM25 over the readable chunks of one question: counted, weighed and added up over all segments in scope."""

import contextlib
import threading
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from clearcite.adapters.indexes.local_match import Match, ask, match
from clearcite.adapters.indexes.local_rank import Candidates, Scores, candidates, drop_until, page
from clearcite.adapters.indexes.local_readable import Part, Rows
from clearcite.adapters.indexes.local_scoring import HIGHEST_WEIGHT, idf
from clearcite.domain.retrieval import Cursor, HitPage, LexicalQuery

_WHOLE = 3  # from one chunk in three on, adding over all chunks beats adding at places


def search_lexical(parts: Sequence[Part], query: LexicalQuery, after: Cursor | None, limit: int) -> HitPage:
    asked = ask(query)
    documents = sum(part.readable.size for part in parts)
    largest = max((part.numbered for part in parts), default=0)
    found: list[Candidates] = []
    with _scratch(largest) as (best, narrow):
        matches = [match(part, asked, best) for part in parts]
        counts = np.zeros(len(asked.times), np.intp)
        for some in matches:
            counts += some.frequencies
        frequencies = counts.tolist()
        factors = [n * idf(documents, df) for n, df in zip(asked.times, frequencies, strict=True)]
        whole = sum(factors) * HIGHEST_WEIGHT
        is_wide = whole >= 1 << 31
        sums = np.zeros(largest, np.int64) if is_wide else narrow
        for part, some in zip(parts, matches, strict=True):
            rows, scores = _add_up(part, some, np.array(factors, sums.dtype), (best, sums))
            if after:
                drop_until(after, part.segment, rows, scores, 0)
            found.append(candidates(part.segment, rows, scores, limit + 1, 1))
            sums[: part.numbered] = 0
    hits, following = page(found, limit)
    counted = tuple(frequencies[place] for place in asked.place)
    return HitPage(hits=hits, next=following, documents=documents, frequencies=counted, whole=whole)


def _add_up(
    part: Part, found: Match, factors: Scores, scratch: tuple[NDArray[np.uint16], Scores]
) -> tuple[Rows | None, Scores]:
    """Scores of the readable chunks; rows None stands for all chunks of the segment."""
    rows = part.readable.rows if part.lists is None else part.lists.rows
    if found.table is not None:
        return rows, factors @ found.table
    chunks = part.numbered
    best, sums = scratch[0][:chunks], scratch[1][:chunks]
    for some in found.postings:
        if some.rows.size * _WHOLE < chunks:
            np.add.at(sums, some.rows.astype(np.intp, copy=False), some.weights * factors[some.word])
        else:
            best[some.rows] = some.weights
            sums += best * factors[some.word]
            best.fill(0)
    return rows, sums.take(part.readable.rows) if part.lists is None else sums


_kept = threading.local()


@contextlib.contextmanager
def _scratch(chunks: int) -> Iterator[tuple[NDArray[np.uint16], Scores]]:
    """Two arrays of zeros, one element a chunk, kept by the thread; after an error they are not used again."""
    arrays = getattr(_kept, "arrays", None)
    _kept.arrays = None
    if arrays is None or arrays[0].size < chunks:
        arrays = (np.zeros(chunks, np.uint16), np.zeros(chunks, np.int32))
    yield arrays
    _kept.arrays = arrays
