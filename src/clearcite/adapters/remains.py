"""Looking for remnants: fragments of erased texts in every byte of the files of a store.

Fragments are taken from inside lines, in the form in which the stores write text (UTF-8), and from the original
bytes. A database cuts long values at the borders of its pages, so many short fragments are looked for rather than
one long one.
"""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

LENGTH = 20
"""Bytes of a fragment."""

MOST_OF_ONE = 400  # fragments of one text
_BLOCK = 1 << 22
_PLAIN = re.compile(rb'[^\x00-\x1f"\\]{%d,}' % LENGTH)


def fragments_of(text: bytes, most: int = MOST_OF_ONE) -> Iterator[bytes]:
    """Up to ``most`` pieces, spread evenly over what stands in the stores as it is written here."""
    runs = [(match.start(), match.end()) for match in _PLAIN.finditer(text)]
    room = sum((end - start) // LENGTH for start, end in runs)
    step = max(1, -(-room // most))
    number = 0
    for start, end in runs:
        for at in range(start, end - LENGTH + 1, LENGTH):
            if number % step == 0:
                yield text[at : at + LENGTH]
            number += 1


class Fragments:
    """Finds any of many fragments in one pass over some bytes."""

    def __init__(self, fragments: Iterable[bytes]) -> None:
        self.all = frozenset(fragments)
        heads = np.frombuffer(b"".join(sorted({some[:8] for some in self.all})), "<u8")
        self._heads = np.sort(heads)
        self._starts = np.zeros(1 << 16, np.bool_)
        self._starts[(self._heads & np.uint64(0xFFFF)).astype(np.intp)] = True

    def found_in(self, data: bytes) -> set[bytes]:
        if not self.all or len(data) < LENGTH:
            return set()
        raw = np.frombuffer(data, "u1")
        pairs = raw[:-1].astype(np.uint16) | (raw[1:].astype(np.uint16) << np.uint16(8))
        places = np.flatnonzero(self._starts[pairs[: len(data) - LENGTH + 1]])
        keys = np.zeros(places.size, np.uint64)
        for i in range(8):
            keys |= raw[places + i].astype(np.uint64) << np.uint64(8 * i)
        at = np.searchsorted(self._heads, keys)
        at[at == self._heads.size] = 0
        hits = places[self._heads[at] == keys].tolist()
        return {data[i : i + LENGTH] for i in hits} & self.all


def files_of(folder: Path) -> list[Path]:
    """Every file below a folder, in order; links are not followed."""
    return sorted(
        Path(parent) / name
        for parent, _, names in os.walk(folder)
        for name in names
        if not (Path(parent) / name).is_symlink()
    )


def scan(path: Path, wanted: Fragments) -> tuple[set[bytes], int]:
    """The fragments found in a file, and its size. A file that has gone meanwhile holds nothing."""
    found: set[bytes] = set()
    size = 0
    tail = b""
    try:
        with path.open("rb") as stream:
            while block := stream.read(_BLOCK):
                size += len(block)
                found |= wanted.found_in(tail + block)
                tail = block[-(LENGTH - 1) :]
    except FileNotFoundError:
        pass
    return found, size
