"""What a change of the store costs a reader: access changes, opening, a trace written beside an ingesting worker.

    python -m bench.lifecycle [--chunks 100000] [--rounds 50] [--json FILE]

One store of documents of one chunk each, all under one collection, taken in by the real command. A change of access is
timed from the return of its commit to the first reading that obeys: the mask of what is readable, and a whole
``Engine.search`` beside one without a change before it. Every obedience is checked, and that nothing waits to be
indexed after it. A trace is appended as an answer does it, with one fsync of a file beside it each time, first
alone and then while another process takes documents in.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from bench.engine import print_row, read_data, spread, write_feed
from bench.kept import keep_json
from clearcite.adapters.traces.sqlite import open_sqlite_traces
from clearcite.config import load_settings
from clearcite.domain.access import Acl, Principal
from clearcite.domain.manifest import PipelineManifest
from clearcite.domain.retrieval import Scope
from clearcite.domain.trace import Trace
from clearcite.engine import Engine
from clearcite.errors import NotFound
from clearcite.storing import Ledger, TraceStore
from clearcite.visibility import Visibility
from clearcite.wire import loads
from clearcite.wire.convert import from_json
from clearcite.wire.records import read_record
from clearcite.wiring import open_engine, open_ledger

SHELF = "shelf"
OPEN, CLOSED = Acl(allow=("all",)), Acl(allow=("nobody",))
ASKER = Principal(tenant_id="bench", subject_id="b", groups=("all",), authorization_revision="1")
SAMPLES = 300


class Store(Struct, frozen=True, kw_only=True):
    """One store, opened once for asking and once for changing."""

    place: Path
    engine: Engine
    ledger: Ledger
    visibility: Visibility
    questions: Sequence[str]

    def search(self) -> tuple[float, bool]:
        """Seconds, and whether anything was found."""
        started = time.perf_counter()
        found = self.engine.search(self.questions[0], ASKER)
        return time.perf_counter() - started, bool(found.hits)

    def look(self) -> tuple[float, int]:
        """Seconds until it is known what may be read, and how many slots that is."""
        started = time.perf_counter()
        with self.ledger.snapshot() as snapshot:
            scope = Scope(principal=ASKER, as_of=time.time_ns() // 1000, partitions=("bench",))
            mask = self.visibility.readable(snapshot, scope).mask("bench")
        return time.perf_counter() - started, int(mask.sum())

    def waiting(self) -> int:
        return sum(int(row["waiting"]) for row in self.ledger.status()["outbox"])


def main() -> int:
    options = _options()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="clearcite-bench-") as name:
        place = Path(name)
        sentences, questions = read_data(Path(options.data))
        write_feed(place, sentences, options.chunks, parent=SHELF)
        ingest(place).wait()
        with open_engine(place) as engine:
            ledger = open_ledger(load_settings(place))
            ledger.put_collection("bench", SHELF, OPEN)
            store = Store(
                place=place, engine=engine, ledger=ledger, visibility=Visibility(), questions=questions
            )
            rows += [measure_open(store, options.rounds), *measure_access(store, options.rounds)]
            rows += measure_traces(store, sentences)
            ledger.close()
    for row in rows:
        print_row(row)
    keep_json(options.json, {"rows": rows})
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--data", default="../shared/data/scifact")
    parser.add_argument("--json")
    return parser.parse_args()


def ingest(place: Path, feed: str = "feed.jsonl") -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "clearcite", "ingest", feed]
    return subprocess.Popen(command, cwd=place, stderr=subprocess.DEVNULL)


def measure_open(store: Store, rounds: int) -> dict[str, Any]:
    """A new engine on the store, to the end of its first authorized look at the documents and its first search."""
    opened, searched = [], []
    for _ in range(max(3, rounds // 5)):
        started = time.perf_counter()
        with open_engine(store.place) as engine:
            engine.documents(ASKER, limit=1)
            opened.append(time.perf_counter() - started)
            engine.search(store.questions[0], ASKER)
            searched.append(time.perf_counter() - started)
    first = {f"first_search_{key}": value for key, value in spread(searched).items() if key == "p50_ms"}
    return {"what": f"open a store of {store.look()[1]} readable documents", **spread(opened), **first}


def measure_access(store: Store, rounds: int) -> Iterator[dict[str, Any]]:
    one = _narrowing(store)
    readable = store.look()[1]
    looks, searches, plain = _timed(store, rounds, one, lambda n, slots, _: slots == readable - n - 1)
    for n in range(rounds):
        _check_hidden(store, n)
    yield _row("access change of one document", looks, searches, plain)

    def shut_or_open(n: int) -> None:
        store.ledger.put_collection("bench", SHELF, CLOSED if n % 2 == 0 else OPEN)

    before, below = store.waiting(), store.look()[1]
    looks, searches, plain = _timed(
        store, rounds // 2 * 2, shut_or_open, lambda n, slots, hits: (slots > 0) == hits == (n % 2 == 1)
    )
    _need(store.waiting() == before, "something waits to be indexed")
    yield _row(f"access change of a parent of {below}", looks, searches, plain)


def _narrowing(store: Store) -> Callable[[int], None]:
    """Take document after document away from the asker, as a source does it."""
    with store.ledger.snapshot() as snapshot:
        text = store.ledger.manifest(snapshot.generation)
    manifest_hash = from_json(PipelineManifest, loads(text or "")).hash()
    with (store.place / "feed.jsonl").open("rb") as file:
        records = [loads(line) for _, line in zip(range(1000), file, strict=False)]

    def change(n: int) -> None:
        record = {**records[n], "source_sequence": 2, "allowed_groups": ["nobody"]}
        (done,) = store.ledger.apply([read_record(record)], manifest_hash)
        _need(done.error is None, "the change was refused")

    return change


def _timed(
    store: Store, rounds: int, change: Callable[[int], None], obeys: Callable[[int, int, bool], bool]
) -> tuple[list[float], list[float], list[float]]:
    """After each change: the first look or the first search, turn by turn, and a search without a change."""
    looks, searches, plain = [], [], []
    for n in range(rounds):
        change(n)
        parts = (store.look, store.search) if n // 2 % 2 == 0 else (store.search, store.look)
        results = {part: part() for part in parts}
        _need(obeys(n, int(results[store.look][1]), bool(results[store.search][1])), "a reading did not obey")
        looks.append(results[store.look][0])
        searches.append(results[store.search][0])
        plain.append(store.search()[0])
    return looks, searches, plain


def _row(what: str, looks: list[float], searches: list[float], plain: list[float]) -> dict[str, Any]:
    return {
        "what": what,
        **{f"readable_{key}": value for key, value in spread(looks).items() if key.startswith("p")},
        "search_p50_ms": round(statistics.median(searches) * 1000, 2),
        "unchanged_search_p50_ms": round(statistics.median(plain) * 1000, 2),
        "runs": len(looks),
    }


def _check_hidden(store: Store, n: int) -> None:
    try:
        store.engine.document(f"d{n:07d}", ASKER)
    except NotFound:
        return
    raise RuntimeError("a document that was taken away is still given")


def measure_traces(store: Store, sentences: list[str]) -> Iterator[dict[str, Any]]:
    traces = open_sqlite_traces(store.place / ".clearcite" / "traces.db")
    (model,) = traces.newest(1)
    yield {"what": "a trace, alone", **_appended(traces, model, store.place)}
    write_feed(store.place, sentences, 20_000, parent=SHELF, prefix="e", name="more.jsonl")
    before = store.waiting()
    worker = ingest(store.place, "more.jsonl")
    while store.waiting() <= before and worker.poll() is None:
        time.sleep(0.1)
    row = {"what": "a trace beside an ingesting worker", **_appended(traces, model, store.place)}
    _need(worker.poll() is None, "the worker was done too early")
    worker.terminate()
    worker.wait()
    traces.close()
    yield row


def _appended(traces: TraceStore, model: Trace, place: Path) -> dict[str, Any]:
    appends, syncs = [], []
    with (place / "sync").open("ab", buffering=0) as file:
        for _ in range(SAMPLES):
            trace = replace(model, trace_id=os.urandom(16).hex())
            started = time.perf_counter()
            traces.append(trace)
            appends.append(time.perf_counter() - started)
            file.write(b"x" * 4096)
            started = time.perf_counter()
            os.fsync(file.fileno())
            syncs.append(time.perf_counter() - started)
            time.sleep(0.005)
    return {**spread(appends), "fsync_p50_ms": round(statistics.median(syncs) * 1000, 2)}


def _need(holds: bool, otherwise: str) -> None:
    if not holds:
        raise RuntimeError(otherwise)


if __name__ == "__main__":
    sys.exit(main())
