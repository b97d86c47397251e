"""``audit`` as an auditor meets it."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
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


def test_an_export_holds_under_the_checker_that_comes_with_it(store: Path) -> None:
    kept = clearcite(store, "ask", "How many days of leave do employees have?", *ANN)
    head = clearcite(store, "audit", "head").out.strip()
    write(store, {"kept.json": kept.out, "checker.py": clearcite(store, "audit", "checker").out})
    made = clearcite(
        store, "audit", "export", kept.json["trace_id"], "a.json", "--response", "kept.json", "--texts"
    )
    assert (made.code, made.out) == (0, "") and (store / "a.json").stat().st_mode & 0o777 == 0o600
    again = clearcite(store, "audit", "export", kept.json["trace_id"], "a.json")
    assert again.code == 2 and "there already" in again.err
    write(store, {"bent.json": (store / "a.json").read_text(encoding="utf-8").replace("25 days", "52 days")})
    codes = [
        subprocess.run(
            [sys.executable, "-I", "checker.py", name, "--head", head],
            cwd=store,
            check=False,
            capture_output=True,
        ).returncode
        for name in ("a.json", "bent.json")
    ]
    assert codes == [0, 1]


@pytest.mark.parametrize(
    "args",
    [
        ["audit", "tail"],
        ["audit", "head", "--head", "x=1"],
        ["audit", "verify", "--head", "events=1:ab traces=1:cd"],
        ["audit", "verify", "--head", "nowhere.txt"],
        ["audit"],
        ["audit", "export", "0" * 32, "x.json"],
        ["audit", "export", "0" * 32],
    ],
    ids=" ".join,
)
def test_wrong_input_is_refused(store: Path, args: list[str]) -> None:
    done = clearcite(store, *args)
    assert (done.code, done.out) == (2, "")


def test_json_holds_the_head(store: Path) -> None:
    found = json.loads(clearcite(store, "audit", "verify", "--format", "json").out)
    assert found["holds"] is True and found["head"] == clearcite(store, "audit", "head").out.strip()
