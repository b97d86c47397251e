"""``evaluate`` on a store of one's own: hidden documents move no byte, and an engine that lets them is caught."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from clearcite.bench.apart import MANY, looked_at_apart
from clearcite.bench.suite import Asked, Oracle, Suite, SuiteCase
from clearcite.config import Settings
from clearcite.domain.answer import PublicAnswer
from clearcite.engine import Engine
from clearcite.errors import ClearciteError
from clearcite.visibility import Columns
from tests.support.shell import Done, clearcite, process
from tests.support.world import fast_folder, principal

SUITE = """
[[cases]]
id = "leave"
critical = true
ask = {text = "How many days of leave does every employee have?", tenant = "default", groups = ["staff"]}
expect = {status = "answered", cites = ["leave.md"], says = ["25 days"], never_shown = ["99 days"]}

[[cases]]
id = "salary"
ask = {text = "What does the director earn a year?", tenant = "default", groups = ["staff"]}
expect = {status = "insufficient_evidence", forbidden = ["salary.md"], never_shown = ["180,000"]}

[[cases]]
id = "fee"
ask = {text = "What is the fee for a parking space?", tenant = "default", groups = ["staff"]}
expect = {status = "answered", cites = ["fee.md"]}
"""


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    folder = fast_folder()
    (folder / "docs").mkdir()
    (folder / "docs" / "leave.md").write_text("# Leave\n\nEvery employee has 25 days of leave.\n")
    (folder / "docs" / "fee.md").write_text(
        "---\neffective_from: 2026-01-01\neffective_to: 2999-01-01\n---\n"
        "# Parking\n\nThe fee for a parking space is 40 euros a month.\n"
    )
    (folder / "docs" / "salary.md").write_text(
        "---\nallowed_groups: [board]\n---\n# Salaries\n\nThe director earns 180,000 euros a year.\n"
    )
    (folder / "suite.toml").write_text(SUITE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CLEARCITE_SEMANTIC", "off")
        assert clearcite(folder, "ingest", "docs", "--group", "staff").code == 0
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(autouse=True)
def _words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEARCITE_SEMANTIC", "off")


def evaluated(home: Path) -> tuple[Done, dict[str, dict[str, Any]]]:
    done = clearcite(home, "evaluate", "suite.toml", "--format", "json")
    return done, {gate["name"]: gate for gate in done.json["gates"]} if done.out else {}


def test_hidden_documents_move_no_byte_and_the_store_is_as_it_was(home: Path) -> None:
    before = {
        path: path.read_bytes() for path in (home / ".clearcite" / "index").rglob("*") if path.is_file()
    }
    done, gates = evaluated(home)
    assert done.code == 0, done.out + done.err
    gate = gates["noninterference"]
    assert (gate["state"], gate["value"], gate["n"]) == ("pass", "0", 3)
    assert gates["leak"]["state"] == "pass"
    after = {path: path.read_bytes() for path in (home / ".clearcite" / "index").rglob("*") if path.is_file()}
    assert before == after
    assert {
        row["document_id"] for row in clearcite(home, "list", "--tenant", "default", "--group", "staff").lines
    } == {
        "leave.md",
        "fee.md",
    }


def test_windows_are_asked_at_their_edges(home: Path) -> None:
    _, gates = evaluated(home)
    gate = gates["revision_currency"]
    assert (gate["state"], gate["value"]) == ("pass", "0")
    assert gate["n"] >= 2


def test_control_a_window_that_is_not_judged_is_caught(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Columns.permitted

    def without_window(columns: Columns, verdicts: Any) -> Any:
        columns.valid_from[:] = -(2**63)
        return real(columns, verdicts)

    monkeypatch.setattr(Columns, "permitted", without_window)
    monkeypatch.setattr("clearcite.domain.access.in_force", lambda *_: True)
    done, gates = evaluated(home)
    assert done.code == 1
    assert gates["revision_currency"]["state"] == "fail"


def test_control_an_engine_that_counts_what_is_hidden_is_caught(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Engine.ask

    def counting(engine: Engine, *args: Any, **options: Any) -> PublicAnswer:
        public = real(engine, *args, **options)
        with engine._snapshot() as snapshot:
            known = len(snapshot.inventory("default"))
        return replace(public, message=f"{public.message} (of {known} documents)")

    monkeypatch.setattr(Engine, "ask", counting)
    done, gates = evaluated(home)
    gate = gates["noninterference"]
    assert (done.code, gate["state"], gate["value"]) == (1, "fail", "3")
    assert "added" in gate["reason"]
    (row,) = gate["rows"]
    assert (row["tenant"], row["part"], row["n"]) == ("default", "staff", 3)
    assert row["reason"] == "added; by itself: canary, closed, conflict, frequent, later, near"


def test_the_lag_of_the_index_has_a_limit(home: Path) -> None:
    (home / "lag.toml").write_text(f"[gates]\nmax_index_lag_seconds = 60\n{SUITE}")
    done = clearcite(home, "evaluate", "lag.toml", "--format", "json")
    gates = {gate["name"]: gate for gate in done.json["gates"]}
    assert (done.code, gates["index_lag"]["state"]) == (0, "pass")


def test_traces_are_kept_only_when_asked_for_and_for_their_owner(home: Path) -> None:
    assert clearcite(home, "evaluate", "suite.toml", "--out", "plain").code == 0
    assert not (home / "plain" / "audit").exists()
    assert clearcite(home, "evaluate", "suite.toml", "--out", "kept", "--audit").code == 0
    traces = sorted((home / "kept" / "audit").iterdir())
    assert {json.loads(path.read_bytes())["case"] for path in traces} == {"leave", "salary", "fee"}
    assert {path.stat().st_mode & 0o777 for path in traces} == {0o600}
    assert clearcite(home, "evaluate", "suite.toml", "--audit").code == 2


def test_traces_of_two_runs_are_not_mixed(home: Path) -> None:
    folder = home / "mixed" / "audit"
    folder.mkdir(parents=True)
    (folder / "old.json").write_text("{}")
    refused = clearcite(home, "evaluate", "suite.toml", "--out", "mixed", "--audit")
    assert (refused.code, [path.name for path in folder.iterdir()]) == (2, ["old.json"])
    assert "rm -r mixed/audit" in refused.err
    assert not (home / "mixed" / "run.json").exists()
    (folder / "old.json").unlink()
    assert clearcite(home, "evaluate", "suite.toml", "--out", "mixed", "--audit").code == 0
    assert len(list(folder.iterdir())) == 3


BROKEN = """
from msgspec.structs import replace

