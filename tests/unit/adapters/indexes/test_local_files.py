"""What is stored survives, and what is damaged or half written is refused or ignored."""

import os
import resource
import signal
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from clearcite.adapters.indexes.local import LocalIndex
from clearcite.adapters.indexes.local_files import is_held
from clearcite.adapters.indexes.local_format import Shape
from clearcite.domain.manifest import PipelineManifest
from clearcite.domain.terms import Terms
from clearcite.errors import DependencyUnavailable, InputError, IntegrityFault
from clearcite.ports import Vector
from clearcite.testing.index_suite import TEXTS, chunk_id, entry, readable, words

PIPELINE = PipelineManifest(parser="p", chunker="c", analysis="a", embedder="e")
ENTRIES = [entry(i, text, vector=(i, 1, 2)) for i, text in enumerate(TEXTS)]


@pytest.fixture
def stored(tmp_path: Path) -> tuple[Path, str]:
    index = LocalIndex(tmp_path, PIPELINE)
    return tmp_path, index.commit(None, index.write(ENTRIES))


def segment_of(folder: Path) -> Path:
    (path,) = folder.glob("*.segment")
    return path


def rewrite(path: Path, change: Callable[[bytearray], None]) -> None:
    raw = bytearray(path.read_bytes())
    change(raw)
    path.write_bytes(bytes(raw))


@pytest.mark.parametrize("left", [0, 7, 60, 103, 104, 105, 1000, -1])
def test_a_truncated_segment_is_refused(stored: tuple[Path, str], left: int) -> None:
    folder, manifest = stored
    raw = segment_of(folder).read_bytes()
    segment_of(folder).write_bytes(raw[:left])
    with pytest.raises(IntegrityFault):
        LocalIndex(folder, PIPELINE).open(manifest)


def test_a_segment_that_grew_is_refused(stored: tuple[Path, str]) -> None:
    folder, manifest = stored
    rewrite(segment_of(folder), lambda raw: raw.extend(b"\0"))
    with pytest.raises(IntegrityFault):
        LocalIndex(folder, PIPELINE).open(manifest)


def test_every_changed_byte_of_the_header_is_noticed(stored: tuple[Path, str]) -> None:
    folder, manifest = stored
    for position in range(112):
        rewrite(segment_of(folder), lambda raw, at=position: raw.__setitem__(at, raw[at] ^ 4))
        with pytest.raises(IntegrityFault):
            LocalIndex(folder, PIPELINE).open(manifest)
        rewrite(segment_of(folder), lambda raw, at=position: raw.__setitem__(at, raw[at] ^ 4))
    LocalIndex(folder, PIPELINE).open(manifest)


def test_postings_that_point_nowhere_are_a_fault_and_not_a_crash(stored: tuple[Path, str]) -> None:
    folder, manifest = stored
    raw = segment_of(folder).read_bytes()
    shape, _ = Shape.unpack(raw)
    offset, _, count = shape.places()[0]["ordinals"]
    damaged = raw[:offset] + b"\xff\xff\xff\x7f" * count + raw[offset + 4 * count :]
    start = len(shape.pack(0))
    segment_of(folder).write_bytes(shape.pack(zlib.crc32(damaged[start:])) + damaged[start:])
    view = LocalIndex(folder, PIPELINE).open(manifest)
    for scope in (readable(0, 1), readable(*range(8))):
        with pytest.raises(IntegrityFault):
            view.search(words("retention logs|days"), scope, None, 5)
    segment_of(folder).write_bytes(raw)
    whole = LocalIndex(folder, PIPELINE).open(manifest).search(words("retention"), readable(0, 1), None, 5)
    assert len(whole.hits) == 2


@pytest.mark.parametrize(
    "change",
    [lambda raw: raw[:-2], lambda raw: raw.replace(b"1", b"2", 1), lambda raw: b"{}", lambda raw: b""],
)
def test_a_damaged_manifest_is_refused(stored: tuple[Path, str], change: Callable[[bytes], bytes]) -> None:
    folder, manifest = stored
    path = folder / f"{manifest}.manifest"
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(IntegrityFault):
        LocalIndex(folder, PIPELINE).open(manifest)


