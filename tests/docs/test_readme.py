"""The commands of the README are run as they stand, in order, in a fresh folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BIN = Path(sys.executable).parent


def blocks(language: str, text: str = README) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def shell(script: str, folder: Path) -> str:
    env = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        ["bash", "-euc", script],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """The folder that the README's own commands make, and what they print."""
    folder = tmp_path_factory.mktemp("readme")
    script = next(block for block in blocks("sh") if "clearcite init" in block)
    lines = [line for line in script.splitlines() if "activate" not in line]
    return folder / "mine", shell("\n".join(lines), folder).splitlines()


def test_a_folder_of_one_s_own_can_be_asked_as_two_people(own: tuple[Path, list[str]]) -> None:
    folder, answers = own
    assert '"status":"answered"' in answers[0] and "25 days" in answers[0] and "leave.md" in answers[0]
    assert '"status":"insufficient_evidence"' in answers[1]
    assert "bonus" not in answers[1].lower().replace("how large is the bonus pool", "")
    again = next(block for block in blocks("sh") if "--group board" in block)
    assert "90,000" in shell(again, folder)


def test_the_python_example_answers(own: tuple[Path, list[str]]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", blocks("python")[0]],
        cwd=own[0],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout.startswith("answered") and "25 days" in done.stdout


def test_the_set_up_commands_of_the_readme_are_targets_of_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    named = set(re.findall(r"^make ([a-z-]+)", "\n".join(blocks("sh")), re.MULTILINE))
    assert named == {"demo", "test"}
    assert named <= targets
    assert "make test" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"
