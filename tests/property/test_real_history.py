"""A real documentation folder with its history: in whatever order events come, the same documents stand at the end."""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from clearcite.adapters.connectors.document import FileReader
from clearcite.adapters.connectors.git import GitConnector
from clearcite.adapters.connectors.git_repository import GitRepository
from clearcite.config import SourceSettings
from clearcite.domain.corpus import SourceRecord
from tests.support.data import data_folder
from tests.support.world import make_world, principal

STAFF = principal("staff")

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed here")


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    bundle = data_folder("docs_history") / "docs-history.bundle"
    folder = tmp_path_factory.mktemp("history")
    subprocess.run(["git", "clone", "-q", "--bare", str(bundle), str(folder / "repo")], check=True)
    return folder / "repo"


@pytest.fixture(scope="module")
def events(repository: Path) -> list[SourceRecord]:
    settings = SourceSettings(path="repo", kind="git", tenant="acme", allowed_groups=("staff",))
    connector = GitConnector(
        repository=GitRepository(path=repository, folder="docs"),
        reader=FileReader(settings=settings, max_bytes=10_000_000),
        heads={},
    )
    return [item for item in connector.records() if isinstance(item, SourceRecord)]


def end_of(batches: Iterator[list[SourceRecord]]) -> dict[str, str | None]:
    """The documents that can be read when all was taken."""
    world = make_world()
    for batch in batches:
        world.services.ledger.apply(batch, world.pipeline.manifest_hash)
    world.publish()
    names = [item.document_id for item in world.engine.documents(STAFF)]
    return {name: world.engine.document(name, STAFF).text for name in names}


def batched(records: list[SourceRecord], dice: random.Random) -> Iterator[list[SourceRecord]]:
    at = 0
    while at < len(records):
        size = dice.randrange(1, 400)
        yield records[at : at + size]
        at += size


def test_every_commit_is_an_event_in_the_order_of_the_history(events: list[SourceRecord]) -> None:
    assert len(events) > 700
    assert [item.source_sequence for item in events] == sorted(item.source_sequence for item in events)
    assert sum(item.operation == "delete" for item in events) >= 2
    times = [item.description.source_time or 0 for item in events if item.description]
    assert times == sorted(times)


@pytest.mark.parametrize("round_", range(1))
def test_shuffled_and_doubled_events_end_in_the_documents_of_the_last_commit(
    events: list[SourceRecord], repository: Path, round_: int
) -> None:
    seed = random.randrange(1 << 30)
    dice = random.Random(seed)
    mixed = events + dice.sample(events, len(events) // 3)
    dice.shuffle(mixed)
    found = end_of(batched(mixed, dice))
    assert found == end_of(iter([events])), f"seed {seed}"
    listed = subprocess.run(
        ["git", "ls-tree", "-r", "--name-only", "HEAD:docs"], cwd=repository, check=True, capture_output=True
    )
    kept = (".rst", ".txt", ".html")
    assert sorted(found) == sorted(name for name in listed.stdout.decode().split() if name.endswith(kept))


def test_control_events_that_are_taken_by_arrival_end_elsewhere(events: list[SourceRecord]) -> None:
    mixed = events[:]
    random.Random(3).shuffle(mixed)
    last: dict[str, SourceRecord] = {item.key.document_id: item for item in mixed}
    naive = {name: item.text for name, item in last.items() if item.operation == "upsert"}
    assert naive != end_of(iter([events]))
