"""Golden samples and the gates of ingestion: each holds on a sound store and fails by its fault."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.shell import clearcite
from tests.support.world import fast_folder

CASE = """
[[cases]]
id = "leave"
ask = {text = "How many days of leave does every employee have?", tenant = "default", groups = ["staff"]}
expect = {status = "answered", cites = ["leave.md"]}
"""
SOUND = {
    "contains": '["25 days of leave"]',
    "lacks": '["secret"]',
    "title": '"Leave"',
    "headings": '["Carry over"]',
    "allowed_groups": '["staff"]',
    "status": '"published"',
    "source_type": '"documentation"',
}
FAULTS = {
    "contains": ('["26 days of leave"]', "string_missing"),
    "lacks": ('["25 days"]', "string_present"),
    "title": ('"Holidays"', "title_differs"),
    "headings": ('["Sick leave"]', "heading_missing"),
    "allowed_groups": ('["board", "staff"]', "readers_differ"),
    "status": ('"archived"', "status_differs"),
    "source_type": ('"forum"', "source_type_differs"),
}


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    folder = fast_folder()
    (folder / "docs").mkdir()
    page = "# Leave\n\nEvery employee has 25 days of leave.\n\n## Carry over\n\nFive days carry over.\n"
    (folder / "docs" / "leave.md").write_text(page)
    (folder / "clearcite.toml").write_text('[[sources]]\npath = "docs"\nallowed_groups = ["staff"]\n')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CLEARCITE_SEMANTIC", "off")
        assert clearcite(folder, "sync").code == 0
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(autouse=True)
def _words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEARCITE_SEMANTIC", "off")


def gates_of(home: Path, suite: str) -> tuple[int, dict[str, dict[str, Any]]]:
    (home / "suite.toml").write_text(f"[gates]\nnoninterference_questions = 0\n{suite}{CASE}")
    done = clearcite(home, "evaluate", "suite.toml", "--format", "json")
    return done.code, {gate["name"]: gate for gate in done.json["gates"]} if done.out else {}


def golden(**changed: str) -> str:
    lines = [f"{name} = {value}" for name, value in (SOUND | changed).items()]
    return "\n".join(["[[golden]]", 'document = "leave.md"', *lines, ""])


def test_a_sound_store_passes(home: Path) -> None:
    code, gates = gates_of(home, f"max_failure_rate = 0\nmax_source_age_hours = 1\n{golden()}")
    assert code == 0
    assert {gates[name]["state"] for name in ("content", "failure_rate", "source_age")} == {"pass"}


@pytest.mark.parametrize("name", FAULTS)
def test_each_demand_can_fail_and_names_its_fault(home: Path, name: str) -> None:
    wrong, code = FAULTS[name]
    exit_code, gates = gates_of(home, golden(**{name: wrong}))
    (row,) = gates["content"]["rows"]
    assert (exit_code, gates["content"]["state"], row["part"]) == (1, "fail", code)


@pytest.mark.parametrize(
    ("sample", "said"),
    [
        ('[[golden]]\ndocument = "leave.md"\n', "asks for nothing"),
        ('[[golden]]\ncontains = ["x"]\n', "needs a document"),
        ('[[golden]]\ndocument = "leave.md"\ncontain = ["x"]\n', "no key contain"),
        (golden() + golden(), "has 2 samples"),
    ],
)
def test_a_sample_that_proves_nothing_is_refused(home: Path, sample: str, said: str) -> None:
    (home / "suite.toml").write_text(sample + CASE)
    done = clearcite(home, "evaluate", "suite.toml")
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_a_source_that_was_not_taken_for_long_blocks(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = __import__("time").time_ns
    monkeypatch.setattr("time.time_ns", lambda: real() + 3 * 3_600 * 10**9)
    code, gates = gates_of(home, "max_source_age_hours = 1\n")
    assert (code, gates["source_age"]["state"]) == (1, "fail")


def test_a_document_that_cannot_be_taken_in_blocks(home: Path) -> None:
    (home / "docs" / "broken.pdf").write_bytes(b"%PDF-1.4 nothing that could be read")
    clearcite(home, "sync")
    code, gates = gates_of(home, "max_failure_rate = 0.1\n")
    (home / "docs" / "broken.pdf").unlink()
    assert (code, gates["failure_rate"]["state"]) == (1, "fail")
