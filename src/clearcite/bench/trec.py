"""Rankings and relevance in the form of TREC, out and in, so that other tools check ours and we score other systems.

Out: ids with what would end a field percent-encoded, scores that strictly decrease, so that no tool meets a tie. Of
documents that the asker may not read nothing is written. In: what other tools rank in silence is refused: scores that
are no numbers, a document twice. Ties are broken as trec_eval breaks them: the greater id first.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from math import isfinite
from urllib.parse import quote

from msgspec import Struct

from clearcite.bench import ranking
from clearcite.bench.stats import bootstrap_interval, micros, to_micros
from clearcite.errors import InputError

TAG = "clearcite"
NOTHING, WHOLE = "0.000000", "1.000000"
LINE = 10_000
"""Characters of a line that is read."""
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_SAFE = "/:@+,;=!*'()~"


class Ranked(Struct, frozen=True, kw_only=True):
    """One question: documents in rank order, and how relevant each is that was judged. Of our own runs only documents
    that the asker may read."""

    query: str
    documents: tuple[str, ...]
    grades: Mapping[str, int]


class RunScore(Struct, frozen=True, kw_only=True):
    """The mean of a measure over the queries that have a relevant document, with its 95 % interval."""

    value: str
    interval: tuple[str, str]
    n_scored: int


class RunScores(Struct, frozen=True, kw_only=True):
    """``unscored``: queries without a relevant document. ``unranked``: scored, and the run holds nothing for them."""

    n: int
    unscored: tuple[str, ...]
    unranked: tuple[str, ...]
    tied: int
    scores: Mapping[str, RunScore]


def field_of(*parts: str) -> str:
    return quote("/".join(parts), safe=_SAFE)


def run_lines(ranked: Iterable[Ranked]) -> bytes:
    """``QUERY Q0 DOCUMENT RANK SCORE TAG``; a query for which nothing was found has no line."""
    lines = (
        f"{one.query} Q0 {name} {rank} {len(one.documents) - rank + 1} {TAG}\n"
        for one in ranked
        for rank, name in enumerate(one.documents, start=1)
    )
    return "".join(lines).encode("utf-8")


def qrels_lines(ranked: Iterable[Ranked]) -> bytes:
    """``QUERY 0 DOCUMENT GRADE``; a query without a relevant document that its asker may read has no line."""
    lines = (
        f"{one.query} 0 {name} {grade}\n" for one in ranked for name, grade in sorted(one.grades.items())
    )
    return "".join(lines).encode("utf-8")


def read_run_lines(raw: bytes) -> tuple[dict[str, list[str]], int]:
    """Query → documents in rank order, and how many scores were tied. Raises InputError that names the line."""
    found: dict[str, dict[str, Decimal]] = {}
    for number, fields in _fields(raw, 6, "run"):
        query, name = fields[0], fields[2]
        if name in found.setdefault(query, {}):
            raise InputError(f"Line {number} of the run: {query} ranks {name} twice.")
        found[query][name] = _score(fields[4], number)
    tied = sum(len(scores) - len(set(scores.values())) for scores in found.values())
    rankings = {
        query: sorted(scores, key=lambda name: (scores[name], name), reverse=True)
        for query, scores in found.items()
    }
    return rankings, tied


def read_qrels_lines(raw: bytes) -> dict[str, dict[str, int]]:
    """Query → document → grade; 0 and below is not relevant. Raises InputError that names the line."""
    found: dict[str, dict[str, int]] = {}
    for number, (query, _, name, grade) in _fields(raw, 4, "qrels"):
        if name in found.setdefault(query, {}):
            raise InputError(f"Line {number} of the qrels: {query} grades {name} twice.")
        if not grade.isascii() or not grade.removeprefix("-").isdigit() or len(grade) > 4:
            raise InputError(f"Line {number} of the qrels: a grade is a whole number up to 999.")
        found[query][name] = int(grade)
    return found


def paired_queries(
    rankings: Mapping[str, Sequence[str]], grades: Mapping[str, Mapping[str, int]]
) -> tuple[list[Ranked], list[str]]:
    """The queries that can be scored, those the run is silent about among them, and those without a relevant document.

    Raises InputError where not one can be: a wrong pair of files must not look like a bad system.
    """
    relevant = {query: some for query, some in grades.items() if max(some.values()) > 0}
    unscored = sorted({*rankings, *grades} - set(relevant))
    ranked = [
        Ranked(query=query, documents=tuple(rankings.get(query, ())), grades=some)
        for query, some in sorted(relevant.items())
    ]
    if not any(one.documents for one in ranked):
        raise InputError(
            "No query of the run has a relevant document in the qrels: are they of one collection?"
        )
    return ranked, unscored


def score_run(ranked: Sequence[Ranked], unscored: Sequence[str], tied: int, k: int) -> RunScores:
    """Of queries that have a relevant document each, as ``paired_queries`` gives them."""
    values = {
        f"ndcg@{k}": [ranking.ndcg(one.documents, one.grades, k) for one in ranked],
        "rr": [ranking.reciprocal_rank(one.documents, one.grades) for one in ranked],
        f"recall@{k}": [ranking.recall(one.documents, one.grades, k) for one in ranked],
    }
    return RunScores(
        n=len(ranked) + len(unscored),
        unscored=tuple(unscored),
        unranked=tuple(one.query for one in ranked if not one.documents),
        tied=tied,
        scores={name: _mean([to_micros(value) for value in some]) for name, some in values.items()},
    )


def _mean(values: Sequence[int]) -> RunScore:
    # One query says nothing about others.
    ends = bootstrap_interval(values) if len(values) > 1 else (NOTHING, WHOLE)
    return RunScore(value=micros(sum(values) // len(values)), interval=ends, n_scored=len(values))


def _fields(raw: bytes, count: int, what: str) -> Iterator[tuple[int, list[str]]]:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"The {what} is no UTF-8 text.") from None
    if text.startswith("\ufeff"):
        raise InputError(f"The {what} starts with a byte order mark, which would be part of its first name.")
    seen = False
    for number, line in enumerate(text.split("\n"), start=1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != count or len(line) > LINE:
            raise InputError(f"Line {number} of the {what} must have {count} fields.")
        seen = True
        yield number, fields
    if not seen:
        raise InputError(f"The {what} is empty.")


def _score(text: str, number: int) -> Decimal:
    try:
        # Python reads 1_0 and digits of other scripts, too; other tools would rank these as 1 and 0.
        value = Decimal(text if _NUMBER.fullmatch(text) else "NaN")
    except InvalidOperation:
        value = Decimal("NaN")
    # A number that other tools read as infinite is none here: they rank by floats.
    if not isfinite(float(value)):
        raise InputError(f"Line {number} of the run: the score is not a finite number.")
    return value
