"""A recording VFS for SQLite, and the images a power cut may leave of what it saw."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import apsw

SUFFIXES = ("", "-wal")
L = TypeVar("L", bound="Log")


@dataclass(slots=True)
class Log:
    """Events of one database in order: (suffix, what, offset, bytes); ``acks`` counts the calls that had returned."""

    database: str = "ledger.db"
    events: list[tuple[str, str, int, bytes]] = field(default_factory=list)
    acks: dict[int, int] = field(default_factory=dict)

    def add(self, name: str, what: str, offset: int = 0, data: bytes = b"") -> None:
        for suffix in SUFFIXES:
            if name.endswith(self.database + suffix):
                self.events.append((suffix, what, offset, data))

    def acknowledged(self) -> None:
        self.acks[len(self.events)] = len(self.acks) + 1


class RecordedFile(apsw.VFSFile):
    def __init__(self, log: Log, base: str, name: Any, flags: list[int]) -> None:
        super().__init__(base, name, flags)
        self.log = log
        self.name = name.filename() if isinstance(name, apsw.URIFilename) else str(name or "")

    def xWrite(self, data: bytes, offset: int) -> None:
        self.log.add(self.name, "write", offset, bytes(data))
        super().xWrite(data, offset)

    def xTruncate(self, size: int) -> None:
        self.log.add(self.name, "truncate", size)
        super().xTruncate(size)

    def xSync(self, flags: int) -> None:
        self.log.add(self.name, "sync")
        super().xSync(flags)


class Recorder(apsw.VFS):
    def __init__(self, log: Log) -> None:
        self.base = apsw.vfs_names()[0]
        self.log = log
        super().__init__("recorder", self.base, makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> RecordedFile:
        return RecordedFile(self.log, self.base, name, flags)


@contextmanager
def recording(log: L) -> Iterator[L]:
    recorder = Recorder(log)
    try:
        yield log
    finally:
        apsw.set_default_vfs(recorder.base)
        recorder.unregister()


def images(log: Log) -> Iterator[tuple[int, dict[str, bytes]]]:
    """(calls acknowledged, files) for every state a crash may leave. Each differs from the one before."""
    synced: dict[str, bytearray] = {suffix: bytearray() for suffix in SUFFIXES}
    loose: dict[str, list[tuple[str, int, bytes]]] = {suffix: [] for suffix in SUFFIXES}
    acknowledged = 0
    for number, (suffix, what, offset, data) in enumerate(log.events):
        acknowledged = log.acks.get(number, acknowledged)
        if what == "sync":
            apply(synced[suffix], loose[suffix])
            loose[suffix].clear()
        else:
            loose[suffix].append((what, offset, data))
        for kept in survivors(loose[suffix]):
            files = {name: bytes(content) for name, content in synced.items()}
            content = bytearray(synced[suffix])
            apply(content, kept)
            files[suffix] = bytes(content)
            yield acknowledged, files


def survivors(loose: Sequence[tuple[str, int, bytes]]) -> Iterator[Sequence[tuple[str, int, bytes]]]:
    yield []
    yield loose
    if len(loose) > 1:
        yield loose[-1:]
        yield loose[: len(loose) // 2]
        yield [*loose[: len(loose) // 3], *loose[len(loose) // 3 + 1 :]]
    if loose and loose[-1][0] == "write":
        what, offset, data = loose[-1]
        yield [*loose[:-1], (what, offset, data[: len(data) // 2])]


def apply(content: bytearray, operations: Sequence[tuple[str, int, bytes]]) -> None:
    for what, offset, data in operations:
        if what == "truncate":
            del content[offset:]
        else:
            if len(content) < offset:
                content.extend(bytes(offset - len(content)))
            content[offset : offset + len(data)] = data
