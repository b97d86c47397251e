"""Whatever byte of an index is damaged, an answer is the same as before, or it fails closed."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from clearcite.adapters.indexes.local_format import Segment
from clearcite.errors import DependencyUnavailable, IntegrityFault
from clearcite.testing.embedder import HashedEmbedder
from tests.support.world import World, body, make_world, principal, record

QUESTIONS = ("How long are audit logs kept?", "What is the refund window of invoices?")
SEED = 5
FLIPS = 150


@pytest.fixture(scope="module")
def shelf() -> World:
    world = make_world(embedder=HashedEmbedder(16), keep=True)
    texts = [f"Audit logs of region {i} are kept for {i + 20} days." for i in range(9)]
    texts += [f"Invoices of plan {i} have a refund window of {i + 5} days." for i in range(9)]
    for start in (0, 9):  # two segments
        items = enumerate(texts[start : start + 9], start)
        world.put(*[record(f"d{i}", text, ("staff",) if i % 3 else ("board",)) for i, text in items])
    return world


def seen(world: World) -> list[bytes | None]:
    """What a fresh process would show; None where it fails closed."""
    world.pipeline.index._views.clear()
    found: list[bytes | None] = []
    for question in QUESTIONS:
        answer = world.engine.ask(question, principal("staff"))
        found.append(None if answer.status == "dependency_unavailable" else body(answer))
        try:
            found.append(body(world.engine.search(question, principal("staff"))))
        except (IntegrityFault, DependencyUnavailable):
            found.append(None)
    return found


def damaged(world: World, path: Path, positions: list[int]) -> tuple[int, int]:
    """One bit a byte, one byte at a time: how many runs failed closed, and how many differed without failing."""
    sound = seen(world)
    assert None not in sound
    whole = path.read_bytes()
    closed = wrong = 0
    for at in positions:
        path.write_bytes(whole[:at] + bytes([whole[at] ^ (1 << at % 8)]) + whole[at + 1 :])
        now = seen(world)
        closed += None in now
        wrong += any(one not in (None, other) for one, other in zip(now, sound, strict=True))
    path.write_bytes(whole)
    assert seen(world) == sound
    return closed, wrong


def spread(path: Path) -> list[int]:
    """Positions all over a file, at random inside equal stretches."""
    size = path.stat().st_size
    random_ = random.Random(SEED)
    step = max(1, size // FLIPS)
    return [min(size - 1, start + random_.randrange(step)) for start in range(0, size, step)]


def files(world: World) -> list[Path]:
    return sorted((world.folder / "index").glob("*.segment"))


def test_every_answer_from_a_damaged_segment_is_the_same_or_fails_closed(shelf: World) -> None:
    assert len(files(shelf)) == 2
    for path in files(shelf):
        positions = spread(path)
        assert damaged(shelf, path, positions) == (len(positions), 0), f"seed {SEED}"


def test_a_damaged_manifest_of_the_index_fails_closed(shelf: World) -> None:
    for path in (shelf.folder / "index").glob("*.manifest"):
        closed, wrong = damaged(shelf, path, spread(path)[::10])
        assert not wrong, f"seed {SEED}"
        if path.stem == current(shelf):
            assert closed


def current(world: World) -> str | None:
    with world.services.ledger.snapshot() as snapshot:
        return snapshot.index_manifest


def test_damage_is_not_carried_into_a_merged_segment(shelf: World) -> None:
    index, (path, _) = shelf.pipeline.index, files(shelf)
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    index._views.clear()
    name = current(shelf)
    assert name is not None
    with pytest.raises(IntegrityFault):
        index.merge(name, lambda partition: np.zeros(0, np.bool_), erase=True)
    path.write_bytes(whole)


def test_control_without_the_checksum_damage_shows_as_another_answer(
    shelf: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Segment, "check", lambda self: None)
    path, _ = files(shelf)
    assert damaged(shelf, path, spread(path)[::5])[1] > 0
