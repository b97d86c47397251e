"""Each measure of a ranking equals trec_eval's own, on 1,000 random rankings with grades, gaps and ties."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearcite.bench import ranking
from clearcite.bench.other_measures import other_measures
from clearcite.bench.trec import (
    Ranked,
    paired_queries,
    qrels_lines,
    read_qrels_lines,
    read_run_lines,
    run_lines,
    score_run,
)

pytrec_eval: Any = pytest.importorskip("pytrec_eval", reason="the extra eval is not installed")

NAMES = [f"d{number:02}" for number in range(14)]
grades = st.dictionaries(st.sampled_from(NAMES), st.integers(-1, 4), min_size=1, max_size=10).filter(
    lambda found: max(found.values()) > 0
)
scores = st.dictionaries(st.sampled_from(NAMES), st.integers(0, 6), min_size=1, max_size=14)
CUTS = (1, 3, 10)
WANTED = {f"ndcg_cut_{k}" for k in CUTS} | {f"recall_{k}" for k in CUTS} | {"recip_rank"}


def ours(found: list[str], graded: dict[str, int]) -> dict[str, float]:
    values = {"recip_rank": ranking.reciprocal_rank(found, graded)}
    for k in CUTS:
        values[f"ndcg_cut_{k}"] = ranking.ndcg(found, graded, k)
        values[f"recall_{k}"] = ranking.recall(found, graded, k)
    return {name: float(value) for name, value in values.items()}


def theirs(run: dict[str, Any], graded: dict[str, int]) -> dict[str, float]:
    measures = {f"ndcg_cut.{','.join(map(str, CUTS))}", f"recall.{','.join(map(str, CUTS))}", "recip_rank"}
    return pytrec_eval.RelevanceEvaluator({"q": graded}, measures).evaluate({"q": run})["q"]


@settings(max_examples=1_000, deadline=None)
@given(scores, grades)
def test_every_measure_equals_trec_eval_with_ties_and_grades(
    found: dict[str, int], graded: dict[str, int]
) -> None:
    """Read as a foreign run is: ties fall as they do in trec_eval."""
    raw = "".join(f"q Q0 {name} 0 {score} x\n" for name, score in found.items()).encode()
    rankings, tied = read_run_lines(raw)
    assert tied == len(found) - len(set(found.values()))
    expected = theirs(found, graded)
    got = ours(rankings["q"], graded)
    assert set(got) == WANTED <= set(expected)
    for name in WANTED:
        assert got[name] == pytest.approx(expected[name], abs=6e-7), name


@settings(max_examples=200, deadline=None)
@given(st.permutations(NAMES), grades)
def test_what_we_write_is_scored_by_trec_eval_as_we_score_it(
    order: list[str], graded: dict[str, int]
) -> None:
    one = Ranked(query="q", documents=tuple(order), grades=graded)
    run = pytrec_eval.parse_run(run_lines([one]).decode().splitlines())
    qrel = pytrec_eval.parse_qrel(qrels_lines([one]).decode().splitlines())
    expected, got = theirs(run["q"], qrel["q"]), ours(order, graded)
    assert all(got[name] == pytest.approx(expected[name], abs=6e-7) for name in WANTED)
    rankings, tied = read_run_lines(run_lines([one]))
    assert (rankings, tied, read_qrels_lines(qrels_lines([one]))) == ({"q": order}, 0, {"q": graded})


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(scores, grades), min_size=1, max_size=5))
def test_ir_measures_gives_the_same_means(queries: list[tuple[dict[str, int], dict[str, int]]]) -> None:
    ranked = [
        Ranked(query=f"q{n}", documents=tuple(sorted(found)), grades=graded)
        for n, (found, graded) in enumerate(queries)
    ]
    got = score_run(ranked, (), 0, 3).scores
    expected = other_measures(ranked, ["nDCG@3", "RR", "R@3"])
    for name, value in zip(("ndcg@3", "rr", "recall@3"), expected.values(), strict=True):
        assert float(got[name].value) == pytest.approx(float(value), abs=3e-6)


def test_near_scores_that_trec_eval_takes_for_ties_are_told_apart() -> None:
    """The reason why only integers that decrease are passed on, and the control of the tests above."""
    found = {"a": 100_000_001, "b": 100_000_000}
    graded = {"a": 1}
    assert theirs(found, graded)["recip_rank"] == 0.5, "single precision"
    rankings, _ = read_run_lines(b"q Q0 a 1 100000001 x\nq Q0 b 2 100000000 x\n")
    ranked, _ = paired_queries(rankings, {"q": graded})
    assert other_measures(ranked, ["RR"]) == {"RR": "1.000000"}
    assert ours(rankings["q"], graded)["recip_rank"] == 1.0
