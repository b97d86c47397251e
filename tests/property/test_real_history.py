"""A real documentation folder with its history: in whatever order events come, the same documents stand at the end."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections import Counter
from collections.abc import Container, Iterator
from math import inf
from pathlib import Path

import pytest
from msgspec.structs import replace

from clearcite.adapters.connectors.document import FileReader
from clearcite.adapters.connectors.git import GitConnector
from clearcite.adapters.connectors.git_repository import GitRepository
from clearcite.config import SourceSettings
from clearcite.domain.corpus import SourceRecord, revision_label
from clearcite.domain.digest import sha256_text
from tests.support.data import data_folder
from tests.support.dice import new_seed
from tests.support.world import DAY, World, make_world, principal

STAFF = principal("staff")
KINDS = (".rst", ".txt", ".html")
LONG, STRETCH = 100, 25
"""A page that was changed more often than ``LONG`` times is read in a stretch of so many states."""

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


def read_at(world: World, instant: int) -> dict[str, str]:
    """What is listed and shown as of an instant, by the ids that people know."""
    engine = world.engine
    names = [item.document_id for item in engine.documents(STAFF, limit=10_000, as_of=instant)]
    assert len(set(names)) == len(names)
    return {name: engine.document(name, STAFF, as_of=instant).text or "" for name in names}


def text_then(repository: Path, instant: int, told: Container[str]) -> dict[str, str]:
    """What the branch held at an instant, of the documents told of that it still has."""
    when = f"{instant // 1_000_000} +0000"
    commit = git(repository, "rev-list", "-1", "--first-parent", f"--before={when}", "HEAD")
    names = [
        set(git(repository, "ls-tree", "-r", "--name-only", f"{at}:docs").split()) for at in (commit, "HEAD")
    ]
    kept = sorted(name for name in set.intersection(*names) if name in told and name.endswith(KINDS))
    texts = {name: git(repository, "show", f"{commit}:docs/{name}", strip=False) for name in kept}
    return {name: " ".join(text.split()) for name, text in texts.items() if text.strip()}


def git(repository: Path, *args: str, strip: bool = True) -> str:
    done = subprocess.run(["git", *args], cwd=repository, check=True, capture_output=True)
    text = done.stdout.decode("utf-8")
    return text.strip() if strip else text


def part_of(
    events: list[SourceRecord], dice: random.Random
) -> tuple[list[SourceRecord], dict[str, tuple[float, float]]]:
    """All of the history in a soak. Else of the pages that were changed hundreds of times a drawn stretch, and all of
    the others; and from when to when what is left of a page is what was current."""
    kept: list[SourceRecord] = []
    known: dict[str, tuple[float, float]] = {}
    for name in sorted({item.key.document_id for item in events}):
        some = [item for item in events if item.key.document_id == name]
        first, last = 0, len(some)
        if len(some) > LONG and not os.environ.get("CLEARCITE_SOAK"):
            first = dice.randrange(len(some) - STRETCH)
            last = first + STRETCH
        times = [began(item) for item in some]
        known[name] = (times[first] if first else -inf, times[last] if last < len(some) else inf)
        kept += some[first:last]
    return sorted(kept, key=lambda item: item.source_sequence), known


def began(item: SourceRecord) -> int:
    said = item.source_time if item.description is None else item.description.source_time
    assert said is not None
    return said


def test_at_ten_random_instants_the_revision_that_was_current_is_read(
    events: list[SourceRecord], repository: Path
) -> None:
    seed = new_seed()
    dice = random.Random(seed)
    part, known = part_of(events, dice)
    kept = [replace(item, keeps_history=True) for item in part]
    world = make_world()
    for batch in batched(kept, dice):
        world.services.ledger.apply(batch, world.pipeline.manifest_hash)
    world.publish()
    for item in dice.sample([item for item in kept if item.description], 10):
        for instant in (began(item), began(item) + dice.randrange(30 * DAY)):
            said = f"seed {seed}, instant {instant}"
            told = {name for name, (start, end) in known.items() if start <= instant < end}
            wanted = text_then(repository, instant, told)
            found = {name: text for name, text in read_at(world, instant).items() if name in told}
            assert set(found) == set(wanted), said
            for name, text in found.items():
                assert name.endswith(".html") or " ".join(text.split()) == wanted[name], f"{said}, {name}"
            asked = item.key.document_id.rpartition("/")[2].partition(".")[0].replace("-", " ")
            hits = world.engine.search(asked, STAFF, as_of=instant, k=100).hits
            assert {hit.document_id for hit in hits} & told <= set(found), said
            if item.key.document_id in found:
                # A page's revision is named after the bytes that came, not after the text read from them.
                then = world.engine.document(item.key.document_id, STAFF, as_of=instant).revision
                written = revision_label(sha256_text(found[item.key.document_id]))
                assert item.key.document_id.endswith(".html") or then == written, said
                assert {hit.revision for hit in hits if hit.document_id == item.key.document_id} <= {then}, (
                    said
                )


def test_shuffled_and_doubled_events_leave_the_same_history(events: list[SourceRecord]) -> None:
    seed = new_seed()
    dice = random.Random(seed)
    counts = Counter(item.key.document_id for item in events)
    few = sorted(name for name, count in counts.items() if 5 <= count <= 15)
    chosen = sorted(counts) if os.environ.get("CLEARCITE_SOAK") else dice.sample(few, 5)
    kept = [replace(item, keeps_history=True) for item in events if item.key.document_id in chosen]
    mixed = kept + dice.sample(kept, len(kept) // 3)
    dice.shuffle(mixed)
    worlds = []
    for order in (kept, mixed):
        world = make_world()
        world.services.ledger.apply(order, world.pipeline.manifest_hash)
        world.publish()
        worlds.append(world)
    times = [item.description.source_time or 0 for item in kept if item.description]
    for instant in (*dice.sample(times, 5), *(dice.randrange(min(times), max(times)) for _ in range(5))):
        one, other = (world.engine.documents(STAFF, as_of=instant) for world in worlds)
        assert one == other, f"seed {seed}, instant {instant}"


def test_control_without_history_the_past_is_not_what_it_was(
    events: list[SourceRecord], repository: Path
) -> None:
    world = make_world()
    world.services.ledger.apply(events, world.pipeline.manifest_hash)
    world.publish()
    times = sorted(item.description.source_time or 0 for item in events if item.description)
    instant = times[len(times) // 2]
    told = {item.key.document_id for item in events}
    assert set(read_at(world, instant)) != set(text_then(repository, instant, told))


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
    seed = new_seed()
    dice = random.Random(seed)
    mixed = events + dice.sample(events, len(events) // 3)
    dice.shuffle(mixed)
    found = end_of(batched(mixed, dice))
    assert found == end_of(iter([events])), f"seed {seed}"
    listed = subprocess.run(
        ["git", "ls-tree", "-r", "--name-only", "HEAD:docs"], cwd=repository, check=True, capture_output=True
    )
    assert sorted(found) == sorted(name for name in listed.stdout.decode().split() if name.endswith(KINDS))


def test_control_events_that_are_taken_by_arrival_end_elsewhere(events: list[SourceRecord]) -> None:
    mixed = events[:]
    random.Random(3).shuffle(mixed)
    last: dict[str, SourceRecord] = {item.key.document_id: item for item in mixed}
    naive = {name: item.text for name, item in last.items() if item.operation == "upsert"}
    assert naive != end_of(iter([events]))
