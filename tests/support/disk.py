"""A disk that remembers what of its files would survive a power cut.

It stands for the module ``os`` in the one module that writes files of the index. What is written is done for real and
noted; from the notes come the images a crash may leave: content that was synced, plus some of what was not; names that
were synced with their directory, plus some of those that were not.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Note = tuple[Any, ...]


class Disk:
    """``notes``: (what, …) in order. A file goes by a number of its own, so that a new name keeps its content."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.notes: list[Note] = []
        self._open: dict[int, int | Path] = {}
        self._files = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def open(self, path: Path, flags: int, mode: int = 0o777) -> int:
        descriptor = os.open(path, flags, mode)
        if flags & os.O_CREAT:
            self._files += 1
            self._open[descriptor] = self._files
            self.notes.append(("name", Path(path).name, self._files))
        elif flags & os.O_DIRECTORY:
            self._open[descriptor] = Path(path)
        return descriptor

    def close(self, descriptor: int) -> None:
        self._open.pop(descriptor, None)
        os.close(descriptor)

    def ftruncate(self, descriptor: int, size: int) -> None:
        os.ftruncate(descriptor, size)
        self.notes.append(("size", self._open[descriptor], size))

    def pwrite(self, descriptor: int, data: bytes, at: int) -> int:
        done = os.pwrite(descriptor, data, at)
        self.notes.append(("write", self._open[descriptor], at, bytes(data[:done])))
        return done

    def fsync(self, descriptor: int) -> None:
        place = self._open[descriptor]
        if isinstance(place, int):
            self.notes.append(("synced", place))
        elif place == self.root:
            self.notes.append(("names synced",))
        elif place == self.root.parent:
            self.notes.append(("root synced",))

    def rename(self, old: Path, new: Path) -> None:
        os.rename(old, new)
        self.notes.append(("rename", Path(old).name, Path(new).name))

    def unlink(self, path: Path) -> None:
        os.unlink(path)
        self.notes.append(("unlink", Path(path).name))


class LazyDisk(Disk):
    """Says that content is safe when it is not."""

    def fsync(self, descriptor: int) -> None:
        if not isinstance(self._open[descriptor], int):
            super().fsync(descriptor)


class ForgetfulDisk(Disk):
    """Says that names are safe when they are not."""

    def fsync(self, descriptor: int) -> None:
        if isinstance(self._open[descriptor], int):
            super().fsync(descriptor)


@dataclass(slots=True)
class Surviving:
    """What is safe, and what came after it. ``pointers``: what the ledger may say is published."""

    content: dict[int, bytearray] = field(default_factory=dict)
    loose: dict[int, list[Note]] = field(default_factory=dict)
    names: dict[str, int] = field(default_factory=dict)
    renamed: list[Note] = field(default_factory=list)
    is_rooted: bool = False
    pointers: tuple[str | None, ...] = (None,)

    def take(self, note: Note) -> None:
        match note:
            case ("size" | "write", file, *_):
                self.loose.setdefault(file, []).append(note)
            case ("synced", file):
                self.content[file] = self.of(file, 1.0)
                self.loose.pop(file, None)
            case ("names synced",):
                self.names = named(self.names, self.renamed)
                self.renamed = []
            case ("root synced",):
                self.is_rooted = True
            case ("published", name, is_sure):
                self.pointers = (name,) if is_sure else (*self.pointers, name)
            case _:
                self.renamed.append(note)

    def of(self, file: int, share: float) -> bytearray:
        """The content of a file with all of what was not synced, none of it, or all with the last write torn."""
        content = bytearray(self.content.get(file, b""))
        writes = self.loose.get(file, []) if share else []
        for number, (what, _, *how) in enumerate(writes):
            if what == "size":
                content = content[: how[0]].ljust(how[0], b"\0")
                continue
            at, data = how
            data = data[: int(len(data) * share)] if number == len(writes) - 1 else data
            content[at : at + len(data)] = data
        return content

    def images(self) -> Iterator[dict[str, bytes]]:
        """Names and contents. Without a directory there is nothing."""
        if not self.is_rooted:
            yield {}
        for kept in _survivors(self.renamed):
            names = named(self.names, kept)
            for share in (1.0, 0.5, 0.0) if self.loose else (1.0,):
                yield {name: bytes(self.of(file, share)) for name, file in names.items()}


def named(names: dict[str, int], changes: Sequence[Note]) -> dict[str, int]:
    found = dict(names)
    for what, *args in changes:
        if what == "name":
            found[args[0]] = args[1]
        elif what == "unlink":
            found.pop(args[0], None)
        elif args[0] in found:
            found[args[1]] = found.pop(args[0])
    return found


def _survivors(changes: Sequence[Note]) -> Iterator[Sequence[Note]]:
    """Every prefix, and all but one of them."""
    for end in range(len(changes) + 1):
        yield changes[:end]
    for out in range(len(changes) - 1):
        yield [*changes[:out], *changes[out + 1 :]]


def crashes(notes: Sequence[Note]) -> Iterator[tuple[tuple[str | None, ...], dict[str, bytes]]]:
    """(what may be published, files) for every state that a power cut may leave, each once."""
    state, seen = Surviving(), set()
    for note in notes:
        state.take(note)
        for files in state.images():
            image = (state.pointers, hash(frozenset(files.items())))
            if image not in seen:
                seen.add(image)
                yield state.pointers, files
