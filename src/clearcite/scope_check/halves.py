"""A large file in two processes: this one checks the first half of it, a child the second.

Whatever is not sound is left to whoever reads the file from its start, who names the line; so it is told in one way.
"""

import multiprocessing
import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, BinaryIO, NamedTuple, cast

from clearcite.errors import InputError
from clearcite.scope_check.cases import MAX_LINE, read_cases
from clearcite.scope_check.measure import Cohort, Limits, Outcome, Report, check

LEAST_BYTES = 16_000_000
"""Below it a second process is not worth its start."""
BLOCK = 1 << 20
DIGEST = 16


class Half(NamedTuple):
    """``seen``: the digests of the ids, one after the other."""

    cohorts: tuple[Cohort, ...]
    seen: bytes


class Work(NamedTuple):
    """What both do with a file; ``case``: what is kept of an outcome."""

    path: Path
    limits: Limits
    case: Callable[[Outcome], str]


class _Until:
    """A stream that ends at a place where a line ends."""

    def __init__(self, stream: BinaryIO, left: int) -> None:
        self._stream, self._left = stream, left

    def readline(self, limit: int) -> bytes:
        line = self._stream.readline(limit) if self._left > 0 else b""
        self._left -= len(line)
        return line


def worth_halving(path: Path) -> bool:
    """A large file, where forking is safe and there is a second processor for it."""
    with suppress(OSError):
        can_halve = sys.platform == "linux" and len(os.sched_getaffinity(0)) > 1
        return can_halve and path.is_file() and path.stat().st_size >= LEAST_BYTES
    return False


def check_halves(work: Work, kept: IO[str]) -> Report | None:
    """The report, with what is kept of each case in ``kept``; None where the file must be read from its start instead,
    and then ``kept`` must be emptied."""
    middle = _middle(work.path)
    forking = multiprocessing.get_context("fork")
    receiving, sending = forking.Pipe(duplex=False)
    with tempfile.TemporaryFile("w+", encoding="utf-8", newline="") as other:
        child = forking.Process(target=_second, args=(work, middle, other, sending), daemon=True)
        child.start()
        sending.close()
        try:
            first = _half(work, (0, middle), kept)
            second = cast("Half", receiving.recv())
        except (InputError, EOFError, OSError):
            return None
        finally:
            receiving.close()
            child.terminate()
            child.join()
        report = _joined(first, second, work.limits)
        other.seek(0)
        while report is not None and (block := other.read(BLOCK)):
            kept.write(block)
        return report


def _middle(path: Path) -> int:
    """Where the first line after the half of the bytes begins."""
    with path.open("rb") as stream:
        stream.seek(path.stat().st_size // 2)
        stream.readline(MAX_LINE + 1)
        return stream.tell()


def _second(work: Work, middle: int, other: IO[str], to: Connection) -> None:
    """In the child. If it says nothing, the file is read from its start."""
    with suppress(BaseException):
        half = _half(work, (middle, work.path.stat().st_size - middle), other)
        other.flush()
        to.send(half)


def _half(work: Work, place: tuple[int, int], kept: IO[str]) -> Half:
    def see(outcome: Outcome) -> None:
        if text := work.case(outcome):
            kept.write(text)

    seen: set[bytes] = set()
    start, size = place
    with work.path.open("rb") as stream:
        stream.seek(start)
        report = check(read_cases(_Until(stream, size)), work.limits, see, seen)
    return Half(report.cohorts, b"".join(seen))


def _joined(first: Half, second: Half, limits: Limits) -> Report | None:
    """None where an id stands in both halves."""
    mine = first.seen
    known = {mine[at : at + DIGEST] for at in range(0, len(mine), DIGEST)}
    theirs = second.seen
    if any(theirs[at : at + DIGEST] in known for at in range(0, len(theirs), DIGEST)):
        return None
    sums = {(one.tenant, one.name): one for one in first.cohorts}
    for one in second.cohorts:
        sums.setdefault((one.tenant, one.name), Cohort(one.tenant, one.name)).join(one)
    count = (len(mine) + len(theirs)) // DIGEST
    return Report(case_count=count, cohorts=tuple(sums[place] for place in sorted(sums)), limits=limits)
