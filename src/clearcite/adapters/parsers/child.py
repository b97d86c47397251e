"""Parsing in a child process, so that no document can take this one down.

One child at a time, started when it is first needed, renewed after a number of documents and after any fault.
It runs under limits of memory, processor time and wall-clock time, without this process's environment. A
crash, a signal, a time-out or a malformed answer is an InputError: the document could not be parsed safely.
"""

import os
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import BinaryIO

from clearcite.adapters.parsers.frames import decode_answer, read_frame, write_frame
from clearcite.domain.corpus import ParsedDocument
from clearcite.errors import DependencyUnavailable, InputError

_WORKER = "clearcite.adapters.parsers.worker"
_KEPT_ENVIRONMENT = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH", "TMPDIR", "TEMP")


@dataclass(frozen=True, kw_only=True, slots=True)
class ChildLimits:
    """``memory``: bytes of address space. ``cpu_seconds`` and ``wall_seconds``: for one document.
    ``documents``: how many one child parses before it is renewed."""

    memory: int = 1_500_000_000
    cpu_seconds: int = 20
    wall_seconds: float = 60.0
    documents: int = 2000


DEFAULT_LIMITS = ChildLimits()


class ChildParser:
    """Thread-safe; documents are parsed one after the other."""

    def __init__(self, limits: ChildLimits = DEFAULT_LIMITS) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._child: _Child | None = None

    def parse(self, content: bytes, media_type: str) -> ParsedDocument:
        """Raises InputError for a document that cannot be parsed, or not within the limits."""
        with self._lock:
            child = self._ready_child()
            answer = child.ask(content, media_type, self._limits.wall_seconds)
            if answer is None:
                self._drop()
                raise InputError("the document could not be parsed safely")
            try:
                return decode_answer(answer)
            except InputError:
                if child.process.poll() is not None:
                    self._drop()
                raise

    def close(self) -> None:
        with self._lock:
            self._drop()

    def __enter__(self) -> "ChildParser":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ready_child(self) -> "_Child":
        child = self._child
        if child is not None and (child.served >= self._limits.documents or child.process.poll() is not None):
            self._drop()
        if self._child is None:
            self._child = _Child(self._limits)
        return self._child

    def _drop(self) -> None:
        if self._child is not None:
            self._child.stop()
            self._child = None


class _Child:
    def __init__(self, limits: ChildLimits) -> None:
        arguments = [sys.executable, "-B", "-P", "-X", "utf8", "-m", _WORKER]
        try:
            self.process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                [*arguments, str(limits.memory), str(limits.cpu_seconds)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=_environment(),
                close_fds=True,
            )
        except OSError as error:
            raise DependencyUnavailable("The parser process cannot be started.") from error
        self.served = 0

    def ask(self, content: bytes, media_type: str, seconds: float) -> bytes | None:
        """The answer frame, or None when the child died, was too slow, or answered nonsense."""
        self.served += 1
        stdin, stdout = self._streams()
        watchdog = threading.Timer(seconds, self.process.kill)
        watchdog.daemon = True
        watchdog.start()
        try:
            write_frame(stdin, media_type.encode("utf-8"))
            write_frame(stdin, content)
            stdin.flush()
            return read_frame(stdout)
        except (OSError, InputError):
            return None
        finally:
            watchdog.cancel()

    def stop(self) -> None:
        stdin, stdout = self._streams()
        with suppress(OSError):
            stdin.close()
        try:
            self.process.wait(timeout=0.2 if self.process.poll() is None else 0)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        stdout.close()

    def _streams(self) -> tuple[BinaryIO, BinaryIO]:
        stdin, stdout = self.process.stdin, self.process.stdout
        if stdin is None or stdout is None:
            raise DependencyUnavailable("The parser process has no streams.")
        return stdin, stdout  # type: ignore[return-value]


def _environment() -> dict[str, str]:
    """The same modules as here, and nothing else of this process: keys and tokens stay out of the child."""
    kept = {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ}
    return kept | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
