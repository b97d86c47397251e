"""How fast the whole engine is: ingest, memory, open, search end to end with its trace, a cold command.

    python -m bench.engine [--chunks 100000] [--json FILE]

Documents are made of shuffled SciFact sentences, one chunk each, as a feed of source records; ingestion is the real
one (validated records, durable ledger, parser in a child process, index on disk), without embedding. Memory is the
peak of the ingesting process at a quarter of the documents and at all of them. Long documents, of about eight chunks,
are taken in besides: they show what a chunk costs where a document is not one. Search is ``Engine.search`` with its
durable trace; the cost of one fsync on this disk is measured beside it. The cold command is ``clearcite ask`` on the
demo corpus as a process of its own.
"""

import argparse
import compileall
import gzip
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import clearcite
from bench.kept import keep_json
from clearcite.adapters.ledgers.sqlite import open_sqlite_ledger
from clearcite.config import load_settings
from clearcite.domain.access import Principal
from clearcite.ingest.pipeline import BATCH_RECORDS
from clearcite.wire.records import read_record
from clearcite.wiring import open_engine, open_ledger
from clearcite.wiring.parts import SystemClock

LONG = 16  # paragraphs of four sentences
GROUPS = ((100, "all"), (10, "tenth"), (1, "hundredth"))


def main() -> int:
    options = _options()
    rows: list[dict[str, Any]] = []
    compileall.compile_dir(Path(clearcite.__file__).parent, quiet=1)  # as an installed package is
    with tempfile.TemporaryDirectory(prefix="clearcite-bench-") as name:
        folder = Path(name)
        sentences, questions = read_data(Path(options.data))
        for chunks in (options.chunks // 4, options.chunks):
            place = folder / str(chunks)
            place.mkdir()
            write_feed(place, sentences, chunks)
            rows.append(measure_ingest(place, f"ingest {chunks} documents"))
            print_row(rows[-1])
        place = folder / "long"
        place.mkdir()
        write_feed(place, sentences, options.chunks // 40, paragraphs=LONG)
        rows.append(measure_ingest(place, f"ingest {options.chunks // 40} long documents"))
        print_row(rows[-1])
        rows.append(measure_take(folder, sentences))
        rows += measure_search(folder / str(options.chunks), questions[: options.questions])
        rows.append(measure_fsync(folder))
        rows.append(measure_cold(folder, options.rounds))
    for row in rows[3:]:
        print_row(row)
    keep_json(options.json, {"rows": rows})
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--data", default="../shared/data/scifact")
    parser.add_argument("--json")
    return parser.parse_args()


def read_data(data: Path) -> tuple[list[str], list[str]]:
    sentences: list[str] = []
    with gzip.open(data / "corpus.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            sentences += [part for part in json.loads(line)["text"].split(". ") if len(part) > 20]
    with (data / "queries.test.jsonl").open(encoding="utf-8") as file:
        return sentences, [json.loads(line)["text"] for line in file]


def write_feed(
    place: Path,
    sentences: list[str],
    chunks: int,
    *,
    parent: str | None = None,
    prefix: str = "d",
    name: str = "feed.jsonl",
    paragraphs: int = 1,
) -> None:
    """About 100 words a paragraph; who may read a document is drawn for each."""
    chance = random.Random(7)
    (place / "clearcite.toml").write_text('[text]\nlanguages = ["en"]\nsemantic = "off"\n', encoding="utf-8")
    with (place / name).open("w", encoding="utf-8") as file:
        for n in range(chunks):
            draw = chance.randrange(100)
            groups = [group for share, group in GROUPS if draw < share]
            drawn = [[chance.choice(sentences) for _ in range(4)] for _ in range(paragraphs)]
            text = "\n\n".join(". ".join(some) + "." for some in drawn)
            record = {
                "tenant_id": "bench",
                "document_id": f"{prefix}{n:07d}",
                "source_sequence": 1,
                "source_uri": f"{prefix}{n:07d}",
                "parent": parent,
                "source_version": "1",
                "title": f"Document {n}",
                "allowed_groups": groups,
                "media_type": "text/plain",
                "content": text,
            }
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


def measure_ingest(place: Path, what: str) -> dict[str, Any]:
    """A process of its own, so that its peak memory is its own."""
    code = (
        "import resource, sys; from clearcite.interfaces.cli.main import run; code = run(['ingest', 'feed.jsonl']);"
        " own, child = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN));"
        " print(own.ru_maxrss, own.ru_utime + own.ru_stime, child.ru_utime + child.ru_stime); sys.exit(code)"
    )
    started = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=place, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as worker:
        anonymous, of_child = watch_memory(worker)
        said = worker.stdout.read() if worker.stdout else ""
    seconds = time.perf_counter() - started
    if worker.returncode:
        raise RuntimeError("the documents could not be ingested")
    peak, own, child = map(float, said.split()[-3:])
    with closing(open_ledger(load_settings(place))) as ledger, ledger.examine() as examination:
        chunks = examination.sizes()["chunks"]
    return {
        "what": what,
        "chunks_per_second": round(chunks / seconds),
        "seconds": round(seconds, 1),
        "cpu_us_a_chunk": round(own / chunks * 1e6),
        "child_cpu_us_a_chunk": round(child / chunks * 1e6),
        "peak_mb": round(peak / 1024),
        "anonymous_mb": anonymous,
        "child_anonymous_mb": of_child,
    }


def watch_memory(worker: "subprocess.Popen[str]") -> tuple[int, int]:
    """The most anonymous memory of a process and of its children while it runs, in MB, looked at every 50 ms."""
    most = of_child = 0
    children = Path(f"/proc/{worker.pid}/task/{worker.pid}/children")
    while worker.poll() is None:
        most = max(most, _anonymous(worker.pid))
        with suppress(OSError):
            of_child = max(of_child, sum(_anonymous(int(pid)) for pid in children.read_text().split()))
        time.sleep(0.05)
    return most // 1024, of_child // 1024


def _anonymous(pid: int) -> int:
    """In kB; 0 for a process that has ended."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1])
    return 0


def measure_take(folder: Path, sentences: list[str], records: int = 20_000) -> dict[str, Any]:
    """``Ledger.apply`` alone: durable on return."""
    chance = random.Random(7)
    some = [
        read_record(
            {
                "tenant_id": "bench",
                "document_id": f"d{n:07d}",
                "source_sequence": 1,
                "source_uri": f"d{n:07d}",
                "source_version": "1",
                "allowed_groups": ["all"],
                "media_type": "text/plain",
                "content": " ".join(chance.choice(sentences) for _ in range(20))[:2000],
            }
        )
        for n in range(records)
    ]
    times = []
    with closing(open_sqlite_ledger(folder / "take" / "ledger.db", SystemClock())) as ledger:
        ledger.start_generation("g", "{}")
        used = time.process_time()
        for first in range(0, records, BATCH_RECORDS):
            begun = time.perf_counter()
            done = ledger.apply(some[first : first + BATCH_RECORDS], "m")
            times.append(time.perf_counter() - begun)
            if any(item.error for item in done):
                raise RuntimeError("a record was refused")
        used = time.process_time() - used
    return {
        "what": "acknowledged records of 2 kB",
        "records_per_second": round(records / sum(times)),
        "cpu_us_a_record": round(used / records * 1e6),
        **{f"batch_{key}": value for key, value in spread(times).items()},
    }


def measure_search(place: Path, questions: list[str]) -> list[dict[str, Any]]:
    started = time.perf_counter()
    engine = open_engine(place)
    engine.probe()
    opened = time.perf_counter() - started
    rows: list[dict[str, Any]] = [{"what": "open the engine", "ms": round(opened * 1000, 1)}]
    with engine:
        for share, group in GROUPS:
            asker = Principal(tenant_id="bench", subject_id="b", groups=(group,), authorization_revision="1")
            for question in questions[:20]:
                engine.search(question, asker)
            times = []
            for question in questions:
                begun = time.perf_counter()
                engine.search(question, asker)
                times.append(time.perf_counter() - begun)
            rows.append({"what": f"Engine.search, {share} % readable", **spread(times)})
    return rows


def measure_fsync(folder: Path) -> dict[str, Any]:
    times = []
    with (folder / "sync").open("ab", buffering=0) as file:
        for _ in range(200):
            file.write(b"x" * 4096)
            begun = time.perf_counter()
            os.fsync(file.fileno())
            times.append(time.perf_counter() - begun)
    return {"what": "one fsync on this disk", **spread(times)}


def measure_cold(folder: Path, rounds: int) -> dict[str, Any]:
    """``clearcite ask`` from start to exit, on the demo corpus, with vectors where the extra is installed.

    Byte code is kept, as it is for an installed package, whatever the environment says. The processor time, of all
    processors together, says more than the other on a machine with neighbours.
    """
    demo = folder / "demo"
    command = [sys.executable, "-m", "clearcite"]
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    env["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
    subprocess.run([*command, "demo", "--dir", str(demo)], check=True, capture_output=True, env=env)
    question = "How many minutes is a slot held in version 2.4?"
    times, used = [], []
    for _ in range(rounds):
        begun, before = time.perf_counter(), _used_by_children()
        subprocess.run(
            [*command, "ask", question, "--as", "guest"], cwd=demo, check=True, capture_output=True, env=env
        )
        times.append(time.perf_counter() - begun)
        used.append(_used_by_children() - before)
    cpu = round(statistics.median(used) * 1000)
    return {"what": "clearcite ask, cold", **spread(times), "cpu_p50_ms": cpu}


def _used_by_children() -> float:
    """Seconds of processor time of the children that have ended."""
    used = os.times()
    return used.children_user + used.children_system


def spread(times: list[float]) -> dict[str, Any]:
    ordered = sorted(times)
    return {
        "p50_ms": round(statistics.median(ordered) * 1000, 2),
        "p95_ms": round(ordered[int(len(ordered) * 0.95)] * 1000, 2),
        "best_ms": round(ordered[0] * 1000, 2),
        "runs": len(ordered),
    }


def print_row(row: dict[str, Any]) -> None:
    print(f"{row['what']:34}", "  ".join(f"{key} {value}" for key, value in row.items() if key != "what"))


if __name__ == "__main__":
    sys.exit(main())
