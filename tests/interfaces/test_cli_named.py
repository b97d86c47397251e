"""Operators name a document by its id; the source only where several have one of that id."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.shell import clearcite, write

SOURCES = """
[[sources]]
path = "handbook"
source_id = "handbook"
tenant = "acme"
allowed_groups = ["staff"]

[[sources]]
path = "wiki"
source_id = "wiki"
tenant = "acme"
allowed_groups = ["staff"]
"""
POLICY = """
revision = 1
[subjects.ann]
tenant = "acme"
groups = ["staff"]
"""
LEAVE = "# Leave\n\nEvery employee has 25 days of leave.\n"
SEVERAL = "Several sources have a document with this id: handbook, wiki. Choose one with --source."


@pytest.fixture
def firm(empty: Path) -> Path:
    files = {
        "clearcite.toml": '[store]\npolicy = "policy.toml"\n[text]\nsemantic = "off"\n' + SOURCES,
        "policy.toml": POLICY,
        "handbook/leave.md": LEAVE,
        "handbook/plan.md": "# Plan\n\nThe plan is open.\n",
        "wiki/plan.md": "# Plan\n\nThe plan is another one.\n",
    }
    folder = write(empty, files)
    assert clearcite(folder, "ingest").code == 0
    return folder


def test_one_document_is_explained_deleted_and_purged_by_its_id_alone(firm: Path) -> None:
    found = clearcite(firm, "explain", "leave.md", "--as", "ann").json
    assert (found["document"]["source_id"], found["readable"]) == ("handbook", True)
    for command in (("delete", "leave.md"), ("work",), ("purge", "leave.md")):
        done = clearcite(firm, *command, *(() if command == ("work",) else ("--tenant", "acme")))
        assert done.code == 0, done.err
    assert clearcite(firm, "explain", "leave.md", "--as", "ann").json["readable"] is False
    assert done.json["documents"][0]["key"]["source_id"] == "handbook"


@pytest.mark.parametrize(
    "command",
    [
        ("explain", "plan.md", "--as", "ann"),
        ("delete", "plan.md", "--tenant", "acme"),
        ("purge", "plan.md", "--tenant", "acme"),
        ("reinstate", "plan.md", "--tenant", "acme"),
    ],
    ids=lambda command: command[0],
)
def test_where_several_sources_have_it_nothing_is_done_and_they_are_named(
    firm: Path, command: tuple[str, ...]
) -> None:
    done = clearcite(firm, *command)
    assert done.code == 2 and SEVERAL in done.err
    assert len(clearcite(firm, "list", "--as", "ann").lines) == 3


def test_with_its_source_one_of_them_is_deleted_and_the_other_stays(firm: Path) -> None:
    assert clearcite(firm, "delete", "plan.md", "--tenant", "acme", "--source", "wiki").code == 0
    left = [(item["source_id"], item["document_id"]) for item in clearcite(firm, "list", "--as", "ann").lines]
    assert left == [("handbook", "leave.md"), ("handbook", "plan.md")]
    assert "There is no such document" in clearcite(firm, "delete", "none.md", "--tenant", "acme").err
