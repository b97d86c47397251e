"""A decision is one page: what, instead of what, why, with a figure; and the index names it."""

from __future__ import annotations

import re

from tests.docs.test_promises import missing
from tests.docs.test_readme import ROOT

FOLDER = ROOT / "docs" / "decisions"


def test_every_decision_fits_a_page_and_has_a_figure() -> None:
    pages = sorted(FOLDER.glob("[0-9]*.md"))
    index = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert len(pages) >= 4
    for number, page in enumerate(pages, start=1):
        text = page.read_text(encoding="utf-8")
        assert text.startswith(f"# {number:04}. ") and page.name.startswith(f"{number:04}-")
        assert f"]({page.name})" in index
        assert len(text.split()) < 600
        assert "**Chosen.**" in text and "**Instead of**" in text and "**Why" in text
        assert re.search(r"\d+(\.\d+)? (%|times|s\b)|\| *[\d.,]+ *\|", text), "a figure"
        assert missing(text) == []
