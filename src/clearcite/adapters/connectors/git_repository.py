"""Reading a git repository through the ``git`` executable, which reads objects and runs nothing.

Only plumbing is called, by explicit repository, with the settings of the machine and of the user left out and those
of the repository that could start a program overruled: hooks, file-system monitors, external diffs, transports.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from clearcite.errors import DependencyUnavailable, InputError, MissingExtra, TooLarge

INSTALL_GIT = (
    "apt-get install git (Debian, Ubuntu), brew install git (macOS), winget install Git.Git (Windows)"
)
_SECONDS = 600
_COMMITS = 500
"""Commits whose changes are asked for at once."""

_OVERRULED = (
    *(
        "core.hooksPath=/dev/null",
        "core.fsmonitor=false",
        "core.attributesFile=/dev/null",
        "core.quotePath=false",
    ),
    *("protocol.allow=never", "core.sshCommand=false", "credential.helper=", "diff.external=", "gc.auto=0"),
)
_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_LITERAL_PATHSPECS": "1",
    "LC_ALL": "C",
}


class Step(Struct, frozen=True, kw_only=True):
    """A commit of the chain. ``instant``: when it was committed, as a source record says it."""

    commit: str
    parent: str | None
    instant: str


class Entry(Struct, frozen=True, kw_only=True):
    """A path below the folder that is taken. ``mode`` ``000000``: it is not there any more."""

    path: bytes
    mode: str
    blob: str


class GitRepository(Struct, kw_only=True, dict=True):
    """Bare or not. ``folder``: the part that is taken; paths are relative to it. Use it as a context manager."""

    path: Path
    folder: str = ""
    ref: str = "HEAD"
    _reader: subprocess.Popen[bytes] | None = None

    def __post_init__(self) -> None:
        self.folder = self.folder.strip("/")
        if any(part in (".", "..") for part in self.folder.split("/")):
            raise InputError("The folder of a git source is a path inside the repository.")
        if self.ref.startswith("-") or not self.ref:
            raise InputError("The ref of a git source is a branch, a tag or a commit.")

    def __enter__(self) -> GitRepository:
        return self

    def __exit__(self, *_: object) -> None:
        if self._reader is not None:
            self._reader.kill()
            self._reader.communicate()
            self._reader = None

    def head(self) -> Step:
        """The newest commit. Raises InputError where there is none."""
        found = (self._try("rev-list", "--max-count=1", "--timestamp", self.ref, "--") or b"").split()
        if len(found) != 2:
            raise InputError(f"The repository has no commit that is called {self.ref}.")
        return Step(commit=found[1].decode(), parent=None, instant=_instant(found[0]))

    @cached_property
    def is_shallow(self) -> bool:
        return self._run("rev-parse", "--is-shallow-repository").strip() == b"true"

    def chain(self, after: str | None) -> list[Step] | None:
        """The first parents of the newest commit after another one, oldest first. None when that one is not among
        them: the branch was rewritten."""
        since = () if after is None else (f"^{after}",)
        if after is not None and not self._has(after):
            return None
        listed = self._run(
            *("rev-list", "--first-parent", "--reverse", "--parents", "--timestamp", self.ref, *since, "--")
        )
        steps = [_step(line) for line in listed.splitlines()]
        if after is None:
            return steps
        before_first = steps[0].parent if steps else self.head().commit
        return steps if before_first == after else None

    def changes(self, chain: Sequence[Step]) -> Iterator[tuple[str, list[Entry]]]:
        """What each commit changed against its first parent; commits without changes are left out."""
        for at in range(0, len(chain), _COMMITS):
            asked = (
                f"{step.commit} {step.parent}" if step.parent else step.commit
                for step in chain[at : at + _COMMITS]
            )
            answer = self._run(
                *("diff-tree", "--stdin", "--root", "-r", "-z", "--raw", "--no-renames", "--no-abbrev"),
                *("--no-ext-diff", "--no-textconv", *self._limited()),
                given="".join(f"{line}\n" for line in asked).encode(),
            )
            yield from self._parsed(answer)

    def tree_then(self, commit: str) -> list[Entry] | None:
        """Every file of an earlier commit; None where this clone does not hold it any more."""
        return list(self.tree(commit)) if commit and self._has(commit) else None

    def tree(self, commit: str | None = None) -> Iterator[Entry]:
        """Every file of a commit, by default of the newest."""
        at = commit or self.head().commit
        answer = self._run("ls-tree", "-r", "-z", "--full-tree", at, *self._limited())
        for line in answer.split(b"\0")[:-1]:
            about, _, path = line.partition(b"\t")
            mode, _, blob = about.decode().split(" ")
            yield Entry(path=self._inside(path), mode=mode, blob=blob)

    def content(self, blob: str, max_bytes: int) -> bytes:
        """The bytes of a file. Raises InputError for one that is too large, or that this clone does not hold."""
        process = self._reader = self._reader or self._start("cat-file", "--batch")
        stdin, stdout = _stream(process.stdin), _stream(process.stdout)
        try:
            stdin.write(f"{blob}\n".encode())
            stdin.flush()
            words = stdout.readline().split()
            if len(words) != 3 or words[1] != b"blob":
                raise InputError("this clone of the repository does not hold it")
            size = int(words[2])
            raw = _exactly(stdout, min(size, max_bytes + 1))
            _exactly(stdout, size + 1 - len(raw), keep=False)
        except OSError as error:
            raise DependencyUnavailable("git ended while it was read from.") from error
        if size > max_bytes:
            raise TooLarge(f"is larger than {max_bytes} bytes")
        return raw

    def _parsed(self, answer: bytes) -> Iterator[tuple[str, list[Entry]]]:
        commit, entries = "", list[Entry]()
        parts = iter(answer.split(b"\0")[:-1])
        for part in parts:
            if part.startswith(b":"):
                _, mode, _, blob, _ = part.decode().split(" ")
                entries.append(Entry(path=self._inside(next(parts)), mode=mode, blob=blob))
                continue
            if entries:
                yield commit, entries
            commit, entries = part.decode().split(" ")[0], []
        if entries:
            yield commit, entries

    def _inside(self, path: bytes) -> bytes:
        return path[len(os.fsencode(self.folder)) + 1 :] if self.folder else path

    def _limited(self) -> tuple[str, ...]:
        return ("--", self.folder + "/") if self.folder else ("--",)

    def _has(self, commit: str) -> bool:
        return self._try("cat-file", "-e", f"{commit}^{{commit}}") is not None

    def _run(self, *arguments: str, given: bytes = b"") -> bytes:
        """The output of a command that must succeed."""
        output = self._try(*arguments, given=given)
        if output is None:
            raise InputError("git could not read the repository.")
        return output

    def _try(self, *arguments: str, given: bytes = b"") -> bytes | None:
        """The output of a command, None if it failed."""
        command = self._command(arguments)
        try:
            done = subprocess.run(  # noqa: S603 - plumbing of git, see above
                command, input=given, capture_output=True, env=self._env(), timeout=_SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise DependencyUnavailable(f"git could not be run ({type(error).__name__}).") from error
        return done.stdout if done.returncode == 0 else None

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(  # noqa: S603 - plumbing of git, see above
                self._command(arguments),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=self._env(),
            )
        except OSError as error:
            raise DependencyUnavailable(f"git could not be run ({type(error).__name__}).") from error

    def _command(self, arguments: Sequence[str]) -> list[str]:
        git = _program()
        overruled = [part for setting in _OVERRULED for part in ("-c", setting)]
        return [git, "--no-pager", f"--git-dir={self._git_dir}", *overruled, *arguments]

    @cached_property
    def _git_dir(self) -> Path:
        """Named, so that git looks for no other one above it."""
        inner = self.path / ".git"
        if inner.is_dir():
            return inner.absolute()
        if inner.is_file():  # a work tree beside its repository
            named = (
                inner.read_text(encoding="utf-8", errors="surrogateescape").removeprefix("gitdir:").strip()
            )
            return (self.path / named).absolute()
        if (self.path / "HEAD").is_file() and (self.path / "objects").is_dir():
            return self.path.absolute()
        raise InputError(f"{self.path.name} is not a git repository.")

    def _env(self) -> dict[str, str]:
        kept = {
            name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "TEMP", "TMPDIR") if name in os.environ
        }
        return kept | _ENVIRONMENT


def git_version() -> str:
    """Raises MissingExtra where there is none."""
    try:
        done = subprocess.run([_program(), "--version"], capture_output=True, timeout=60, check=True)  # noqa: S603
    except (OSError, subprocess.SubprocessError) as error:
        raise DependencyUnavailable(f"git could not be run ({type(error).__name__}).") from error
    return done.stdout.decode("ascii", "replace").strip().removeprefix("git version ")


def _program() -> str:
    git = shutil.which("git")
    if git is None:
        raise MissingExtra("The program git", INSTALL_GIT)
    return git


def _step(line: bytes) -> Step:
    seconds, commit, *parents = line.split()
    parent = parents[0].decode() if parents else None
    return Step(commit=commit.decode(), parent=parent, instant=_instant(seconds))


def _instant(seconds: bytes) -> str:
    try:
        moment = datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        moment = datetime.fromtimestamp(0, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _exactly(stream: BinaryIO, size: int, *, keep: bool = True) -> bytes:
    parts: list[bytes] = []
    while size > 0:
        part = stream.read(min(size, 1 << 20))
        if not part:
            raise DependencyUnavailable("git ended while it was read from.")
        size -= len(part)
        if keep:
            parts.append(part)
    return b"".join(parts)


def _stream(stream: object) -> BinaryIO:
    if stream is None:
        raise DependencyUnavailable("git has no streams.")
    return stream  # type: ignore[return-value]
