"""A child process that answers requests one after the other, under limits, while its caller goes on working.

A child is started when it is first needed, and renewed after a number of requests and after any fault. It runs
under limits of memory, processor time and wall-clock time, without this process's environment. A crash, a
signal, a time-out, a fault of the worker or a malformed answer is ReadingFailed: the document could not be read
safely.
"""

import os
import queue
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import BinaryIO

from msgspec import Struct, field

from clearcite.adapters.parsers.frames import frame, read_frame
from clearcite.adapters.parsers.limits import widen_pipe
from clearcite.errors import DependencyUnavailable, InputError, ReadingFailed

Request = tuple[bytes, bytes]
"""What is asked about the content, and the content."""

AHEAD = 750
AHEAD_BYTES = 3_750_000
"""Requests, and bytes of them, that may be on their way before the first of them is answered. Not whole batches (see
``ingest.pipeline``): the next would be taken right after one is published, and the child would find its pipe full."""

BURST = 50
BURST_BYTES = 200_000
"""How far that falls before more are sent: for each one by itself, the thread that writes would have to be woken."""

_PIPE_BYTES = 1 << 20
_KEPT_ENVIRONMENT = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH", "TMPDIR", "TEMP")


class ChildLimits(Struct, frozen=True, kw_only=True):
    """``memory``: bytes of address space. ``cpu_seconds`` and ``wall_seconds``: for one document.
    ``documents``: how many one child reads before it is renewed: a new one has to learn all words again."""

    memory: int = 1_500_000_000
    cpu_seconds: int = 20
    wall_seconds: float = 60.0
    documents: int = 50_000


DEFAULT_LIMITS = ChildLimits()


class ChildProcess:
    """Thread-safe; requests are answered one after the other.

    ``worker``: the module that runs, with ``settings`` as its last arguments; see ``worker.run``.
    """

    def __init__(
        self, worker: str, limits: ChildLimits = DEFAULT_LIMITS, settings: Sequence[str] = ()
    ) -> None:
        self._command = (worker, str(limits.memory), str(limits.cpu_seconds), *settings)
        self._limits = limits
        self._lock = threading.RLock()
        self._child: _Child | None = None

    @property
    def pid(self) -> int | None:
        """Of the child that takes requests now."""
        return None if self._child is None else self._child.process.pid

    def start(self) -> None:
        """Start the child before anything is asked, where much will be: loading its modules takes a while."""
        with self._lock:
            if self._child is None:
                self._child = _Child(self._command)

    def answers(self, requests: Iterable[Request | None]) -> Iterator[bytes | InputError | None]:
        """Answers in the order of the requests; None asks nothing and gets None.

        Requests are taken ahead of their answers, so that the child works while the caller does. Other threads
        wait until the answers are taken or closed.
        """
        with self._lock:
            ahead = _Ahead(source=iter(requests))
            try:
                while True:
                    for request in ahead.take():
                        ahead.waiting.append(_Waiting(request=request, child=self._send(request)))
                    if not ahead.waiting:
                        return
                    yield self._answer(ahead)
            finally:
                if ahead.waiting:  # the caller stopped early: nobody will read what the child still says
                    self._drop(ahead)

    def close(self) -> None:
        with self._lock:
            self._drop(_Ahead(source=iter(())))

    def _send(self, request: Request | None) -> "_Child | None":
        if request is None:
            return None
        child = self._child
        if child is None or child.sent >= self._limits.documents or child.has_ended:
            if child is not None and child.is_idle:
                child.stop()
            child = self._child = _Child(self._command)
        child.send(request)
        return child

    def _answer(self, ahead: "_Ahead") -> bytes | InputError | None:
        """The answer to the first request. What a failing child was sent besides is sent again."""
        child = ahead.waiting[0].child
        if child is None:
            ahead.done()
            return None
        answer = child.receive(self._limits.wall_seconds)
        if answer is None or answer[0]:
            self._drop(ahead)
            ahead.done()
            for waiting in ahead.waiting:
                waiting.child = self._send(waiting.request)
            return ReadingFailed("the document could not be parsed safely")
        ahead.done()
        if child is not self._child and child.is_idle:
            child.stop()
        return answer[1]

    def _drop(self, ahead: "_Ahead") -> None:
        children = {waiting.child for waiting in ahead.waiting} | {self._child}
        self._child = None
        for child in children:
            if child is not None:
                child.stop()


