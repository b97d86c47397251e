"""The standard streams of a command whose exit code is its verdict: nobody has to read them to the end."""

import io
import os
import sys
from typing import TextIO


class Unread(io.TextIOWrapper):
    """UTF-8 whatever the locale. Where nobody reads on (``| head -1``) the rest goes nowhere, and the command still
    comes to its end and to its exit code."""

    def write(self, text: str, /) -> int:
        try:
            return super().write(text)
        except OSError as error:
            self._go_nowhere(error)
            return len(text)

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            self._go_nowhere(error)
            super().flush()

    def _go_nowhere(self, error: OSError) -> None:
        """What the system refuses for another reason, such as a full disk, is raised once."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.fileno())
        os.close(nowhere)
        if not isinstance(error, BrokenPipeError):
            raise error


def take_streams() -> None:
    """Make standard output and error such streams; one that was closed by whoever started us goes nowhere too, and
    an input that was closed is empty."""
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115 - open for as long as the process
    sys.stdout, sys.stderr = _unread(sys.stdout), _unread(sys.stderr)


def _unread(stream: TextIO | None) -> TextIO:
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")
    if not isinstance(stream, io.TextIOWrapper):
        return stream  # what a host put there
    by_line, at_once = stream.line_buffering, stream.write_through
    raw = stream.detach()
    return Unread(raw, "utf-8", "replace", "\n", line_buffering=by_line, write_through=at_once)
