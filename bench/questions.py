"""How often the demo corpus gives a false answer, and how often it refuses one it has.

    python -m bench.questions FILE.toml [--documents FOLDER] [--semantic on|off] [--failures] [--json FILE]

FILE holds questions as ``src/clearcite/demo/corpus/questions.toml`` does, each with a ``group``; with ``--documents``
they are about the files of that folder, which anybody may read. A false answer: the status is ``answered`` (or
``conflict``) where the readable documents do not answer. An over-refusal: any other status where they do. Right: the
status, the decisive words and a citation of the right document. In ``tests/data``, ``questions_dev.toml`` was used
for choices from the start. The other files were written by somebody who saw only the documents; each was asked as a
blind set once, and its header says which choices have seen it since.
"""

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

from bench import sets
from bench.kept import keep_json
from clearcite.interfaces.cli.ingestion import take_sources
from clearcite.wiring import Taking, engine_on
from tests.support.demo import Asked, Item, open_demo, read_questions


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--documents", type=Path, help="a folder that the questions are about, not the demo")
    parser.add_argument("--semantic", choices=("on", "off"), default="on")
    parser.add_argument("--failures", action="store_true", help="list what went wrong (development only)")
    parser.add_argument("--json")
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    with _asking(options.documents, options.semantic) as ask_all:
        for file in options.files:
            asked = ask_all(read_questions(file))
            rows.append({"file": file.name, "semantic": options.semantic, **summary(asked)})
            print(json.dumps(rows[-1]))
            if options.failures:
                for item in asked:
                    if item.faults():
                        print("  ", item.item["id"], item.item["text"], item.faults())
    keep_json(options.json, {"rows": rows})
    return 0


@contextmanager
def _asking(documents: Path | None, semantic: str) -> Iterator[Callable[[Sequence[Item]], list[Asked]]]:
    """What asks questions about the demo, or about the files of a folder."""
    if documents is None:
        with open_demo(semantic) as demo:
            yield demo.ask_all
        return
    with tempfile.TemporaryDirectory(prefix="clearcite-bench-") as base:
        settings = sets.settings_on(documents.resolve(), Path(base), semantic)
        with redirect_stdout(sys.stderr):
            if take_sources(settings, Taking()):
                raise RuntimeError(f"the documents of {documents} could not be ingested")
        with engine_on(settings) as engine:
            yield lambda items: [Asked(item, engine.ask(item["text"], sets.ANYBODY)) for item in items]


def summary(asked: list[Asked]) -> dict[str, Any]:
    wanted: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    for item in asked:
        expected = item.item["status"]
        wanted[expected] += 1
        seen["right"] += not item.faults()
        if expected == "insufficient_evidence":
            seen["false answers"] += item.public.status in ("answered", "conflict")
        elif expected == "answered":
            seen["over-refusals"] += item.public.status != "answered"
        seen["wrong status"] += item.public.status != expected
    return {
        "questions": len(asked),
        "unanswerable": wanted["insufficient_evidence"],
        "answerable": wanted["answered"],
        "false answers": seen["false answers"],
        "over-refusals": seen["over-refusals"],
        "wrong status": seen["wrong status"],
        "right in full": seen["right"],
    }


if __name__ == "__main__":
    sys.exit(main())
