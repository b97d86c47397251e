import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from clearcite.adapters.indexes import local_dense
from clearcite.adapters.indexes.local import LocalIndex
from clearcite.adapters.indexes.local_dense import kernel_name, numpy_dots, simsimd_dots
from clearcite.domain.manifest import PipelineManifest
from clearcite.domain.retrieval import DenseQuery
from clearcite.ports import IndexEntry, Vector
from clearcite.testing.index_fakes import ReadableSlots
from clearcite.text.keys import packed


@pytest.mark.parametrize("dims", [1, 2, 7, 64, 384, 1024, 1025, 3000])
@pytest.mark.parametrize("rows", [0, 1, 3, 700])
def test_both_kernels_give_the_integers_of_int64(dims: int, rows: int) -> None:
    draw = np.random.default_rng(dims * 1000 + rows)
    data = draw.integers(-128, 128, (rows, dims), dtype=np.int8)
    query = draw.integers(-128, 128, dims, dtype=np.int8)
    wanted = data.astype(np.int64) @ query.astype(np.int64)
    assert numpy_dots(data, query).tolist() == wanted.tolist()
    if local_dense.simsimd is not None:
        assert simsimd_dots(data, query).tolist() == wanted.tolist()


@pytest.mark.parametrize("dims", [1, 64, 384, 1025])
def test_rows_that_are_picked_give_what_they_give_among_all(dims: int) -> None:
    draw = np.random.default_rng(dims)
    data = draw.integers(-128, 128, (3 * (local_dense._COPIED_BYTES // 384), dims), dtype=np.int8)
    wanted = data.astype(np.int64) @ data[0].astype(np.int64)
    for share in (0, 0.01, 0.5, 1):
        rows = np.flatnonzero(draw.random(len(data)) < share)
        assert np.array_equal(numpy_dots(data, data[0], rows), wanted[rows])
        if local_dense.simsimd is not None:
            assert np.array_equal(simsimd_dots(data, data[0], rows), wanted[rows])


@pytest.mark.skipif(local_dense.simsimd is None, reason="simsimd is not installed")
def test_simsimd_takes_no_reference_that_is_not_its_own() -> None:
    """With ``out=`` each call takes one to ``None``, and Python 3.11 ends when there is none left."""
    data = np.ones((3, 8), np.int8)
    before = sys.getrefcount(None)
    for _ in range(1000):
        simsimd_dots(data, data[0])
    assert abs(sys.getrefcount(None) - before) < 500


@pytest.mark.parametrize("dims", [384, 1024, 1025, 4096])
def test_the_largest_sums_are_exact(dims: int) -> None:
    data = np.full((5, dims), -128, np.int8)
    assert numpy_dots(data, data[0]).tolist() == [16384 * dims] * 5
    if local_dense.simsimd is not None:
        assert simsimd_dots(data, data[0]).tolist() == [16384 * dims] * 5


def test_the_kernel_has_a_name() -> None:
    assert kernel_name() == ("numpy" if local_dense.simsimd is None else "simsimd")


@pytest.mark.parametrize("every", [1, 5], ids=["every chunk has a vector", "one in five has none"])
@pytest.mark.parametrize("percent", [1, 50, 74, 76, 100])
def test_the_page_is_the_same_with_either_kernel_whichever_way_rows_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, percent: int, every: int
) -> None:
    draw = np.random.default_rng(percent)
    vectors, scales = draw.integers(-128, 128, (1000, 384), dtype=np.int8), draw.integers(1, 1000, 1000)
    has_vector = (np.arange(1000) % every != 0) | (every == 1)
    entries = [
        IndexEntry(
            chunk_id=f"{i:032x}",
            partition="p",
            slot=i,
            terms=packed({"=a": 1}),
            vector=Vector(data=vectors[i].tobytes(), scale=int(scales[i])) if has_vector[i] else None,
        )
        for i in range(1000)
    ]
    index = LocalIndex(tmp_path, PipelineManifest(parser="p", chunker="c", analysis="a", embedder="e"))
    view = index.open(index.commit(None, index.write(entries)))
    readable = draw.permutation(1000) < 10 * percent
    sums = (vectors.astype(np.int64) @ vectors[0].astype(np.int64)) * scales
    wanted = sorted((-int(sums[i]), f"{i:032x}") for i in np.flatnonzero(readable & has_vector))[:7]
    for kernel in (numpy_dots, simsimd_dots)[: 1 if local_dense.simsimd is None else 2]:
        monkeypatch.setattr(local_dense, "dots", kernel)
        scope = ReadableSlots({"p": np.flatnonzero(readable).tolist()})
        page = view.search(DenseQuery(vector=vectors[0].tobytes()), scope, None, 7)
        assert [(-hit.score, hit.chunk_id) for hit in page.hits] == wanted
        assert page.documents == np.count_nonzero(readable & has_vector)


def test_a_kernel_that_saturates_is_not_used() -> None:
    def saturating(vectors: np.ndarray, query: np.ndarray, rows: np.ndarray | None) -> np.ndarray:
        return np.minimum(numpy_dots(vectors, query, rows), 2**21)

    assert local_dense._agrees(numpy_dots)
    assert not local_dense._agrees(saturating)
    assert not local_dense._agrees(lambda vectors, query, rows: numpy_dots(vectors[:1], query, rows))


@pytest.mark.parametrize("cores", [1, 2])
def test_a_second_thread_changes_no_integer(monkeypatch: pytest.MonkeyPatch, cores: int) -> None:
    monkeypatch.setattr(local_dense, "_cores", lambda: cores)
    draw = np.random.default_rng(cores)
    data = draw.integers(-128, 128, (local_dense._SHARED_BYTES // 384 + 100, 384), dtype=np.int8)
    started = threads_started(monkeypatch)
    for query in data[:3]:
        assert np.array_equal(numpy_dots(data, query), data.astype(np.int64) @ query.astype(np.int64))
    assert len(started) == (3 if cores == 2 else 0)


def test_a_thread_that_comes_late_does_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other thread takes one block and is stopped; it begins to add up after that block was done here again."""
    monkeypatch.setattr(local_dense, "_cores", lambda: 2)
    data = np.random.default_rng(6).integers(-128, 128, (20_000, 384), dtype=np.int8)
    wanted = data.astype(np.int64) @ data[0].astype(np.int64)
    blocks = -(-len(data) // (local_dense._BLOCK_BYTES // (4 * 384)))
    here, dot, done = threading.current_thread(), np.dot, []
    taken, late, begun, over = (threading.Event() for _ in range(4))

    def in_turn(block: np.ndarray, query: np.ndarray, out: np.ndarray) -> None:
        if threading.current_thread() is not here:
            taken.set()
            late.wait(20)
            out.fill(0)  # as BLAS does before it adds up
            begun.set()
            over.wait(20)
            dot(block, query, out=out)
            return
        assert taken.wait(20)
        dot(block, query, out=out)
        done.append(len(block))
        if len(done) == blocks:
            late.set()
            assert begun.wait(20)

    monkeypatch.setattr(np, "dot", in_turn)
    assert np.array_equal(numpy_dots(data, data[0]), wanted)
    over.set()
    assert len(done) == blocks


def test_where_no_thread_can_be_started_one_does_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_dense, "_cores", lambda: 2)
    started = threads_started(monkeypatch, fail=True)
    data = np.random.default_rng(5).integers(-128, 128, (30_000, 384), dtype=np.int8)
    assert np.array_equal(numpy_dots(data, data[0]), data.astype(np.int64) @ data[0].astype(np.int64))
    assert len(started) == 1


def threads_started(monkeypatch: pytest.MonkeyPatch, *, fail: bool = False) -> list[threading.Thread]:
    started: list[threading.Thread] = []
    start = threading.Thread.start

    def noted(thread: threading.Thread) -> None:
        started.append(thread)
        if fail:
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", noted)
    return started
