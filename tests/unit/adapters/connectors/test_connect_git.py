"""A git repository as a source: history in order, what is left out, and what cannot make git run anything."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from clearcite.adapters.connectors.deletions import Deletions
from clearcite.adapters.connectors.document import FileReader
from clearcite.adapters.connectors.git import GitConnector
from clearcite.adapters.connectors.git_repository import GitRepository
from clearcite.config import SourceSettings
from clearcite.domain.corpus import SourceRecord
from clearcite.domain.sources import Checkpoint
from clearcite.errors import ClearciteError, InputError, IntegrityFault, MissingExtra
from tests.support.git import FIRST, Repository, repository

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed here")

SETTINGS = SourceSettings(path=".", tenant="acme", source_id="wiki", kind="git", allowed_groups=("staff",))
DAY = 86_400_000_000


class Source:
    """A repository that is taken again and again, and what a ledger would have of it."""

    def __init__(self, path: Path, **more: Any) -> None:
        self.path, self.more = path, more
        self.settings: SourceSettings = SETTINGS
        self.heads: dict[str, tuple[int, bool]] = {}
        self.cursor: str | None = None
        self.errors: list[str] = []
        self.skipped: list[tuple[str, str]] = []
        self.last = Checkpoint()

    def connector(self, **more: Any) -> GitConnector:
        self.skipped = []
        return GitConnector(
            repository=GitRepository(path=self.path, **self.more),
            reader=FileReader(settings=self.settings, max_bytes=1_000, skipped=self.skipped),
            heads=dict(self.heads),
            cursor=self.cursor,
            **more,
        )

    def take(self, stop: int | None = None, **more: Any) -> list[tuple[str, str, int]]:
        """Events of one run, which ends after ``stop`` records as a kill would end it."""
        events: list[tuple[str, str, int]] = []
        self.errors = []
        for item in self.connector(**more).records():
            if isinstance(item, Checkpoint):
                self.cursor, self.last = item.cursor, item
            elif isinstance(item, ClearciteError):
                self.errors.append(item.message)
            else:
                if stop is not None and len(events) == stop:
                    break
                name = item.key.document_id
                events.append((item.operation, name, item.source_sequence))
                self.heads[name] = (item.source_sequence, item.operation == "upsert")
        return events


def records(source: Source) -> list[SourceRecord]:
    return [item for item in source.connector().records() if isinstance(item, SourceRecord)]


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    return repository(tmp_path / "repo")


def test_each_commit_is_a_sequence_with_its_time_and_renames_are_delete_and_create(repo: Repository) -> None:
    repo.commit({"a.md": "one", "b.md": "b"})
    repo.commit({"a.md": "two"})
    repo.commit({})
    repo.commit({"b.md": None, "sub/c.md": "b"})
    source = Source(repo.path)
    found = records(source)
    assert [(item.operation, item.key.document_id, item.source_sequence) for item in found] == [
        ("upsert", "a.md", 2),
        ("upsert", "b.md", 2),
        ("upsert", "a.md", 4),
        ("delete", "b.md", 8),
        ("upsert", "sub/c.md", 8),
    ]
    assert [item.text for item in found] == ["one", "b", "two", None, "b"]
    times = [item.description.source_time for item in found if item.description]
    assert times == [FIRST * 1_000_000 + n * DAY for n in (0, 0, 1, 3)]


def test_a_run_goes_on_from_the_last_commit_and_finds_nothing_new_where_nothing_is(repo: Repository) -> None:
    repo.commit({"a.md": "one"})
    source = Source(repo.path)
    assert source.take() == [("upsert", "a.md", 2)]
    assert source.last.covered
    assert source.take() == []
    repo.commit({"b.md": "two"})
    repo.commit({"a.md": None})
    assert source.take() == [("upsert", "b.md", 4), ("delete", "a.md", 6)]
    assert source.take() == []


def test_a_run_that_is_cut_short_is_no_full_listing_and_ends_in_the_same_events(repo: Repository) -> None:
    for number in range(5):
        repo.commit({"a.md": f"{number}", f"{number}.md": "x"})
    whole = Source(repo.path).take()
    for stop in range(len(whole)):
        source = Source(repo.path)
        first = source.take(stop=stop)
        assert not source.last.covered
        again = source.take()
        assert source.last.covered
        assert set(first + again) == set(whole), "said again at the same sequences, or not again"
        assert source.take() == []


def test_a_rewritten_branch_is_listed_whole_above_all_that_was_used(repo: Repository) -> None:
    first = repo.commit({"a.md": "one", "b.md": "b"})
    repo.commit({"a.md": "two"})
    source = Source(repo.path)
    source.take()
    repo.run("reset", "-q", "--hard", first)
    assert source.take() == [("upsert", "a.md", 6), ("upsert", "b.md", 6)]
    repo.run("checkout", "-q", "--orphan", "other")
    repo.commit({"b.md": None, "c.md": "c"})
    assert source.take() == [("upsert", "a.md", 8), ("upsert", "c.md", 8), ("delete", "b.md", 8)]
    repo.commit({"c.md": "d"})
    assert source.take() == [("upsert", "c.md", 10)]


def test_a_commit_that_is_not_there_any_more_is_a_rewritten_branch(repo: Repository) -> None:
    repo.commit({"a.md": "one"})
    source = Source(repo.path)
    source.take()
    assert source.cursor is not None
    source.cursor = source.cursor.replace(repo.run("rev-parse", "HEAD"), "0" * 40)
    assert source.take() == [("upsert", "a.md", 4)]
    source.cursor = "bent"
    with pytest.raises(IntegrityFault):
        source.take()


def test_many_deletes_of_a_rewritten_branch_wait_until_they_are_approved(repo: Repository) -> None:
    repo.commit({f"{n:02}.md": "x" for n in range(50)})
    source = Source(repo.path)
    source.take()
    repo.run("checkout", "-q", "--orphan", "other")
    repo.commit({f"{n:02}.md": None for n in range(30)} | {"new.md": "x"})
    for approved in (0, 29):
        events = source.take(deletions=Deletions(approved=approved))
        assert [kind for kind, _, _ in events].count("delete") == 0
        assert ("new.md" in [name for _, name, _ in events], source.last.withheld) == (True, 30)
        assert "--up-to 30" in source.errors[0]
    events = source.take(deletions=Deletions(approved=30))
    assert [kind for kind, _, _ in events].count("delete") == 30
    assert (source.take(), source.last.withheld) == ([], 0)


def test_deletes_in_the_history_are_the_sources_own_word_and_do_not_wait(repo: Repository) -> None:
    repo.commit({f"{n:02}.md": "x" for n in range(50)})
    source = Source(repo.path)
    source.take()
    repo.commit({f"{n:02}.md": None for n in range(49)})
    assert [kind for kind, _, _ in source.take()].count("delete") == 49


def test_other_settings_of_the_source_are_a_new_state_of_every_document(repo: Repository) -> None:
    repo.commit({"a.md": "one"})
    source = Source(repo.path)
    source.take()
    source.settings = replace(SETTINGS, allowed_groups=("board",))
    assert source.take() == [("upsert", "a.md", 4)]
    assert source.take() == []


def test_a_merge_is_what_it_brought_to_the_branch(repo: Repository) -> None:
    repo.commit({"a.md": "one"})
    repo.run("checkout", "-q", "-b", "side")
    repo.commit({"side.md": "draft"})
    repo.commit({"side.md": "final"})
    repo.run("checkout", "-q", "main")
    repo.commit({"a.md": "two"})
    repo.run("merge", "-q", "--no-ff", "-m", "x", "side")
    source = Source(repo.path)
    assert source.take() == [("upsert", "a.md", 2), ("upsert", "a.md", 4), ("upsert", "side.md", 6)]
    assert [item.text for item in records(Source(repo.path))] == ["one", "two", "final"]


def test_a_part_of_a_repository_and_a_branch_of_it(repo: Repository) -> None:
    repo.commit({"docs/a.md": "one", "docsish/b.md": "b", "c.md": "c"})
    repo.run("branch", "release")
    repo.commit({"docs/a.md": "two"})
    assert Source(repo.path, folder="docs", ref="release").take() == [("upsert", "a.md", 2)]
    assert Source(repo.path, folder="docs/").take() == [("upsert", "a.md", 2), ("upsert", "a.md", 4)]


def test_bare_shallow_and_linked_repositories_are_read(repo: Repository, tmp_path: Path) -> None:
    for n in range(4):
        repo.commit({"a.md": f"{n}"})
    repo.run("clone", "-q", "--bare", ".", str(tmp_path / "bare"))
    repo.run("clone", "-q", "--depth", "2", f"file://{repo.path}", str(tmp_path / "shallow"))
    repo.run("worktree", "add", "-q", str(tmp_path / "tree"), "-b", "linked")
    everything = [("upsert", "a.md", n) for n in (2, 4, 6, 8)]
    assert Source(tmp_path / "bare").take() == everything
    assert Source(tmp_path / "tree").take() == everything
    shallow = Source(tmp_path / "shallow")
    assert shallow.take() == everything[:2]
    assert shallow.skipped == [(".", "the history is cut off; it begins where the clone does")]


def test_links_submodules_and_other_files_are_skipped_with_a_reason(repo: Repository, tmp_path: Path) -> None:
    other = repository(tmp_path / "other")
    other.commit({"x.md": "x"})
    (repo.path / "link.md").symlink_to("/etc/passwd")
    repo.run("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other.path), "vendor")
    repo.commit({"a.md": "a", "logo.png": b"\x89PNG", ".hidden.md": "x", "b.md": "b"})
    (repo.path / "b.md").unlink()
    (repo.path / "b.md").symlink_to("a.md")
    repo.commit({"logo.png": b"\x89PNG2"})
    source = Source(repo.path)
    assert source.take() == [("upsert", "a.md", 2), ("upsert", "b.md", 2), ("delete", "b.md", 4)]
    assert sorted(source.skipped) == [
        ("b.md", "a link is not followed"),
        ("link.md", "a link is not followed"),
        ("logo.png", "unknown file type"),
        ("vendor", "a submodule is not followed"),
    ]


def test_a_bad_file_is_refused_by_its_name_and_the_rest_goes_on(repo: Repository) -> None:
    repo.commit(
        {"a.md": "x" * 1_001, "b.md": "---\nallowed_groups: []\n---\nx", "c.md": "c", "d.md": b"\xff\xfe\x00"}
    )
    repo.commit({"a.md": "short"})
    source = Source(repo.path)
    assert [name for _, name, _ in source.take()] == ["c.md", "a.md"]
    assert any('"a.md": is larger than 1000 bytes' in message for message in source.errors)
    assert any('"b.md": ' in message for message in source.errors)


def test_a_name_in_another_unicode_form_is_the_same_document(repo: Repository) -> None:
    repo.commit({"cafe\u0301.md": "one"})
    repo.commit({"cafe\u0301.md": None, "caf\u00e9.md": "two"})
    assert Source(repo.path).take() == [("upsert", "caf\u00e9.md", 2), ("upsert", "caf\u00e9.md", 4)]


def test_nothing_in_a_repository_makes_git_run_a_program(repo: Repository, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    script = tmp_path / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch {mark}\ncat\n")
    script.chmod(0o755)
    repo.commit({"a.md": "one", ".gitattributes": "*.md diff=evil filter=evil\n"})
    for name in (
        "core.fsmonitor",
        "core.sshCommand",
        "diff.external",
        "diff.evil.textconv",
        "diff.evil.command",
    ):
        repo.run("config", name, str(script))
    for name in ("filter.evil.smudge", "filter.evil.clean", "core.pager", "pager.log", "gpg.program"):
        repo.run("config", name, str(script))
    repo.run("config", "alias.rev-list", f"!{script}")
    hooks = repo.path / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-checkout", "reference-transaction", "post-index-change"):
        shutil.copy(script, hooks / name)
    subprocess.run(["git", "diff", "HEAD"], cwd=repo.path, check=False, capture_output=True)
    subprocess.run(["git", "status"], cwd=repo.path, check=False, capture_output=True)
    assert mark.exists(), "the control: without care git runs it"
    mark.unlink()
    assert Source(repo.path).take() == [("upsert", "a.md", 2)]
    assert not mark.exists()


def test_settings_of_the_user_and_replaced_objects_change_nothing(
    repo: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = repo.commit({"a.md": "one"})
    bad = repo.commit({"a.md": "forged"})
    repo.run("reset", "-q", "--hard", good)
    repo.run("replace", good, bad)
    (tmp_path / ".gitconfig").write_text("[core]\n\tquotePath = true\n[log]\n\tshowSignature = true\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    assert [item.text for item in records(Source(repo.path))] == ["one"]


def test_what_is_no_repository_or_has_no_commit_is_refused(repo: Repository, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    with pytest.raises(InputError, match="is not a git repository"):
        Source(tmp_path / "plain").take()
    with pytest.raises(InputError, match="no commit that is called HEAD"):
        Source(repo.path).take()
    repo.commit({"a.md": "one"})
    with pytest.raises(InputError, match="no commit that is called gone"):
        Source(repo.path, ref="gone").take()
    for bent in ({"ref": "--output=x"}, {"ref": ""}, {"folder": "../x"}):
        with pytest.raises(InputError):
            Source(repo.path, **bent).take()


def test_without_git_the_error_says_how_to_get_it(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit({"a.md": "one"})
    monkeypatch.setenv("PATH", os.devnull)
    with pytest.raises(MissingExtra, match="apt-get install git"):
        Source(repo.path).take()
