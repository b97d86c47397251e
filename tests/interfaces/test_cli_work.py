"""Workers: several at once, killed, stopped, and never in the way of a question."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw

from clearcite.config import load_settings
from clearcite.wiring import Taking, open_ledger, open_workshop, take_one
from tests.interfaces.test_cli_ingest import state, text, wait_for
from tests.support.dice import new_seed
from tests.support.shell import clearcite, everything, write

TOML = '[[sources]]\npath = "docs"\nallowed_groups = ["staff"]\n'


def taken(folder: Path, count: int) -> Path:
    """Documents in the ledger, none of them indexed yet."""
    write(folder, {"clearcite.toml": TOML, **{f"docs/{n:04}.md": text(n) for n in range(count)}})
    settings = load_settings(folder)
    with closing(open_workshop(settings)) as shop:
        for source in settings.sources:
            for _ in take_one(shop, settings, source, Taking()):
                pass
    return folder


def worker(folder: Path, *args: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "clearcite", "work", *args],
        cwd=folder,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def outbox(folder: Path) -> Any:
    return clearcite(folder, "status").json["outbox"]


def ended(child: subprocess.Popen[bytes], how: signal.Signals) -> str:
    os.killpg(child.pid, how)
    return child.communicate(timeout=60)[1].decode()


def test_one_pass_indexes_what_waits(empty: Path) -> None:
    taken(empty, 30)
    assert everything(empty) == []
    done = clearcite(empty, "work")
    assert (done.code, "30 chunks indexed" in done.err) == (0, True)
    assert (len(everything(empty)), outbox(empty)) == (30, [])
    assert clearcite(empty, "work").code == 0


def test_what_was_given_up_is_tried_again_when_an_operator_says_so(empty: Path) -> None:
    taken(empty, 3)
    with closing(open_ledger(load_settings(empty))) as ledger, ledger.snapshot() as snapshot:
        for job in ledger.claim(snapshot.generation, 2, "w"):
            ledger.fail(job, "no memory", final=True)
    first = clearcite(empty, "work")
    assert (first.code, first.err.count("no memory"), len(everything(empty))) == (2, 2, 1)
    assert clearcite(empty, "work", "--retry").code == 0
    assert (len(everything(empty)), outbox(empty)) == (3, [])


def test_without_a_store_a_worker_says_how_to_make_one(empty: Path) -> None:
    done = clearcite(empty, "work")
    assert (done.code, "clearcite ingest" in done.err) == (2, True)
    assert not (empty / ".clearcite").exists()


def test_two_workers_of_which_one_is_killed_again_and_again_end_in_the_state_of_one_run(empty: Path) -> None:
    seed = new_seed()
    dice = random.Random(seed)
    once = write(
        empty / "once", {"clearcite.toml": TOML, **{f"docs/{n:04}.md": text(n) for n in range(1_200)}}
    )
    assert clearcite(once, "ingest").code == 0
    twice = taken(empty / "twice", 1_200)
    steady = worker(twice, "--watch")
    kills = 0
    while outbox(twice):
        victim = worker(twice, "--watch")
        time.sleep(dice.uniform(0.4, 2.0))
        kills += victim.poll() is None
        ended(victim, signal.SIGKILL)
        assert kills < 100
    said = ended(steady, signal.SIGTERM)
    assert (steady.returncode, "Traceback" in said, kills > 0) == (0, False, True), said
    assert clearcite(twice, "work").code == 0
    assert state(twice) == state(once), f"seed {seed}"
    assert clearcite(twice, "reconcile").code == 0


def test_a_watching_worker_takes_new_work_and_gives_back_what_it_has_when_it_is_stopped(empty: Path) -> None:
    taken(empty, 5)
    child = worker(empty, "--watch")
    wait_for(lambda: len(everything(empty)) == 5)
    clearcite(empty, "delete", "0001.md", "--tenant", "default")
    wait_for(lambda: outbox(empty) == [])
    said = ended(child, signal.SIGTERM)
    assert (child.returncode, "stopped" in said) == (0, True)
    taken(empty, 1_500)
    child = worker(empty, "--watch")
    wait_for(lambda: any(row["leased"] for row in outbox(empty)) or not outbox(empty))
    ended(child, signal.SIGTERM)
    assert child.returncode == 0
    assert [row for row in outbox(empty) if row["leased"] or row["retrying"]] == []


def test_a_question_waits_for_no_worker(empty: Path) -> None:
    taken(empty, 5)
    clearcite(empty, "work")
    held = apsw.Connection(str(empty / ".clearcite" / "ledger.db"))
    held.execute("BEGIN IMMEDIATE; UPDATE counters SET position = position + 1")
    started = time.monotonic()
    asked = ("What does sheet 3 cost a day?", "--tenant", "default", "--group", "staff")
    done = clearcite(empty, "ask", *asked)
    assert (done.code, done.json["status"]) == (0, "answered")
    assert time.monotonic() - started < 5, "the time that a writer would wait for the lock"
    assert clearcite(empty, "work").code == 3, "the control: a writer does wait, and gives up"
    held.execute("ROLLBACK")
    held.close()


def test_a_watching_worker_does_what_the_rule_of_retention_says_once_a_day(empty: Path) -> None:
    taken(empty, 3)
    write(empty, {"clearcite.toml": TOML + "[retention]\ndeleted_days = 1\n"})
    children = [worker(empty, "--watch") for _ in range(2)]
    wait_for(lambda: bool((clearcite(empty, "status").json["retention"] or {}).get("complete")))
    wait_for(lambda: len(everything(empty)) == 3)
    time.sleep(1)
    said = [ended(child, signal.SIGTERM) for child in children]
    assert sum("retention: purge 1, complete" in text for text in said) == 1, said
    assert clearcite(empty, "status").json["purges"] == {"count": 1, "unfinished": 0}
    assert len(everything(empty)) == 3
