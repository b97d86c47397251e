"""Run every measurement and write ``docs/benchmarks.md`` from what came out.

    python -m bench [--only search,engine,lifecycle,scifact,quality,questions] [--out bench/results]

Each part is a script of its own with a ``--json`` option; results are kept as JSON, so that a part can be run again
alone and the page be written anew. On a shared machine compare ratios within one run, not times between runs.
"""

import argparse
import datetime as dt
import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.kept import keep_json

ROOT = Path(__file__).resolve().parents[1]
BLIND = [
    "questions_blind",
    "paraphrases_blind",
    "questions_hard",
    "questions_blind_3",
    "questions_blind_4",
    "questions_blind_5",
    "questions_blind_6",
    "questions_blind_7",
    "questions_blind_8",
]
ASKED = ["-m", "bench.questions", *(f"tests/data/{name}.toml" for name in BLIND)]
PARTS: dict[str, tuple[str, list[str]]] = {
    "search": ("The index alone, beside SQLite FTS5 and tantivy", ["-m", "bench.search"]),
    "engine": ("The whole engine", ["-m", "bench.engine"]),
    "lifecycle": ("Changes of the store, seen by a reader", ["-m", "bench.lifecycle"]),
    "scifact": ("Retrieval on SciFact, test split", ["-m", "bench.scifact", "--split", "test"]),
    "cohorts": (
        "What a reader of few documents finds: the filter first, and after the ranking",
        ["-m", "bench.cohorts"],
    ),
    "hidden": ("What hidden matches cost in time, and the same without any (A/A)", ["-m", "bench.hidden"]),
    "gates": ("How long the gates of a release take", ["-m", "bench.gates"]),
    "generations": ("Switches between generations while questions are answered", ["-m", "bench.generations"]),
    "quality": ("Abstention and claims on public development data", ["-m", "bench.quality"]),
    "questions": ("Abstention on the demo corpus, with vectors; the seventh set is blind", ASKED),
    "questions-words": (
        "Abstention on the demo corpus, words alone; the seventh set is blind",
        [*ASKED, "--semantic", "off"],
    ),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--out", type=Path, default=ROOT / "bench" / "results")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    failed = []
    for name in options.only.split(","):
        print(f"== {name}", flush=True)
        if not run(name, options.out):
            failed.append(name)
    write_page(options.out)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def run(name: str, out: Path) -> bool:
    _, command = PARTS[name]
    target, made = out / f"{name}.json", out / f"{name}.json.part"
    done = subprocess.run([sys.executable, *command, "--json", str(made)], cwd=ROOT, check=False)
    if done.returncode == 0:
        found = json.loads(made.read_text(encoding="utf-8"))
        found["command"] = "python " + " ".join(command)
        found["measured"] = dt.datetime.now(dt.UTC).strftime("%Y-%m-%d")
        found["machine"] = machine()
        keep_json(made, found)
        made.replace(target)  # a run that is killed leaves the figures of the one before
    return done.returncode == 0


def machine() -> str:
    cores, memory = os.cpu_count(), _memory_gib()
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    return f"{cores} shared cores, {memory} GiB, {platform.system()}, Python {platform.python_version()}, load {load}"


def _memory_gib() -> int:
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)


def write_page(out: Path) -> None:
    intro = (ROOT / "bench" / "page.md").read_text(encoding="utf-8")
    parts = [intro.rstrip()]
    for name, (title, _) in PARTS.items():
        file = out / f"{name}.json"
        if file.is_file():
            found = json.loads(file.read_text(encoding="utf-8"))
            parts.append(f"## {title}\n\n`{found['command']}`, {found['measured']}, {found['machine']}.\n")
            parts.append(table(found["rows"]))
    (ROOT / "docs" / "benchmarks.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """One Markdown table for rows that share their columns; a new one where the columns change."""
    tables: list[str] = []
    columns: list[str] = []
    for row in rows:
        if list(row) != columns:
            columns = list(row)
            tables.append(f"\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
        tables.append(f"| {' | '.join(str(value) for value in row.values())} |")
    return "\n".join(tables).strip()


if __name__ == "__main__":
    sys.exit(main())
