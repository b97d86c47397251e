"""Taking one source: what a run that is cut short leaves, and when an approval is used up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from msgspec.structs import replace

from clearcite.domain.corpus import SourceRecord
from clearcite.domain.sources import Checkpoint, SourceState
from clearcite.errors import ClearciteError, DependencyUnavailable
from clearcite.ingest.sync import take_source
from tests.support.world import NOW, World, make_world, record

WIKI = SourceState(tenant_id="acme", source_id="wiki", kind="folder")
PLACE = ("acme", "wiki", "folder")

Said = SourceRecord | ClearciteError | Checkpoint


@dataclass(frozen=True)
class Script:
    """A connector that says what it is told, and then fails if it is told so."""

    items: tuple[Said, ...]
    failure: ClearciteError | None = None

    def records(self) -> Iterator[Said]:
        yield from self.items
        if self.failure is not None:
            raise self.failure


def run(world: World, *items: Said, failure: ClearciteError | None = None) -> SourceState | None:
    for _ in take_source(
        Script(items, failure), world.services.ledger, kept(world) or WIKI, world.clock, "manifest"
    ):
        pass
    return kept(world)


def kept(world: World) -> SourceState | None:
    return next(iter(world.services.ledger.sources()), None)


def page(number: int) -> SourceRecord:
    return record(f"d{number}", f"Text number {number}.", source="wiki")


def test_a_run_that_fails_keeps_the_last_cursor_whose_records_are_durable() -> None:
    world = make_world()
    gone = DependencyUnavailable("gone")
    begun = Checkpoint(cursor="c0")
    with pytest.raises(DependencyUnavailable, match="gone"):
        run(world, begun, page(1), Checkpoint(cursor="c1"), failure=gone)
    ledger = world.services.ledger
    assert kept(world) == replace(WIKI, cursor="c0", tried_at=NOW, outcome="gone")
    assert ledger.heads("acme", "wiki") == {}


def test_a_run_that_ends_says_when_what_was_refused_and_that_all_was_listed() -> None:
    world = make_world()
    refused = DependencyUnavailable("one file")
    found = run(world, page(1), refused, Checkpoint(cursor="c1", covered=True))
    done = replace(WIKI, cursor="c1", tried_at=NOW, finished_at=NOW, covered_at=NOW, outcome="ok")
    assert found == replace(done, refused=1)
    world.clock.value += 5
    found = run(world, page(1))
    assert found == replace(done, tried_at=NOW + 5, finished_at=NOW + 5), "and this one listed not all"


def test_an_approval_is_used_up_by_the_listing_it_covers_and_by_no_other() -> None:
    world = make_world()
    run(world, Checkpoint(covered=True, withheld=40))
    world.services.ledger.approve(*PLACE, 30)
    for point, approved in (
        (Checkpoint(cursor="c"), 30),
        (Checkpoint(covered=True, withheld=40), 30),
        (Checkpoint(covered=True), 0),
    ):
        found = run(world, point)
        assert found is not None and found.approved == approved
