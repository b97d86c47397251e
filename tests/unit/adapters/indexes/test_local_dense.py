import threading

import numpy as np
import pytest

from clearcite.adapters.indexes import local_dense
from clearcite.adapters.indexes.local_dense import kernel_name, numpy_dots, simsimd_dots


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


@pytest.mark.parametrize("dims", [384, 1024, 1025, 4096])
def test_the_largest_sums_are_exact(dims: int) -> None:
    data = np.full((5, dims), -128, np.int8)
    assert numpy_dots(data, data[0]).tolist() == [16384 * dims] * 5
    if local_dense.simsimd is not None:
        assert simsimd_dots(data, data[0]).tolist() == [16384 * dims] * 5


def test_the_kernel_has_a_name() -> None:
    assert kernel_name() == ("numpy" if local_dense.simsimd is None else "simsimd")


def test_a_kernel_that_saturates_is_not_used() -> None:
    def saturating(rows: np.ndarray, query: np.ndarray) -> np.ndarray:
        return np.minimum(numpy_dots(rows, query), 2**21)

    assert local_dense._agrees(numpy_dots)
    assert not local_dense._agrees(saturating)
    assert not local_dense._agrees(lambda rows, query: numpy_dots(rows[:1], query))


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
