"""A run as one page: no script, no network, the same bytes each time. Every plot has its numbers in a table beside it.

Codes and numbers only, as in the other files of a run.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from clearcite.bench.ablation import Ablation
from clearcite.bench.ablation_table import body as ablation_body
from clearcite.bench.evaluate import Evaluation
from clearcite.bench.fault_map import FaultMap
from clearcite.bench.gates import Gate
from clearcite.bench.judge import CaseResult
from clearcite.bench.judged import by_cohort, values_of
from clearcite.bench.markup import section, shown, table
from clearcite.bench.plots import WHOLE, Plot, Row, bars, curve, heat, intervals, percent
from clearcite.bench.report_style import HEAD
from clearcite.bench.scoring import GIVEN
from clearcite.bench.stats import to_micros
from clearcite.bench.suite_gates import interval_of

CONFIDENCES = ("high", "medium", "low")
KINDS = ("first", "also")
DRAWN = 24
"""Groups or rows of one plot, worst first; its table holds them all."""


class _Coverage(Struct, frozen=True, kw_only=True):
    """Answers of at least so much confidence: how many of all cases, and how many of these are wrong."""

    least: str
    given: int
    wrong: int
    n: int


def report(evaluation: Evaluation) -> bytes:
    name = f"{evaluation.suite}: {evaluation.verdict}"
    sections = [
        f'<h1>{shown(evaluation.suite)} <span class="{evaluation.verdict.lower()}">{evaluation.verdict}</span></h1>',
        f"<p>{len(evaluation.results)} cases, {sum(one.passes for one in evaluation.results)} pass.</p>",
        section("Gates", _gates(evaluation.gates)),
        section("How far evidence gets, by slice", _funnel(evaluation.results)),
        section("Recall of each cohort", _recall(evaluation.results)),
        section("Short result lists, before and after ranking", _underfill(evaluation.results)),
        section("What abstaining buys", _abstention(evaluation)),
        *_drilled(evaluation.drilled),
        *_ablated(evaluation.ablated),
        section("Expected and given status", _confusion(evaluation.confusion)),
        section("Cases that fail", _failing(evaluation.results)),
        section("What the run depended on", _state(evaluation.state)),
    ]
    body = "\n".join(sections)
    return f"{HEAD.format(title=shown(name))}<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n".encode()


def _gates(gates: Sequence[Gate]) -> str:
    rows = [
        (gate.name, gate.state, gate.value, gate.limit, _ends(gate.interval), gate.reason) for gate in gates
    ]
    parts = [
        (
            gate.name,
            row.tenant,
            row.part,
            row.state,
            row.value,
            _ends(row.interval),
            f"{row.n_scored} of {row.n}",
        )
        for gate in gates
        for row in gate.rows
    ]
    whole = table(("gate", "state", "value", "limit", "95 % interval", "why"), rows)
    if not parts:
        return whole
    inner = table(("gate", "tenant", "part", "state", "value", "95 % interval", "scored"), parts)
    return f"{whole}<details><summary>The parts of each gate</summary>{inner}</details>"


def _funnel(results: Sequence[CaseResult]) -> str:
    """Each stage's share of the relevant documents, or of what must be said; the slice that passes least first."""
    stages = {**dict.fromkeys(_recall_names(results), "found"), "context_recall": "in the context"}
    stages |= {"citation_recall": "cited", "nugget_recall": "said"}
    stages = {score: label for score, label in stages.items() if values_of(results, score)}
    slices: dict[str, list[CaseResult]] = {}
    for one in results:
        slices.setdefault(one.slice, []).append(one)
    worst = sorted(slices.items(), key=lambda item: (_passing(item[1]), item[0]))
    groups = []
    for name, some in worst:
        values = [(label, _mean(values_of(some, score))) for score, label in stages.items()]
        rows = [Row(label=label, value=value, series=n) for n, (label, value) in enumerate(values, start=1)]
        groups.append((name, [*rows, Row(label="cases that pass", value=_passing(some), series=5)]))
    plot = Plot(
        key="funnel", title="How far evidence gets", said="Shares by slice and stage; the table holds them."
    )
    head = ("slice", "cases", *stages.values(), "cases that pass")
    lines = [(name, len(slices[name]), *(percent(row.value) for row in rows)) for name, rows in groups]
    return bars(plot, groups[:DRAWN]) + _more(len(groups)) + table(head, lines)


def _recall(results: Sequence[CaseResult]) -> str:
    names = _recall_names(results)
    if not names:
        return "<p>No case has a relevant document that its asker may read.</p>"
    rows, lines = [], []
    for (tenant, cohort), some in by_cohort(results).items():
        values = values_of(some, names[0])
        ends = _micros(interval_of(values)) if values else None
        rows.append(Row(label=f"{tenant} / {cohort}", value=_mean(values), ends=ends))
        span = "" if ends is None else f"{percent(ends[0])} to {percent(ends[1])}"
        lines.append((tenant, cohort, percent(_mean(values)), span, f"{len(values)} of {len(some)}"))
    order = sorted(
        range(len(rows)), key=lambda n: (-1 if rows[n].value is None else rows[n].value, rows[n].label)
    )
    plot = Plot(
        key="recall", title=f"{names[0]} by cohort", said="Mean and 95 % interval of each; see the table."
    )
    drawn = intervals(plot, [rows[n] for n in order][:DRAWN])
    head = ("tenant", "cohort", names[0], "95 % interval", "cases scored")
    return drawn + _more(len(rows)) + table(head, [lines[n] for n in order])


