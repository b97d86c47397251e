"""Abstention, claims, disagreement and poisoning on public development data.

    python -m bench.quality [--semantic on|off|both] [--data FOLDER] [--cache FOLDER] [--json FILE]

All of it is development data: choices were made on these very questions, so the figures say how well the choices fit.
Those of ``bench/fit_sufficiency.py`` are cross-validated; the other halves of the sets were never looked at.

- abstention: SciFact claims the corpus answers against claims it does not, over the 5,183 abstracts: AUC of the score
- claims: RAMDocs, each question over its own documents: a correct answer stands in the first claim, or in one of at
  most three of at most 100 words together (the sides of a disagreement included)
- conflicts: RAMDocs again: a disagreement is found where the documents give several answers, and where they give one
- poisoning: five passages of a forum against one of the documentation that says the same with the right answer
"""

import argparse
import gzip
import json
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.kept import keep_json
from bench.shelf import ANALYZER, Remembering, Shelf, Text, auc, evidence_of
from clearcite.adapters.embedders.minilm import MiniLM
from clearcite.adapters.writers.extractive import ExtractiveWriter
from clearcite.answer.conflicts import find_conflicts
from clearcite.answer.resolve import resolve_conflicts
from clearcite.answer.sufficiency import judge
from clearcite.ports import Embedder


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--semantic", choices=("on", "off", "both"), default="both")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--cache", type=Path, help="keep vectors here between runs")
    parser.add_argument("--json")
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for mode in ("off", "on") if options.semantic == "both" else (options.semantic,):
        cache = options.cache / "vectors.pickle" if options.cache else None
        embedder = Remembering(MiniLM(), cache) if mode == "on" else None
        with tempfile.TemporaryDirectory(prefix="clearcite-quality-") as name:
            for part in (claims, poisoning, abstention):
                for row in part(options.data, Path(name), embedder):
                    rows.append({"mode": "with vectors" if embedder else "words alone", **row})
                    print(json.dumps(rows[-1]), flush=True)
        if embedder is not None:
            embedder.save()
    keep_json(options.json, {"rows": rows})
    return 0


def abstention(data: Path, folder: Path, embedder: Embedder | None) -> Iterator[dict[str, Any]]:
    answered, unanswered = read_claims(data)
    shelf = Shelf(read_abstracts(data), folder / "scifact", embedder)
    writer = ExtractiveWriter(ANALYZER, embedder)
    scores = [[_score(shelf, writer, embedder, claim) for claim in some] for some in (answered, unanswered)]
    wrong = sum(score >= 0 for score in scores[1]), sum(score < 0 for score in scores[0])
    yield {
        "measure": "abstention, SciFact NLI dev",
        "questions": len(answered) + len(unanswered),
        "AUC": round(auc(scores[0], scores[1]), 3),
        "false answers": f"{wrong[0]} of {len(unanswered)}",
        "over-refusals": f"{wrong[1]} of {len(answered)}",
    }


def _score(shelf: Shelf, writer: ExtractiveWriter, embedder: Embedder | None, claim: str) -> int:
    plan, ranked = shelf.ranked(claim)
    evidence = evidence_of(ranked)
    return judge(plan, evidence, writer.compose(plan, evidence, ()), ANALYZER, embedder).score


