"""One segment: some chunks of one partition, in one immutable file that is mapped and never changed.

After the header come these arrays, little-endian, each at a multiple of 64 bytes. Chunks are numbered in
the order (slot, chunk id) and terms in the order of their keys, so equal entries make equal files:

    partition     bytes of the partition's name in UTF-8
    ids           16 bytes a chunk: the 32 hex digits of its id
    slots         the slot of each chunk
    high, low     the key of each term: two halves of its 128-bit BLAKE2b, which stands for the term
    offsets       terms + 1 offsets into the postings
    ordinals      postings: chunk numbers, ascending within a term
    weights       postings: the document-side weight of BM25
    covers        for each term one that stands in each of its chunks and weighs no less there, or −1
    scales        the scale of each chunk's vector; 0 where there is none
    vectors       dims signed bytes a chunk

The header holds a checksum of itself and one of the rest. Opening checks sizes and the header; the arrays are
checked once a process, before they are first searched or merged, so that damage is never taken for a rank.

A segment of version 2 has no covers; it is read as one in which nothing is known to be covered.
"""

import contextlib
import mmap
import os
import re
import struct
import threading
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import astuple, replace
from numpy.typing import NDArray

from clearcite.adapters.indexes.local_files import Held, durable_file, write_all
from clearcite.adapters.indexes.local_scoring import Bm25
from clearcite.errors import IntegrityFault

CHUNK_ID = re.compile(r"[0-9a-f]{32}")

_MAGIC, _WITHOUT_COVERS = b"clrcite3", b"clrcite2"
_HEADER = struct.Struct("<8s11QQQ")
_ALIGN = 64
_PIECE = 1 << 22  # of a file that is read to be summed up


class Shape(Struct, frozen=True):
    """The counts in a header; with them the place of every array and the size of the file are known."""

    chunks: int
    terms: int
    postings: int
    partition_bytes: int
    dims: int
    vectors: int
    low_slot: int
    high_slot: int
    k1: int
    b: int
    average_length: int
    has_covers: bool = True

    def places(self) -> tuple[dict[str, tuple[int, str, int]], int]:
        """For each array its offset, type and length; and the size of the file."""
        sizes = {
            "partition": ("u1", self.partition_bytes),
            "ids": ("u1", 16 * self.chunks),
            "slots": ("<u4", self.chunks),
            "high": ("<u8", self.terms),
            "low": ("<u8", self.terms),
            "offsets": ("<i8", self.terms + 1),
            "ordinals": ("<i4", self.postings),
            "weights": ("<u2", self.postings),
            "covers": ("<i4", self.terms if self.has_covers else 0),
            "scales": ("<u4", self.chunks if self.dims else 0),
            "vectors": ("i1", self.chunks * self.dims),
        }
        places: dict[str, tuple[int, str, int]] = {}
        position = _HEADER.size
        for name, (kind, count) in sizes.items():
            position += -position % _ALIGN
            places[name] = (position, kind, count)
            position += np.dtype(kind).itemsize * count
        return places, position

    def pack(self, checksum: int) -> bytes:
        """The header of a file whose bytes after the header have this checksum."""
        *sizes, has_covers = astuple(self)
        magic = _MAGIC if has_covers else _WITHOUT_COVERS
        counts = struct.pack("<8s11QQ", magic, *sizes, checksum)
        return counts + struct.pack("<Q", zlib.crc32(counts))

    @staticmethod
    def unpack(raw: bytes) -> tuple["Shape", int]:
        """From the beginning of a file: its shape, and the checksum of its arrays. Raises IntegrityFault."""
        if len(raw) < _HEADER.size or raw[:8] not in (_MAGIC, _WITHOUT_COVERS):
            raise IntegrityFault(
                "A segment of the index is truncated or of another version. Build it anew: clearcite index build"
            )
        magic, *counts, arrays, own = _HEADER.unpack(raw[: _HEADER.size])
        if zlib.crc32(raw[: _HEADER.size - 8]) != own:
            raise IntegrityFault("The header of a segment of the index is damaged.")
        return replace(Shape(*counts), has_covers=magic == _MAGIC), arrays


def has_vectors(index: Path) -> bool:
    """Whether some generation in the folder of an index was built with vectors: all segments of one are alike."""
    for generation in index.glob("*"):
        with contextlib.suppress(OSError, IntegrityFault, StopIteration):
            with next(generation.glob("*.segment")).open("rb") as file:
                shape, _ = Shape.unpack(file.read(_HEADER.size))
            if shape.dims:
                return True
    return False


class SegmentWriter:
    """Writes the arrays of a segment piece by piece: in any order between arrays, in order within one."""

    def __init__(self, descriptor: int, shape: Shape) -> None:
        self._descriptor = descriptor
        self._places, _ = shape.places()
        self._written = dict.fromkeys(self._places, 0)

    def append(self, name: str, values: NDArray[Any] | bytes) -> None:
        offset, kind, _ = self._places[name]
        data = (
            np.frombuffer(values, "u1") if isinstance(values, bytes) else np.ascontiguousarray(values, kind)
        )
        at = offset + self._written[name] * data.itemsize
        write_all(self._descriptor, data.reshape(-1).view(np.uint8).data, at)
        self._written[name] += data.size

    def check(self) -> None:
        """Raises IntegrityFault unless every array has its length."""
        if any(self._written[name] != count for name, (_, _, count) in self._places.items()):
            raise IntegrityFault("A segment of the index came out incomplete.")


