"""TREC files in: what is refused; ``score``: what is counted, and what is named instead of counted. JUnit out."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from clearcite.bench.gates import Gate, skipped
from clearcite.bench.junit import junit
from clearcite.bench.other_measures import other_measures
from clearcite.bench.trec import Ranked, field_of, paired_queries, read_qrels_lines, read_run_lines, run_lines
from clearcite.errors import InputError, MissingExtra
from tests.support.shell import clearcite
from tests.unit.bench.test_regression import case

RUN = b"q1 Q0 a 1 3 x\nq1 Q0 b 2 2 x\nq2 Q0 b 1 1 x\n"
QRELS = b"q1 0 b 1\nq2 0 a 0\nq3 0 c 2\n"


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "empty"),
        (b"q Q0 a 1 1\n", "6 fields"),
        (b"q Q0 a 1 nan x\n", "finite"),
        (b"q Q0 a 1 inf x\n", "finite"),
        (b"q Q0 a 1 1_0 x\n", "finite"),
        ("q Q0 a 1 \u0661 x\n".encode(), "finite"),
        ("\ufeffq Q0 a 1 1 x\n".encode(), "byte order mark"),
        (b"q Q0 a 1 one x\n", "finite"),
        (b"q Q0 a 1 1e999 x\n", "finite"),
        (b"q Q0 a 1 -1e999999999 x\n", "finite"),
        (b"q Q0 a 1 2 x\nq Q0 a 2 1 x\n", "twice"),
        (b"\xff Q0 a 1 2 x\n", "UTF-8"),
    ],
)
def test_a_run_that_others_would_rank_in_silence_is_refused(raw: bytes, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_run_lines(raw)


@pytest.mark.parametrize("raw", [b"", b"q 0 a\n", b"q 0 a 1.5\n", b"q 0 a 1\nq 0 a 2\n", b"q 0 a --1\n"])
def test_qrels_that_are_none_are_refused(raw: bytes) -> None:
    with pytest.raises(InputError):
        read_qrels_lines(raw)


def test_a_score_of_any_finite_size_is_taken_and_one_beyond_exits_with_2(tmp_path: Path) -> None:
    assert read_run_lines(b"q Q0 a 1 1e308 x\nq Q0 b 2 1e-999 x\n") == ({"q": ["a", "b"]}, 0)
    (tmp_path / "run").write_bytes(RUN.replace(b" 3 ", b" 1e999 "))
    (tmp_path / "qrels").write_bytes(QRELS)
    done = clearcite(tmp_path, "score", "run", "qrels")
    assert (done.code, done.out) == (2, "") and "Line 1" in done.err


def test_ties_fall_to_the_greater_id_and_are_counted() -> None:
    assert read_run_lines(b"q Q0 a 1 1 x\nq Q0 c 1 1.0 x\nq Q0 b 1 2 x\n") == ({"q": ["b", "c", "a"]}, 1)


def test_queries_without_a_relevant_document_are_named_and_not_counted(tmp_path: Path) -> None:
    (tmp_path / "run").write_bytes(RUN)
    (tmp_path / "qrels").write_bytes(QRELS)
    done = clearcite(tmp_path, "score", "run", "qrels", "--k", "2")
    assert done.code == 0
    assert "rr 0.250000" in done.out and "2 of 3 queries" in done.out
    assert "1 without a relevant document, not scored: q2" in done.out
    assert "1 with nothing in the run, counted as 0: q3" in done.out
    assert clearcite(tmp_path, "score", "run", "qrels", "--k", "0").code == 2


def test_files_of_two_collections_are_no_bad_system() -> None:
    with pytest.raises(InputError, match="one collection"):
        paired_queries({"other": ["a"]}, read_qrels_lines(QRELS))


def test_a_measure_that_is_not_known_is_wrong_input_and_without_the_extra_the_command_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ranked = [Ranked(query="q", documents=("a",), grades={"a": 1})]
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "ir_measures", None)
        with pytest.raises(MissingExtra, match=r"pip install 'clearcite\[eval\]'"):
            other_measures(ranked, ["AP"])
    pytest.importorskip("ir_measures", reason="the extra eval is not installed")
    for name in ("Foo", "ERR@5", "__import__('os')"):
        with pytest.raises(InputError, match=r"measure|give"):
            other_measures(ranked, [name])


def test_a_name_with_spaces_is_one_field() -> None:
    one = Ranked(query=field_of("a b"), documents=(field_of("t", "s", "my file\n.md"),), grades={})
    assert run_lines([one]) == b"a%20b Q0 t/s/my%20file%0A.md 1 1 clearcite\n"


HOSTILE = '"><script>&\x00\ud800]]>'


def test_junit_is_well_formed_whatever_names_hold() -> None:
    gates = [
        Gate(name=HOSTILE, state="unscored", value=None, limit="1", n=0, reason=HOSTILE),
        Gate(name="status", state="pass", value="1", limit="1", n=2),
        Gate(name="late", state="error", value=None, limit=None, n=0, reason="stopped"),
        skipped("leak", "not asked"),
    ]
    root = ElementTree.fromstring(junit(HOSTILE, gates, [case(1), case(2, fails=True, kind=HOSTILE)]))
    found = {item.get("name"): [child.tag for child in item] for item in root}
    assert len(root) == 5 == int(root.get("tests") or 0)
    assert found["status"] == [] and found["late"] == ["error"] and found["leak"] == ["skipped"]
    assert found["c002"] == ["failure"] and "c001" not in found
    assert (root.get("failures"), root.get("errors"), root.get("skipped")) == ("2", "1", "1")
