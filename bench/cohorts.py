"""What a reader finds when few documents are his: filtering before ranking beside filtering after it, on SciFact.

    python -m bench.cohorts [--split dev|test] [--questions 150] [--json FILE]

The documents are dealt to cohorts that may read 2, 10, 50 and 100 % of them, by a hash of id and draw: many draws where
few documents are read, so that enough questions are left. A question counts for a cohort when one of its relevant
documents is among what it may read. Ours is asked as each cohort (``Engine.search``). The others rank everything, keep
the first ``kept`` and drop what the cohort may not read: SQLite FTS5 with its own bm25, and our own index asked as
somebody who reads all, page by page. Recall and underfill are those of scope-check, at ten results, over all draws of
a share; intervals are of 95 %, over questions, for one question in several draws says less than as many questions do.
Nothing is fitted here.
"""

import argparse
import json
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from functools import cache
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

from msgspec import Struct

from bench.kept import keep_json
from bench.scifact import Judged, read_dev, read_test, write_feed
from clearcite.bench.stats import binomial_interval
from clearcite.config import Settings, SourceSettings
from clearcite.domain.access import Principal
from clearcite.engine import Engine
from clearcite.interfaces.cli.ingestion import take_sources
from clearcite.scope_check import check
from clearcite.scope_check.measure import Outcome
from clearcite.text.forms import clean_text
from clearcite.wiring import Taking, engine_on

DRAWS = {2: 40, 10: 12, 50: 3, 100: 1}
"""Percent of the documents that a cohort may read → how many cohorts are dealt."""
DEPTHS = (10, 50, 200)
"""How many documents are kept before the filter."""
WANTED, PAGE = 10, 100
RESAMPLES = 2_000
Cohort = tuple[int, int]
"""Share in percent, and the number of the draw."""
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
    keep_json(options.json, {"split": options.split, "rows": rows})
    return 0


def measure(folder: Path, data: Path, judged: Judged) -> list[dict[str, Any]]:
    feed = folder / "scifact.jsonl"
    write_feed(data, feed)
    records = [json.loads(line) for line in feed.read_text("utf-8").splitlines()]
    cohorts = [(share, draw) for share, draws in DRAWS.items() for draw in range(draws)]
    readable = {
        cohort: frozenset(
            record["document_id"] for record in records if is_dealt(record["document_id"], cohort)
        )
        for cohort in cohorts
    }
    for record in records:
        record["allowed_groups"] = [
            group(cohort) for cohort in cohorts if record["document_id"] in readable[cohort]
        ]
    feed.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    source = SourceSettings(path=str(feed.absolute()), tenant="sci", allowed_groups=(group((100, 0)),))
    settings = Settings(
        store=str((folder / "store").absolute()),
        languages=("en",),
        semantic="off",
        sources=(source,),
        deadline_ms=600_000,
    )
    take_sources(settings, Taking())
    with engine_on(settings) as engine:
        everything = searching(engine, (100, 0), max(DEPTHS))
        after = {"ours": cache(everything), "FTS5": cache(fts5(records))}
        rows = []
        for share in DRAWS:
            cases = Cases(
                share, judged, {cohort: may for cohort, may in readable.items() if cohort[0] == share}
            )
            first = {cohort: searching(engine, cohort, WANTED) for cohort in cases.may}
            rows.append(cases.row("ours, filtered first", first))
            for name, search in after.items():
                same = dict.fromkeys(cases.may, search)
                rows += [cases.row(f"{name}, filtered after", same, depth) for depth in DEPTHS]
    return rows


def is_dealt(document: str, cohort: Cohort) -> bool:
    """The same on every machine."""
    share, draw = cohort
    number = int.from_bytes(sha256(f"{draw}/{document}".encode()).digest()[:8], "big")
    return number % 100 < share


def group(cohort: Cohort) -> str:
    share, draw = cohort
    return f"share{share}-{draw}"


