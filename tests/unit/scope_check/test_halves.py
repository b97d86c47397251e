"""A large file is checked in two processes: the same bytes as in one, and the same message for what is wrong."""

from __future__ import annotations

import io
import json
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from clearcite.errors import InputError
from clearcite.scope_check import command, halves
from clearcite.scope_check.measure import Limits

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="two processes are used on Linux alone")
LIMITS = Limits(min_cohort_recall=Fraction(9, 10), max_policy_age_hours=Fraction(24))


def case(number: int) -> dict[str, Any]:
    """Some leak, some are starved, some hold no relevant document."""
    ids = [f"d{number % 7}-{place}" for place in range(5)]
    return {
        "id": f"c{number}",
        "tenant": f"t{number % 2}",
        "cohort": f"g{number % 3}",
        "k": 4,
        "eligible_doc_count": 6,
        "authorized_doc_ids": ids[: 5 - (number % 11 == 0)],
        "relevant_doc_ids": ids[: number % 3],
        "returned_doc_ids": ids[1 if number % 5 else 2 :],
        "candidate_doc_ids": ids,
        "policy_as_of": "2026-01-01T00:00:00Z",
        "retrieved_at": f"2026-01-0{1 + number % 3}T00:00:01Z",
    }


def write(path: Path, lines: list[str]) -> str:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def both(
    path: str, shape: str, monkeypatch: pytest.MonkeyPatch, processors: tuple[int, ...] = (0, 1)
) -> tuple[str, str]:
    """What comes out in one process, and in two: the output, or the message."""
    found = []
    for least in (1 << 40, 0):
        monkeypatch.setattr(halves, "LEAST_BYTES", least)
        monkeypatch.setattr("os.sched_getaffinity", lambda _: set(processors))
        out = io.StringIO()
        try:
            command.run(path, LIMITS, shape, out)
            found.append(out.getvalue())
        except InputError as error:
            assert not out.getvalue()
            found.append(f"{error} {error.violations}")
    return found[0], found[1]


@pytest.mark.parametrize("shape", ["text", "json", "junit", "github"])
def test_two_processes_say_what_one_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shape: str) -> None:
    path = write(tmp_path / "cases.jsonl", [json.dumps(case(number)) for number in range(301)])
    one, two = both(path, shape, monkeypatch)
    assert one == two
    assert len(one) > 500


FAULTS = {
    "an id in both halves": (290, json.dumps(case(3))),
    "no JSON in the second half": (280, "{"),
    "no JSON in the first half": (5, "[1, 2]"),
    "blank lines": (250, "  "),
    "more returned than k": (299, json.dumps({**case(299), "k": 1})),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_wrong_is_told_in_one_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    lines = [json.dumps(case(number)) for number in range(301)]
    place, line = FAULTS[fault]
    lines[place] = line
    one, two = both(write(tmp_path / "cases.jsonl", lines), "text", monkeypatch)
    assert one == two


@pytest.mark.parametrize("number", [1, 2])
def test_a_file_of_few_lines_is_checked_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    one, two = both(
        write(tmp_path / "cases.jsonl", [json.dumps(case(n)) for n in range(number)]), "text", monkeypatch
    )
    assert one == two and f"({number} case" in one


def test_control_two_processes_are_used_where_there_are_two_processors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "cases.jsonl", [json.dumps(case(number)) for number in range(301)])
    used: list[object] = []
    real = halves.check_halves
    monkeypatch.setattr(command, "check_halves", lambda *given: used.append(real(*given)) or used[-1])
    both(path, "text", monkeypatch)
    assert len(used) == 1 and used[0] is not None
    both(path, "json", monkeypatch)
    both(path, "text", monkeypatch, (0,))
    assert len(used) == 1
