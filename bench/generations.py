"""How long a switch between two generations takes while questions are answered, and whether any fails meanwhile.

    python bench/generations.py [--documents 2000] [--switches 40] [--json FILE]

The store stands on disk, words only; two threads ask all the time. Times are of ``Operator.promote`` and
``Operator.rollback`` as a whole: check, record, switch, commit.
"""

import argparse
import json
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from clearcite.config import Settings, SourceSettings
from clearcite.domain.access import Principal
from clearcite.ingest.pipeline import project
from clearcite.interfaces.cli.ingestion import take_sources
from clearcite.wiring import Recipe, Taking, build_target, engine_on, open_workshop

ASKER = Principal(tenant_id="t", subject_id="bench", groups=("all",), authorization_revision="1")
OPERATOR = Principal(
    tenant_id="t", subject_id="olga", groups=("all",), authorization_revision="1", roles=("operator",)
)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--documents", type=int, default=2_000)
    parser.add_argument("--switches", type=int, default=40)
    parser.add_argument("--json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="clearcite-bench-") as name:
        settings = filled(Path(name), options.documents)
        rows, failed = measure(settings, options.switches)
    rows = [{"documents": options.documents, **row} for row in rows]
    for row in rows:
        print(json.dumps(row))
    if options.json:
        Path(options.json).write_text(json.dumps({"rows": rows}, indent=1) + "\n", encoding="utf-8")
    return 1 if failed else 0


def filled(folder: Path, documents: int) -> Settings:
    feed = folder / "feed.jsonl"
    with feed.open("w", encoding="utf-8") as target:
        for i in range(documents):
            record = {
                "tenant_id": "t",
                "document_id": f"d{i}",
                "source_sequence": 1,
                "source_uri": f"d{i}",
                "source_version": "1",
                "allowed_groups": ["all"],
                "content": f"# Region {i}\n\nAudit logs of region {i} are kept for {i % 300 + 5} days.\n",
            }
            target.write(json.dumps(record) + "\n")
    source = SourceSettings(path=str(feed), tenant="t", allowed_groups=("all",))
    settings = Settings(store=str(folder / "store"), semantic="off", sources=(source,))
    take_sources(settings, Taking())
    with closing(open_workshop(settings, build_target(Recipe(chunk_words=60)))) as shop:
        for _ in project(shop.worker):
            pass
    return settings


def measure(settings: Settings, switches: int) -> tuple[list[dict[str, Any]], int]:
    """Rows for the table, and how many questions failed."""
    seen: Counter[str] = Counter()
    waits: list[float] = []
    done = threading.Event()
    promoted: list[float] = []
    back: list[float] = []
    with engine_on(settings) as engine, engine_on(settings) as other:
        operator = other.operator(OPERATOR)
        (candidate,) = [item.name for item in operator.generations() if not item.is_live]

        def ask() -> None:
            while not done.is_set():
                started = time.perf_counter()
                reply = engine.ask("How long are audit logs of region 7 kept?", ASKER)
                waits.append(time.perf_counter() - started)
                seen[reply.status] += 1

        threads = [threading.Thread(target=ask) for _ in range(2)]
        for thread in threads:
            thread.start()
        for _ in range(switches):
            promoted.append(timed(lambda: operator.promote(candidate, "measured", force=True)))
            time.sleep(0.1)
            back.append(timed(lambda: operator.rollback("measured")))
            time.sleep(0.1)
        done.set()
        for thread in threads:
            thread.join()
    failed = sum(count for status, count in seen.items() if status.endswith("_unavailable"))
    counts = {"promote": (switches, 0), "rollback": (switches, 0), "question meanwhile": (len(waits), failed)}
    times = {"promote": promoted, "rollback": back, "question meanwhile": waits}
    rows = [
        {"what": what, "times": counts[what][0], "failed": counts[what][1], **spread(times[what])}
        for what in times
    ]
    return rows, failed


def timed(act: Callable[[], object]) -> float:
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


def spread(seconds: list[float]) -> dict[str, float]:
    some = sorted(seconds)
    places = {"p50 ms": len(some) // 2, "p95 ms": len(some) * 95 // 100, "highest ms": len(some) - 1}
    return {name: round(some[place] * 1_000, 1) for name, place in places.items()}


if __name__ == "__main__":
    sys.exit(main())
