"""What the words of a question weigh in the readable chunks of all segments.

A word has several forms, each with a list of postings; a chunk counts once for a word, by its best form. Chunks are
numbered over all parts, one part after the other, and short lists are put in one piece, so that what a question costs
besides its postings hardly grows with its words and segments.

There are two ways to the best form: a table of all words and chunks where that is small, and elsewhere what each
further list of a word adds to those before it.
"""

from collections.abc import Sequence
from itertools import accumulate, chain

import numpy as np
from msgspec import Struct

from clearcite.adapters.indexes.local_postings import Asked, Postings, Weights, cells, postings
from clearcite.adapters.indexes.local_readable import Part, Rows

_Layers = list[list[Postings]]

_CELLS = 1 << 15  # words times chunks: up to here a table beats going from list to list
_LONG = 2_000  # from so many postings on, adding up a list by itself costs less than copying it


class Piece(Struct, frozen=True, kw_only=True):
    """Lists of postings in one piece; ``words`` and ``sizes``: of each."""

    words: Sequence[int]
    sizes: Sequence[int]
    rows: Rows
    weights: Weights


_NOTHING = Piece(words=(), sizes=(), rows=np.zeros(0, np.intp), weights=np.zeros(0, np.uint16))


class Match(Struct, frozen=True, kw_only=True):
    """``frequencies``: in how many readable chunks each distinct word stands. What it weighs in a chunk stands in
    ``table``, a line a word; where there is none, it is the sum of what its lists have for the chunk, in the ``piece``
    and among the ``long`` ones.
    """

    frequencies: Sequence[int]
    piece: Piece = _NOTHING
    long: Sequence[Postings] = ()
    table: Weights | None = None


def match(parts: Sequence[Part], asked: Asked, room: Weights) -> Match:
    """``room``: for what one word weighs in each chunk, at least."""
    chunks = sum(part.readable.size for part in parts)
    words = len(asked.times)
    if words * chunks <= min(_CELLS, room.size):
        return _in_table(parts, asked, room[: words * chunks].reshape(words, chunks))
    found: list[Postings] = []
    base = 0
    for part in parts:
        found += postings(part, asked, base)
        base += part.readable.size
    alone, tables = _arranged(found, max(1, room.size // chunks))
    frequencies = [0] * words
    for word, rows, _ in alone:
        frequencies[word] += rows.size
    short = [some for some in alone if some[1].size < _LONG]
    piece = _in_one_piece([*short, *chain.from_iterable(chain.from_iterable(tables))])
    first = len(short)
    for layers in tables:
        start = sum(piece.sizes[:first])
        fresh = _leave_gains(piece.rows[start:], piece.weights[start:], layers, chunks, room)
        for word, count in zip(piece.words[first:], fresh, strict=False):
            frequencies[word] += count
        first += len(fresh)
    long = [some for some in alone if some[1].size >= _LONG]
    return Match(frequencies=frequencies, piece=piece, long=long)


def _in_table(parts: Sequence[Part], asked: Asked, table: Weights) -> Match:
    table.fill(0)
    base = 0
    for part in parts:
        np.maximum.at(table.reshape(-1), *cells(part, asked, base, table.shape[1]))
        base += part.readable.size
    return Match(frequencies=[int(np.count_nonzero(line)) for line in table], table=table)


def _in_one_piece(found: Sequence[Postings]) -> Piece:
    if not found:
        return _NOTHING
    words, rows, weights = zip(*found, strict=True)
    sizes = [some.size for some in rows]
    return Piece(
        words=words, sizes=sizes, rows=np.concatenate(rows, dtype=np.intp), weights=np.concatenate(weights)
    )


def _arranged(found: Sequence[Postings], most: int) -> tuple[list[Postings], list[_Layers]]:
    """Lists that are the only ones of a word, and of ``most`` other words at a time all lists in layers: one of each
    word in the first layer, the next of each in the second, and so on.
    """
    alone: list[Postings] = []
    tables: list[_Layers] = []
    lines: dict[int, int] = {}
    last, depth = -1, 0
    for some in found:
        word = some[0]
        if word != last:
            alone.append(some)
            last, depth = word, 0
            continue
        line = lines.setdefault(word, len(lines))
        if line == len(tables) * most:
            tables.append([[]])
        layers = tables[line // most]
        if not depth:
            layers[0].append(alone.pop())
        depth += 1
        if depth == len(layers):
            layers.append([])
        layers[depth].append(some)
    return alone, tables


def _leave_gains(rows: Rows, weights: Weights, layers: _Layers, chunks: int, room: Weights) -> list[int]:
    """Of the lists in the first layer everything is left, of each other one what it weighs more than those before
    it. Returns how many chunks of each list are in none before it.
    """
    lines: dict[int, int] = {}
    starts = [lines.setdefault(word, len(lines) * chunks) for layer in layers for word, _, _ in layer]
    sizes = [own.size for layer in layers for _, own, _ in layer]
    ends = [*accumulate(sizes)]
    cells = rows[: ends[-1]] + np.array(starts).repeat(sizes)
    first = len(layers[0])
    at = ends[first - 1]
    room[cells[at:]] = 0  # what no list before it has: the room is not cleared
    room[cells[:at]] = weights[:at]
    fresh = sizes[:first]
    for layer in layers[1:]:
        last = first + len(layer)
        here, own = cells[at : ends[last - 1]], weights[at : ends[last - 1]]
        before = room.take(here)
        room[here] = best = np.maximum(before, own)
        np.subtract(best, before, out=own)
        begins = [begin - at for begin in ends[first - 1 : last - 1]]
        fresh += np.add.reduceat(before == 0, begins, dtype=np.intp).tolist()
        first, at = last, ends[last - 1]
    return fresh
