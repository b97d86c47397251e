"""What hidden matches cost in time, through the whole engine, beside a store that has none and another that has none.

    python -m bench.hidden [--hidden 100000] [--rounds 400] [--json FILE]

Every store holds the same 100 readable documents, each of which matches the question. They differ in what is hidden:
nothing, nothing again (A/A), 10, 1,000 and 100,000 documents of the asker's tenant that match it too, and as many of
another tenant. All are asked in random order, and a time above the first store is the difference within one round: its
median is shown, and between which two values the median lies in 95 of 100 cases. Stores stand in memory where the
system offers that, so that no fsync of a trace is in the times.
"""

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from bench.engine import print_row
from bench.kept import keep_json
from bench.lifecycle import ingest
from clearcite.domain.access import Principal
from clearcite.engine import Engine
from clearcite.errors import NotFound
from clearcite.wiring import open_engine

READABLE = 100
ASKER = Principal(tenant_id="bench", subject_id="b", groups=("staff",), authorization_revision="1")
QUESTION = "How long is the retention of the worker queue?"
TERMS = 3
"""Words of the question that are looked for: retention, worker, queue."""


def main() -> int:
    options = _options()
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(prefix="clearcite-bench-", dir=memory) as name, ExitStack() as stack:
        stores = {
            what: stack.enter_context(open_engine(made(Path(name) / str(number), hidden, tenant)))
            for number, (what, hidden, tenant) in enumerate(_worlds(options.hidden))
        }
        rows = [row for kind, ask in WAYS.items() for row in measure(kind, ask, stores, options.rounds)]
    for row in rows:
        print_row(row)
    keep_json(options.json, {"rows": rows})
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--hidden", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=400)
    parser.add_argument("--json")
    return parser.parse_args()


def _worlds(most: int) -> list[tuple[str, int, str]]:
    """Name, hidden documents, their tenant. The first is what the others are compared with."""
    some = [("nothing", 0), ("nothing, again", 0), ("10", 10), ("1,000", 1_000), (f"{most:,}", most)]
    return [
        *((what, hidden, "bench") for what, hidden in some),
        (f"{most:,} of another tenant", most, "other"),
    ]


def made(place: Path, hidden: int, tenant: str) -> Path:
    place.mkdir(parents=True)
    (place / "clearcite.toml").write_text('[text]\nlanguages = ["en"]\nsemantic = "off"\n', encoding="utf-8")
    with (place / "feed.jsonl").open("w", encoding="utf-8") as file:
        for n in range(READABLE):
            file.write(_record(f"open-{n}", "bench", "staff", n))
        for n in range(hidden):
            file.write(_record(f"hidden-{n}", tenant, "board", n))
    if ingest(place).wait():
        raise RuntimeError("the documents could not be ingested")
    return place


def _record(name: str, tenant: str, group: str, n: int) -> str:
    text = f"The retention of the worker queue {name} is 25 days. It was agreed on in round {n}."
    record = {
        "tenant_id": tenant,
        "document_id": name,
        "source_sequence": 1,
        "source_uri": name,
        "source_version": "1",
        "title": name,
        "allowed_groups": [group],
        "media_type": "text/plain",
        "content": text,
    }
    return json.dumps(record) + "\n"


def _show(engine: Engine, name: str) -> str:
    try:
        return engine.document(name, ASKER).title
    except NotFound:
        return ""


WAYS: dict[str, Callable[[Engine], Any]] = {
    "ask": lambda engine: engine.ask(QUESTION, ASKER).status,
    "search": lambda engine: [hit.document_id for hit in engine.search(QUESTION, ASKER).hits],
    "list": lambda engine: [item.document_id for item in engine.documents(ASKER)],
    "show": lambda engine: _show(engine, "open-7"),
    "show what is hidden": lambda engine: _show(engine, "hidden-7"),
}


def measure(
    kind: str, ask: Callable[[Engine], Any], stores: dict[str, Engine], rounds: int
) -> list[dict[str, Any]]:
    first, *others = stores
    said = [ask(engine) for engine in stores.values() for _ in range(5)]
    if any(one != said[0] for one in said):
        raise RuntimeError("what is hidden changed what is seen")
    chance, order = random.Random(3), list(stores)
    above: dict[str, list[float]] = {name: [] for name in others}
    base: list[float] = []
    for _ in range(rounds):
        chance.shuffle(order)
        times = {}
        for name in order:
            started = time.perf_counter()
            ask(stores[name])
            times[name] = (time.perf_counter() - started) * 1e3
        base.append(times[first])
        for name in others:
            above[name].append(times[name] - times[first])
    return [_row(kind, name, above[name], statistics.median(base)) for name in others]


def _row(kind: str, name: str, above: list[float], base: float) -> dict[str, Any]:
    ordered, half = sorted(above), 0.98 * len(above) ** 0.5  # of a median's rank, 95 of 100
    low, high = (ordered[int(len(ordered) / 2 + side * half)] for side in (-1, 1))
    median = statistics.median(ordered)
    row = {"what": kind, "hidden": name, "above_ms": round(median, 3), "low_ms": round(low, 3)}
    row |= {"high_ms": round(high, 3), "a_term_ms": round(median / TERMS, 3)}
    return {**row, "without_ms": round(base, 2), "runs": len(above)}


if __name__ == "__main__":
    sys.exit(main())
