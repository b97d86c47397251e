"""How long the gates of a release take: scope-check on 200,000 cases, evaluate on 300 SciFact queries, the whole drill.

    python -m bench.gates [--data FOLDER] [--json FILE]

Each command is a process of its own; CPU is user and system time of it and its children. SciFact's
documents are dealt to five cohorts by a hash of their ids, and each query is asked by one of them, words alone. It is
timed on the test split and tunes nothing.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from hashlib import sha256
from pathlib import Path
from typing import Any

from bench.kept import keep_json
from bench.scifact import read_test, write_feed

CASES, BYTES = 200_000, 817
COHORTS = 5
PASS_OR_BLOCK = (0, 1)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="clearcite-bench-") as name, redirect_stdout(sys.stderr):
        rows = list(measured(Path(name), options.data))
    for row in rows:
        print(json.dumps(row))
    keep_json(options.json, {"rows": rows})
    return 0


def measured(folder: Path, data: Path) -> Iterator[dict[str, Any]]:
    write_cases(folder / "cases.jsonl")
    for number in range(3):
        yield timed(
            f"scope-check, {CASES} cases, run {number + 1}", folder, "scope-check", "cases.jsonl", target=3
        )
    prepare_scifact(folder, data)
    timed("ingest", folder, "ingest", target=None)
    for suite, what in (("all.toml", "all gates"), ("ranking.toml", "without noninterference")):
        title = f"evaluate, 300 SciFact queries that only search, {what}"
        yield timed(title, folder, "evaluate", suite, target=10)
    (folder / "empty").mkdir()
    yield timed("drill, whole matrix on the demo corpus", folder / "empty", "drill", target=60)
    yield timed("drill --rollback on the demo corpus", folder / "empty", "drill", "--rollback", target=None)


def timed(what: str, folder: Path, *args: str, target: int | None) -> dict[str, Any]:
    """Wall and CPU seconds of one command."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "clearcite", *args],
        cwd=folder,
        env={**os.environ, "CLEARCITE_SEMANTIC": "off"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    _, errors = process.communicate()
    seconds = time.monotonic() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode not in PASS_OR_BLOCK:
        raise RuntimeError(errors.decode("utf-8", "replace")[-2000:])
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return {
        "what": what,
        "exit": process.returncode,
        "seconds": round(seconds, 2),
        "cpu_seconds": round(cpu, 2),
        "target_seconds": target,
    }


def write_cases(path: Path) -> None:
    """Ten results a case; padded to the length of a real one."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(CASES):
            ids = [f"doc-{number % 977}-{place:02}" for place in range(12)]
            case = {
                "id": f"case-{number}",
                "tenant": f"tenant-{number % 4}",
                "cohort": f"cohort-{number % 8}",
                "k": 10,
                "eligible_doc_count": 12,
                "authorized_doc_ids": ids,
                "relevant_doc_ids": ids[:2],
                "returned_doc_ids": ids[:10],
                "candidate_doc_ids": ids,
            }
            line = json.dumps(case)
            file.write(line + " " * max(0, BYTES - 1 - len(line)) + "\n")


def prepare_scifact(folder: Path, data: Path) -> None:
    feed = folder / "scifact.jsonl"
    write_feed(data, feed)
    records = [json.loads(line) for line in feed.read_text("utf-8").splitlines()]
    for record in records:
        record["allowed_groups"] = [f"cohort-{draw(record['document_id'])}", "all"]
    feed.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    (folder / "clearcite.toml").write_text(
        '[text]\nlanguages = ["en"]\n[limits]\ndeadline_ms = 600000\n'
        '[[sources]]\npath = "scifact.jsonl"\ntenant = "sci"\nallowed_groups = ["all"]\n'
    )
    known = {record["document_id"] for record in records}
    cases = "".join(case_of(*item, known) for item in enumerate(read_test(data).items()))
    (folder / "all.toml").write_text(f"[gates]\nmin_authorized_recall = 0.5\n{cases}")
    (folder / "ranking.toml").write_text(
        f"[gates]\nmin_authorized_recall = 0.5\nnoninterference_questions = 0\n{cases}"
    )


def case_of(number: int, judged: tuple[str, tuple[str, frozenset[str]]], known: set[str]) -> str:
    query, (text, relevant) = judged
    ask: Mapping[str, Any] = {
        "text": text,
        "tenant": "sci",
        "groups": ["all"] if number % 2 else [f"cohort-{n}" for n in range(COHORTS) if n != number % COHORTS],
    }
    cites = sorted(relevant & known)
    return (
        f'\n[[cases]]\nid = "{query}"\ncohort = "cohort-{number % COHORTS}"\n'
        f'ask = {{text = {json.dumps(ask["text"])}, tenant = "sci",'
        f" groups = {json.dumps(ask['groups'])}, search = true}}\n"
        f'expect = {{status = "answered", cites = {json.dumps(cites)}}}\n'
    )


def draw(document: str) -> int:
    return sha256(document.encode()).digest()[0] % COHORTS


if __name__ == "__main__":
    sys.exit(main())
