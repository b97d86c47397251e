"""Retrieval quality on SciFact through the real engine: nDCG@10, R@10 and R@100, words alone and with vectors.

    python -m bench.scifact [--split dev|test] [--json FILE]

``dev``: the claims of the training split; every choice was made on these. What they cite is relevant, whether or not it
settles them, as in the test split: what a claim without evidence cites is far harder to find. ``test``: the 300 test
claims with their published judgements; run once, when all choices are made. A document is ranked by its best passage of
about 180 words, as ``Engine.search`` does. nDCG uses binary gains and log2 discounts, as trec_eval does.
"""

import argparse
import gzip
import json
import math
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.kept import keep_json
from clearcite.config import Settings, SourceSettings
from clearcite.domain.access import Principal
from clearcite.interfaces.cli.ingestion import take_sources
from clearcite.wiring import Taking, engine_on

ASKER = Principal(tenant_id="sci", subject_id="bench", groups=("all",), authorization_revision="1")
Judged = Mapping[str, tuple[str, frozenset[str]]]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--split", choices=("dev", "test"), default="dev")
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--store", help="keep the store here, to embed the corpus only once")
    parser.add_argument("--json")
    options = parser.parse_args()
    data = Path(options.data)
    judged = read_test(data) if options.split == "test" else read_dev(data)
    with tempfile.TemporaryDirectory(prefix="clearcite-bench-") as name:
        folder = Path(options.store or name)
        rows = [measure(folder, data, judged, mode) for mode in ("off", "on")]
    for row in rows:
        print(json.dumps({"split": options.split, **row}))
    keep_json(options.json, {"split": options.split, "rows": rows})
    return 0


def read_test(data: Path) -> Judged:
    relevant: dict[str, set[str]] = {}
    for line in (data / "scifact/qrels.test.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, document, grade = line.split("\t")
        if int(grade) > 0:
            relevant.setdefault(query, set()).add(document)
    with (data / "scifact/queries.test.jsonl").open(encoding="utf-8") as file:
        texts = {item["_id"]: item["text"] for item in map(json.loads, file)}
    return {query: (texts[query], frozenset(found)) for query, found in relevant.items()}


def read_dev(data: Path) -> Judged:
    """Claims of the training split; those of the validation split are test queries and stay out, as does a claim that
    stands in both.
    """
    claims: dict[str, set[str]] = {}
    for item in _training(data / "scifact_nli_dev/pairs.jsonl"):
        claims.setdefault(item["hypothesis"], set()).add(str(item["doc_id"]))
    for item in _training(data / "scifact_nli_dev/no_evidence_claims.jsonl"):
        claims.setdefault(item["claim"], {str(cited) for cited in item["cited_doc_ids"]})
    asked = {text for text, _ in read_test(data).values()}
    return {text: (text, frozenset(found)) for text, found in claims.items() if text not in asked}


def _training(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        return [item for item in map(json.loads, file) if item["split"] == "train"]


def measure(folder: Path, data: Path, judged: Judged, semantic: str) -> dict[str, Any]:
    store = folder / f"store-{semantic}"
    feed = folder / "scifact.jsonl"
    folder.mkdir(parents=True, exist_ok=True)
    write_feed(data, feed)
    source = SourceSettings(path=str(feed.absolute()), tenant="sci", allowed_groups=("all",))
    settings = Settings(
        store=str(store.absolute()),
        languages=("en",),
        semantic=semantic,
        sources=(source,),
        deadline_ms=600_000,
    )
    take_sources(settings, Taking())
    scores: dict[str, list[float]] = {"nDCG@10": [], "R@10": [], "R@100": []}
    with engine_on(settings) as engine:
        for text, relevant in judged.values():
            hits = engine.search(text, ASKER, k=100).hits
            found = [hit.document_id for hit in hits]
            scores["nDCG@10"].append(ndcg(found[:10], relevant))
            scores["R@10"].append(len(relevant & set(found[:10])) / len(relevant))
            scores["R@100"].append(len(relevant & set(found)) / len(relevant))
    means = {name: round(sum(values) / len(values), 4) for name, values in scores.items()}
    return {"mode": "with vectors" if semantic == "on" else "words alone", "queries": len(judged), **means}


def write_feed(data: Path, feed: Path) -> None:
    with (
        gzip.open(data / "scifact/corpus.jsonl.gz", "rt", encoding="utf-8") as source,
        feed.open("w", encoding="utf-8") as target,
    ):
        for item in map(json.loads, source):
            record = {
                "tenant_id": "sci",
                "document_id": item["_id"],
                "source_sequence": 1,
                "source_uri": item["_id"],
                "source_version": "1",
                "title": item["title"] or None,
                "allowed_groups": ["all"],
                "media_type": "text/plain",
                "content": item["text"],
            }
            target.write(json.dumps(record, ensure_ascii=False) + "\n")


def ndcg(found: Sequence[str], relevant: frozenset[str]) -> float:
    gained = sum(1 / math.log2(rank + 2) for rank, name in enumerate(found) if name in relevant)
    ideal = sum(1 / math.log2(rank + 2) for rank in range(min(10, len(relevant))))
    return gained / ideal


if __name__ == "__main__":
    sys.exit(main())
