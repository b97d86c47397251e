"""Keeping a store up to date with its configured sources, and what waits for somebody's word."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from clearcite.adapters.presence import Lock
from tests.support.data import data_folder
from tests.support.git import repository
from tests.support.shell import Done, clearcite, everything, fed, write

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed here")

TOML = """
[[sources]]
path = "docs"
source_id = "docs"
allowed_groups = ["staff"]

[[sources]]
path = "feed.jsonl"
source_id = "feed"

[[sources]]
path = "repo"
kind = "git"
source_id = "repo"
allowed_groups = ["staff"]
"""

FEED = {
    "tenant_id": "default",
    "source_id": "feed",
    "document_id": "pump",
    "source_sequence": 1,
    "source_uri": "pump",
    "source_version": "1",
    "allowed_groups": ["staff"],
    "content": "The pump needs 3 bar.",
}


def sync(folder: Path, *args: str) -> Done:
    return clearcite(folder, "sync", *args)


def source(folder: Path, name: str) -> Any:
    """What status says of the one run of a source."""
    (found,) = [item for item in clearcite(folder, "status").json["sources"] if item["source_id"] == name]
    return found["runs"][0]


def contents(store: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(store)): path.read_bytes() for path in sorted(store.rglob("*")) if path.is_file()
    }


def ids(folder: Path) -> list[str]:
    return [item["document_id"] for item in everything(folder)]


@pytest.fixture
def three(empty: Path) -> Path:
    """A folder, a feed and a repository, configured and not taken yet."""
    write(empty, {"clearcite.toml": TOML, "feed.jsonl": fed(FEED), "docs/a.md": "The valve opens at 7 bar."})
    repository(empty / "repo").commit({"b.md": "The gate closes at 9."})
    return empty


@needs_git
def test_every_kind_of_source_is_taken_and_status_says_how_far(three: Path) -> None:
    done = sync(three)
    assert (done.code, "3 created; 3 chunks indexed" in done.err) == (0, True), done.err
    assert ids(three) == ["a.md", "pump", "b.md"]
    runs = {name: source(three, name) for name in ("docs", "feed", "repo")}
    assert [run["kind"] for run in runs.values()] == ["folder", "feed", "git"]
    assert all(run["outcome"] == "ok" and run["lag_seconds"] < 60 for run in runs.values())
    assert [run["covered_seconds"] is None for run in runs.values()] == [False, True, False]
    assert '"sequence":2' in runs["repo"]["cursor"]
    assert "1 noop" in sync(three, "docs").err


@needs_git
def test_a_dry_run_says_what_would_happen_and_leaves_every_byte_of_the_store(three: Path) -> None:
    planned = sync(three, "--dry-run")
    assert (planned.code, [item["action"] for item in planned.lines]) == (0, ["created"] * 3)
    assert not (three / ".clearcite").exists(), "not even a store is made"
    sync(three)
    write(three, {"docs/a.md": "The valve opens at 8 bar.", "docs/new.md": "New."})
    repository(three / "repo").commit({"b.md": None})
    before = contents(three / ".clearcite")
    planned = sync(three, "--dry-run")
    assert contents(three / ".clearcite") == before
    said = [(item["action"], item["document_id"]) for item in planned.lines]
    assert said == [("revised", "a.md"), ("created", "new.md"), ("deleted", "b.md")]
    done = sync(three)
    assert "1 created, 1 deleted, 1 noop, 1 revised" in done.err
    assert contents(three / ".clearcite") != before, "the control: a real run writes"


@needs_git
def test_one_source_that_fails_does_not_stop_the_others(three: Path) -> None:
    shutil.rmtree(three / "docs")
    write(three, {"feed.jsonl": "{}"})
    done = sync(three)
    assert done.code == 2
    missing = "The folder docs of the source docs does not exist; see path in [[sources]] of clearcite.toml."
    assert f"the source docs failed: {missing}" in done.err
    assert "refused: line 1" in done.err
    assert ids(three) == ["b.md"]
    assert source(three, "docs")["outcome"] == missing
    assert source(three, "feed")["refused"] >= 1
    assert source(three, "repo")["outcome"] == "ok"


def test_a_folder_that_was_gone_for_a_while_is_taken_again_as_it_was(empty: Path) -> None:
    folder_of(empty, 2)
    (empty / "docs").rename(empty / "aside")
    for command in ("sync", "ingest", "sync"):
        done = clearcite(empty, command)
        assert (done.code, "The folder docs of the source docs does not exist" in done.err) == (2, True), (
            done.err
        )
    assert len(ids(empty)) == 2
    (empty / "aside").rename(empty / "docs")
    write(empty, {"docs/00.md": "Sheet 0 is new."})
    assert sync(empty, "--dry-run").code == 0
    done = sync(empty)
    assert (done.code, "1 noop, 1 revised" in done.err) == (0, True), done.err
    write(empty, {"elsewhere/03.md": "Sheet 3."})
    toml = (
        (empty / "clearcite.toml").read_text(encoding="utf-8").replace('path = "docs"', 'path = "elsewhere"')
    )
    write(empty, {"clearcite.toml": toml})
    done = sync(empty)
    assert (done.code, "is another folder already" in done.err) == (2, True), "the control: another folder"


def folder_of(empty: Path, count: int) -> Path:
    toml = '[[sources]]\npath = "docs"\nsource_id = "docs"\nallowed_groups = ["staff"]\n'
    write(empty, {"clearcite.toml": toml, **{f"docs/{n:02}.md": f"Sheet {n}." for n in range(count)}})
    sync(empty)
    return empty


def test_many_deletes_wait_for_an_approval_that_is_a_ceiling_and_additions_go_on(empty: Path) -> None:
    folder_of(empty, 40)
    assert clearcite(empty, "approve", "docs", "--up-to", "30").code == 2, "nothing waits"
    for n in range(30):
        (empty / "docs" / f"{n:02}.md").unlink()
    write(empty, {"docs/new.md": "New."})
    done = sync(empty)
    assert (done.code, len(ids(empty))) == (2, 41)
    assert "30 of 41 documents of the source docs have gone" in done.err
    assert "clearcite approve docs --up-to 30" in done.err
    assert source(empty, "docs")["withheld"] == 30
    low = clearcite(empty, "approve", "docs", "--up-to", "29")
    assert (low.code, "less than the 30 that wait" in low.err) == (0, True)
    assert (sync(empty).code, len(ids(empty))) == (2, 41)
    assert clearcite(empty, "approve", "docs", "--up-to", "30").code == 0
    assert sync(empty, "--dry-run").code == 0
    assert (sync(empty).code, len(ids(empty))) == (0, 11)
    state = source(empty, "docs")
    assert (state["withheld"], state["approved"]) == (0, 0), "used up"


def test_a_folder_that_is_empty_all_at_once_deletes_nothing_without_approval_however_few_it_had(
    empty: Path,
) -> None:
    folder_of(empty, 3)
    (empty / "docs").rename(empty / "aside")
    (empty / "docs").mkdir()
    for command in ("sync", "ingest"):
        done = clearcite(empty, command)
        assert (done.code, len(ids(empty))) == (2, 3)
        assert "All 3 documents of the source docs have gone; their deletes wait for approval." in done.err
        assert "Is docs there and mounted? To accept them: clearcite approve docs --up-to 3" in done.err
    assert sync(empty, "--dry-run").code == 2
    assert source(empty, "docs")["withheld"] == 3
    (empty / "docs").rmdir()
    (empty / "aside").rename(empty / "docs")
    done = sync(empty)
    assert (done.code, "3 noop" in done.err, source(empty, "docs")["withheld"]) == (0, True, 0)
    for n in (0, 1):
        (empty / "docs" / f"{n:02}.md").unlink()
    assert (sync(empty).code, len(ids(empty))) == (0, 1), "the control: one of them is left"
    (empty / "docs" / "02.md").unlink()
    assert (sync(empty).code, ids(empty)) == (0, []), "the last document's file was deleted: that is usual"


def test_an_empty_folder_is_taken_at_its_word_once_it_is_approved(empty: Path) -> None:
    folder_of(empty, 3)
    shutil.rmtree(empty / "docs")
    (empty / "docs").mkdir()
    assert sync(empty).code == 2
    assert clearcite(empty, "approve", "docs", "--up-to", "3").code == 0
    assert (sync(empty).code, ids(empty)) == (0, [])


def test_a_source_that_is_not_configured_any_more_is_named_with_the_command_that_lets_it_go(
    empty: Path,
) -> None:
    folder_of(empty, 3)
    remedy = "clearcite source remove docs --tenant default"
    told = "The source docs is not in clearcite.toml any more and goes on answering (documents: 3)."
    assert "source remove" not in sync(empty).err + clearcite(empty, "doctor").out, "the control"
    assert clearcite(empty, "status").json["unlisted"] == []
    refused = clearcite(empty, "source", "remove", "docs", "--tenant", "default")
    assert (refused.code, "out of clearcite.toml first" in refused.err, len(ids(empty))) == (2, True, 3)
    toml = (empty / "clearcite.toml").read_text()
    write(empty, {"clearcite.toml": toml.replace("docs", "other"), "other/new.md": "New."})
    done = sync(empty, "other")
    assert (done.code, f"{told} To let them go: {remedy}" in done.err) == (0, True), done.err
    assert told in clearcite(empty, "status", "--format", "text").out
    (row,) = clearcite(empty, "status").json["unlisted"]
    assert row == {"tenant_id": "default", "source_id": "docs", "documents": 3}
    assert f"mend it with: {remedy}" in clearcite(empty, "doctor").out
    assert clearcite(empty, "source", "remove", "docs", "--tenant", "else").code == 2
    done = clearcite(empty, "source", "remove", "docs", "--tenant", "default")
    assert (done.code, "(3)" in done.err, ids(empty)) == (0, True, ["new.md"])
    assert clearcite(empty, "status").json["unlisted"] == []
    assert "source remove" not in sync(empty).err + clearcite(empty, "doctor").out
    assert clearcite(empty, "source", "remove", "docs", "--tenant", "default").code == 2, (
        "there is none any more"
    )


def test_a_store_that_no_configuration_keeps_is_not_warned_of(empty: Path) -> None:
    write(empty, {"docs/a.md": "The valve opens at 7 bar."})
    assert clearcite(empty, "ingest", "docs", "--group", "staff").code == 0
    assert clearcite(empty, "status").json["unlisted"] == []


def test_a_second_source_beside_the_one_of_init_does_not_clash(empty: Path) -> None:
    assert clearcite(empty, "init").code == 0
    toml = (empty / "clearcite.toml").read_text()
    second = '[[sources]]\npath = "more"\nallowed_groups = ["staff"]\n\n'
    write(empty, {"docs/a.md": "The valve opens at 7 bar.", "more/a.md": "The gate closes at 9."})
    write(empty, {"clearcite.toml": toml.replace("[routes]", second + "[routes]")})
    done = sync(empty)
    assert (done.code, ids(empty)) == (0, ["a.md", "a.md"]), done.err
    write(
        empty,
        {
            "clearcite.toml": toml.replace("[routes]", second + "[routes]").replace(
                'source_id = "docs"\n', "", 1
            )
        },
    )
    assert "Two folders would be the source default" in sync(empty).err, "the control"


def test_ingest_stops_before_anything_where_sync_goes_on_without_the_missing_source(empty: Path) -> None:
    write(
        empty,
        {
            "clearcite.toml": TOML.partition('[[sources]]\npath = "repo"')[0],
            "docs/a.md": "The valve opens at 7 bar.",
        },
    )
    done = clearcite(empty, "ingest")
    assert (done.code, (empty / ".clearcite").exists()) == (2, False)
    assert "The file feed.jsonl of the source feed does not exist" in done.err
    assert (sync(empty).code, ids(empty)) == (2, ["a.md"])


def test_an_approval_covers_ingest_as_well_for_it_is_the_same_source(empty: Path) -> None:
    folder_of(empty, 40)
    for n in range(30):
        (empty / "docs" / f"{n:02}.md").unlink()
    assert clearcite(empty, "ingest").code == 2
    assert clearcite(empty, "approve", "docs", "--up-to", "30").code == 0
    assert (clearcite(empty, "ingest").code, len(ids(empty))) == (0, 10)


def test_how_many_may_go_is_configured(empty: Path) -> None:
    folder_of(empty, 10)
    config = (empty / "clearcite.toml").read_text() + "[sync]\nmax_deletions = 1\nmax_deletion_share = 10\n"
    write(empty, {"clearcite.toml": config})
    (empty / "docs" / "00.md").unlink()
    assert sync(empty).code == 0, "one is not more than one"
    for n in (1, 2):
        (empty / "docs" / f"{n:02}.md").unlink()
    assert (sync(empty).code, len(ids(empty))) == (2, 9)


def test_a_source_is_taken_by_one_run_at_a_time(empty: Path) -> None:
    folder_of(empty, 2)
    (file,) = (empty / ".clearcite" / "sources").glob("*.lock")
    lock = Lock(file, "busy")
    write(empty, {"docs/new.md": "New."})
    done = sync(empty)
    assert (done.code, "Another run takes the source docs" in done.err) == (3, True)
    lock.close()
    assert (sync(empty).code, len(ids(empty))) == (0, 3)


@needs_git
def test_without_git_the_other_sources_are_taken_and_doctor_names_the_command(
    three: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "ok    git: 2" in clearcite(three, "doctor").out
    monkeypatch.setenv("PATH", os.devnull)
    done = sync(three)
    assert (done.code, "apt-get install git" in done.err) == (2, True)
    assert ids(three) == ["a.md", "pump"]
    assert "mend it with: apt-get install git" in clearcite(three, "doctor").out


def test_wrong_names_and_an_empty_configuration_are_refused(empty: Path) -> None:
    assert "No sources are configured" in sync(empty).err
    folder_of(empty, 1)
    done = sync(empty, "wiki")
    assert (done.code, "There are: docs." in done.err) == (2, True)
    write(empty, {"clearcite.toml": '[[sources]]\npath = "docs"\nkind = "svn"\n'})
    assert sync(empty).code == 2


@needs_git
def test_a_restored_store_is_brought_up_to_date_from_the_history(empty: Path) -> None:
    made = repository(empty / "repo")
    made.commit({"a.md": "The pump needs 3 bar.", "b.md": "The valve opens at 7 bar.", "c.md": "Gate one."})
    toml = '[[sources]]\npath = "repo"\nkind = "git"\nsource_id = "repo"\nallowed_groups = ["staff"]\n'
    write(empty, {"clearcite.toml": toml})
    sync(empty)
    assert clearcite(empty, "backup", "safe").code == 0
    made.commit({"a.md": "---\nallowed_groups: [board]\n---\nThe pump needs 4 bar.", "b.md": None})
    made.commit({"c.md": "---\ndenied_groups: [guest]\n---\nGate one and a half."})
    made.commit({"c.md": "---\ndenied_groups: [guest, temp]\n---\nGate two."})
    sync(empty)
    restored = clearcite(empty, "restore", "safe")
    assert (restored.code, ids(empty)) == (0, ["c.md"]), restored.err
    done = sync(empty)
    assert (done.code, "refused" in done.err) == (0, False), done.err
    read = {
        name: clearcite(empty, "show", name, "--tenant", "default", "--group", group).json["text"]
        for name, group in (("a.md", "board"), ("c.md", "staff"))
    }
    assert {name: text.split("---")[-1].strip() for name, text in read.items()} == {
        "a.md": "The pump needs 4 bar.",
        "c.md": "Gate two.",
    }
    made.commit({"a.md": "The pump needs 5 bar."})
    assert "1 revised" in sync(empty).err


@needs_git
def test_a_sync_that_is_killed_again_and_again_ends_in_the_state_of_one_run(empty: Path) -> None:
    made = repository(empty / "repo")
    for n in range(30):
        made.commit({f"{k:03}.md": f"Sheet {k} costs EUR {n + k}." for k in range(n, n + 40)})
    made.commit({"003.md": None})
    toml = '[[sources]]\npath = "../repo"\nkind = "git"\nallowed_groups = ["staff"]\n'
    for name in ("once", "twice"):
        write(empty / name, {"clearcite.toml": toml})
    assert sync(empty / "once").code == 0
    kills = 0
    for pause in (0.6, 0.9, 1.2, 1.5):
        child = subprocess.Popen(
            [sys.executable, "-m", "clearcite", "sync"],
            cwd=empty / "twice",
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        time.sleep(pause)
        kills += child.poll() is None
        with suppress(ProcessLookupError):  # a fast one has ended
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        if (empty / "twice" / ".clearcite" / "ledger.db").exists() and child.returncode:
            for run in clearcite(empty / "twice", "status").json["sources"]:
                assert all(item["covered_seconds"] is None for item in run["runs"] if item["outcome"] != "ok")
    assert kills > 0
    done = sync(empty / "twice")
    assert done.code == 0, done.err
    assert everything(empty / "twice") == everything(empty / "once")
    shown = ("show", "010.md", "--tenant", "default", "--group", "staff")
    assert clearcite(empty / "twice", *shown).json == clearcite(empty / "once", *shown).json
    assert "nothing to do" in sync(empty / "twice").err


@needs_git
def test_a_real_history_ends_in_the_documents_of_its_last_commit(empty: Path) -> None:
    bundle = data_folder("docs_history") / "docs-history.bundle"
    subprocess.run(["git", "clone", "-q", "--bare", str(bundle), "repo"], cwd=empty, check=True)
    toml = '[[sources]]\npath = "repo"\nkind = "git"\nfolder = "docs"\nallowed_groups = ["staff"]\n'
    write(empty, {"clearcite.toml": toml})
    done = sync(empty)
    assert done.code == 0, done.err
    listed = subprocess.run(
        ["git", "ls-tree", "-r", "--name-only", "HEAD:docs"],
        cwd=empty / "repo",
        check=True,
        capture_output=True,
    )
    names = [name for name in listed.stdout.decode().split() if name.endswith((".rst", ".txt", ".html"))]
    assert ids(empty) == sorted(names)
    shown = clearcite(empty, "show", "cli.rst", "--tenant", "default", "--group", "staff").json["text"]
    now = subprocess.run(
        ["git", "show", "HEAD:docs/cli.rst"], cwd=empty / "repo", check=True, capture_output=True
    )
    assert shown.split() == now.stdout.decode().split()
    status = clearcite(empty, "status").json
    assert status["revisions"] > 700
    assert status["stages"]["project"]["done"]["day"] == len(ids(empty)), (
        "no state of the past was served meanwhile"
    )
    assert "nothing to do" in sync(empty).err


def listed(folder: Path) -> set[str]:
    done = clearcite(folder, "list", "--tenant", "default", "--group", "staff")
    return {f"{item['source_id']}/{item['document_id']}" for item in done.lines}


@needs_git
def test_what_was_deleted_by_hand_comes_back_with_its_own_text_only(tmp_path: Path) -> None:
    """Other readers for the whole source, or a branch that is written anew, are no new text."""
    repo = repository(tmp_path / "repo")
    repo.commit({"key.md": "The key is in room 12.", "leave.md": "Leave is 25 days."})
    write(tmp_path, {"docs/key.md": "The key is in room 12.", "docs/leave.md": "Leave is 25 days."})
    toml = TOML.replace('[[sources]]\npath = "feed.jsonl"\nsource_id = "feed"\n', "")
    write(tmp_path, {"clearcite.toml": toml})
    assert sync(tmp_path).code == 0
    for name in ("docs", "repo"):
        assert clearcite(tmp_path, "delete", "key.md", "--tenant", "default", "--source", name).code == 0
    assert sync(tmp_path).code == 0
    assert clearcite(tmp_path, "purge", "--deleted").code == 0
    write(tmp_path, {"clearcite.toml": toml.replace('["staff"]', '["guest", "staff"]')})
    assert sync(tmp_path).code == 0
    repo.run("commit", "-q", "--amend", "-m", "written anew")
    assert sync(tmp_path).code == 0
    assert listed(tmp_path) == {"docs/leave.md", "repo/leave.md"}
    repo.commit({"key.md": "The key is in room 13."})
    write(tmp_path, {"docs/key.md": "The key is in room 13."})
    assert sync(tmp_path).code == 0
    assert listed(tmp_path) == {"docs/leave.md", "repo/leave.md", "docs/key.md", "repo/key.md"}


@needs_git
def test_a_source_that_was_a_repository_is_not_taken_as_a_folder(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    for room in (12, 13):
        repo.commit({"key.md": f"The key is in room {room}."})
    toml = '[[sources]]\npath = "repo"\nkind = "git"\nsource_id = "repo"\nallowed_groups = ["staff"]\n'
    write(tmp_path, {"clearcite.toml": toml})
    assert sync(tmp_path).code == 0
    write(tmp_path, {"clearcite.toml": toml.replace('kind = "git"\n', "").replace("staff", "board")})
    for args in ((), ("--dry-run",)):
        done = sync(tmp_path, *args)
        assert done.code == 2
        assert "has been a git repository" in done.err


def test_a_folder_narrows_what_a_feed_of_the_same_source_sent_before(tmp_path: Path) -> None:
    sent = FEED | {"source_id": "docs", "document_id": "key.md", "source_sequence": 9}
    write(tmp_path, {"feed.jsonl": fed(sent), "docs/key.md": str(FEED["content"])})
    assert clearcite(tmp_path, "ingest", "feed.jsonl").code == 0
    assert listed(tmp_path) == {"docs/key.md"}
    for _ in range(2):
        done = clearcite(tmp_path, "ingest", "docs", "--group", "board", "--source", "docs")
        assert (done.code, listed(tmp_path)) == (0, set()), done.err
    assert "1 noop" in done.err
