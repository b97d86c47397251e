"""The questions that choices are made on: what they say is answered stands in the documents."""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from clearcite.adapters.parsers.pdf import parse_pdf
from tests.support.data import ROOT, data_folder

pytestmark = pytest.mark.data


def read(name: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / "tests" / "data" / f"{name}_dev.toml").read_text("utf-8"))


def policies() -> str:
    files = sorted(data_folder("policies_pdf").glob("*.pdf"))
    return "\n".join(parse_pdf(file.read_bytes()).text for file in files)


def software_pages(folder: Path) -> str:
    bundle = data_folder("docs_history") / "docs-history.bundle"
    if shutil.which("git") is None:
        pytest.skip("the history of the documentation is read with git, which is not here")
    subprocess.run(["git", "clone", "--quiet", str(bundle), str(folder)], check=True)
    return "\n".join((folder / "docs" / page).read_text("utf-8") for page in read("software_docs")["pages"])


@pytest.mark.parametrize("name", ["policies", "software_docs", "cycles"])
def test_what_is_said_to_be_answered_stands_in_the_documents(name: str, tmp_path: Path) -> None:
    written = read(name)
    if name == "cycles":
        text = "\n".join(item["text"] for item in written["documents"])
    else:
        text = policies() if name == "policies" else software_pages(tmp_path / "clone")
    answered = [item for item in written["questions"] if "answer" in item]
    near = [item for item in written["questions"] if "miss" in item]
    assert len(answered) >= 40 and len(near) >= 40
    assert len(answered) + len(near) == len({item["text"] for item in written["questions"]})
    lacking = [item["text"] for item in answered if item["answer"].casefold() not in text.casefold()]
    assert lacking == []
    assert "no such words stand here" not in text, "the control must fail"