from clearcite.engine import Engine
from clearcite.__main__ import main

real = Engine.search

def counting(engine, *args, **options):
    with engine._snapshot() as snapshot:
        known = len(snapshot.inventory("default"))
    return replace(real(engine, *args, **options), next=str(known))

Engine.search = counting
if __name__ == "__main__":
    main()
"""


def many(home: Path) -> None:
    """As many cases as are worth a second process; six of them are asked again."""
    text = """
[[cases]]
id = "leave-{}"
ask = {{text = "How many days of leave?", search = true, tenant = "default", groups = ["staff"]}}
expect = {{cites = ["leave.md"]}}
"""
    cases = "".join(text.format(number) for number in range(MANY))
    (home / "many.toml").write_text(f"[gates]\nnoninterference_questions = 6\n{cases}")


def test_a_second_process_finds_what_this_one_finds(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many(home)
    assert clearcite(home, "evaluate", "many.toml", "--out", "apart").code == 0
    monkeypatch.setattr("clearcite.bench.apart.MANY", MANY + 1)
    assert clearcite(home, "evaluate", "many.toml", "--out", "here").code == 0
    apart, here = ((home / name / "run.json").read_bytes() for name in ("apart", "here"))
    assert apart == here
    (gate,) = (gate for gate in json.loads(apart)["predicate"]["gates"] if gate["name"] == "noninterference")
    assert (gate["state"], gate["n"], gate["n_scored"]) == ("pass", 6, 6)


def test_control_a_second_process_catches_an_engine_that_counts_what_is_hidden(home: Path) -> None:
    many(home)
    (home / "broken.py").write_text(BROKEN)
    done = process(home, "evaluate", "many.toml", "--format", "json", python=("broken.py",))
    (gate,) = (gate for gate in done.json["gates"] if gate["name"] == "noninterference")
    assert (done.code, gate["state"], gate["value"], gate["n"]) == (1, "fail", "6", 6), done.err


def test_what_goes_wrong_in_the_second_process_ends_this_one_as_it_would_have(home: Path) -> None:
    asked = Asked(text="What is the fee?", principal=principal("staff"))
    case = SuiteCase(
        id="fee", slice="all", cohort="staff", critical=False, asked=asked, oracle=Oracle(status="answered")
    )
    suite = Suite(name="many", sha256="0" * 64, cases=(case,) * MANY)
    settings = Settings(store=str(home / "none"))
    with looked_at_apart(settings, suite) as hidden:
        assert hidden is not None
        with pytest.raises(ClearciteError):
            hidden()


@pytest.mark.skipif(sys.platform == "win32", reason="interrupts of a group of processes are POSIX")
@pytest.mark.parametrize("seconds", [1.0, 1.5, 2.0])
def test_an_interrupt_ends_both_processes_without_a_traceback(home: Path, seconds: float) -> None:
    many(home)
    command = [sys.executable, "-m", "clearcite", "evaluate", "many.toml"]
    child = subprocess.Popen(
        command, cwd=home, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
    )
    time.sleep(seconds)
    os.killpg(child.pid, signal.SIGINT)
    _, said = child.communicate(timeout=60)
    assert b"Traceback" not in said and child.returncode in (0, 130), said
