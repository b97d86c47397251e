"""What a question alone gives away about whether its text answers it: near misses are worded a little differently.

    python -m bench.alone FILE.toml ...

prints, for sets of questions as ``bench.questions`` asks them, the area under the curve of the wording alone, by
weights of all pairs of ``bench/pairs``: .5 where it tells nothing.

Log odds of a bag of words, of its first two words, its length, its capital and its question mark, by logistic
regression (AdaGrad), each question by weights fitted on the texts of other folds. A reader that is fitted with these
log odds added to its own need not learn them (product of experts, Clark et al. 2019), and is used without.
"""

import argparse
import json
import math
import random
import re
import sys
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.shelf import auc
from tests.support.demo import read_questions

PAIRS = Path(__file__).parent / "pairs"

FOLDS, ROUNDS, STEP, MOST = 8, 3, 0.15, 3.0
TOGETHER = 40
"""So many texts that were written one after the other are in one fold: they may be alike."""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    weights = _fitted(list(_of_pairs()))
    for file in parser.parse_args().files:
        sides: dict[str, list[int]] = {"answered": [], "insufficient_evidence": []}
        for item in read_questions(file):
            if item["status"] in sides:
                sides[item["status"]].append(round(1000 * _sum(weights, tuple(_signs(item["text"])))))
        print(json.dumps({"file": file.name, "wording alone": round(auc(*sides.values()), 3)}), flush=True)
    return 0


def _of_pairs() -> Iterator[tuple[tuple[int, ...], bool]]:
    for file in sorted(PAIRS.glob("*.jsonl")):
        for item in map(json.loads, file.read_text("utf-8").splitlines()):
            yield from ((tuple(_signs(question)), True) for question in item["yes"])
            yield from ((tuple(_signs(question)), False) for _, question in item["no"])


def log_odds_alone(questions: Sequence[str], answered: Sequence[bool], texts: Sequence[int]) -> list[float]:
    """In nats, around 0. ``texts``: the number of the text that each question is about."""
    told = [tuple(_signs(question)) for question in questions]
    fold = [text // TOGETHER % FOLDS for text in texts]
    prior = math.log(sum(answered) / (len(answered) - sum(answered)))
    found = [0.0] * len(questions)
    for one in range(FOLDS):
        weights = _fitted([(told[n], answered[n]) for n in range(len(told)) if fold[n] != one])
        for n, signs in enumerate(told):
            if fold[n] == one:
                found[n] = max(-MOST, min(MOST, _sum(weights, signs) - prior))
    return found


def _signs(question: str) -> Iterator[int]:
    words = [word.lower() for word in re.findall(r"\w+|[?.,!']", question)]
    yield from {zlib.crc32(word.encode()) for word in words}
    start = f"^{words[:1]}", f"^{words[:2]}", f"#{min(len(words) // 2, 10)}"
    shape = f"A{question[:1].isupper()}", f"?{question.endswith('?')}", "every question"
    yield from (zlib.crc32(sign.encode()) for sign in (*start, *shape))


def _fitted(examples: list[tuple[tuple[int, ...], bool]]) -> dict[int, float]:
    weights: dict[int, float] = {}
    squares: dict[int, float] = {}
    draw = random.Random(0)
    for _ in range(ROUNDS):
        for signs, answered in draw.sample(examples, len(examples)):
            error = 1 / (1 + math.exp(-_sum(weights, signs))) - answered
            for sign in signs:
                squares[sign] = squares.get(sign, 1.0) + error * error
                weights[sign] = weights.get(sign, 0.0) - STEP * error / math.sqrt(squares[sign])
    return weights


def _sum(weights: dict[int, float], signs: Sequence[int]) -> float:
    return sum(weights.get(sign, 0.0) for sign in signs)


if __name__ == "__main__":
    sys.exit(main())
