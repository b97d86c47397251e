"""What a power cut may leave of the files of an index: whatever the ledger may name as published is there and whole.

The life of an index is recorded write by write: segments, manifests, merges, sweeps. An image holds what was synced and
some of what was not. Each is opened at every manifest that may be the published one then; it must hold what it held, a
sweep must leave nothing else, and writing must go on. The controls leave out what makes it so, and must lose something.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import pytest

from clearcite.adapters.indexes import local_files
from clearcite.adapters.indexes.local import LocalIndex
from clearcite.adapters.indexes.local_view import LocalView
from clearcite.domain.manifest import PipelineManifest
from clearcite.errors import ClearciteError
from clearcite.testing.index_suite import TEXTS, entry
from tests.support.disk import Disk, ForgetfulDisk, LazyDisk, crashes

PIPELINE = PipelineManifest(parser="p", chunker="c", analysis="a", embedder="e")
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
Held = dict[str, set[tuple[str, str, bytes]]]
"""By manifest: the segments of its view, with partition and chunk ids."""


@contextmanager
def recorded(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    with monkeypatch.context() as patch:
        patch.setattr(local_files, "os", disk)
        yield disk


class Life:
    """An index, and a ledger that is one name: what is published."""

    def __init__(self, root: Path, disk: Disk) -> None:
        self.index = LocalIndex(root, PIPELINE)
        self.disk = disk
        self.held: Held = {}
        self.published: str | None = None

    def publish(self, segments: tuple[str, ...], replaces: tuple[str, ...] = ()) -> None:
        """As the ledger does it: the name is in its log at some moment after the commit, and surely on return."""
        name = self.index.commit(self.published, segments, replaces)
        self.held[name] = contents(self.index.open(name))
        self.disk.notes += [("published", name, False), ("published", name, True)]
        self.published = name

    def sweep(self) -> None:
        self.index.sweep((self.published,) if self.published else ())

    def live(self, rounds: int) -> Held:
        for number in range(rounds):
            some = [entry(3 * number + i, TEXTS[i], vector=(i, 1, -number)) for i in range(3)]
            some[2] = entry(3 * number + 2, TEXTS[2], partition="globex", vector=(1, 2, 3))
            self.publish(self.index.write(some))
            self.merge(np.ones(100, np.bool_), erase=False)
        alive = np.arange(100) % 2 == 0
        self.merge(alive, erase=True)
        self.index.close()
        return self.held

    def merge(self, alive: np.ndarray, *, erase: bool) -> None:
        merged = self.index.merge(self.published or "", lambda _: alive, erase=erase)
        if merged is not None:
            self.publish(*merged)
            self.sweep()


class Hasty(Life):
    """Removes what is replaced before what replaces it is published."""

    def publish(self, segments: tuple[str, ...], replaces: tuple[str, ...] = ()) -> None:
        name = self.index.commit(self.published, segments, replaces)
        self.held[name] = contents(self.index.open(name))
        self.disk.notes.append(("published", name, False))
        self.index.sweep((name,))
        self.disk.notes.append(("published", name, True))
        self.published = name


def contents(view: LocalView) -> set[tuple[str, str, bytes]]:
    view.check()
    return {(one.name, partition, bytes(one.ids)) for partition, some in view.partitions() for one in some}


def faults(root: Path, files: dict[str, bytes], name: str | None, held: Held) -> list[str]:
    """What is wrong where ``name`` is the manifest that the ledger holds for published."""
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    for file, content in files.items():
        (root / file).write_bytes(content)
    with closing(LocalIndex(root, PIPELINE)) as index:
        try:
            if name is not None and contents(index.open(name)) != held[name]:
                return ["other content"]
            index.sweep((name,) if name else ())
            if len(list(root.iterdir())) != (1 + len(held[name]) if name else 0):
                return ["something was left behind"]
            index.open(index.commit(name, index.write([entry(99, TEXTS[0], vector=(1, 1, 1))]))).check()
        except ClearciteError as error:
            return [f"{type(error).__name__}: {error}"]
    return []


def checked(
    disk: type[Disk], life: Callable[[Path, Disk], Life], monkeypatch: pytest.MonkeyPatch, rounds: int = 10
) -> tuple[int, list[str]]:
    """How many images were opened, and the first that was not whole."""
    folder = Path(tempfile.mkdtemp(dir=MEMORY))
    try:
        root, image = folder / "index" / "g1", folder / "image" / "g1"
        image.parent.mkdir()
        with recorded(disk(root), monkeypatch) as record:
            held = life(root, record).live(rounds)
        count = 0
        for pointers, files in crashes(record.notes):
            for name in pointers:
                count += 1
                found = faults(image, files, name, held)
                if found:
                    return count, found
        return count, []
    finally:
        shutil.rmtree(folder)


def test_a_power_cut_leaves_whole_whatever_may_be_published(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)  # the images need no disk that is slow
    count, found = checked(Disk, Life, monkeypatch)
    assert found == []
    assert count > 500


@pytest.mark.soak
@pytest.mark.skipif("CLEARCITE_SOAK" not in os.environ, reason="long: set CLEARCITE_SOAK to run it")
def test_a_power_cut_in_a_long_life_leaves_whole_whatever_may_be_published(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    count, found = checked(Disk, Life, monkeypatch, rounds=60)
    assert found == []
    assert count > 5_000


@pytest.mark.parametrize(
    ("disk", "life"),
    [(LazyDisk, Life), (ForgetfulDisk, Life), (Disk, Hasty)],
    ids=["content is not synced", "names are not synced", "swept before it is published"],
)
def test_control_with_less_care_a_published_manifest_does_not_survive(
    disk: type[Disk], life: type[Life], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, found = checked(disk, life, monkeypatch)
    assert found != []
