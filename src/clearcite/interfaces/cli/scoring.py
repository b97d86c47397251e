"""``score``: the ranking of any system in TREC's form, by our measures and by those of ir-measures."""

from pathlib import Path
from typing import Annotated

from clearcite.bench.other_measures import other_measures
from clearcite.bench.run_file import bounded
from clearcite.bench.trec import RunScores, paired_queries, read_qrels_lines, read_run_lines, score_run
from clearcite.errors import InputError
from clearcite.interfaces.cli import common
from clearcite.interfaces.cli.commands import Argument, Command, Option
from clearcite.interfaces.cli.common import counted, say

HELP = """Score a ranking of any system against relevance judgements, both in TREC's form.

nDCG@k, RR and recall@k with 95 % intervals, over the queries that have a relevant document; the others are named and
not counted as 0. A document twice, or a score that is no number, is wrong input (exit 2). --measure takes any measure
of ir-measures that trec_eval gives, such as AP; it needs the extra eval.

Examples:

  clearcite score run.trec qrels.trec --k 10

  clearcite score run.trec qrels.trec --measure AP --measure P@5
"""
MOST_K = 1_000
SHOWN = 10


def score(
    run: Annotated[Path, Argument(help="QUERY Q0 DOCUMENT RANK SCORE TAG a line; the score decides.")],
    qrels: Annotated[Path, Argument(help="QUERY 0 DOCUMENT GRADE a line.")],
    k: Annotated[int | None, Option("--k", help="How deep the ranking is looked at (10).")] = None,
    measure: Annotated[list[str] | None, Option("--measure", help="Of ir-measures. Repeatable.")] = None,
    format: Annotated[str | None, Option("--format", help="text (the default) or json.")] = None,  # noqa: A002
) -> int:
    form = "text" if format is None else common.chosen_format(format)
    depth = 10 if k is None else k
    if not 1 <= depth <= MOST_K:
        raise InputError(f"--k lies between 1 and {MOST_K}.")
    rankings, tied = read_run_lines(bounded(run))
    ranked, unscored = paired_queries(rankings, read_qrels_lines(bounded(qrels)))
    found = score_run(ranked, unscored, tied, depth)
    others = other_measures(ranked, measure) if measure else {}
    if form == "json":
        common.print_json({"run": found, "measures": others})
    else:
        _show(found, others)
    return 0


def _show(found: RunScores, others: dict[str, str]) -> None:
    for name, score in found.scores.items():
        low, high = score.interval
        say(f"{name} {score.value} ({low} to {high}, {score.n_scored} of {found.n} queries)")
    for name, value in others.items():
        say(f"{name} {value} (trec_eval)")
    for queries, what in (
        (found.unscored, "without a relevant document, not scored"),
        (found.unranked, "with nothing in the run, counted as 0"),
    ):
        if queries:
            more = " and others" if len(queries) > SHOWN else ""
            say(f"{len(queries)} {what}: {', '.join(queries[:SHOWN])}{more}")
    if found.tied:
        say(f"{counted(found.tied, 'score')} tied: the greater document id ranks first, as in trec_eval")


COMMANDS = {"score": Command(score, HELP)}
