"""Everything that status tells is explained, and nothing is explained that it does not tell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.docs.test_readme import ROOT
from tests.support.shell import clearcite, write

PAGE = ROOT / "docs" / "operations.md"
EXPLAINED_BY_THEMSELVES = {
    *(
        "tenant_id",
        "source_id",
        "document_id",
        "reason",
        "what",
        "seconds",
        "name",
        "state",
        "live",
        "served",
    ),
    *(
        "manifest",
        "index_manifest",
        "event_id",
        "next_seconds",
        "policy",
        "purge",
        "started_at",
        "finished_at",
    ),
    *("count", "hour", "day"),
}


def keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            if key != "versions":
                yield from keys(item)
    elif isinstance(value, list):
        for item in value:
            yield from keys(item)


def told(folder: Path) -> set[str]:
    """The fields of a store in which something waits, fails and was taken."""
    write(folder, {"docs/a.md": "One.", "docs/b.pdf": b"%PDF-1.7 broken"})
    clearcite(folder, "ingest", "docs", "--group", "staff", "--semantic", "off")
    clearcite(folder, "delete", "a.md", "--tenant", "default")
    return set(keys(clearcite(folder, "status").json))


def test_every_field_of_status_is_explained(tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    named = {part for code in re.findall(r"`([^`]+)`", page) for part in re.split(r"[ .]", code)}
    assert told(tmp_path) - named - EXPLAINED_BY_THEMSELVES == set()


def test_the_first_words_of_each_table_are_fields_of_status(tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`[^|]+) \|", page, re.MULTILINE)
    fields = {part for row in rows for name in re.findall(r"`([^`]+)`", row) for part in name.split(".")}
    assert fields
    assert fields - told(tmp_path) == set()
