"""Who works on a store now: each worker holds a lock on a file of its own, which ends with its process.

A process that was killed leaves the file and no lock, so that what it had claimed can be taken over at once; a lock
that is held, also by a process that is stopped or slow, is never contested. Numbers of processes are used again,
locks are not. Without such locks (Windows) nobody is known to be gone, and leases end by time.
"""

from __future__ import annotations

import os
import re
import secrets
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from clearcite.errors import DependencyUnavailable

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

FOLDER = "workers"
_SUFFIX = ".lock"
_TRIES = 5


class Lock:
    """A file that one process holds. Raises DependencyUnavailable where another one does."""

    def __init__(self, file: Path, busy: str) -> None:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._handle = _locked(file, create=True)
        if self._handle is None:
            raise DependencyUnavailable(busy)

    def close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


class Presence:
    """One worker. ``name`` says host and process to an operator; it is never used twice."""

    def __init__(self, store: Path) -> None:
        host = re.sub(r"[^A-Za-z0-9-]", "-", socket.gethostname())[:64]
        for _ in range(_TRIES):  # another process may look at the file before it is locked
            self.name = f"{host}.{os.getpid()}.{secrets.token_hex(8)}"
            with suppress(DependencyUnavailable):
                self._lock = Lock(store / FOLDER / (self.name + _SUFFIX), "")
                return
        raise DependencyUnavailable("The folder of the store gives no lock to a worker.")

    def leave(self) -> None:
        """The file stays until its leases have been reclaimed: some may be left, where the store was full."""
        self._lock.close()


def take_over(store: Path, reclaim: Callable[[Sequence[str]], object]) -> None:
    """Call ``reclaim`` with the workers that have left or were killed, and forget them."""
    if fcntl is None:
        return
    gone: dict[Path, int] = {}
    try:
        for file in sorted((store / FOLDER).glob("*" + _SUFFIX)):
            handle = _locked(file, create=False)
            if handle is not None:
                gone[file] = handle
        if gone:
            reclaim([file.name.removesuffix(_SUFFIX) for file in gone])
            for file in gone:
                file.unlink(missing_ok=True)
    finally:
        for handle in gone.values():
            os.close(handle)


def _locked(file: Path, *, create: bool) -> int | None:
    """A handle with the lock on the file that stands there now; None where another one holds it."""
    while True:
        try:
            handle = os.open(file, os.O_RDWR | (os.O_CREAT if create else 0), 0o600)
        except FileNotFoundError:
            return None
        try:
            if fcntl is not None:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_there(file, handle):
                return handle
        except OSError:
            os.close(handle)
            return None
        os.close(handle)  # somebody removed it between opening and locking


def _is_there(file: Path, handle: int) -> bool:
    try:
        return os.path.samestat(os.stat(file), os.fstat(handle))
    except FileNotFoundError:
        return False
