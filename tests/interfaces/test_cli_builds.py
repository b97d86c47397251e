"""Generations from the command line: built beside, replaced when they cannot be read, dropped when unwanted."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest
from msgspec.structs import replace

from clearcite.config import load_settings
from clearcite.wiring import open_workshop
from tests.support.shell import Done, clearcite, write
from tests.support.world import fast_folder

CONFIG = """
[store]
policy = "policy.toml"
[text]
semantic = "off"
[[sources]]
path = "docs"
allowed_groups = ["staff"]
"""
POLICY = """
revision = "1"
[subjects.ann]
tenant = "default"
groups = ["staff"]
[subjects.olga]
tenant = "default"
groups = ["staff"]
roles = ["operator"]
"""
SYNONYMS = '[synonyms]\ninn = ["lodging"]\n'
QUESTION = ("ask", "What is the lodging allowance?", "--tenant", "default", "--group", "staff")


@pytest.fixture(scope="module")
def template() -> Iterator[Path]:
    folder = fast_folder()
    docs = {f"docs/{i}.md": f"# Room {i}\n\nRoom {i} has {i + 2} beds.\n" for i in range(5)}
    text = "# Lodging\n\nThe lodging allowance is EUR 140 per night.\n"
    write(folder, {"clearcite.toml": CONFIG, "policy.toml": POLICY, **docs, "docs/lodging.md": text})
    assert clearcite(folder, "ingest").code == 0
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def shop(template: Path, empty: Path) -> Path:
    shutil.copytree(template, empty, dirs_exist_ok=True)
    return empty


def generations(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = clearcite(folder, "index", "list", "--format", "json").json["generations"]
    return found


def active(folder: Path) -> list[str]:
    return [item["name"] for item in generations(folder) if item["state"] == "active"]


def live(folder: Path) -> str:
    (name,) = [item["name"] for item in generations(folder) if item["is_live"]]
    return str(name)


def asked(folder: Path) -> tuple[int, str]:
    done = clearcite(folder, *QUESTION)
    return done.code, done.json["status"]


def lost(folder: Path) -> None:
    for path in (folder / ".clearcite/index" / live(folder)).glob("*.manifest"):
        path.unlink()


def torn(folder: Path) -> None:
    (path,) = (folder / ".clearcite/index" / live(folder)).glob("*.segment")
    raw = path.read_bytes()
    path.write_bytes(raw[:900] + bytes([raw[900] ^ 1]) + raw[901:])


def another(folder: Path) -> None:
    """The manifest in the ledger is changed, and still one."""
    with closing(apsw.Connection(str(folder / ".clearcite/ledger.db"))) as db:
        db.execute("UPDATE generations SET manifest = replace(manifest, '\"bm25_b\":30', '\"bm25_b\":29')")


def corrupt(folder: Path) -> None:
    with closing(apsw.Connection(str(folder / ".clearcite/ledger.db"))) as db:
        db.execute("UPDATE generations SET manifest = '{'")


@pytest.mark.parametrize("command", [("ingest",), ("index", "build")])
@pytest.mark.parametrize("damage", [lost, torn, another, corrupt])
def test_an_index_that_cannot_be_read_is_built_again_by_a_command(
    shop: Path, damage: Any, command: tuple[str, ...]
) -> None:
    before = live(shop)
    damage(shop)
    assert asked(shop) == (3 if damage is lost else 4, "dependency_unavailable")
    doctor = clearcite(shop, "doctor")
    assert doctor.code != 0 and "mend it with: clearcite index build" in doctor.out
    done = clearcite(shop, *command)
    assert done.code == 0, done.err
    assert asked(shop) == (0, "answered")
    assert live(shop) != before and active(shop) == [live(shop)]
    assert not (shop / ".clearcite/index" / before).exists()
    assert clearcite(shop, "doctor").out.count("BAD") == 0


@pytest.mark.parametrize("damage", [another, corrupt])
def test_a_manifest_that_was_changed_in_the_ledger_is_an_integrity_fault(shop: Path, damage: Any) -> None:
    damage(shop)
    assert asked(shop) == (4, "dependency_unavailable")
    search = clearcite(shop, "search", *QUESTION[1:])
    assert (search.code, "integrity_fault" in search.err) == (4, True)


def test_a_generation_that_was_half_built_is_dropped_when_the_settings_go_back(shop: Path) -> None:
    before = live(shop)
    settings = replace(load_settings(shop), languages=("en",))
    with closing(open_workshop(settings)):
        assert len(active(shop)) == 2
    (shop / ".clearcite/index/g-0123456789ab").mkdir()  # a worker was killed while it retired this one
    assert clearcite(shop, "ingest").code == 0
    assert active(shop) == [before]
    assert os.listdir(shop / ".clearcite/index") == [before]


def test_a_build_stands_beside_the_live_one_and_ingestion_feeds_both(shop: Path) -> None:
    before = live(shop)
    write(shop, {"candidate.toml": SYNONYMS})
    done = clearcite(shop, "index", "build", "--settings", "candidate.toml", "--chunk-words", "60")
    assert done.code == 0, done.err
    assert live(shop) == before and len(active(shop)) == 2
    write(shop, {"docs/new.md": "# New\n\nThe new wing opens in May.\n"})
    assert clearcite(shop, "ingest").code == 0
    assert [item["waiting"] for item in generations(shop)] == [0, 0]
    assert [item["served"] for item in generations(shop)] == [7, 7]
    again = clearcite(shop, "index", "build", "--settings", "candidate.toml", "--chunk-words", "60")
    assert again.code == 0 and len(generations(shop)) == 2


@pytest.mark.parametrize(
    "flags",
    [("--chunk-words", "1"), ("--bm25-b", "101"), ("--semantic", "perhaps"), ("--settings", "no.toml")],
)
def test_a_recipe_that_cannot_be_is_refused_and_nothing_is_started(
    shop: Path, flags: tuple[str, ...]
) -> None:
    done: Done = clearcite(shop, "index", "build", *flags)
    assert done.code == 2 and len(generations(shop)) == 1
