"""``audit`` as an auditor meets it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.shell import clearcite, write

ANN = ("--tenant", "default", "--group", "staff")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    write(tmp_path, {"docs/leave.md": "# Leave\n\nEvery employee has 25 days of leave.\n"})
    assert clearcite(tmp_path, "ingest", "docs", "--group", "staff").code == 0
    assert clearcite(tmp_path, "ask", "How many days of leave do employees have?", *ANN).code == 0
    return tmp_path


def change(store: Path, file: str, script: str) -> None:
    with closing(sqlite3.connect(store / ".clearcite" / file)) as db:
        db.executescript(script)


def test_a_head_that_was_kept_finds_what_was_done_since(store: Path) -> None:
    kept = clearcite(store, "audit", "head")
    assert (kept.code, kept.err) == (0, "")
    write(store, {"kept.txt": kept.out})
    assert clearcite(store, "ask", "How much leave?", *ANN).code == 0
    for head in (kept.out.strip(), "kept.txt"):
        done = clearcite(store, "audit", "verify", "--head", head, "--format", "text")
        assert (done.code, done.out.splitlines()[0]) == (0, "holds and continues the head that was kept")
    change(store, "traces.db", "DELETE FROM traces")
    assert clearcite(store, "audit", "verify", "--format", "text").out.startswith("holds\n")
    done = clearcite(store, "audit", "verify", "--head", "kept.txt", "--format", "text")
    assert (done.code, done.out.splitlines()[0]) == (4, "traces 0: it ends here, and had 1 entries: cut off")


def test_an_edit_is_found_without_a_head_and_format_changes_no_exit_code(store: Path) -> None:
    change(store, "ledger.db", "UPDATE events SET at = at + 1 WHERE number = 2")
    for form in ("text", "json"):
        assert clearcite(store, "audit", "verify", "--format", form).code == 4
    (found,) = clearcite(store, "audit", "verify").json["findings"]
    assert found == {"log": "events", "number": 2, "what": "it was changed, or stands in another place"}


def test_a_state_that_was_not_logged_is_found(store: Path) -> None:
    change(store, "ledger.db", "UPDATE documents SET source_sequence = 7")
    (found,) = clearcite(store, "audit", "verify").json["findings"]
    assert "another state of default/default/leave.md" in found["what"]


@pytest.mark.parametrize(
    "args",
    [
        ["audit", "tail"],
        ["audit", "head", "--head", "x=1"],
        ["audit", "verify", "--head", "events=1:ab traces=1:cd"],
        ["audit", "verify", "--head", "nowhere.txt"],
        ["audit"],
    ],
    ids=" ".join,
)
def test_wrong_input_is_refused(store: Path, args: list[str]) -> None:
    done = clearcite(store, *args)
    assert (done.code, done.out) == (2, "")


def test_json_holds_the_head(store: Path) -> None:
    found = json.loads(clearcite(store, "audit", "verify", "--format", "json").out)
    assert found["holds"] is True and found["head"] == clearcite(store, "audit", "head").out.strip()
