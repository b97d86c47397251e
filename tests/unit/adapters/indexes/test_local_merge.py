from pathlib import Path

import numpy as np
import pytest

from clearcite.adapters.indexes import local_build, local_merge
from clearcite.adapters.indexes.local import LocalIndex
from clearcite.adapters.indexes.local_merge import due
from clearcite.domain.manifest import PipelineManifest
from clearcite.testing.index_suite import TEXTS, entry

PIPELINE = PipelineManifest(parser="p", chunker="c", analysis="a", embedder="e")


@pytest.mark.parametrize(
    ("sizes", "erase", "wanted"),
    [
        ([], False, []),
        ([(100, 100)], False, []),
        ([(5, 5)] * 6, False, []),
        ([(5, 5)] * 7, False, list(range(7))),
        ([(100_000, 100_000), *[(5, 5)] * 6], False, [1, 2, 3, 4, 5, 6]),
        ([(64, 64), (32, 32), (16, 16), (8, 8), (4, 4), (2, 2), (1, 1)], False, list(range(7))),
        (
            [(10**6, 10**6), (10**5, 10**5), (10**4, 10**4), (10**3, 10**3), (100, 100), (9, 9), (1, 1)],
            False,
            [5, 6],
        ),
        ([(100, 80), (100, 75), (100, 0)], False, [1, 2]),
        ([(100, 99), (100, 100), (100, 0)], True, [0, 2]),
        ([(100, 100)], True, []),
    ],
)
def test_what_is_due(sizes: list[tuple[int, int]], erase: bool, wanted: list[int]) -> None:
    assert due(sizes, erase=erase) == wanted


def test_a_growing_index_keeps_few_segments_and_copies_each_chunk_a_few_times() -> None:
    sizes: list[int] = []
    copied = 0
    for _ in range(2_000):
        sizes.append(500)
        chosen = due([(size, size) for size in sizes], erase=False)
        if chosen:
            total = sum(sizes[i] for i in chosen)
            copied += total
            sizes = [size for i, size in enumerate(sizes) if i not in chosen] + [total]
        assert len(sizes) <= 6
    assert sum(sizes) == 1_000_000
    assert copied / 1_000_000 < 9


@pytest.mark.parametrize("block", [1, 2, 3, 7])
def test_merging_in_small_blocks_gives_the_same_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    entries = [entry(i, f"{TEXTS[i % 8]} w{i}", vector=(i, 1) if i % 4 else ()) for i in range(30)]
    files = []
    for size in (1 << 22, block):
        monkeypatch.setattr(local_merge, "MOST_POSTINGS", size)
        monkeypatch.setattr(local_merge, "_ROWS", min(size, 8192))
        index = LocalIndex(tmp_path / str(size), PIPELINE)
        manifest = index.commit(
            None, [name for n in range(0, 30, 4) for name in index.write(entries[n : n + 4])]
        )
        live = np.array([n % 4 > 0 for n in range(30)])
        merged = index.merge(manifest, lambda _, mask=live: mask, erase=True)
        manifest = index.commit(manifest, *(merged or ((), ())))
        index.sweep([manifest])
        (path,) = (tmp_path / str(size)).glob("*.segment")
        files.append(path.read_bytes())
    assert files[0] == files[1]


def test_a_write_of_more_than_fits_makes_several_segments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_build, "MOST_POSTINGS", 10)
    index = LocalIndex(tmp_path, PIPELINE)
    names = index.write([entry(i, TEXTS[0]) for i in range(7)])
    assert len(names) == 7
    assert sum(segment.chunks for segment in index.open(index.commit(None, names)).segments) == 7


def test_a_partition_of_which_nothing_lives_leaves_no_segment(tmp_path: Path) -> None:
    index = LocalIndex(tmp_path, PIPELINE)
    manifest = index.commit(None, index.write([entry(0, "rain"), entry(1, "rain", partition="other")]))
    merged = index.merge(manifest, lambda p: np.array([True, p != "other"]), erase=True)
    manifest = index.commit(manifest, *(merged or ((), ())))
    index.sweep([manifest])
    assert [segment.partition for segment in index.open(manifest).segments] == ["acme"]
    assert len(list(tmp_path.glob("*.segment"))) == 1
