"""Limits of the parser process that only POSIX systems have. Elsewhere these functions do nothing, and the
wall-clock limit of the parent is the only one."""

import time
from contextlib import suppress
from functools import lru_cache
from typing import Any, BinaryIO

resource: Any
fcntl: Any
try:
    import fcntl
    import resource
except ImportError:  # Windows
    resource = fcntl = None

OPEN_FILES = 64


def limit_process(memory: int) -> None:
    """Bound address space in bytes; forbid core dumps and writing files. Nothing is done where the system
    does not know a limit (macOS has no address-space limit)."""
    if resource is None:
        return
    for name, value in (
        ("RLIMIT_CORE", 0),
        ("RLIMIT_FSIZE", 0),
        ("RLIMIT_NOFILE", OPEN_FILES),
        ("RLIMIT_AS", memory),
    ):
        _lower(name, value)


def limit_cpu(seconds: int) -> None:
    """From now on, about ``seconds`` of processor time; then the system ends the process."""
    if resource is None:
        return
    _end_at(int(time.process_time()) + 1 + seconds)


@lru_cache(maxsize=1)
def _end_at(second: int) -> None:
    """Asked for once in a second of processor time, whatever the number of documents that is read in it."""
    _lower("RLIMIT_CPU", second)


def widen_pipe(stream: BinaryIO, size: int) -> None:
    """Let a pipe hold more, where the system can (Linux): the child goes on while its parent is busy."""
    command = getattr(fcntl, "F_SETPIPE_SZ", None)
    if command is not None:
        with suppress(OSError):
            fcntl.fcntl(stream.fileno(), command, size)


def _lower(name: str, value: int) -> None:
    kind = getattr(resource, name, None)
    if kind is None:
        return
    hard = resource.getrlimit(kind)[1]
    soft = value if hard == resource.RLIM_INFINITY else min(value, hard)
    try:
        resource.setrlimit(kind, (soft, hard))
    except (OSError, ValueError):  # the system knows the name only
        return
