"""Parsing in a child process, so that no document can take this one down.

One child at a time, started when it is first needed, renewed after a number of documents and after any fault.
It runs under limits of memory, processor time and wall-clock time, without this process's environment. A
crash, a signal, a time-out or a malformed answer is an InputError: the document could not be parsed safely.
"""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import BinaryIO

from clearcite.adapters.parsers.frames import decode_answer, read_frame, write_frame
from clearcite.domain.corpus import ParsedDocument
from clearcite.errors import DependencyUnavailable, InputError

_WORKER = "clearcite.adapters.parsers.worker"
_KEPT_ENVIRONMENT = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH", "TMPDIR", "TEMP")

Document = tuple[bytes, str]
"""Content and media type."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ChildLimits:
    """``memory``: bytes of address space. ``cpu_seconds`` and ``wall_seconds``: for one document.
    ``documents``: about how many one child parses before it is renewed."""

    memory: int = 1_500_000_000
    cpu_seconds: int = 20
    wall_seconds: float = 60.0
    documents: int = 2000


DEFAULT_LIMITS = ChildLimits()


class ChildParser:
    """Thread-safe; documents are parsed one after the other."""

    def __init__(self, limits: ChildLimits = DEFAULT_LIMITS) -> None:
        self._limits = limits
        self._lock = threading.RLock()
        self._child: _Child | None = None

    def parse(self, content: bytes, media_type: str) -> ParsedDocument:
        """Raises InputError for a document that cannot be parsed, or not within the limits."""
        with self._lock:
            child = self._ready_child()
            with suppress(OSError):
                child.send(content, media_type)
            return self._receive(child)

    def parse_many(self, documents: Sequence[Document]) -> Iterator[ParsedDocument | InputError]:
        """Results in the order of the documents. The child works ahead while the caller uses a result; other
        threads wait until the results are taken or closed."""
        with self._lock:
            done = 0
            while done < len(documents):
                child = self._ready_child()
                feeder = threading.Thread(target=_feed, args=(child, documents[done:]), daemon=True)
                feeder.start()
                try:
                    while done < len(documents) and self._child is child:
                        done += 1
                        yield self._result(child)
                finally:
                    if done < len(documents):
                        # The caller stopped early or the child is gone: nobody will read what it still says.
                        self._drop()
                    feeder.join()

    def close(self) -> None:
        with self._lock:
            self._drop()

    def __enter__(self) -> "ChildParser":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _result(self, child: "_Child") -> ParsedDocument | InputError:
        try:
            return self._receive(child)
        except InputError as error:
            return error

    def _receive(self, child: "_Child") -> ParsedDocument:
        answer = child.receive(self._limits.wall_seconds)
        if answer is None:
            self._drop()
            raise InputError("the document could not be parsed safely")
        is_last, body = answer
        if is_last:
            self._drop()
        return decode_answer(body)

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
        self.watchdog = _Watchdog(self.process)

    def send(self, content: bytes, media_type: str) -> None:
        stdin = _stream(self.process.stdin)
        write_frame(stdin, media_type.encode("utf-8"))
        write_frame(stdin, content)
        stdin.flush()

    def receive(self, seconds: float) -> tuple[bool, bytes] | None:
        """Whether it was this child's last answer, and the answer; None when it died or was too slow."""
        self.served += 1
        self.watchdog.deadline = time.monotonic() + seconds
        try:
            frame = read_frame(_stream(self.process.stdout))
        except (OSError, InputError, ValueError):
            return None
        finally:
            self.watchdog.deadline = None
        return (frame[:1] != b"+", frame[1:]) if frame else None

    def stop(self) -> None:
        """End the process: kindly if it is idle, by force if it is not."""
        with suppress(OSError, ValueError):
            if self.process.poll() is None:
                self.process.kill()
        self.process.wait()
        self.watchdog.stop()
        for stream in (self.process.stdin, self.process.stdout):
            with suppress(OSError, ValueError):
                if stream is not None:
                    stream.close()


class _Watchdog(threading.Thread):
    """Kills the process when an answer is overdue. One thread for the life of a child, none a document."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        super().__init__(daemon=True)
        self.deadline: float | None = None
        self._process = process
        self._stopped = threading.Event()
        self.start()

    def run(self) -> None:
        while not self._stopped.wait(0.1):
            deadline = self.deadline
            if deadline is not None and time.monotonic() > deadline:
                with suppress(OSError):
                    self._process.kill()

    def stop(self) -> None:
        self._stopped.set()
        self.join()


def _feed(child: _Child, documents: Sequence[Document]) -> None:
    """Write requests until the child takes no more of them."""
    with suppress(OSError, ValueError):
        for content, media_type in documents:
            child.send(content, media_type)


def _stream(stream: object) -> BinaryIO:
    if stream is None:
        raise DependencyUnavailable("The parser process has no streams.")
    return stream  # type: ignore[return-value]


def _environment() -> dict[str, str]:
    """The same modules as here, and nothing else of this process: keys and tokens stay out of the child."""
    kept = {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ}
    return kept | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