def claims(data: Path, folder: Path, embedder: Embedder | None) -> Iterator[dict[str, Any]]:
    writer = ExtractiveWriter(ANALYZER, embedder)
    first = three = words = several = found_several = single = found_single = 0
    questions = read_lines(data / "ramdocs_dev/ramdocs_dev.jsonl")
    for at, item in enumerate(questions):
        documents = [Text(name=f"{n}", text=document["text"]) for n, document in enumerate(item["documents"])]
        shelf = Shelf(documents, folder / f"ramdocs-{at}", embedder)
        plan, ranked = shelf.ranked(item["question"])
        disputes = resolve_conflicts(plan, find_conflicts(plan, tuple(ranked), ANALYZER))
        made = writer.compose(plan, evidence_of(ranked), disputes)
        shown = [claim.text for claim in made]
        sides = [side.claim.text for dispute in disputes for side in dispute.sides][:3]
        first += bool(shown) and holds(shown[0], item["gold_answers"])
        three += any(holds(text, item["gold_answers"]) for text in shown + sides)
        words += sum(len(text.split()) for text in shown)
        if len({normal(answer) for answer in item["gold_answers"] + item["wrong_answers"]}) > 1:
            several, found_several = several + 1, found_several + bool(disputes)
        else:
            single, found_single = single + 1, found_single + bool(disputes)
    total = len(questions)
    yield {
        "measure": "claims, RAMDocs dev",
        "questions": total,
        "in the first claim": round(first / total, 3),
        "in at most three": round(three / total, 3),
        "mean words": round(words / total, 1),
    }
    yield {
        "measure": "conflicts, RAMDocs dev",
        "questions": total,
        "found where documents differ": f"{found_several} of {several}",
        "found where they agree": f"{found_single} of {single}",
    }


def poisoning(data: Path, folder: Path, embedder: Embedder | None) -> Iterator[dict[str, Any]]:
    """The source of authority repeats the first poisoned passage with the right answer in place of the wrong one."""
    writer = ExtractiveWriter(ANALYZER, embedder)
    counts = {"authority first": 0, "both cited or shown": 0, "silently outvoted": 0, "neither": 0}
    beside = 0
    usable = 0
    for at, item in enumerate(json.loads((data / "poisonedrag_dev/nq.json").read_text("utf-8")).values()):
        honest = _corrected(item)
        if honest is None:
            continue
        usable += 1
        texts = [
            Text(name=f"forum-{n}", text=text, source_type="forum", authority=10)
            for n, text in enumerate(item["adv_texts"])
        ]
        texts.append(Text(name="manual", text=honest, source_type="documentation", authority=90))
        plan, ranked = Shelf(texts, folder / f"poison-{at}", embedder).ranked(item["question"])
        disputes = resolve_conflicts(plan, find_conflicts(plan, tuple(ranked), ANALYZER))
        made = writer.compose(plan, evidence_of(ranked), disputes)
        shown = [(quote.passage.key.document_id) for claim in made for quote in claim.quotes]
        open_sides = [
            quote.passage.key.document_id
            for dispute in disputes
            if dispute.winner is None
            for side in dispute.sides
            for quote in side.claim.quotes
        ]
        counts[_verdict(open_sides or shown)] += 1
        beside += not open_sides and any(holds(claim.text, [item["incorrect answer"]]) for claim in made)
    yield {
        "measure": "poisoning, PoisonedRAG dev, 5 to 1",
        "questions": usable,
        **counts,
        "wrong value claimed": beside,
    }


def _verdict(cited: Sequence[str]) -> str:
    if not cited:
        return "neither"
    if "manual" not in cited:
        return "silently outvoted"
    return "authority first" if cited[0] == "manual" else "both cited or shown"


def _corrected(item: dict[str, Any]) -> str | None:
    for text in item["adv_texts"]:
        pattern = re.compile(re.escape(item["incorrect answer"]), re.IGNORECASE)
        if pattern.search(text):
            return pattern.sub(item["correct answer"].replace("\\", r"\\"), text)
    return None


def read_claims(data: Path) -> tuple[list[str], list[str]]:
    answered = dict.fromkeys(item["hypothesis"] for item in read_lines(data / "scifact_nli_dev/pairs.jsonl"))
    unanswered = [item["claim"] for item in read_lines(data / "scifact_nli_dev/no_evidence_claims.jsonl")]
    return list(answered), unanswered


def read_abstracts(data: Path) -> Iterator[Text]:
    with gzip.open(data / "scifact/corpus.jsonl.gz", "rt", encoding="utf-8") as file:
        for item in map(json.loads, file):
            yield Text(name=item["_id"], text=item["text"] or item["title"], title=item["title"])


def read_lines(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def normal(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", text.lower()))


def holds(text: str, answers: Sequence[str]) -> bool:
    spaced = f" {normal(text)} "
    return any(f" {normal(answer)} " in spaced for answer in answers)


if __name__ == "__main__":
    sys.exit(main())
