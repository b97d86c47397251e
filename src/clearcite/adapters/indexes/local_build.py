"""Entries of one partition → a segment."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearcite.adapters.indexes.local_files import Held
from clearcite.adapters.indexes.local_format import (
    CHUNK_ID,
    SegmentWriter,
    Shape,
    hinted_keys,
    new_segment,
    term_counts,
)
from clearcite.adapters.indexes.local_scoring import WEIGHT_BITS, Bm25
from clearcite.domain.terms import COUNT_BYTES, TERM_BYTES
from clearcite.errors import InputError
from clearcite.ports import IndexEntry, Vector

Numbers = NDArray[np.int64]

MOST_POSTINGS = 1 << 22
"""At once, so that the numbers of their terms fit into the bits ``pack_postings`` has for them."""

_ORDINAL_BITS = 32

_SCALE_LIMIT = 1 << 31


def write_segment(path: Path, entries: Sequence[IndexEntry], bm25: Bm25, held: Held) -> None:
    """Write entries of one partition. The same (slot, chunk id) twice counts once, the later one.

    Raises InputError for an entry that cannot be stored: a malformed id, a count below one, vectors of
    different lengths.
    """
    chosen = sorted({(e.slot, e.chunk_id): e for e in entries}.items())
    kept = [entry for _, entry in chosen]
    dims = _check(kept)
    partition = kept[0].partition.encode("utf-8")
    if (term_counts(entry.terms.counts for entry in kept) < 1).any():
        raise InputError("A term must be counted at least once.")
    keys, offsets, postings, covers = _invert(kept, bm25)
    shape = Shape(
        chunks=len(kept),
        terms=len(keys),
        postings=len(postings),
        partition_bytes=len(partition),
        dims=dims,
        vectors=sum(entry.vector is not None for entry in kept),
        low_slot=kept[0].slot,
        high_slot=kept[-1].slot,
        k1=bm25.k1,
        b=bm25.b,
        average_length=bm25.average_length,
    )
    with new_segment(path, shape, held) as out:
        out.append("partition", partition)
        out.append("ids", bytes.fromhex("".join(entry.chunk_id for entry in kept)))
        out.append("slots", np.array([entry.slot for entry in kept]))
        out.append("high", keys[:, 0])
        out.append("low", keys[:, 1])
        out.append("offsets", offsets)
        append_postings(out, postings)
        out.append("covers", covers)
        if dims:
            vectors = [entry.vector or Vector(data=bytes(dims), scale=0) for entry in kept]
            out.append("scales", np.array([vector.scale for vector in vectors]))
            out.append("vectors", np.frombuffer(b"".join(vector.data for vector in vectors), "i1"))


def in_batches(entries: Sequence[IndexEntry]) -> Iterator[Sequence[IndexEntry]]:
    """Entries in runs that fit into one segment each."""
    first = postings = 0
    for i, entry in enumerate(entries):
        postings += len(entry.terms)
        if postings > MOST_POSTINGS and i > first:
            yield entries[first:i]
            first, postings = i, len(entry.terms)
    if entries:
        yield entries[first:]


def _check(entries: Sequence[IndexEntry]) -> int:
    """The number of dimensions of the vectors, or 0."""
    dims = {len(entry.vector.data) for entry in entries if entry.vector}
    if len(dims) > 1 or dims == {0}:
        raise InputError("The vectors of one index must have the same number of dimensions, at least one.")
    for entry in entries:
        if not CHUNK_ID.fullmatch(entry.chunk_id):
            raise InputError("A chunk id must be 32 lower-case hexadecimal digits.")
        if not 0 <= entry.slot < 1 << 32:
            raise InputError("A slot must be an integer from 0 to 2^32 − 1.")
        terms = entry.terms
        if len(terms.keys) != len(terms) * TERM_BYTES or len(terms.counts) != len(terms) * COUNT_BYTES:
            raise InputError("Each term must have one key and one count.")
        if entry.vector and not 0 < entry.vector.scale < _SCALE_LIMIT:
            raise InputError("The scale of a vector must be an integer from 1 to 2^31 − 1.")
    return dims.pop() if dims else 0


def _invert(
    entries: Sequence[IndexEntry], bm25: Bm25
) -> tuple[NDArray[np.uint64], NDArray[np.intp], NDArray[np.uint64], Numbers]:
    """The keys of all terms in order, the offsets of their postings, the postings, packed, and the covers."""
    sizes = [len(entry.terms) for entry in entries]
    stated = hinted_keys(entry.terms.keys for entry in entries)
    keys, numbers = _numbered(stated[:, :2])
    counts = term_counts(entry.terms.counts for entry in entries)
    lengths = np.array([entry.terms.words for entry in entries], np.int64)
    weights = bm25.weights(counts, np.repeat(lengths, sizes))
    chunks = np.repeat(np.arange(len(entries)), sizes)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(numbers, minlength=len(keys)))])
    postings = pack_postings(numbers, chunks, weights)
    places = postings >> np.uint64(WEIGHT_BITS)
    if (places[1:] == places[:-1]).any():
        raise InputError("A term must stand once among those of its chunk.")
    hints = agreed(numbers, stated[:, 2].view(np.int64), len(keys), 0).view(np.uint64)
    return keys, offsets, postings, _covers(_hinted(keys, hints), postings)


def _hinted(keys: NDArray[np.uint64], hints: NDArray[np.uint64]) -> Numbers:
    """For each term the one whose key begins with its hint, if that has no hint itself; else −1."""
    found = np.full(len(keys), -1)
    some = np.flatnonzero(hints)
    some = some[np.argsort(hints[some])]  # what is looked for in order is found sooner
    places = np.minimum(np.searchsorted(keys[:, 0], hints[some]), len(keys) - 1)
    is_there = (keys[places, 0] == hints[some]) & (hints[places] == 0)
    found[some[is_there]] = places[is_there]
    return found


def _covers(likely: Numbers, postings: NDArray[np.uint64]) -> Numbers:
    """Of each term the likely cover, if it stands in each of the term's chunks and weighs no less there; else −1.

    ``postings``: packed, of all terms.
    """
    terms, chunks, weights = unpack_postings(postings)
    hinted = np.flatnonzero(likely[terms] >= 0)
    if not hinted.size:
        return likely
    terms = terms[hinted]
    wanted = _packed(likely[terms], chunks[hinted], weights[hinted])
    ordered = np.sort(wanted)
    found = postings[np.minimum(np.searchsorted(postings, ordered), postings.size - 1)]
    missing = ordered[(found ^ ordered) >> np.uint64(WEIGHT_BITS) != 0]
    covers = likely.copy()
    if missing.size:
        covers[terms[np.isin(wanted, missing)]] = -1
    return covers


def agreed(terms: Numbers, values: Numbers, count: int, nothing: int) -> Numbers:
    """For each of ``count`` terms the value that all its places give, or ``nothing``. ``terms`` and ``values``: the
    term of each place and the value there.
    """
    range_ = np.iinfo(np.int64)
    lowest, highest = np.full(count, range_.max), np.full(count, range_.min)
    np.minimum.at(lowest, terms, values)
    np.maximum.at(highest, terms, values)
    return np.where(lowest == highest, highest, nothing)


def _numbered(keys: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.intp]]:
    """The different keys in order, and the place of each key among them."""
    high, numbers = np.unique(keys[:, 0], return_inverse=True)
    low = np.empty_like(high)
    low[numbers] = keys[:, 1]
    if (
        low[numbers] == keys[:, 1]
    ).all():  # no two keys share their first half: nearly always, and twice as fast
        return np.stack((high, low), axis=1), numbers
    order = np.lexsort((keys[:, 1], keys[:, 0]))
    ordered = keys[order]
    is_first = np.ones(len(keys), np.bool_)
    is_first[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    numbers = np.empty(len(keys), np.intp)
    numbers[order] = np.cumsum(is_first) - 1
    return ordered[is_first], numbers


def pack_postings(terms: NDArray[Any], chunks: NDArray[Any], weights: NDArray[Any]) -> NDArray[np.uint64]:
    """Postings as integers of 22 bits for the term, 32 for the chunk number and 10 for the weight, sorted."""
    packed = _packed(terms, chunks, weights)
    packed.sort()
    return packed


def _packed(terms: NDArray[Any], chunks: NDArray[Any], weights: NDArray[Any]) -> NDArray[np.uint64]:
    packed = terms.astype(np.uint64) << np.uint64(_ORDINAL_BITS)
    packed |= chunks.astype(np.uint64)
    packed <<= np.uint64(WEIGHT_BITS)
    packed |= weights.astype(np.uint64)
    return packed


def unpack_postings(
    packed: NDArray[np.uint64],
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Terms, chunk numbers and weights."""
    whole = packed.view(np.int64)
    chunks = whole >> WEIGHT_BITS & (1 << _ORDINAL_BITS) - 1
    terms = packed >> np.uint64(_ORDINAL_BITS + WEIGHT_BITS)
    return terms.view(np.int64), chunks, whole & (1 << WEIGHT_BITS) - 1


def append_postings(out: SegmentWriter, packed: NDArray[np.uint64]) -> None:
    _, chunks, weights = unpack_postings(packed)
    out.append("ordinals", chunks)
    out.append("weights", weights)
