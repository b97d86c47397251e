"""Files that are either there and whole, or not there: temporary name, sync, rename, sync of the directory.

A file that nothing names yet is *held*: locked by the process that wrote it, so that another process does not
sweep it away. The lock ends with the process, however it ends. Locks are POSIX-only: elsewhere an index can be
read, and not written.
"""

import contextlib
import os
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from clearcite.errors import ConfigError, DependencyUnavailable

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

TEMPORARY = ".tmp"


class Held:
    """The files of this process that nothing names yet, each kept open under a lock. Thread-safe."""

    def __init__(self) -> None:
        self._descriptors: dict[str, int] = {}

    def keep(self, name: str, descriptor: int) -> None:
        """Take over a locked descriptor."""
        self.release((name,))
        self._descriptors[name] = descriptor

    def release(self, names: Iterable[str]) -> None:
        for name in names:
            descriptor = self._descriptors.pop(name, None)
            if descriptor is not None:
                os.close(descriptor)

    def release_others(self, name: str) -> None:
        self.release([other for other in tuple(self._descriptors) if other != name])

    def close(self) -> None:
        self.release(tuple(self._descriptors))

    def __del__(self) -> None:
        self.close()


@contextlib.contextmanager
def durable_file(path: Path, size: int, held: Held) -> Iterator[int]:
    """A descriptor of a new file of ``size`` zero bytes; it stands under ``path``, durable and held, at
    the end.

    Raises DependencyUnavailable when it cannot be written; then nothing is left behind.
    """
    if fcntl is None:
        raise ConfigError("Documents can be taken in on a POSIX system only; asking works everywhere.")
    temporary = path.with_name(f"{secrets.token_hex(16)}{TEMPORARY}")
    try:
        descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise DependencyUnavailable("The index cannot be written.") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        os.ftruncate(descriptor, size)
        yield descriptor
        os.fsync(descriptor)
        os.rename(temporary, path)
        sync_directory(path.parent)
    except BaseException as error:
        os.close(descriptor)
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError):
            raise DependencyUnavailable("The index cannot be written.") from error
        raise
    held.keep(path.name, descriptor)


def write_all(descriptor: int, data: bytes | memoryview, at: int) -> None:
    """``pwrite`` until everything is written."""
    rest = memoryview(data)
    while rest:
        done = os.pwrite(descriptor, rest, at)
        at, rest = at + done, rest[done:]


def remove(path: Path) -> None:
    """Take a name away; another process may have done so. It is durable with the next sync of the directory."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def is_held(path: Path) -> bool:
    """Whether a living process holds the file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False
