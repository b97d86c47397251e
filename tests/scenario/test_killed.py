"""Processes killed at any moment of ingesting, building, purging and merging: what comes after is whole.

A random command is started and killed after a random time, again and again, while the documents change. Then each
command runs to its end, and the store must be what an undisturbed one would be. Without `CLEARCITE_SOAK` it is short.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from tests.support.shell import clearcite, write

COMMANDS = {
    "ingest": ("ingest", "docs", "--group", "staff", "--approve-deletes"),
    "build": ("index", "build", "--chunk-words", "90"),
    "purge": ("purge", "--deleted", "--revisions-older-than", "0"),
    "merge": ("sweep",),
}
DOCUMENTS = 40
GONE = 20
"""Every document from this number on is deleted in the end."""


def words(number: int, version: int) -> str:
    """Of one state of one document: 20 characters that stand nowhere else."""
    return f"Qz{number:04}x{version:04}z{(number * 7919 + version * 104729) % 10**8:08}"


def put(folder: Path, number: int, version: int) -> None:
    lines = "".join(f"The boat {i} carries {words(number, version)} of {i} tons.\n\n" for i in range(20))
    write(folder, {f"docs/d{number:02}.md": f"# Boat {number}\n\n{lines}"})


def change(folder: Path, versions: dict[int, int], random_: random.Random) -> None:
    for number in random_.sample(range(DOCUMENTS), 12):
        if number >= GONE and random_.random() < 0.5:
            (folder / "docs" / f"d{number:02}.md").unlink(missing_ok=True)
        else:
            versions[number] += 1
            put(folder, number, versions[number])


def start_and_kill(
    folder: Path, args: tuple[str, ...], seconds: float, is_time: Callable[[], bool] = lambda: False
) -> bool:
    """Whether it was killed before it had ended: after so many seconds, or as soon as it is time. What it has started
    itself ends with it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "clearcite", *args],
        cwd=folder,
        env={**os.environ, "CLEARCITE_SEMANTIC": "off"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    until = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < until and not is_time():
        time.sleep(0.005)
    killed = process.poll() is None
    if killed:
        os.kill(process.pid, signal.SIGKILL)
    process.wait()
    return killed


def disturb(folder: Path, seed: int, times: int) -> tuple[dict[int, int], Counter[str]]:
    """The newest version of each document, and how often each command was killed."""
    random_ = random.Random(seed)
    versions = dict.fromkeys(range(DOCUMENTS), 0)
    for number in versions:
        put(folder, number, 0)
    killed: Counter[str] = Counter()
    names = ["ingest", *COMMANDS]
    for turn in range(times):
        name = "ingest" if turn == 0 else names[turn % len(names)]
        change(folder, versions, random_)
        killed[name] += start_and_kill(folder, COMMANDS[name], random_.uniform(0.15, 1.0))
    for number in range(GONE, DOCUMENTS):
        (folder / "docs" / f"d{number:02}.md").unlink(missing_ok=True)
    return versions, killed


def finish(folder: Path) -> None:
    """Each command to its end; a worker that was killed has leases that the next one takes over."""
    for name in ("ingest", "build", "ingest", "purge", "merge"):
        done = clearcite(folder, *COMMANDS[name])
        assert done.code == 0, (name, done.err, done.out)


def raw(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in (folder / ".clearcite").rglob("*") if path.is_file())


@pytest.fixture(autouse=True)
def _words_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEARCITE_SEMANTIC", "off")


def check(folder: Path, versions: dict[int, int]) -> None:
    for command in (("reconcile",), ("integrity",), ("audit", "verify")):
        done = clearcite(folder, *command)
        assert done.code == 0, (command, done.out)
    listed = clearcite(folder, "list", "--tenant", "default", "--group", "staff").lines
    assert [item["document_id"] for item in listed] == [f"d{number:02}.md" for number in range(GONE)]
    left = raw(folder)
    for number, newest in versions.items():
        for version in range(newest + 1):
            kept = number < GONE and version == newest
            assert (words(number, version).encode() in left) is kept, (number, version)


def run(folder: Path, seed: int, times: int) -> Counter[str]:
    versions, killed = disturb(folder, seed, times)
    finish(folder)
    check(folder, versions)
    return killed


def test_commands_that_are_killed_leave_a_store_that_goes_on_to_the_right_end(tmp_path: Path) -> None:
    killed = run(tmp_path, seed=7, times=8)
    assert killed.total() >= 2, killed


@pytest.mark.soak
@pytest.mark.skipif("CLEARCITE_SOAK" not in os.environ, reason="long: set CLEARCITE_SOAK to run it")
@pytest.mark.parametrize("seed", range(4))
def test_commands_that_are_killed_often(tmp_path: Path, seed: int) -> None:
    killed = run(tmp_path, seed=100 + seed, times=60)
    assert set(killed) == set(COMMANDS) and killed.total() >= 30, (seed, killed)


def test_control_a_store_whose_purge_was_killed_and_not_run_again_may_keep_what_was_to_go(
    tmp_path: Path,
) -> None:
    """What ``finish`` does is needed: without the last purge the words are there. A reader keeps the log from being
    emptied, so that they are there at whatever moment after the first write it is killed."""
    for number in (1, 30):
        put(tmp_path, number, 0)
    assert clearcite(tmp_path, *COMMANDS["ingest"]).code == 0
    (tmp_path / "docs" / "d30.md").unlink()
    assert clearcite(tmp_path, *COMMANDS["ingest"]).code == 0
    ledger = str(tmp_path / ".clearcite" / "ledger.db")
    with closing(apsw.Connection(ledger)) as reader, closing(apsw.Connection(ledger)) as looker:
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM purges").get == 0

        def has_erased() -> bool:
            """The purge is in the ledger, and so is that a revision was erased."""
            return bool(looker.execute("SELECT count(*) FROM journal WHERE kind = 'purge'").get)

        assert start_and_kill(tmp_path, COMMANDS["purge"], 60, has_erased) and has_erased()
        assert looker.execute("SELECT count(*) FROM purges WHERE finished_at IS NULL").get == 1
        assert words(30, 0).encode() in raw(tmp_path)
    done: Any = clearcite(tmp_path, *COMMANDS["purge"])
    assert done.code == 0 and words(30, 0).encode() not in raw(tmp_path)
