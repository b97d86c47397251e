"""A feed of source records, one JSON object a line."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from clearcite.domain.corpus import SourceRecord
from clearcite.errors import ClearciteError, InputError, TooLarge
from clearcite.wire.records import DEFAULT_RULES, RecordRules, read_line

MAX_REPORTED = 1000


class JsonlConnector(Struct, frozen=True, kw_only=True):
    """``source``: a file, or the bytes of a feed.

    The feed is checked whole first: if any line is refused, only the refusals are given and no record, so
    that nothing is written. With ``skip_bad`` each good record is given in its turn, bad lines between them.
    """

    source: Path | bytes
    rules: RecordRules = DEFAULT_RULES
    skip_bad: bool = False

    def records(self) -> Iterator[SourceRecord | ClearciteError]:
        if self.skip_bad:
            yield from self._read()
            return
        refused = self._refusals()
        yield from refused or self._read()

    def _refusals(self) -> list[ClearciteError]:
        refused: list[ClearciteError] = []
        for item in self._read():
            if isinstance(item, ClearciteError):
                refused.append(item)
                if len(refused) >= MAX_REPORTED:
                    refused.append(
                        InputError(f"more than {MAX_REPORTED} lines are refused; the rest is not read")
                    )
                    break
        return refused

    def _read(self) -> Iterator[SourceRecord | ClearciteError]:
        # In the worst case JSON writes each byte of the content as six: backslash, u, four digits.
        limit = 6 * self.rules.max_bytes + 1_000_000
        try:
            with self._open() as stream:
                yield from self._lines(stream, limit)
        except OSError as error:
            yield InputError(f"the feed cannot be read ({type(error).__name__})")

    def _lines(self, stream: BinaryIO, limit: int) -> Iterator[SourceRecord | ClearciteError]:
        number = 0
        while line := stream.readline(limit + 1):
            number += 1
            if len(line) > limit:
                _skip_rest(stream, line)
                yield TooLarge(f"line {number}: is larger than {limit} bytes")
            elif line.strip():
                yield self._record(line, number, limit)

    def _record(self, line: bytes, number: int, limit: int) -> SourceRecord | ClearciteError:
        try:
            return read_line(line, self.rules, limit)
        except InputError as error:
            place = f"line {number}: "
            return type(error)(place + error.message, tuple(place + fault for fault in error.violations))

    def _open(self) -> AbstractContextManager[BinaryIO]:
        return BytesIO(self.source) if isinstance(self.source, bytes) else self.source.open("rb")


def _skip_rest(stream: BinaryIO, line: bytes) -> None:
    while line and not line.endswith(b"\n"):
        line = stream.readline(1_000_000)
