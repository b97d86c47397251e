"""A promise names tests that exist: every page of docs/promises is checked against the tree."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.docs.test_readme import ROOT

FOLDER = ROOT / "docs" / "promises"
PAGES = sorted(FOLDER.glob("I*.md"))
INDEX = (FOLDER / "README.md").read_text(encoding="utf-8")
NAMED = re.compile(r"`((?:tests|src)/[\w./-]+)(?:::(\w+))?`")
PARTS = (
    *("In plain words", "Why usual systems break it", "How it is kept"),
    *("The test", "The control", "Run just this", "Limits"),
)


@cache
def functions_of(path: Path) -> frozenset[str]:
    """Names of the test functions of a file, those of its classes too."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def missing(text: str) -> list[str]:
    """What a text names and the tree does not have."""
    found = []
    for name, function in NAMED.findall(text):
        path = ROOT / name
        if not path.exists() or (function and function not in functions_of(path)):
            found.append(f"{name}::{function}" if function else name)
    return found


@pytest.mark.parametrize("page", [*PAGES, FOLDER / "README.md"], ids=lambda page: page.stem)
def test_every_test_and_file_that_a_page_names_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "::test_" in text
    assert missing(text) == []


def test_the_control_a_name_that_is_not_there_is_found() -> None:
    for name in ("tests/docs/test_promises.py::test_nothing", "tests/none.py", "src/clearcite/none.py"):
        assert missing(f"see `{name}`") == [name]
    assert missing("`tests/docs/test_promises.py::test_every_test_and_file_that_a_page_names_exists`") == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_promise_says_how_it_is_kept_how_it_could_fail_and_where_it_ends(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    places = [text.find(f"**{part}") for part in PARTS]
    assert -1 not in places and places == sorted(places)
    assert text.startswith(f"# {page.stem.split('-')[0]}. ")
    assert len(text.split()) < 700, "a page"


def test_the_table_has_a_row_with_test_and_control_for_every_page_and_no_other() -> None:
    rows = [line for line in INDEX.splitlines() if line.startswith("| [I")]
    assert [re.findall(r"\]\((.*?)\)", row) for row in rows] == sorted(
        ([page.name] for page in PAGES), key=lambda names: int(re.findall(r"\d+", names[0])[0])
    )
    for row in rows:
        (test, control) = (f"{name}::{function}" for name, function in NAMED.findall(row))
        page = (FOLDER / re.findall(r"\]\((.*?)\)", row)[0]).read_text(encoding="utf-8")
        assert test != control
        assert page.index("**The test") < page.index(test) < page.index("**The control") < page.index(control)


def test_what_a_page_tells_to_run_is_there() -> None:
    for page in PAGES:
        (command,) = re.findall(r"\*\*Run just this\.\*\* `(pytest [^`]*)`", page.read_text(encoding="utf-8"))
        files = command.split()[1:]
        assert files and all((ROOT / name).is_file() for name in files)


def test_what_is_not_promised_is_said() -> None:
    assert "## What is not promised" in INDEX
