"""Every page of docs/how-to is run from top to bottom in an empty folder, on a terminal, and shows what it says."""

from __future__ import annotations

import os
import pty
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.test_readme import BIN, ROOT, blocks
from tests.support.forking import installed
from tests.support.world import fast_folder

PAGES = sorted((ROOT / "docs" / "how-to").glob("*.md"))
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
PYTHON_SAYS = {"python": [
    [
        "answered", "Every employee has 25 days of leave. (1,)", "1 Leave leave.md 9 45",
        "1 leave.md Every employee has 25 days of leave.", "True", "invalid_input 2",
    ],
    ["How many days of leave do employees have?", "{'default/default/leave.md': []}", "reproduced"],
]}  # fmt: skip


@pytest.fixture(scope="module")
def quick() -> Iterator[Path]:
    folder = fast_folder()
    with installed(folder) as commands:
        yield commands
    shutil.rmtree(folder)


@pytest.fixture
def folder() -> Iterator[Path]:
    folder = fast_folder()
    yield folder
    shutil.rmtree(folder)


def environment(folder: Path, commands: Path = BIN) -> dict[str, str]:
    """Words only, for speed; nothing of the user's own settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CLEARCITE_")}
    kept |= {
        "PATH": f"{commands}:{BIN}:{os.environ['PATH']}",
        "CLEARCITE_SEMANTIC": "off",
        "HOME": str(folder),
    }
    return kept | {"TERM": "xterm"}


def on_terminal(script: str, folder: Path, commands: Path) -> tuple[str, str, int]:
    """Run a script whose standard output is a terminal; returns it without its colours, stderr, and the exit code."""
    ours, theirs = pty.openpty()
    with (folder / ".stderr").open("w+b") as errors:
        child = subprocess.Popen(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=folder,
            env=environment(folder, commands),
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=errors,
        )
        os.close(theirs)
        seen = b""
        try:
            while part := os.read(ours, 65536):
                seen += part
        except OSError:  # the script has ended
            pass
        finally:
            os.close(ours)
        code = child.wait(timeout=300)
        errors.seek(0)
        said = errors.read().decode("utf-8", "replace")
    return ESCAPES.sub("", seen.decode("utf-8")).replace("\r\n", "\n"), said, code


def assert_shows(output: str, promised: str) -> None:
    """Each line of the page stands in the output, in order; an ellipsis stands for anything."""
    at = 0
    for line in filter(None, map(str.strip, promised.splitlines())):
        pattern = ".*".join(re.escape(part) for part in line.split("…"))
        found = re.compile(rf"^ *{pattern} *$", re.MULTILINE).search(output, at)
        assert found, f"not shown, or not in this place: {line}\n--- output\n{output}"
        at = found.end()


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.name != "README.md"], ids=lambda page: page.stem
)
def test_a_page_can_be_pasted_and_shows_what_it_says(page: Path, folder: Path, quick: Path) -> None:
    text = page.read_text(encoding="utf-8")
    scripts = blocks("sh", text)
    output, said, code = on_terminal("\n".join(scripts), folder, quick)
    assert scripts and code == 0, f"{said}\n--- output\n{output}"
    assert_shows(output, "\n".join(blocks("text", text)))
    programs = blocks("python", text)
    for program, wanted in zip(programs, PYTHON_SAYS.get(page.stem, [[]] * len(programs)), strict=True):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", program],
            cwd=folder,
            env=environment(folder),
            capture_output=True,
            text=True,
            timeout=300,
            check=True,
        )
        assert done.stdout.splitlines() == wanted


def test_the_index_names_every_page_and_every_page_shows_a_command() -> None:
    index = (ROOT / "docs" / "how-to" / "README.md").read_text(encoding="utf-8")
    for page in PAGES:
        assert page.name == "README.md" or f"({page.name})" in index
    assert len(PAGES) > 10


def test_a_line_that_is_not_shown_is_noticed() -> None:
    """The control of the checks above."""
    assert_shows("one\ntwo 3\n", "one\ntwo …")
    for promised in ("three", "two …\none", "one\none"):
        with pytest.raises(AssertionError):
            assert_shows("one\ntwo 3\n", promised)
