"""A source with history through the commands: another generation, a rollback, a backup, a revocation and a purge."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.shell import Done, clearcite
from tests.support.world import fast_folder

CONFIG = """
[store]
policy = "policy.toml"

[[sources]]
path = "feed.jsonl"
source_id = "handbook"
allowed_groups = ["staff"]
history = true
"""
POLICY = """
revision = 1

[subjects.olga]
tenant = "default"
groups = ["staff"]
roles = ["operator"]
"""
STATES = (
    ("2025-01-01T00:00:00Z", "A parking space costs 40 euros a month."),
    ("2025-09-01T00:00:00Z", "A parking space costs 55 euros a month."),
    ("2026-03-01T00:00:00Z", "A parking space costs 60 euros a month."),
)
ASKED = "What does a parking space cost a month?"
MOMENTS = {"2025-03-01": "40", "2025-10-01": "55", "2026-04-01": "60"}


def line(sequence: int, instant: str, content: str, **more: object) -> str:
    fields = {
        "tenant_id": "default",
        "document_id": "parking.md",
        "source_sequence": sequence,
        "source_time": instant,
        "source_uri": "parking.md",
        "source_version": str(sequence),
        "content": content,
        **more,
    }
    return json.dumps(fields) + "\n"


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("CLEARCITE_SEMANTIC", "off")
    folder = fast_folder()
    (folder / "clearcite.toml").write_text(CONFIG)
    (folder / "policy.toml").write_text(POLICY)
    feed = "".join(line(n, when, text) for n, (when, text) in enumerate(STATES, start=1))
    (folder / "feed.jsonl").write_text(feed)
    ran(folder, "sync")
    yield folder
    shutil.rmtree(folder)


def ran(home: Path, *args: str) -> Done:
    done = clearcite(home, *args)
    assert done.code == 0, done.err
    return done


def prices(home: Path) -> dict[str, str]:
    """What each moment is answered with; "" where nothing is."""
    found = {}
    for moment in MOMENTS:
        answer = ran(home, "ask", ASKED, "--as", "olga", "--as-of", moment).json["answer"]
        found[moment] = answer[0]["text"].split()[4] if answer else ""
    return found


def test_the_past_is_the_same_in_another_generation_and_after_a_rollback(home: Path) -> None:
    assert prices(home) == MOMENTS
    ran(home, "index", "build", "--chunk-words", "60")
    (candidate,) = (
        item["name"] for item in ran(home, "index", "list").json["generations"] if not item["is_live"]
    )
    ran(home, "index", "promote", candidate, "--as", "olga", "--reason", "shorter chunks", "--force")
    assert prices(home) == MOMENTS
    ran(home, "index", "rollback", "--as", "olga", "--reason", "back")
    assert prices(home) == MOMENTS
    assert not any(ran(home, "reconcile").json["mismatches"].values())


def test_a_rehearsal_says_what_a_run_does(home: Path) -> None:
    rehearsed = clearcite(home, "sync", "--dry-run")
    assert "1 noop, 2 stale_ignored" in rehearsed.out + rehearsed.err


def test_a_backup_brings_back_no_past_that_was_revoked_since(home: Path) -> None:
    ran(home, "backup", "copy")
    newer = line(4, "2026-03-01T00:00:00Z", STATES[-1][1], allowed_groups=["board"])
    (home / "feed.jsonl").write_text(newer)
    ran(home, "sync")
    assert set(prices(home).values()) == {""}
    ran(home, "restore", "copy")
    assert set(prices(home).values()) == {""}


def test_a_purge_erases_every_kept_revision(home: Path) -> None:
    ran(
        home,
        "delete",
        "parking.md",
        "--tenant",
        "default",
        "--source",
        "handbook",
        "--reason",
        "user_request",
    )
    ran(home, "sync")
    receipt = ran(home, "purge", "parking.md", "--tenant", "default", "--source", "handbook").json
    assert receipt["complete"], receipt
    assert sum(item["revisions"] for item in receipt["documents"]) >= len(STATES)
    stored = b"".join(path.read_bytes() for path in (home / ".clearcite").rglob("*") if path.is_file())
    assert b"parking space costs" not in stored
    assert ran(home, "audit", "verify").code == 0


def test_a_purge_of_older_revisions_is_done_when_no_byte_of_a_kept_one_is_left(home: Path) -> None:
    """Kept revisions leave the index first; until then the purge says that it is not done."""

    def left() -> list[str]:
        stored = b"".join(path.read_bytes() for path in (home / ".clearcite").rglob("*") if path.is_file())
        return [price for price in MOMENTS.values() if f"costs {price} euros".encode() in stored]

    first = clearcite(home, "purge", "--revisions-older-than", "0", "--format", "text")
    assert (first.code, left()) == (1, list(MOMENTS.values())), first.out
    assert "2 deleted documents, not erased: work the deletion off" in first.out
    ran(home, "work")
    done = clearcite(home, "purge", "--revisions-older-than", "0", "--format", "text")
    assert (done.code, left()) == (0, ["60"]), done.out
    assert "default/handbook/parking.md as from 2025-01-01T00:00:00Z: 1 revisions, deleted" in done.out


def test_a_state_that_comes_late_is_listed_shown_and_checked_like_the_others(home: Path) -> None:
    later = line(5, "2026-04-15T00:00:00Z", "A car park costs 70 euros a month.", document_id="cars.md")
    earlier = line(3, "2026-02-01T00:00:00Z", "A car park costs 65 euros a month.", document_id="cars.md")
    (home / "feed.jsonl").write_text(later + earlier)
    ran(home, "sync")
    assert prices(home) == MOMENTS
    who = ("--as", "olga", "--as-of")
    listed = ran(home, "list", *who, "2026-03-15").lines
    assert [item["document_id"] for item in listed] == ["cars.md", "parking.md"]
    assert (
        ran(home, "show", "cars.md", *who, "2026-03-15").json["text"] == "A car park costs 65 euros a month."
    )
    assert clearcite(home, "show", "cars.md", *who, "2025-03-01").code == 2
    assert not any(ran(home, "reconcile").json["mismatches"].values())
    kept = ran(home, "ask", "What does a car park cost a month?", *who, "2026-03-15")
    assert "65 euros" in kept.json["answer"][0]["text"]
    (home / "kept.json").write_text(kept.out)
    trace = kept.json["trace_id"]
    ran(home, "audit", "export", trace, "a.json", "--response", "kept.json", "--texts")
    (home / "checker.py").write_text(ran(home, "audit", "checker").out)
    (home / "bent.json").write_text((home / "a.json").read_text().replace("65 euros", "56 euros"))
    for name, code in (("a.json", 0), ("bent.json", 1)):
        checked = subprocess.run(
            [sys.executable, "-I", "checker.py", name], cwd=home, check=False, capture_output=True
        )
        assert checked.returncode == code, checked.stdout
    assert ran(home, "audit", "verify").code == 0
