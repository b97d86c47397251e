"""The pairs by which the reader is fitted are what their page says."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[3] / "bench" / "pairs"
KINDS = {
    "attribute",
    "subject",
    "reversed",
    "scope",
    "time",
    "quantity",
    "chain",
    "reason",
    "action",
    "presumed",
}


def texts() -> list[dict[str, Any]]:
    lines = [line for file in sorted(FOLDER.glob("*.jsonl")) for line in file.read_text("utf-8").splitlines()]
    return [json.loads(line) for line in lines]


def test_each_text_has_questions_it_answers_and_near_misses_of_known_kinds() -> None:
    found = texts()
    assert len(found) == 7644
    kinds = Counter(kind for item in found for kind, _ in item["no"])
    assert set(kinds) == KINDS
    for item in found:
        questions = [*item["yes"], *(question for _, question in item["no"])]
        assert set(item) == {"above", "text", "yes", "no"}
        assert len(item["yes"]) >= 2 and len(item["no"]) >= 3
        assert len(set(questions)) == len(questions) and all(map(str.strip, questions))


def test_no_pair_is_a_question_of_a_set_that_judges_it() -> None:
    asked = {question.casefold() for item in texts() for question in item["yes"]}
    for file in (FOLDER.parents[1] / "tests" / "data").glob("*.toml"):
        judged = file.read_text("utf-8").casefold()
        assert not [question for question in asked if f'"{question}"' in judged], file.name
