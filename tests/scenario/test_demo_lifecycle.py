"""A document's life as the demo tells it: each step once, and the same bytes each time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.shell import clearcite


def test_the_old_text_answers_until_the_new_one_is_published_and_nothing_is_left_at_the_end(
    tmp_path: Path,
) -> None:
    done = clearcite(tmp_path, "demo", "--lifecycle")
    assert done.code == 0, done.err
    steps: list[Any] = done.lines
    assert [item["step"] for item in steps] == [
        *("accepted", "published", "asked", "updated", "projection failed", "asked", "retried", "asked"),
        *("deleted", "asked", "deletion projected", "purged", "reconciled"),
    ]
    before, meanwhile, after, gone = (item for item in steps if item["step"] == "asked")
    assert before == meanwhile, "the old revision still answers"
    assert after["answer"] != before["answer"] and after["revisions"] != before["revisions"]
    assert (gone["status"], gone["answer"], gone["revisions"]) == ("insufficient_evidence", [], [])
    assert len(steps[4]["failed"]) == 1 and steps[6]["failed"] == {}
    assert steps[-2] == {"step": "purged", "revisions": 2, "complete": True}
    assert (steps[-1]["total"], steps[-1]["checked"]["documents"]) == (0, 2)
    assert clearcite(tmp_path, "demo", "--lifecycle").out == done.out
    assert list(tmp_path.iterdir()) == []