@contextlib.contextmanager
def new_segment(path: Path, shape: Shape, held: Held) -> Iterator[SegmentWriter]:
    """A writer for a new segment, which stands under ``path``, durable and held, when the block has ended."""
    _, size = shape.places()
    with durable_file(path, size, held) as descriptor:
        writer = SegmentWriter(descriptor, shape)
        yield writer
        writer.check()
        write_all(descriptor, shape.pack(_sum(descriptor)), 0)


def _sum(descriptor: int) -> int:
    """The checksum of what follows the header."""
    checksum, at = 0, _HEADER.size
    while piece := os.pread(descriptor, _PIECE, at):
        checksum, at = zlib.crc32(piece, checksum), at + len(piece)
    return checksum


class Segment:
    """An opened segment. Its arrays are read-only views of the mapped file, which may be unlinked
    meanwhile.
    """

    __slots__ = (
        "_arrays", "_checked", "_checksum", "_lock", "covers", "dims", "high", "ids", "low", "name", "offsets",
        "ordinals", "partition", "scales", "shape", "slots", "vectors", "weights",
    )  # fmt: skip

    def __init__(self, path: Path, name: str, size: int, bm25: Bm25) -> None:
        with path.open("rb") as file:
            actual = os.fstat(file.fileno()).st_size
            shape, self._checksum = Shape.unpack(file.read(_HEADER.size))
            places, wanted = shape.places()
            if not actual == wanted == size:
                raise IntegrityFault("A segment of the index has another size than it says.")
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if (shape.k1, shape.b, shape.average_length) != (bm25.k1, bm25.b, bm25.average_length):
            raise IntegrityFault("A segment of the index was written under another pipeline manifest.")
        arrays = {
            key: np.frombuffer(mapped, kind, count, offset) for key, (offset, kind, count) in places.items()
        }
        self.name, self.shape, self.dims = name, shape, shape.dims
        self._arrays, self._checked, self._lock = memoryview(mapped)[_HEADER.size :], False, threading.Lock()
        self.partition = arrays["partition"].tobytes().decode("utf-8", errors="replace")
        self.ids = arrays["ids"].reshape(-1, 16)
        self.slots, self.scales = arrays["slots"], arrays["scales"]
        self.high, self.low = arrays["high"], arrays["low"]
        self.covers = arrays["covers"] if shape.has_covers else np.full(shape.terms, -1, np.int32)
        self.offsets, self.ordinals, self.weights = arrays["offsets"], arrays["ordinals"], arrays["weights"]
        self.vectors = arrays["vectors"].reshape(shape.chunks, -1) if self.dims else arrays["vectors"]
        if self.offsets[0] != 0 or self.offsets[-1] != shape.postings:
            raise IntegrityFault("A segment of the index contradicts its own header.")

    def check(self) -> None:
        """Sum up the arrays if this process has not done so. Raises IntegrityFault when they are damaged."""
        if self._checked:
            return
        with self._lock:
            if not self._checked and zlib.crc32(self._arrays) != self._checksum:
                raise IntegrityFault(
                    "A segment of the index is damaged. Build it anew: clearcite index build"
                )
            self._checked = True

    @property
    def chunks(self) -> int:
        return self.shape.chunks

    @property
    def has_all_vectors(self) -> bool:
        return self.shape.vectors == self.shape.chunks

    def find(self, keys: NDArray[np.uint64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Which of the terms stand here, and the position of each that does. ``keys``: a row of two halves for each."""
        if not self.shape.terms:
            return np.zeros(0, np.intp), np.zeros(0, np.intp)
        high, low = np.ascontiguousarray(keys.T)
        positions: NDArray[np.intp] = self.high.searchsorted(high)
        is_alike = self.high.take(positions, mode="clip") == high
        is_equal = is_alike & (self.low.take(positions, mode="clip") == low)
        known = is_equal.nonzero()[0]
        if known.size < np.count_nonzero(is_alike):  # half a digest shared with another term
            for i in (is_alike > is_equal).nonzero()[0].tolist():
                last = self.high.searchsorted(high[i], side="right")
                others = np.flatnonzero(self.low[positions[i] : last] == low[i])
                if others.size:
                    positions[i] += others[0]
                    is_equal[i] = True
            known = is_equal.nonzero()[0]
        return known, positions.take(known)


def id_keys(ids: NDArray[np.uint8]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Ids of chunks, a row of 16 bytes each, as two integers each, in which they sort as their hex digits do."""
    pairs = ids.view(">u8").astype(np.uint64)
    return pairs[:, 0], pairs[:, 1]


def term_keys(keys: Iterable[bytes]) -> NDArray[np.uint64]:
    """A row of two halves for each key; any number of them may stand in one piece."""
    return np.frombuffer(b"".join(keys), ">u8").astype(np.uint64).reshape(-1, 2)


def hinted_keys(keys: Iterable[bytes]) -> NDArray[np.uint64]:
    """``term_keys``, and in a third column the hints, of what ``Terms.keys`` holds."""
    return np.frombuffer(b"".join(keys), ">u8").astype(np.uint64).reshape(-1, 3)


def term_counts(counts: Iterable[bytes]) -> NDArray[np.int64]:
    """See ``Terms.counts``."""
    return np.frombuffer(b"".join(counts), "<u4").astype(np.int64)
