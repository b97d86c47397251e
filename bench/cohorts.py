"""What a reader finds when few documents are his: filtering before ranking beside filtering after it, on SciFact.

    python bench/cohorts.py [--split dev|test] [--questions 150] [--json FILE]

The documents are dealt to cohorts that may read 2, 10, 50 and 100 % of them, by a hash of the id; a question counts
for a cohort when one of its relevant documents is among them. Ours is asked as each cohort (``Engine.search``). The
others rank everything, keep the first ``kept`` and drop what the cohort may not read: SQLite FTS5 with its own bm25,
and our own index asked as somebody who reads all (whose search gives 100 documents at most). Recall and underfill are
those of scope-check, at ten results. Nothing is fitted here.
"""

import argparse
import json
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from bench.scifact import Judged, read_dev, read_test, write_feed
from clearcite.config import Settings, SourceSettings
from clearcite.domain.access import Principal
from clearcite.engine import Engine
from clearcite.interfaces.cli.ingestion import take_sources
from clearcite.scope_check import check
from clearcite.text.forms import clean_text
from clearcite.wiring import Taking, engine_on

SHARES = (2, 10, 50, 100)
DEPTHS = {"ours": (10, 50, 100), "FTS5": (10, 50, 200)}
"""How many documents are kept before the filter."""
WANTED = 10
Search = Callable[[str], Sequence[str]]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--split", choices=("dev", "test"), default="dev")
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--questions", type=int, default=150, help="the first so many")
    parser.add_argument("--json")
    options = parser.parse_args()
    data = Path(options.data)
    judged = read_test(data) if options.split == "test" else read_dev(data)
    judged = dict(list(judged.items())[: options.questions])
    with tempfile.TemporaryDirectory(prefix="clearcite-bench-") as name, redirect_stdout(sys.stderr):
        rows = measure(Path(name), data, judged)
    for row in rows:
        print(json.dumps(row))
    if options.json:
        found = {"split": options.split, "rows": rows}
        Path(options.json).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


def measure(folder: Path, data: Path, judged: Judged) -> list[dict[str, Any]]:
    feed = folder / "scifact.jsonl"
    write_feed(data, feed)
    records = [json.loads(line) for line in feed.read_text("utf-8").splitlines()]
    for record in records:
        record["allowed_groups"] = [
            f"share{share}" for share in SHARES if draw(record["document_id"]) < share
        ]
    feed.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    source = SourceSettings(path=str(feed.absolute()), tenant="sci", allowed_groups=("share100",))
    settings = Settings(
        store=str((folder / "store").absolute()),
        languages=("en",),
        semantic="off",
        sources=(source,),
        deadline_ms=600_000,
    )
    take_sources(settings, Taking())
    readable = {
        share: frozenset(record["document_id"] for record in records if draw(record["document_id"]) < share)
        for share in SHARES
    }
    with engine_on(settings) as engine:
        after = {"ours": cache(searching(engine, 100, max(DEPTHS["ours"]))), "FTS5": cache(fts5(records))}
        rows = []
        for share in SHARES:
            cases = Cases(share, judged, readable[share])
            rows.append(cases.row("ours, filtered first", searching(engine, share, WANTED)))
            for name, search in after.items():
                rows += [cases.row(f"{name}, filtered after", search, depth) for depth in DEPTHS[name]]
    return rows


def draw(document: str) -> int:
    """From 0 to 99, the same on every machine."""
    return int.from_bytes(sha256(document.encode()).digest()[:8], "big") % 100


def searching(engine: Engine, share: int, k: int) -> Search:
    asker = Principal(
        tenant_id="sci", subject_id="bench", groups=(f"share{share}",), authorization_revision="1"
    )
    return lambda text: [hit.document_id for hit in engine.search(text, asker, k=k).hits]


def fts5(records: Sequence[Mapping[str, Any]]) -> Search:
    base = sqlite3.connect(":memory:")
    base.execute("create virtual table page using fts5(name unindexed, body, tokenize='porter unicode61')")
    pages = ((item["document_id"], f"{item['title'] or ''}\n{item['content']}") for item in records)
    base.executemany("insert into page values (?, ?)", pages)
    sql = "select name from page where page match ? order by bm25(page), name limit ?"

    def search(text: str) -> list[str]:
        words = ["".join(mark for mark in word if mark.isalnum()) for word in clean_text(text).split()]
        asked = " OR ".join(f'"{word}"' for word in words if word)
        return [name for (name,) in base.execute(sql, (asked, max(DEPTHS["FTS5"])))]

    return search


@dataclass(frozen=True)
class Cases:
    """The questions of a cohort that may read ``share`` percent, which are the documents ``may``."""

    share: int
    judged: Judged
    may: frozenset[str]

    def row(self, what: str, search: Search, depth: int | None = None) -> dict[str, Any]:
        """``depth``: how many of everything are kept before the filter; None where the filter comes first."""
        asked = {name: item for name, item in self.judged.items() if item[1] & self.may}
        report = check(
            self._case(name, relevant, self._returned(search(text), depth))
            for name, (text, relevant) in asked.items()
        )
        (cohort,) = report.cohorts
        return {
            "readable_percent": self.share,
            "search": what,
            "kept": "" if depth is None else depth,
            "questions": len(asked),
            "authorized_recall@10": f"{float(cohort.mean_recall or 0):.3f}",
            "underfill_rate": f"{float(cohort.underfill_rate):.3f}",
            "leaking": cohort.leaking,
        }

    def _returned(self, found: Sequence[str], depth: int | None) -> list[str]:
        """What was filtered first is taken as it is, so that a leak would show."""
        if depth is None:
            return list(found)
        return [item for item in found[:depth] if item in self.may][:WANTED]

    def _case(self, name: str, relevant: frozenset[str], returned: Sequence[str]) -> dict[str, Any]:
        return {
            "id": name,
            "tenant": "sci",
            "cohort": f"{self.share} %",
            "k": WANTED,
            "eligible_doc_count": len(self.may),
            "authorized_doc_ids": sorted((set(returned) | relevant) & self.may),
            "relevant_doc_ids": sorted(relevant),
            "returned_doc_ids": list(returned),
        }


if __name__ == "__main__":
    sys.exit(main())