@pytest.mark.parametrize("name", ["../x", "", "A" * 32, "a" * 31, "a" * 33, "a\n" * 16])
def test_names_that_are_not_ours_open_nothing(stored: tuple[Path, str], name: str) -> None:
    folder, manifest = stored
    index = LocalIndex(folder, PIPELINE)
    with pytest.raises(IntegrityFault):
        index.open(name)
    with pytest.raises(IntegrityFault):
        index.commit(manifest, (name,))


def test_a_missing_segment_is_a_fault_and_a_missing_manifest_is_not(stored: tuple[Path, str]) -> None:
    folder, manifest = stored
    segment_of(folder).unlink()
    with pytest.raises(IntegrityFault):
        LocalIndex(folder, PIPELINE).open(manifest)
    (folder / f"{manifest}.manifest").unlink()
    with pytest.raises(DependencyUnavailable):
        LocalIndex(folder, PIPELINE).open(manifest)


@pytest.mark.parametrize("changed", [{"bm25_k1": 90}, {"bm25_b": 0}, {"average_length": 99}])
def test_segments_of_another_pipeline_are_refused(stored: tuple[Path, str], changed: dict[str, int]) -> None:
    folder, manifest = stored
    with pytest.raises(IntegrityFault):
        LocalIndex(folder, replace(PIPELINE, **changed)).open(manifest)


def test_half_written_files_are_ignored_and_swept(stored: tuple[Path, str]) -> None:
    folder, manifest = stored
    (folder / "0123456789abcdef.tmp").write_bytes(b"half")
    (folder / ("a" * 16 + "-" + "b" * 24 + ".segment")).write_bytes(b"never committed")
    index = LocalIndex(folder, PIPELINE)
    assert index.open(manifest).search(words("rain"), readable(*range(8)), None, 9).documents == 8
    index.sweep([manifest])
    assert sorted(path.suffix for path in folder.iterdir()) == [".manifest", ".segment"]


def test_a_write_that_finds_no_room_leaves_nothing(tmp_path: Path) -> None:
    index = LocalIndex(tmp_path, PIPELINE)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, hard))
    try:
        with pytest.raises(DependencyUnavailable):
            index.write(ENTRIES)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
    assert list(tmp_path.iterdir()) == []
    manifest = index.commit(None, index.write(ENTRIES))
    assert index.open(manifest).search(words("rain"), readable(3), None, 1).documents == 1


