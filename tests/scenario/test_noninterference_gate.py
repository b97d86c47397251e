"""``evaluate`` on a store of one's own: hidden documents move no byte, and an engine that lets them is caught."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from clearcite.domain.answer import PublicAnswer
from clearcite.engine import Engine
from clearcite.visibility import Columns
from tests.support.shell import Done, clearcite
from tests.support.world import fast_folder

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
