"""An index in plain Python, as exact as the real one, and one that lies, for tests of what comes after it."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from clearcite.domain.digest import digest
from clearcite.domain.manifest import PipelineManifest
from clearcite.domain.retrieval import SCALE_BITS, Cursor, DenseQuery, Hit, HitPage, LexicalQuery
from clearcite.domain.terms import KEY_BYTES, STEM_BYTES
from clearcite.errors import DependencyUnavailable, InputError, IntegrityFault
from clearcite.ports import IndexDifference, IndexEntry, IndexView, Readable
from clearcite.storing import Index
from clearcite.text.keys import term_key

Mask = NDArray[np.bool_]


class ReadableSlots:
    """A ``Readable`` made of lists of readable slots."""

    def __init__(self, slots: Mapping[str, Iterable[int]]) -> None:
        self._slots = {partition: frozenset(some) for partition, some in slots.items()}
        self.partitions = tuple(self._slots)
        self.token: tuple[Any, ...] = tuple((p, tuple(sorted(some))) for p, some in self._slots.items())

    def mask(self, partition: str) -> Mask:
        slots = self._slots[partition]
        mask = np.zeros(max(slots, default=-1) + 1, np.bool_)
        mask[list(slots)] = True
        return mask

    def counts(self, partition: str) -> Mapping[str, int]:
        return {"served": len(self._slots[partition])}


class MemoryIndex:
    """Implements ``Index`` with dictionaries. Its scores equal those of ``LocalIndex``."""

    def __init__(self, pipeline: PipelineManifest) -> None:
        self._pipeline = pipeline
        self._segments: dict[str, tuple[IndexEntry, ...]] = {}
        self._manifests: dict[str, tuple[str, ...]] = {}

    def write(self, entries: Sequence[IndexEntry]) -> tuple[str, ...]:
        if len({len(entry.vector.data) for entry in entries if entry.vector}) > 1:
            raise InputError("The vectors of one index must have the same number of dimensions.")
        if not entries:
            return ()
        name = f"segment-{len(self._segments)}-{digest(*(entry.chunk_id for entry in entries))[:8]}"
        self._segments[name] = tuple(entries)
        return (name,)

    def commit(self, base: str | None, segments: Sequence[str], replaces: Sequence[str] = ()) -> str:
        before = self._named(base) if base else ()
        if not set(replaces) <= set(before):
            raise IntegrityFault("A segment to be replaced is not part of the index.")
        if not self._segments.keys() >= set(segments):
            raise DependencyUnavailable("A segment to be committed is not there any more.")
        names = tuple(dict.fromkeys([*(name for name in before if name not in replaces), *segments]))
        manifest = digest("manifest", *names)[:32]
        self._manifests[manifest] = names
        return manifest

    def open(self, manifest: str | None) -> MemoryView:
        names = self._named(manifest) if manifest else ()
        return MemoryView([entry for name in names for entry in self._segments[name]], self._pipeline)

    def merge(
        self,
        manifest: str,
        live: Callable[[str], Mask],
        *,
        erase: bool = False,  # noqa: ARG002
    ) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
        entries = self.open(manifest).entries
        slots = {
            partition: live(partition) for partition in dict.fromkeys(item.partition for item in entries)
        }
        kept = [entry for entry in entries if _is_set(slots[entry.partition], entry.slot)]
        names = self._named(manifest)
        if len(names) < 2 and len(kept) == len(entries):
            return None
        return self.write(kept), names

    def sweep(self, keep: Sequence[str]) -> None:
        needed = {name for manifest in keep for name in self._named(manifest)}
        for manifest in self._manifests.keys() - set(keep):
            for name in self._manifests.pop(manifest):
                if name not in needed:
                    self._segments[name] = ()

    def _named(self, manifest: str) -> tuple[str, ...]:
        if manifest not in self._manifests:
            raise DependencyUnavailable("A manifest of the index is not there any more.")
        return self._manifests[manifest]


class MemoryView:
    """Implements ``IndexView`` by looking at every readable chunk."""

    def __init__(self, entries: Iterable[IndexEntry], pipeline: PipelineManifest) -> None:
        self.entries = tuple({(e.partition, e.slot, e.chunk_id): e for e in entries}.values())
        self._pipeline = pipeline

    def search(
        self, query: LexicalQuery | DenseQuery, readable: Readable, after: Cursor | None, limit: int
    ) -> HitPage:
        if limit < 1 or (after and len(after.chunk_id) != 32):
            raise InputError("The limit or the cursor is malformed.")
        masks = {partition: readable.mask(partition) for partition in readable.partitions}
        seen = [e for e in self.entries if e.partition in masks and _is_set(masks[e.partition], e.slot)]
        if isinstance(query, DenseQuery):
            seen = [entry for entry in seen if entry.vector]
            length = math.isqrt(sum(value * value for value in memoryview(query.vector).cast("b")))
            dots = ((_dot(entry, query), entry.chunk_id) for entry in seen)
            return replace(_page(dots, after, limit, len(seen), ()), whole=length << SCALE_BITS)
        weights = [[self._weight(entry, term.forms) for entry in seen] for term in query.terms]
        frequencies = tuple(sum(weight > 0 for weight in column) for column in weights)
        factors = [_idf(len(seen), frequency) for frequency in frequencies]
        scores = [
            sum(f * column[i] for f, column in zip(factors, weights, strict=True)) for i in range(len(seen))
        ]
        found = ((score, entry.chunk_id) for score, entry in zip(scores, seen, strict=True) if score)
        return replace(_page(found, after, limit, len(seen), frequencies), whole=1023 * sum(factors))

    def differences(self, entries: Iterable[IndexEntry]) -> Iterator[IndexDifference]:
        there = {(e.partition, e.slot, e.chunk_id): e for e in self.entries}
        for wanted in entries:
            place = (wanted.partition, wanted.slot, wanted.chunk_id)
            entry = there.pop(place, None)
            if entry is None:
                yield _difference("missing", place)
            elif _counted(entry) != _counted(wanted) or (wanted.vector and entry.vector != wanted.vector):
                yield _difference("differs", place)
        yield from (_difference("extra", place) for place in sorted(there))

    def check(self) -> None:
        """Nothing in memory is damaged."""

    def _weight(self, entry: IndexEntry, forms: Sequence[str]) -> int:
        """The best weight of any form of a word in a chunk; 0 when none stands there."""
        counts = _counted(entry)
        count = max((counts.get(term_key(form), 0) for form in forms), default=0)
        if not count:
            return 0
        pipeline = self._pipeline
        length = (100 - pipeline.bm25_b) * pipeline.average_length + pipeline.bm25_b * entry.terms.words
        scaled = count * 10_000 * pipeline.average_length
        return max(1, 1023 * scaled // (scaled + pipeline.bm25_k1 * length))


def _counted(entry: IndexEntry) -> dict[bytes, int]:
    keys = struct.iter_unpack(f"{KEY_BYTES}s{STEM_BYTES}x", entry.terms.keys)
    counts = struct.iter_unpack("<I", entry.terms.counts)
    return {key: count for (key,), (count,) in zip(keys, counts, strict=True)}


class FaultyIndex:
    """An ``Index`` whose views change each page they return: for tests of whoever must not believe them."""

    def __init__(self, index: Index, fault: Callable[[HitPage, Cursor | None], HitPage]) -> None:
        self._index, self._fault = index, fault
        self.write, self.commit, self.merge, self.sweep = index.write, index.commit, index.merge, index.sweep

    def open(self, manifest: str | None) -> FaultyView:
        return FaultyView(self._index.open(manifest), self._fault)


class FaultyView:
    """Implements ``IndexView`` wrongly, in the way it is told."""

    def __init__(self, view: IndexView, fault: Callable[[HitPage, Cursor | None], HitPage]) -> None:
        self._view, self._fault = view, fault

    def search(
        self, query: LexicalQuery | DenseQuery, readable: Readable, after: Cursor | None, limit: int
    ) -> HitPage:
        return self._fault(self._view.search(query, readable, after, limit), after)

    def differences(self, entries: Iterable[IndexEntry]) -> Iterator[IndexDifference]:
        return self._view.differences(entries)

    def check(self) -> None:
        self._view.check()


def stale(chunk_ids: Sequence[str]) -> Callable[[HitPage, Cursor | None], HitPage]:
    """Chunks that are gone, or were never readable, or never were, come first, as if nothing were better."""

    def fault(page: HitPage, after: Cursor | None) -> HitPage:
        top = page.hits[0].score if page.hits else 0
        extra = (
            tuple(Hit(chunk_id=chunk_id, score=top + 1) for chunk_id in chunk_ids) if after is None else ()
        )
        return _with_hits(page, extra + page.hits)

    return fault


def duplicated(page: HitPage, after: Cursor | None) -> HitPage:  # noqa: ARG001
    """Every hit comes twice."""
    return _with_hits(page, tuple(hit for hit in page.hits for _ in range(2)))


def reordered(page: HitPage, after: Cursor | None) -> HitPage:  # noqa: ARG001
    """The worst hit of each page comes first."""
    return _with_hits(page, page.hits[::-1])


def emptied(page: HitPage, after: Cursor | None) -> HitPage:  # noqa: ARG001
    """Nothing is found, and there is no next page."""
    return replace(page, hits=(), next=None)


def _difference(what: Literal["missing", "extra", "differs"], place: tuple[str, int, str]) -> IndexDifference:
    partition, slot, chunk_id = place
    return IndexDifference(what=what, partition=partition, slot=slot, chunk_id=chunk_id)


def _with_hits(page: HitPage, hits: tuple[Hit, ...]) -> HitPage:
    return replace(page, hits=hits)


def _page(
    found: Iterable[tuple[int, str]],
    after: Cursor | None,
    limit: int,
    documents: int,
    counts: tuple[int, ...],
) -> HitPage:
    ranked = sorted((-score, chunk_id) for score, chunk_id in found)
    if after:
        ranked = [item for item in ranked if item > (-after.score, after.chunk_id)]
    hits = tuple(Hit(chunk_id=chunk_id, score=-score) for score, chunk_id in ranked[:limit])
    last = Cursor(score=hits[-1].score, chunk_id=hits[-1].chunk_id) if len(ranked) > limit else None
    return HitPage(hits=hits, next=last, documents=documents, frequencies=counts)


def _idf(documents: int, frequency: int) -> int:
    return max(1, math.floor(1024 * math.log2((2 * documents + 2) / (2 * frequency + 1))))


def _dot(entry: IndexEntry, query: DenseQuery) -> int:
    data, scale = (entry.vector.data, entry.vector.scale) if entry.vector else (b"", 0)
    if len(data) != len(query.vector):
        raise InputError("The question's vector has another number of dimensions than the index.")
    pairs = zip(memoryview(data).cast("b"), memoryview(query.vector).cast("b"), strict=True)
    return scale * sum(a * b for a, b in pairs)


def _is_set(mask: Mask, slot: int) -> bool:
    return slot < mask.size and bool(mask[slot])
