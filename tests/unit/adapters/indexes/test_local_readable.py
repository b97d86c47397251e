from pathlib import Path

import numpy as np
import pytest

from clearcite.adapters.indexes.local import LocalIndex
from clearcite.adapters.indexes.local_format import Segment
from clearcite.adapters.indexes.local_readable import Selection, Selections, select
from clearcite.domain.manifest import PipelineManifest
from clearcite.testing.index_suite import entry, readable, words

PIPELINE = PipelineManifest(parser="p", chunker="c", analysis="a", embedder=None)


@pytest.fixture
def segment(tmp_path: Path) -> Segment:
    index = LocalIndex(tmp_path, PIPELINE)
    (segment,) = index.open(index.commit(None, index.write([entry(i, "rain") for i in (0, 3, 4)]))).segments
    return segment


@pytest.mark.parametrize(
    ("slots", "rows"),
    [
        ([], []),
        ([1], [0]),
        ([1, 1, 1, 0, 1], [0, 2]),
        ([0, 1, 1, 1], [1]),
        ([1] * 9, [0, 1, 2]),
        ([0] * 9, []),
    ],
)
def test_a_chunk_is_readable_when_its_slot_is(segment: Segment, slots: list[int], rows: list[int]) -> None:
    selection = select(segment, np.array(slots, np.bool_), None)
    assert selection.rows.tolist() == np.flatnonzero(selection.number >= 0).tolist() == rows
    assert selection.number[rows].tolist() == list(range(len(rows)))
    assert (selection.size, selection.all) == (len(rows), len(rows) == 3)


def test_a_chunk_that_stands_in_a_later_segment_does_not_count(segment: Segment) -> None:
    selection = select(segment, np.ones(9, np.bool_), np.array([True, False, True]))
    assert (selection.rows.tolist(), selection.all) == ([0, 2], False)


def made(size: int) -> Selection:
    return Selection(number=np.arange(size, dtype=np.int32), rows=np.arange(size), all=True)


def test_selections_are_kept_by_segment_and_token_until_they_are_too_many() -> None:
    kept = Selections(limit_bytes=3000)
    calls: list[str] = []

    def ask(name: str, token: str) -> None:
        kept.get((name, token), lambda: calls.append(name + token) or made(100))  # 1,200 bytes

    for name, token in (("a", "1"), ("a", "2"), ("a", "1"), ("b", "1"), ("a", "1"), ("a", "2")):
        ask(name, token)
    assert calls == ["a1", "a2", "b1", "a2"]


def test_one_selection_over_the_limit_is_still_answered() -> None:
    kept = Selections(limit_bytes=10)
    assert kept.get(("a",), lambda: made(1000)).size == 1000
    assert kept.get(("b",), lambda: made(2000)).size == 2000


def test_the_mask_is_asked_once_for_equal_tokens(tmp_path: Path) -> None:
    index = LocalIndex(tmp_path, PIPELINE)
    view = index.open(index.commit(None, index.write([entry(0, "rain"), entry(1, "sun")])))
    asked: list[str] = []

    class Recording:
        partitions, token = ("acme",), ("t",)

        def mask(self, partition: str) -> np.ndarray:
            asked.append(partition)
            return readable(0).mask(partition)

    for _ in range(3):
        assert view.search(words("rain sun"), Recording(), None, 5).documents == 1
    assert asked == ["acme"]
