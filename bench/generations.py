"""How long a switch between two generations takes while questions are answered, and whether any fails meanwhile.

    python -m bench.generations [--documents 2000] [--switches 40] [--json FILE]

The store stands on disk, words only; two threads ask all the time. Times are of ``Operator.promote`` and
``Operator.rollback`` as a whole: check, record, switch, commit. The operator is first in a process of its own, as the
commands are, and then in the asking process, where each of its statements waits for Python's lock behind those who
ask, up to 5 ms a time.
"""

import argparse
import json
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing, contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from bench.kept import keep_json
from clearcite.config import Settings, SourceSettings
from clearcite.domain.access import Principal
from clearcite.engine import Engine
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
    keep_json(options.json, {"rows": rows})
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
    rows: list[dict[str, Any]] = []
    failed = 0
    apart = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
    beside = ThreadPoolExecutor(1)
    with engine_on(settings) as engine, apart, beside:
        for pool, where in ((apart, "from a process of its own"), (beside, "in the asking process")):
            pool.submit(switch_often, settings, 1).result()  # what is loaded first is not measured
            with asking(engine) as (seen, waits):
                promoted, back = pool.submit(switch_often, settings, switches).result()
            refused = sum(count for status, count in seen.items() if status.endswith("_unavailable"))
            for what, times in (("promote", promoted), ("rollback", back)):
                rows.append({"what": f"{what} {where}", "times": len(times), "failed": 0, **spread(times)})
            what = f"question meanwhile, switched {where}"
            rows.append({"what": what, "times": len(waits), "failed": refused, **spread(waits)})
            failed += refused
    return rows, failed


def switch_often(settings: Settings, switches: int) -> tuple[list[float], list[float]]:
    """Seconds of each promotion and of each rollback."""
    promoted, back = [], []
    with engine_on(settings) as engine:
        operator = engine.operator(OPERATOR)
        (candidate,) = [item.name for item in operator.generations() if not item.is_live]
        for _ in range(switches):
            promoted.append(timed(lambda: operator.promote(candidate, "measured", force=True)))
            time.sleep(0.1)
            back.append(timed(lambda: operator.rollback("measured")))
            time.sleep(0.1)
    return promoted, back


@contextmanager
def asking(engine: Engine) -> Iterator[tuple[Counter[str], list[float]]]:
    """Two threads ask all the time: what became of their questions, and how long each took."""
    seen: Counter[str] = Counter()
    waits: list[float] = []
    done = threading.Event()

    def ask() -> None:
        while not done.is_set():
            started = time.perf_counter()
            reply = engine.ask("How long are audit logs of region 7 kept?", ASKER)
            waits.append(time.perf_counter() - started)
            seen[reply.status] += 1

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        yield seen, waits
    finally:
        done.set()
        for thread in threads:
            thread.join()


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
