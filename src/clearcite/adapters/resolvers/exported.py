"""A policy that another system exports as JSON: to a file, or as the output of a command.

It must say ``"complete": true``: an export that was cut off, or that lists one page of many, would take people out of
groups that deny. What fails is an error; the last good policy stays in force, see ``wiring.policies``.
"""

import os
import signal
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from clearcite.adapters.resolvers.policy_file import read_bounded
from clearcite.domain.policy import Policy
from clearcite.errors import ConfigError, DependencyUnavailable, InputError, TooLarge
from clearcite.wire.policies import MAX_POLICY_BYTES, read_policy
from clearcite.wire.strict import loads


class ExportedFile(Struct, frozen=True, kw_only=True):
    """Implements ``GroupSource``. The file should be replaced in one step, by renaming."""

    path: Path

    @property
    def origin(self) -> str:
        return self.path.name

    def read(self) -> Policy:
        try:
            raw = read_bounded(self.path)
        except OSError as error:
            raise DependencyUnavailable(
                f"The exported policy cannot be read: {type(error).__name__}."
            ) from error
        return parsed(raw)


class ExportCommand(Struct, frozen=True, kw_only=True):
    """Implements ``GroupSource``: runs a program, without a shell, and reads its standard output.

    ``seconds``: after which it is stopped with everything it started.
    """

    words: Sequence[str]
    folder: Path
    seconds: float = 60.0

    @property
    def origin(self) -> str:
        return Path(self.words[0]).name

    def read(self) -> Policy:
        return parsed(self._output())

    def _output(self) -> bytes:
        late = threading.Event()
        try:
            child = subprocess.Popen(  # noqa: S603 - the operator's own configuration names the program
                list(self.words),
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise ConfigError(
                f"The command of the policy cannot be started: {type(error).__name__}."
            ) from error

        def stop_late() -> None:
            late.set()
            _stop(child)

        timer = threading.Timer(self.seconds, stop_late)
        timer.start()
        try:
            raw = b"" if child.stdout is None else child.stdout.read(MAX_POLICY_BYTES + 1)
            if len(raw) > MAX_POLICY_BYTES:
                raise TooLarge(f"The policy is larger than {MAX_POLICY_BYTES} bytes.")
            code = child.wait()
        finally:
            timer.cancel()
            _stop(child)
            if child.stdout is not None:
                child.stdout.close()
            child.wait()
        if late.is_set():
            raise DependencyUnavailable(
                f"The command of the policy took longer than {self.seconds:g} seconds."
            )
        if code != 0:
            raise DependencyUnavailable(f"The command of the policy ended with {code}.")
        return raw


def parsed(raw: bytes) -> Policy:
    """Raises ConfigError for what is no policy, DependencyUnavailable for a part of one."""
    try:
        value = loads(raw, max_bytes=MAX_POLICY_BYTES)
    except InputError as error:
        raise DependencyUnavailable(f"The exported policy is not whole JSON: {error.message}.") from error
    return read_policy(value, exported=True)


def _stop(child: "subprocess.Popen[bytes]") -> None:
    """The program and what it started: one of those could hold the pipe open for ever."""
    if child.poll() is None or child.stdout is not None:
        with suppress(OSError):
            os.killpg(child.pid, signal.SIGKILL)