def searching(engine: Engine, cohort: Cohort, wanted: int) -> Search:
    asker = Principal(
        tenant_id="sci", subject_id="bench", groups=(group(cohort),), authorization_revision="1"
    )

    def search(text: str) -> list[str]:
        found: list[str] = []
        after = None
        while len(found) < wanted:
            page = engine.search(text, asker, k=min(PAGE, wanted - len(found)), after=after)
            found += [hit.document_id for hit in page.hits]
            after = page.next
            if after is None:
                break
        return found

    return search


def fts5(records: Sequence[Mapping[str, Any]]) -> Search:
    base = sqlite3.connect(":memory:")
    base.execute("create virtual table page using fts5(name unindexed, body, tokenize='porter unicode61')")
    pages = ((item["document_id"], f"{item['title'] or ''}\n{item['content']}") for item in records)
    base.executemany("insert into page values (?, ?)", pages)
    sql = "select name from page where page match ? order by bm25(page), name limit ?"

    def search(text: str) -> list[str]:
        words = ["".join(mark for mark in word if mark.isalnum()) for word in clean_text(text).split()]
        asked = " OR ".join(f'"{word}"' for word in words if word)
        return [name for (name,) in base.execute(sql, (asked, max(DEPTHS)))]

    return search


class Cases(Struct, frozen=True):
    """The questions of the cohorts of one share, and the documents that each of them may read."""

    share: int
    judged: Judged
    may: Mapping[Cohort, frozenset[str]]

    def row(self, what: str, searches: Mapping[Cohort, Search], depth: int | None = None) -> dict[str, Any]:
        """``depth``: how many of everything are kept before the filter; None where the filter comes first."""
        seen: dict[str, list[Outcome]] = {}
        report = check(
            (
                self._case(cohort, name, self._returned(searches[cohort](text), may, depth))
                for cohort, may in self.may.items()
                for name, (text, relevant) in self.judged.items()
                if relevant & may
            ),
            see=lambda outcome: seen.setdefault(outcome.case.id.partition("/")[2], []).append(outcome),
        )
        (cohort,) = report.cohorts
        recalls = [[float(one.recall or 0) for one in some] for some in seen.values()]
        short = [[float(one.underfilled) for one in some] for some in seen.values()]
        return {
            "readable_percent": self.share,
            "search": what,
            "kept": "" if depth is None else depth,
            "cohorts": len(self.may),
            "scored": cohort.scored,
            "questions": len(seen),
            "authorized_recall@10": _with_interval(float(cohort.mean_recall or 0), recalls),
            "underfill_rate": _with_interval(float(cohort.underfill_rate), short),
            "leaking": cohort.leaking,
        }

    @staticmethod
    def _returned(found: Sequence[str], may: frozenset[str], depth: int | None) -> list[str]:
        """What was filtered first is taken as it is, so that a leak would show."""
        if depth is None:
            return list(found)
        return [item for item in found[:depth] if item in may][:WANTED]

    def _case(self, cohort: Cohort, name: str, returned: Sequence[str]) -> dict[str, Any]:
        relevant, may = self.judged[name][1], self.may[cohort]
        return {
            "id": f"{cohort[1]}/{name}",
            "tenant": "sci",
            "cohort": f"{self.share} %",
            "k": WANTED,
            "eligible_doc_count": len(may),
            "authorized_doc_ids": sorted((set(returned) | relevant) & may),
            "relevant_doc_ids": sorted(relevant),
            "returned_doc_ids": list(returned),
        }


def _with_interval(value: float, by_question: Sequence[Sequence[float]]) -> str:
    """The mean with its 95 % interval. Questions are drawn anew, each with all its cases; where nothing differs, what
    so many questions show at least or at most."""
    if value in (0.0, 1.0):
        n = len(by_question)
        low, high = (float(end) for end in binomial_interval(n if value else 0, n))
    else:
        source = Random(0)
        sums = [(sum(some), len(some)) for some in by_question]
        means = []
        for _ in range(RESAMPLES):
            drawn = source.choices(sums, k=len(sums))
            means.append(sum(total for total, _ in drawn) / sum(n for _, n in drawn))
        means.sort()
        low, high = means[RESAMPLES // 40], means[-1 - RESAMPLES // 40]
    return f"{value:.3f} ({low:.3f} to {high:.3f})"


if __name__ == "__main__":
    sys.exit(main())