def _underfill(results: Sequence[CaseResult]) -> str:
    groups, lines = [], []
    for (tenant, cohort), some in by_cohort(results).items():
        before, after = (_mean(values_of(some, score)) for score in ("candidate_underfill", "underfill"))
        groups.append(
            (
                f"{tenant} / {cohort}",
                [
                    Row(label="before ranking", value=before, series=3),
                    Row(label="after ranking", value=after, series=2),
                ],
            )
        )
        lines.append((tenant, cohort, percent(before), percent(after)))
    plot = Plot(
        key="underfill", title="Short result lists", said="The share of cases of each cohort; see the table."
    )
    head = ("tenant", "cohort", "before ranking", "after ranking")
    return bars(plot, groups[:DRAWN]) + _more(len(groups)) + table(head, lines)


def _abstention(evaluation: Evaluation) -> str:
    found = _coverage(evaluation)
    if not found:
        return "<p>No answer was given, so there is no risk to weigh.</p>"
    points = [
        (f"{one.least} and above", WHOLE * one.given // one.n, WHOLE * one.wrong // one.given)
        for one in found
    ]
    plot = Plot(
        key="abstention",
        title="Risk against coverage",
        said="From left to right: the share of cases that are answered; upwards: the share of these that fail.",
    )
    rows = [
        (
            f"{one.least} and above",
            f"{one.given} of {one.n}",
            percent(x),
            f"{one.wrong} of {one.given}",
            percent(y),
        )
        for one, (_, x, y) in zip(found, points, strict=True)
    ]
    head = ("least confidence", "answered", "coverage", "fail", "risk")
    note = "<p>What would be wrong if only answers of so much confidence were given. Across: coverage. Up: risk.</p>"
    return note + curve(plot, points) + table(head, rows)


def _drilled(found: FaultMap | None) -> list[str]:
    if found is None:
        return []
    plot = Plot(
        key="drill",
        title="Faults by the stage that sees them",
        said="A row for each fault of the drill, a column for each stage; see the table.",
    )
    note = "<p>1: the first stage at which the fault shows. +: another that sees it too.</p>"
    rows = []
    for name, cells in found.faults:
        at = [
            ", ".join(stage for stage, cell in zip(found.stages, cells, strict=True) if cell == kind)
            for kind in KINDS
        ]
        rows.append((name, *at))
    lines = table(("fault", "shows first at", "is seen too at"), rows)
    return [section("Faults put in by a drill", note + heat(plot, found.stages, found.faults) + lines)]


def _ablated(found: Ablation | None) -> list[str]:
    return [] if found is None else [section("What each part is worth", ablation_body(found))]


def _coverage(evaluation: Evaluation) -> list[_Coverage]:
    """A point for each confidence that adds an answer; a case that was only searched has none."""
    found: list[_Coverage] = []
    given = wrong = 0
    pairs = list(zip(evaluation.runs, evaluation.results, strict=True))
    for least in CONFIDENCES:
        some = [
            one
            for run, one in pairs
            if run.public.status in GIVEN and getattr(run.public, "confidence", None) == least
        ]
        given, wrong = given + len(some), wrong + sum(not one.passes for one in some)
        if some:
            found.append(_Coverage(least=least, given=given, wrong=wrong, n=len(pairs)))
    return found


def _confusion(found: Mapping[str, Mapping[str, int]]) -> str:
    columns = sorted({name for row in found.values() for name in row})
    return table(
        ("expected", *columns),
        [(name, *(row.get(column, 0) for column in columns)) for name, row in found.items()],
    )


def _failing(results: Sequence[CaseResult]) -> str:
    rows = [
        (
            one.case_id,
            one.slice,
            f"{one.tenant} / {one.cohort}",
            one.expected,
            one.status,
            ", ".join(one.codes),
        )
        for one in results
        if not one.passes
    ]
    if not rows:
        return "<p>None.</p>"
    return table(("case", "slice", "asker", "expected", "came back", "codes"), rows)


def _state(state: Mapping[str, object]) -> str:
    return table(("what", "value"), list(state.items()))


def _recall_names(results: Sequence[CaseResult]) -> list[str]:
    """``recall@k``, where a case has it; not that of one source."""
    names = {name for one in results for name in one.scores if name.startswith("recall@") and ":" not in name}
    return sorted(names)[:1]


def _passing(results: Sequence[CaseResult]) -> int:
    return WHOLE * sum(one.passes for one in results) // len(results)


def _mean(values: Sequence[int]) -> int | None:
    return sum(values) // len(values) if values else None


def _micros(ends: tuple[str, str]) -> tuple[int, int]:
    return to_micros(ends[0]), to_micros(ends[1])


def _ends(interval: tuple[str, str] | None) -> str:
    return "" if interval is None else f"{interval[0]} to {interval[1]}"


def _more(groups: int) -> str:
    return f"<p>{groups - DRAWN} more stand in the table.</p>" if groups > DRAWN else ""
