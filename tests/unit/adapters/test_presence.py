"""Who is there and who is gone, told by locks that end with their processes."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from clearcite.adapters.presence import FOLDER, Lock, Presence, take_over
from clearcite.errors import DependencyUnavailable

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="locks that end with a process are POSIX only"
)

WORKER = """
import sys, pathlib
from clearcite.adapters.presence import Presence
print(Presence(pathlib.Path(sys.argv[1])).name, flush=True)
sys.stdin.read()
"""


def gone(store: Path) -> list[str]:
    found: list[str] = []

    def note(owners: Sequence[str]) -> None:
        found.extend(owners)

    take_over(store, note)
    return found


def test_a_worker_is_gone_when_it_was_killed_and_not_while_it_is_stopped(tmp_path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", WORKER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with child:
        name = child.stdout.readline().strip() if child.stdout else ""
        assert gone(tmp_path) == []
        os.kill(child.pid, signal.SIGSTOP)
        assert gone(tmp_path) == []
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
    assert gone(tmp_path) == [name]
    assert gone(tmp_path) == [], "it is forgotten"


def test_workers_of_one_process_are_told_apart_and_leave_one_by_one(tmp_path: Path) -> None:
    one, two = Presence(tmp_path), Presence(tmp_path)
    assert one.name != two.name
    one.leave()
    assert gone(tmp_path) == [one.name]
    two.leave()
    assert gone(tmp_path) == [two.name]
    assert list((tmp_path / FOLDER).iterdir()) == []


def test_a_worker_is_remembered_until_its_leases_could_be_ended(tmp_path: Path) -> None:
    worker = Presence(tmp_path)
    worker.leave()

    def full(_: Sequence[str]) -> None:
        raise DependencyUnavailable("The store failed: FullError.")

    with pytest.raises(DependencyUnavailable):
        take_over(tmp_path, full)
    assert gone(tmp_path) == [worker.name]


def test_a_lock_is_held_once(tmp_path: Path) -> None:
    lock = Lock(tmp_path / "x.lock", "busy")
    with pytest.raises(DependencyUnavailable, match="busy"):
        Lock(tmp_path / "x.lock", "busy")
    lock.close()
    Lock(tmp_path / "x.lock", "busy").close()
