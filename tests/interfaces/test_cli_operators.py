"""The protected side: traces, recomputation, the state of a store, and deletion."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from tests.support.shell import clearcite, write

LEAVE = "How many days of paid leave do employees have?"
ANN = ("--as", "ann")


def test_a_trace_is_shown_with_the_flag_only(copy: Path) -> None:
    trace = clearcite(copy, "ask", LEAVE, *ANN).json["trace_id"]
    refused = clearcite(copy, "inspect", trace)
    assert (refused.code, refused.out) == (2, "")
    assert "--operator-view" in refused.err
    shown = clearcite(copy, "inspect", trace, "--operator-view").json
    assert shown["trace"]["visibility"] == "privileged_audit"
    assert shown["trace"]["request"]["principal"]["authorization_revision"] == "7"
    assert shown["reasons"]["acme/board/nightjar-7f3a.md"] == ["acl_denied"]
    assert shown["reasons"]["acme/handbook/leave.md"] == []


def test_a_trace_holds_no_text_of_a_document(copy: Path) -> None:
    trace = clearcite(copy, "ask", LEAVE, *ANN).json["trace_id"]
    shown = clearcite(copy, "inspect", trace, "--operator-view").out
    assert "25 days" not in shown and "7,131,313" not in shown


def test_the_newest_traces_come_first(copy: Path) -> None:
    asked = [clearcite(copy, "ask", question, *ANN).json["trace_id"] for question in (LEAVE, "Mars?")]
    listed = [item["trace_id"] for item in clearcite(copy, "inspect", "--operator-view").lines]
    assert listed[:2] == asked[::-1]


@pytest.mark.parametrize("command", [["inspect", "--operator-view"], ["verify", "x"]])
def test_a_named_caller_needs_the_role_of_an_operator(copy: Path, command: list[str]) -> None:
    refused = clearcite(copy, *command, *ANN)
    assert (refused.code, refused.out) == (2, "")
    assert "needs the role operator" in refused.err
    assert "needs the role" not in clearcite(copy, *command, "--as", "olga").err


def test_an_answer_is_reproduced_and_a_changed_one_is_not(copy: Path) -> None:
    done = clearcite(copy, "ask", LEAVE, *ANN)
    trace = done.json["trace_id"]
    write(copy, {"kept.json": done.out, "bent.json": done.out.replace("25 days", "26 days")})
    assert clearcite(copy, "verify", trace) == clearcite(copy, "verify", trace, "--response", "kept.json")
    assert clearcite(copy, "verify", trace).out == "reproduced\n"
    bent = clearcite(copy, "verify", trace, "--response", "bent.json")
    assert bent.code == 4
    assert bent.out.startswith("differs: response.")


@pytest.mark.parametrize("field", ["confidence", "message", "status", "trace_id", "answer", "citations"])
def test_a_change_of_any_field_ends_with_4(copy: Path, field: str) -> None:
    kept = clearcite(copy, "ask", LEAVE, *ANN).json
    other = {"answer": [], "citations": []}.get(field, "bent")
    write(copy, {"bent.json": json.dumps({**kept, field: other})})
    done = clearcite(copy, "verify", kept["trace_id"], "--response", "bent.json")
    assert done.code == 4
    assert done.out.startswith("differs: ")


def test_an_answer_whose_documents_changed_is_unverifiable(copy: Path) -> None:
    trace = clearcite(copy, "ask", LEAVE, *ANN).json["trace_id"]
    write(copy, {"handbook/leave.md": "# Leave\n\nEvery employee has 26 days of paid leave a year.\n"})
    assert clearcite(copy, "ingest").code == 0
    done = clearcite(copy, "verify", trace)
    assert done.code == 1
    assert done.out.startswith("unverifiable: retired: a document that could be read then has been replaced")


def test_an_operator_sees_the_state_of_the_store(copy: Path) -> None:
    found = clearcite(copy, "status").json
    assert found["documents"]["published"] == 7
    assert [row["source_id"] for row in found["sources"]] == ["board", "handbook"]
    assert "7 published" in clearcite(copy, "status", "--format", "text").out


def test_doctor_says_what_works_and_how_to_mend_the_rest(copy: Path, empty: Path) -> None:
    well = clearcite(copy, "doctor")
    assert well.code == 0
    assert "ok    policy: ann, bob, olga" in well.out
    ill = clearcite(empty, "doctor")
    assert ill.code == 2
    assert "BAD   store: There is no store here yet" in ill.out
    assert "mend it with: clearcite ingest FOLDER" in ill.out


def test_migrate_leaves_a_store_of_this_version_alone(copy: Path) -> None:
    clearcite(copy, "ask", LEAVE, *ANN)
    done = clearcite(copy, "migrate")
    assert (done.code, done.out) == (0, "")
    assert [line.split(": from version ")[0] for line in done.err.splitlines()] == ["ledger.db", "traces.db"]
    versions = [line.split(": from version ")[1].split(" to ") for line in done.err.splitlines()]
    assert all(before == after for before, after in versions)


def test_an_older_store_is_refused_with_the_command_that_mends_it(copy: Path) -> None:
    with closing(apsw.Connection(str(copy / ".clearcite" / "ledger.db"))) as db:
        version = db.pragma("user_version")
        db.pragma("user_version", version - 1)
    ill = clearcite(copy, "doctor")
    assert ill.code == 2
    assert f"BAD   store: The store has version {version - 1}, not {version}" in ill.out
    assert "mend it with: clearcite migrate" in ill.out
    assert "clearcite migrate" in clearcite(copy, "ask", LEAVE, *ANN).err


def test_a_damaged_database_is_mended_by_a_backup_and_a_damaged_index_by_a_build(copy: Path) -> None:
    """Nothing else holds what stands in a database; all of an index follows from one."""
    for segment in (copy / ".clearcite" / "index").glob("*/*.segment"):
        segment.unlink()
    ill = clearcite(copy, "doctor")
    assert "mend it with: clearcite index build" in ill.out
    checked = clearcite(copy, "reconcile", "--format", "text")
    assert (checked.code, "1 index_differs" in checked.out) == (4, True), checked.out
    for command in ("reconcile", "integrity"):
        assert "clearcite index build" in clearcite(copy, command, "--format", "text").out
    assert clearcite(copy, "index", "build").code == 0
    assert clearcite(copy, "reconcile").code == 0
    with (copy / ".clearcite" / "ledger.db").open("r+b") as file:
        file.write(b"garbage")
    ill = clearcite(copy, "doctor")
    assert ("mend it with: clearcite restore FOLDER" in ill.out, "index build" in ill.out) == (True, False), (
        ill.out
    )
    assert "clearcite restore FOLDER" in clearcite(copy, "status").err


def test_what_nobody_may_read_is_not_counted_as_published(copy: Path) -> None:
    """A draft, an archived and an untrusted document are served to nobody."""
    for name, front in (("a", "status: draft"), ("b", "status: archived"), ("c", "trusted: false")):
        write(copy, {f"handbook/{name}.md": f"---\n{front}\n---\n# {name}\n\nText.\n"})
    clearcite(copy, "ingest")
    found = clearcite(copy, "status").json["documents"]
    assert (found["active"], found["published"], found["withheld"], found["hidden"]) == (10, 7, 3, 0)


def test_doctor_says_where_each_setting_comes_from(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEARCITE_DEPTH", "50")
    shown = clearcite(copy, "doctor").out
    assert "depth = 50 (CLEARCITE_DEPTH)" in shown
    assert "policy = policy.toml (clearcite.toml)" in shown


def test_a_deleted_document_is_gone_for_everybody_until_its_file_changes(copy: Path) -> None:
    delete = ("delete", "leave.md", "--tenant", "acme", "--source", "handbook")
    assert "25 days" in clearcite(copy, "ask", LEAVE, *ANN).out
    assert clearcite(copy, *delete).code == 0
    assert "25 days" not in clearcite(copy, "ask", LEAVE, *ANN).out
    assert clearcite(copy, "show", "leave.md", "--source", "handbook", *ANN).code == 2
    assert clearcite(copy, *delete).code == 2, "it is gone already"

    unchanged = clearcite(copy, "ingest")
    assert (unchanged.code, "1 stale_ignored" in unchanged.err) == (0, True)
    assert clearcite(copy, "show", "leave.md", "--source", "handbook", *ANN).code == 2
    write(copy, {"handbook/leave.md": "# Leave\n\nEvery employee has 26 days of paid leave a year.\n"})
    changed = clearcite(copy, "ingest")
    assert (changed.code, "1 restored" in changed.err) == (0, True)
    assert "26 days" in clearcite(copy, "ask", LEAVE, *ANN).out


def test_a_file_that_is_deleted_by_hand_and_then_removed_is_no_conflict(copy: Path) -> None:
    clearcite(copy, "delete", "leave.md", "--tenant", "acme", "--source", "handbook")
    (copy / "handbook" / "leave.md").unlink()
    done = clearcite(copy, "ingest")
    assert (done.code, "1 deleted" in done.err) == (0, True)


def test_deleting_needs_no_engine_of_the_store_s_settings(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With other settings no second generation is started."""
    config = copy / "clearcite.toml"
    config.write_text(config.read_text() + '\n[synonyms]\nhotel = ["inn"]\n')
    before = clearcite(copy, "status").json["generations"]
    assert clearcite(copy, "delete", "leave.md", "--tenant", "acme", "--source", "handbook").code == 0
    after = clearcite(copy, "status").json["generations"]
    assert [item["name"] for item in after] == [item["name"] for item in before]
