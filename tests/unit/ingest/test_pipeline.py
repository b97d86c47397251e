"""Projecting batch by batch, the next one read while this one is published; and what a failure leaves."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import pytest
from msgspec.structs import replace

from clearcite.errors import DependencyUnavailable, InputError
from clearcite.ingest import pipeline
from clearcite.ingest.draft import Draft, Drafter
from clearcite.ingest.pipeline import project, take
from clearcite.storing import Job
from clearcite.testing.embedder import HashedEmbedder
from tests.support.world import GENERATION, World, deletion, make_world, principal, record

STAFF = principal("staff")
SECOND = 1_000_000


@dataclass
class Eager:
    """A drafter that takes jobs far ahead of their drafts, as the one in a child process does."""

    inner: Drafter
    ahead: int = 1000
    taken: list[Job] = field(default_factory=list)
    broken: bool = False

    def draft_many(self, jobs: Iterable[Job]) -> Iterator[Draft | InputError | None]:
        source = iter(jobs)
        while some := list(islice(source, self.ahead)):
            self.taken += some
            if self.broken:
                raise DependencyUnavailable("The parser process cannot be started.")
            yield from self.inner.draft_many(some)

    def close(self) -> None:
        self.inner.close()


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "BATCH_JOBS", 4)


def eager(world: World, **options: Any) -> tuple[World, Eager]:
    drafter = Eager(inner=world.builder.drafter, **options)
    return replace(world, builder=replace(world.builder, drafter=drafter)), drafter


def work(world: World, taken: Iterable[object] = ()) -> Iterator[pipeline.Projected]:
    return project(replace(world.worker, owner="worker"), taken)


def names(world: World) -> list[str]:
    return [item.document_id for item in world.engine.documents(STAFF)]


def claimable(world: World) -> int:
    return len(world.services.ledger.claim(GENERATION, 100, "somebody"))


@pytest.mark.usefixtures("small")
def test_the_next_batch_is_claimed_before_this_one_is_published() -> None:
    world, drafter = eager(make_world(), ahead=6)
    world.put(*(record(f"d{n}", f"Text number {n}.") for n in range(10)), publish=False)
    steps = work(world)
    assert len(next(steps).published) == 4
    assert len(drafter.taken) == 6
    assert names(world) == ["d0", "d1", "d2", "d3"]
    assert [len(batch.published) for batch in steps] == [4, 2]
    assert len(names(world)) == 10


@pytest.mark.usefixtures("small")
def test_deletes_access_changes_and_refusals_keep_their_places_among_the_drafts() -> None:
    world, _ = eager(make_world())
    items = [record(f"d{n}", f"Text number {n}.") for n in range(6)]
    world.put(*items)
    world.put(
        deletion(items[0]),
        record("d1", "Text number 1.", ("staff", "others"), sequence=2),
        record("d2", "New text.", sequence=2),
        record("d3", "\x00", sequence=2, media_type="application/pdf"),
        record("d4", "Newer text.", sequence=2),
        publish=False,
    )
    batches = list(work(world))
    assert [job.key.document_id for batch in batches for job, _ in batch.failed] == ["d3"]
    assert sum(len(batch.published) for batch in batches) == 4
    assert sorted(names(world)) == ["d1", "d2", "d3", "d4", "d5"]
    assert world.engine.document("d4", STAFF).text == "Newer text."


@pytest.mark.usefixtures("small")
def test_jobs_whose_worker_was_lost_are_tried_with_nothing_else_in_hand() -> None:
    world, drafter = eager(make_world(), ahead=1000)
    world.put(*(record(f"d{n}", f"Text number {n}.") for n in range(8)), publish=False)
    assert len(world.services.ledger.claim(GENERATION, 4, "lost")) == 4
    world.clock.value += 3600 * SECOND
    steps = work(world)
    assert len(next(steps).published) == 4
    assert [job.attempts for job in drafter.taken] == [2, 2, 2, 2]
    assert len(next(steps).published) == 4
    assert list(steps) == []


@pytest.mark.usefixtures("small")
def test_records_are_taken_while_those_before_them_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "BATCH_RECORDS", 4)
    world, drafter = eager(make_world(), ahead=6)
    old = [record(f"d{n}", f"Text number {n}.") for n in range(4)]
    world.put(*old)
    new = [record(f"e{n}", f"Text number {n}.") for n in range(6)]
    source = iter([*old, *new])  # the first batch leaves nothing to do, and the work goes on
    taken = take(source, world.services.ledger, world.pipeline.manifest_hash)
    steps = work(world, taken)
    assert len(next(steps).published) == 4
    assert len(drafter.taken) == 4 + 6  # all were taken before the first four were published
    assert list(source) == []
    assert [len(batch.published) for batch in steps] == [2]
    assert len(names(world)) == 10


@pytest.mark.usefixtures("small")
def test_a_document_is_built_once_when_its_source_is_read_again_under_a_new_manifest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pipeline, "BATCH_RECORDS", 4)
    world, drafter = eager(make_world(), ahead=6)
    records = [record(f"d{n:02}", f"Text number {n}.") for n in range(12)]
    world.put(*records)
    ledger = world.services.ledger
    ledger.start_generation("g-new", "{}")
    drafter.taken.clear()
    taken = take(records, ledger, "another manifest")
    batches = list(project(replace(world.worker, generation="g-new"), taken))
    assert sum(batch.chunks for batch in batches) == 12
    assert sorted(key.document_id for batch in batches for key in batch.published) == [
        item.key.document_id for item in records
    ]
    assert len(drafter.taken) == 12


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(("every", "most"), [(2, 8), (1000, 12)])  # the second one is the control
def test_segments_are_merged_while_there_is_more_to_project(
    every: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "MERGE_EVERY", every)
    world, _ = eager(make_world())
    world.put(*(record(f"d{n:02}", f"Text number {n}.") for n in range(48)), publish=False)
    segments = []
    for _ in work(world):
        with world.services.ledger.snapshot() as snapshot:
            view = world.pipeline.index.open(snapshot.index_manifest)
        segments.append(len(view.segments))  # type: ignore[attr-defined]
    assert max(segments) == most
    assert len(names(world)) == 48


@pytest.mark.usefixtures("small")
def test_what_was_claimed_is_given_back_when_the_work_is_stopped() -> None:
    world, _ = eager(make_world())
    world.put(*(record(f"d{n}", f"Text number {n}.") for n in range(10)), publish=False)
    steps = work(world)
    next(steps)
    steps.close()  # type: ignore[attr-defined]
    assert claimable(world) == 6


@pytest.mark.parametrize("part", ["drafter", "index", "publish", "release as well"])
@pytest.mark.usefixtures("small")
def test_what_was_claimed_is_given_back_when_a_part_fails(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    world, drafter = eager(make_world())
    world.put(*(record(f"d{n}", f"Text number {n}.") for n in range(10)), publish=False)

    def refuse(*_: object) -> None:
        raise DependencyUnavailable("no space")

    if part == "drafter":
        drafter.broken = True
    elif part == "publish":
        monkeypatch.setattr(world.pipeline.index, "commit", refuse)
    else:
        monkeypatch.setattr(world.pipeline.index, "write", refuse)
    ledger = world.services.ledger
    if part == "release as well":
        monkeypatch.setattr(ledger, "release", refuse)
    with pytest.raises(DependencyUnavailable, match=r"no space|started"):
        list(work(world))
    if part == "release as well":
        assert (claimable(world), ledger.reclaim(["worker"])) == (0, 10)
    assert claimable(world) == 10
    assert names(world) == []


def test_a_chunk_longer_than_the_embedder_takes_is_flagged_and_counted() -> None:
    world = make_world(embedder=HashedEmbedder(max_tokens=6))
    world.put(
        record("long.md", "One two three four five six seven eight nine ten."), record("short.md", "One.")
    )
    assert world.services.ledger.status()["truncated_vectors"] == 1
