"""From scores to a page: the best by (−score, chunk id), cut by value, continued after a cursor."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from clearcite.adapters.indexes.local_format import Segment, id_keys
from clearcite.adapters.indexes.local_readable import Rows
from clearcite.domain.retrieval import Cursor, Hit

Scores = NDArray[Any]

_FEW = 20  # times as many scores as are wanted are ordered at once
_COLUMNS = 32  # scores are looked at in as many columns, whose highest values bound the k-th score from below


class Candidates(Struct, frozen=True, kw_only=True):
    """Chunks of one segment that may be among the best: their scores and the bytes of their ids."""

    scores: NDArray[np.int64]
    ids: NDArray[np.uint8]


def candidates(segment: Segment, rows: Rows | None, scores: Scores, wanted: int, least: int) -> Candidates:
    """The chunks with at least the ``wanted``-th best score of the segment, and at least ``least``.

    ``scores`` belong to ``rows``, or to all chunks when it is None. All that tie with the last are kept:
    which of them come first is decided by their ids, never by their place.
    """
    best = best_by_value(scores, wanted, least)
    chosen = best if rows is None else rows.take(best)
    reached = scores.take(best).astype(np.int64, copy=False)
    return Candidates(scores=reached, ids=segment.ids.take(chosen, axis=0))


def best_by_value(scores: Scores, wanted: int, least: int) -> Rows:
    """Positions of all scores that reach the ``wanted``-th best, and ``least``."""
    if scores.size <= _FEW * wanted:
        return _reaching(scores, wanted, least)
    is_large = scores.size >= 4 * wanted * _COLUMNS
    found = _by_columns(scores, wanted, least) if is_large else (scores >= least).nonzero()[0]
    return found.take(_reaching(scores.take(found), wanted, least))


def _reaching(scores: Scores, wanted: int, least: int) -> Rows:
    """``best_by_value`` at the cost of ordering all scores by half."""
    if scores.size > wanted:
        least = max(least, _kth(scores, wanted))
    return (scores >= least).nonzero()[0]


def _kth(scores: Scores, wanted: int) -> int:
    """The ``wanted``-th best."""
    ordered = scores.copy()
    ordered.partition(scores.size - wanted)
    return int(ordered[scores.size - wanted])


def _by_columns(scores: Scores, wanted: int, least: int) -> Rows:
    """Positions of all scores that reach the ``wanted``-th highest of the columns' highest scores."""
    width = scores.size // _COLUMNS
    table, rest = scores[: width * _COLUMNS].reshape(_COLUMNS, width), scores[width * _COLUMNS :]
    highest = table.max(axis=0)
    floor = max(least, _kth(highest, wanted))
    columns = (highest >= floor).nonzero()[0]
    places = (table.take(columns, axis=1) >= floor).ravel().nonzero()[0]  # of a table it takes far longer
    found = places // columns.size * width + columns.take(places % columns.size)
    return np.concatenate([found, (rest >= floor).nonzero()[0] + width * _COLUMNS])


def drop_until(after: Cursor, segment: Segment, rows: Rows | None, scores: Scores, nothing: int) -> None:
    """Set to ``nothing`` each score that was on an earlier page."""
    scores[scores > after.score] = nothing
    ties = np.flatnonzero(scores == after.score)
    if ties.size:
        high, low = id_keys(segment.ids[ties if rows is None else rows[ties]])
        last_high, last_low = (np.uint64(int(after.chunk_id[i : i + 16], 16)) for i in (0, 16))
        later = (high > last_high) | ((high == last_high) & (low > last_low))
        scores[ties[~later]] = nothing


def page(found: Sequence[Candidates], limit: int) -> tuple[tuple[Hit, ...], Cursor | None]:
    """The first ``limit`` candidates of all segments in order, and where to go on if there are more."""
    if not found:
        return (), None
    scores, ids = found[0].scores, found[0].ids
    if len(found) > 1:
        scores = np.concatenate([part.scores for part in found])
        ids = np.concatenate([part.ids for part in found])
    high, low = id_keys(ids)
    order = np.lexsort((low, high, -scores))[:limit]
    names = ids.take(order, axis=0).tobytes().hex(" ", 16).split()
    hits = tuple(map(Hit, names, scores.take(order).tolist()))
    more = scores.size > limit
    return hits, Cursor(score=hits[-1].score, chunk_id=hits[-1].chunk_id) if more else None