class _Waiting(Struct, kw_only=True):
    request: Request | None
    child: "_Child | None"


class _Ahead(Struct, kw_only=True):
    """What has been taken from the requests and is not answered; ``size`` in bytes of content."""

    source: Iterator[Request | None]
    waiting: deque[_Waiting] = field(default_factory=deque)
    size: int = 0

    def take(self) -> Iterator[Request | None]:
        """More requests while there is room; each is to be put into ``waiting``."""
        if len(self.waiting) > AHEAD - BURST or (self.waiting and self.size > AHEAD_BYTES - BURST_BYTES):
            return
        while len(self.waiting) < AHEAD and (self.size < AHEAD_BYTES or not self.waiting):
            try:
                request = next(self.source)
            except StopIteration:
                return
            self.size += _size(request)
            yield request

    def done(self) -> None:
        self.size -= _size(self.waiting.popleft().request)


def _size(request: Request | None) -> int:
    return 0 if request is None else len(request[1])


class _Child:
    """One process. A thread writes to it, so that neither waits for the other; a second one watches the time."""

    def __init__(self, command: Sequence[str]) -> None:
        try:
            self.process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                [sys.executable, "-B", "-P", "-X", "utf8", "-m", *command],
                bufsize=_PIPE_BYTES,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=_environment(),
                close_fds=True,
            )
        except OSError as error:
            raise DependencyUnavailable("The parser process cannot be started.") from error
        widen_pipe(_stream(self.process.stdout), _PIPE_BYTES)
        self.sent = self.received = 0
        self._requests: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._feeder = threading.Thread(target=self._feed, daemon=True)
        self._feeder.start()
        self._watchdog = _Watchdog(self.process)

    @property
    def is_idle(self) -> bool:
        return self.sent == self.received

    @property
    def has_ended(self) -> bool:
        """Whether it went while nothing was asked of it; else its answers show it."""
        return self.is_idle and self.process.poll() is not None

    def send(self, request: Request) -> None:
        self.sent += 1
        self._requests.put(frame(request[0]) + frame(request[1]))

    def receive(self, seconds: float) -> tuple[bool, bytes] | None:
        """Whether it was this child's last answer, and the answer; None when it died or was too slow."""
        self.received += 1
        self._watchdog.deadline = time.monotonic() + seconds
        try:
            answer = read_frame(_stream(self.process.stdout))
        except (OSError, InputError, ValueError):
            return None
        finally:
            self._watchdog.deadline = None
        return (answer[:1] != b"+", answer[1:]) if answer else None

    def stop(self) -> None:
        """End the process, whatever it does."""
        with suppress(OSError, ValueError):
            if self.process.poll() is None:
                self.process.kill()
        self.process.wait()
        self._watchdog.stop()
        self._requests.put(None)
        self._feeder.join()
        for stream in (self.process.stdin, self.process.stdout):
            with suppress(OSError, ValueError):
                if stream is not None:
                    stream.close()

    def _feed(self) -> None:
        """Write requests, as many at once as there are, until the child takes no more of them."""
        stdin = _stream(self.process.stdin)
        with suppress(OSError, ValueError):
            while (request := self._requests.get()) is not None:
                stdin.write(request)
                if self._requests.empty():
                    stdin.flush()


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


def _stream(stream: object) -> BinaryIO:
    if stream is None:
        raise DependencyUnavailable("The parser process has no streams.")
    return stream  # type: ignore[return-value]


def _environment() -> dict[str, str]:
    """The same modules as here, and nothing else of this process: keys and tokens stay out of the child."""
    kept = {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ}
    return kept | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