def test_a_folder_that_cannot_be_made_is_a_dependency(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(DependencyUnavailable):
        LocalIndex(tmp_path / "file" / "index", PIPELINE)


def test_equal_entries_make_equal_files_whatever_their_order_and_however_merged(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("once", "turned", "merged")]
    once, turned, merged = (LocalIndex(folder, PIPELINE) for folder in folders)
    once.write(ENTRIES)
    turned.write(ENTRIES[::-1])
    manifest = merged.commit(None, [n for e in ENTRIES for n in merged.write([e])])
    extra = merged.commit(manifest, merged.write([entry(30, "gone with the rest", vector=(1, 1, 1))]))
    masks = np.array([True] * 8 + [False] * 30)
    manifest = merged.commit(extra, *(merged.merge(extra, lambda _: masks, erase=True) or ((), ())))
    merged.sweep([manifest])
    assert len({segment_of(folder).read_bytes() for folder in folders}) == 1


def test_names_of_partitions_do_not_show_in_file_names(tmp_path: Path) -> None:
    index = LocalIndex(tmp_path, PIPELINE)
    index.commit(None, index.write([replace(ENTRIES[0], partition="secret-tenant")]))
    assert not [path for path in tmp_path.iterdir() if "secret" in path.name]
    assert {oct(path.stat().st_mode & 0o777) for path in tmp_path.iterdir()} == {"0o600"}


@pytest.mark.parametrize(
    "bad",
    [
        {"chunk_id": "x"},
        {"chunk_id": "A" * 32},
        {"slot": -1},
        {"slot": 2**32},
        {"terms": Terms(keys=bytes(24), counts=bytes(4), words=1)},
        {"terms": Terms(keys=bytes(24), counts=b"\1\0\0\0" * 2, words=1)},
        {"terms": Terms(keys=bytes(23), counts=b"", words=0)},
        {"terms": Terms(keys=bytes(48), counts=b"\1\0\0\0" * 2, words=2)},
        {"vector": Vector(data=b"\1\2\3", scale=0)},
        {"vector": Vector(data=b"\1\2\3", scale=2**31)},
        {"vector": Vector(data=b"", scale=1)},
        {"vector": Vector(data=b"\1\2", scale=1)},
    ],
)
def test_entries_that_cannot_be_stored_are_refused_and_nothing_is_written(tmp_path: Path, bad: dict) -> None:
    index = LocalIndex(tmp_path, PIPELINE)
    with pytest.raises(InputError):
        index.write([ENTRIES[0], replace(ENTRIES[1], **bad)])
    assert list(tmp_path.iterdir()) == []


def test_what_one_process_has_not_published_another_does_not_sweep(tmp_path: Path) -> None:
    worker, sweeper = LocalIndex(tmp_path, PIPELINE), LocalIndex(tmp_path, PIPELINE)
    first = worker.commit(None, worker.write(ENTRIES[:4]))
    names = worker.write(ENTRIES[4:])
    sweeper.sweep([first])
    second = worker.commit(first, names)
    sweeper.sweep([first])
    assert sweeper.open(second).search(words("rain"), readable(*range(8)), None, 9).documents == 8
    worker.commit(first, worker.write([entry(9, "rain")]))  # the second was never published
    sweeper.sweep([first])
    with pytest.raises(DependencyUnavailable):
        LocalIndex(tmp_path, PIPELINE).open(second)


def test_what_a_dead_process_left_is_swept(tmp_path: Path) -> None:
    worker, sweeper = LocalIndex(tmp_path, PIPELINE), LocalIndex(tmp_path, PIPELINE)
    first = worker.commit(None, worker.write(ENTRIES[:4]))
    worker.write(ENTRIES[4:])
    assert sum(is_held(path) for path in tmp_path.glob("*.segment")) == 1
    worker.close()
    sweeper.sweep([first])
    assert len(list(tmp_path.glob("*.segment"))) == 1


WRITER = """
import sys
from pathlib import Path
from clearcite.adapters.indexes.local import LocalIndex
from clearcite.domain.manifest import PipelineManifest
from clearcite.testing.index_suite import entry
index = LocalIndex(Path(sys.argv[1]), PipelineManifest(parser="p", chunker="c", analysis="a", embedder="e"))
manifest = None
for n in range(100_000):
    manifest = index.commit(manifest, index.write([entry(n, "rain sun", vector=(1, n % 100, 2))]))
    print(n, manifest, flush=True)
"""


def test_a_killed_writer_loses_nothing_it_had_committed(tmp_path: Path) -> None:
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True, env=os.environ
    )
    if writer.stdout is None:
        pytest.fail("no output")
    for _ in range(25):
        line = writer.stdout.readline()
    os.kill(writer.pid, signal.SIGKILL)
    line = ([line] + [more for more in writer.stdout.read().splitlines() if more.count(" ") == 1])[-1]
    writer.stdout.close()
    writer.wait()
    number, manifest = line.split()
    index = LocalIndex(tmp_path, PIPELINE)
    index.sweep([manifest])
    page = index.open(manifest).search(words("rain"), readable(*range(10_000)), None, 1)
    assert page.documents == int(number) + 1 >= 25
    assert len(list(tmp_path.glob("*.manifest"))) == 1
    assert len(list(tmp_path.glob("*.segment"))) == int(number) + 1
    assert not list(tmp_path.glob("*.tmp"))


def test_many_threads_ask_one_view_at_once(stored: tuple[Path, str]) -> None:
    folder, manifest = stored
    view = LocalIndex(folder, PIPELINE).open(manifest)
    scopes = [readable(*range(n)) for n in range(9)]
    wanted = [view.search(words("retention logs|days"), scope, None, 5) for scope in scopes]
    wrong: list[int] = []

    def ask() -> None:
        for n in list(range(9)) * 20:
            if view.search(words("retention logs|days"), scopes[n], None, 5) != wanted[n]:
                wrong.append(n)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_an_opened_view_outlives_its_files(stored: tuple[Path, str]) -> None:
    folder, manifest = stored
    view = LocalIndex(folder, PIPELINE).open(manifest)
    for path in folder.iterdir():
        path.unlink()
    hits = view.search(words("rain"), readable(*range(8)), None, 5).hits
    assert {hit.chunk_id for hit in hits} == {chunk_id(3), chunk_id(7)}
