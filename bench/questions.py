"""How often the demo corpus gives a false answer, and how often it refuses one it has.

    python -m bench.questions FILE.toml [--semantic on|off] [--failures] [--json FILE]

FILE holds questions as ``src/clearcite/demo/corpus/questions.toml`` does, each with a ``group``. A false answer: the
status is ``answered`` (or ``conflict``) where the readable documents do not answer. An over-refusal: any other status
where they do. Right: the status, the decisive words and a citation of the right document. In
``tests/data``, ``questions_dev.toml`` was used for choices from the start. The other files were written by somebody
who saw only the documents; each was asked as a blind set once, and its header says which choices have seen it since.
"""

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from bench.kept import keep_json
from tests.support.demo import Asked, open_demo, read_questions


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--semantic", choices=("on", "off"), default="on")
    parser.add_argument("--failures", action="store_true", help="list what went wrong (development only)")
    parser.add_argument("--json")
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    with open_demo(options.semantic) as demo:
        for file in options.files:
            asked = demo.ask_all(read_questions(file))
            rows.append({"file": file.name, "semantic": options.semantic, **summary(asked)})
            print(json.dumps(rows[-1]))
            if options.failures:
                for item in asked:
                    if item.faults():
                        print("  ", item.item["id"], item.item["text"], item.faults())
    keep_json(options.json, {"rows": rows})
    return 0


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
