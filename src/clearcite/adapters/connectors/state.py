"""What a folder connector remembers of each file, so that its sequence rises when something changes."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from clearcite.errors import InputError, IntegrityFault
from clearcite.wire import loads
from clearcite.wire.convert import from_json, to_json

UNKNOWN = ""
"""In place of a digest: nobody knows what was seen at that sequence."""


class FileState(Struct, frozen=True, kw_only=True):
    """Digests of bytes and metadata as they were at ``sequence``."""

    content: str
    metadata: str
    sequence: int
    deleted: bool = False


class FolderState(Protocol):
    """Kept in the store, by document id. Durable when ``put`` returns: a sequence once given is never reused
    for another state, also after a crash."""

    def all(self) -> Mapping[str, FileState]: ...

    def put(self, states: Mapping[str, FileState]) -> None: ...


class MemoryFolderState:
    """For a dry run and for tests: starts from what is known, keeps nothing."""

    def __init__(self, states: Mapping[str, FileState] | None = None) -> None:
        self._states = dict(states or {})

    def all(self) -> Mapping[str, FileState]:
        return dict(self._states)

    def put(self, states: Mapping[str, FileState]) -> None:
        self._states.update(states)


class JsonFolderState:
    """An append-only file: one JSON object a line, the newest line of a document counts; compacted when read.

    Appending costs one sync for a batch, however many files the folder has.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def all(self) -> Mapping[str, FileState]:
        """Raises IntegrityFault for a file that somebody changed. A last line cut by a crash is dropped."""
        states, is_untidy = self._read()
        if is_untidy:
            self._compact(states)
        return states

    def peek(self) -> Mapping[str, FileState]:
        """``all`` that leaves the file as it is."""
        return self._read()[0]

    def _read(self) -> tuple[dict[str, FileState], bool]:
        """The states, and whether the file should be compacted."""
        states: dict[str, FileState] = {}
        if not self._file.exists():
            return states, False
        lines = self._file.read_bytes().split(b"\n")
        for line in lines[:-1]:
            try:
                value: Any = loads(line)
                states[value["id"]] = from_json(FileState, value["state"])
            except (KeyError, TypeError, InputError) as error:
                raise IntegrityFault("The record of the folder's files is damaged.") from error
        return states, bool(lines[-1]) or len(lines) > 2 * len(states) + 100

    def put(self, states: Mapping[str, FileState]) -> None:
        if not states:
            return
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with self._file.open("ab") as stream:
            stream.write(_lines(states))
            stream.flush()
            os.fsync(stream.fileno())

    def _compact(self, states: Mapping[str, FileState]) -> None:
        temporary = self._file.with_suffix(".new")
        with temporary.open("wb") as stream:
            stream.write(_lines(states))
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(self._file)


def _lines(states: Mapping[str, FileState]) -> bytes:
    rows = ({"id": name, "state": to_json(state)} for name, state in states.items())
    return b"".join(json.dumps(row, ensure_ascii=False).encode("utf-8") + b"\n" for row in rows)
