"""What is not current any more is kept for the days of the rule, then erased; the receipt says that it was."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from clearcite.wiring import parts
from tests.support.shell import clearcite, write

DAY = 86_400_000_000


@pytest.fixture(scope="module")
def stocked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A deleted document, one with an older revision, and a question; all of day 0."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CLEARCITE_SEMANTIC", "off")
        return fill(tmp_path_factory.mktemp("retention"))


@pytest.fixture
def folder(stocked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CLEARCITE_SEMANTIC", "off")
    shutil.copytree(stocked, tmp_path / "copy")
    return tmp_path / "copy"


def fill(tmp_path: Path) -> Path:
    write(
        tmp_path,
        {
            "docs/gone.md": "# Gone\n\nThe gone text is Q77c1d50ab3e9 for now.\n",
            "docs/lives.md": "# Lives\n\nThe older text is Q81d0c29f11a7 for now.\n",
        },
    )
    run(tmp_path, "ingest", "docs", "--group", "staff")
    run(tmp_path, "ask", "Who keeps the Q9f0e117c2d44 boats?", "--tenant", "default", "--group", "staff")
    (tmp_path / "docs" / "gone.md").unlink()
    write(tmp_path, {"docs/lives.md": "# Lives\n\nThe newer text is Q5e2b6c7731f0 for now.\n"})
    run(tmp_path, "ingest", "docs", "--group", "staff")
    return tmp_path


WORDS = ("Q77c1d50ab3e9", "Q81d0c29f11a7", "Q9f0e117c2d44", "Q5e2b6c7731f0")


def run(folder: Path, *args: str) -> Any:
    done = clearcite(folder, *args)
    assert done.code == 0, done.err
    return done


def keep(folder: Path, **days: int) -> None:
    rule = "\n".join(f"{name} = {number}" for name, number in days.items())
    write(folder, {"clearcite.toml": f"[retention]\n{rule}\n"})


def later(monkeypatch: pytest.MonkeyPatch, days: int) -> None:
    now = parts.SystemClock().now() + days * DAY
    monkeypatch.setattr(parts.SystemClock, "now", lambda _: now)


def left(folder: Path) -> list[bool]:
    """Which of the words still stand somewhere in the store."""
    raw = b"".join(path.read_bytes() for path in (folder / ".clearcite").rglob("*") if path.is_file())
    return [word.encode() in raw for word in WORDS]


@pytest.mark.parametrize(
    ("rule", "days", "expected"),
    [
        ({}, 4000, [True, True, True, True]),
        ({"deleted_days": 30}, 29, [True, True, True, True]),
        ({"deleted_days": 30}, 31, [False, True, True, True]),
        ({"revisions_days": 30}, 29, [True, True, True, True]),
        ({"revisions_days": 30}, 31, [True, False, True, True]),
        ({"traces_days": 30}, 29, [True, True, True, True]),
        ({"traces_days": 30}, 31, [True, True, False, True]),
        ({"deleted_days": 1, "revisions_days": 1, "traces_days": 1}, 2, [False, False, False, True]),
    ],
    ids=str,
)
def test_each_thing_is_kept_for_its_days_and_then_erased(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    rule: Mapping[str, int],
    days: int,
    expected: list[bool],
) -> None:
    keep(folder, **rule)
    assert left(folder) == [True] * 4
    later(monkeypatch, days)
    run(folder, "sweep")
    assert left(folder) == expected
    run(folder, "reconcile")


def test_status_shows_when_the_rule_was_last_completed_and_by_which_purge(folder: Path) -> None:
    assert run(folder, "status", "--format", "json").json["retention"] is None
    keep(folder, deleted_days=7)
    receipt = run(folder, "sweep", "--format", "json").json
    found = run(folder, "status", "--format", "json").json["retention"]
    assert found["complete"] is receipt["complete"] is True
    assert found["purge"] == receipt["purge"] == 1
    assert found["policy"] == {"deleted_days": 7, "revisions_days": 0, "traces_days": 0}
    assert found["finished_at"] >= found["started_at"] > 0
    assert "retention  purge 1, complete" in run(folder, "status", "--format", "text").out


def test_a_rule_that_is_no_number_of_days_is_refused(folder: Path) -> None:
    for text in ("deleted_days = -1", 'deleted_days = "30"', "days = 3"):
        write(folder, {"clearcite.toml": f"[retention]\n{text}\n"})
        assert clearcite(folder, "sweep").code == 2
    assert left(folder) == [True] * 4


def test_the_rule_changes_no_answer_and_no_trace_of_settings(folder: Path) -> None:
    def settings_hash() -> str:
        done = run(
            folder,
            "ask",
            "What is the newer text?",
            "--tenant",
            "default",
            "--group",
            "staff",
            "--format",
            "json",
        )
        trace = done.json["trace_id"]
        found = run(folder, "inspect", trace, "--operator-view").json
        return str(json.dumps(found["trace"]["state"]["config_hash"]))

    before = settings_hash()
    keep(folder, deleted_days=7)
    assert settings_hash() == before
