"""The report as text, JSON, JUnit XML or GitHub annotations.

A format sees each case as it passes and the report at the end, and its head depends on what the end says. So what
is said of cases waits in a spool, and nothing reaches the output before the input was read to its end.
"""

import json
from collections.abc import Callable
from fractions import Fraction
from html import escape
from typing import IO, Any, Protocol, TextIO

from clearcite.scope_check.measure import HOUR, Cohort, Limits, Outcome, Report, failures_of, number


class Format(Protocol):
    """``case`` gives what to keep of one case; ``head`` and ``tail`` stand around everything kept. ``in_parts``: what
    it keeps of a case does not depend on the cases before it."""

    in_parts: bool

    def case(self, outcome: Outcome, /) -> str: ...
    def head(self, report: Report, /) -> str: ...
    def tail(self, report: Report, /) -> str: ...


def copy_report(shape: Format, report: Report, kept: IO[str], out: TextIO) -> None:
    """Write the whole report to ``out``; ``kept`` holds what ``case`` gave, from its start."""
    out.write(shape.head(report))
    kept.seek(0)
    while block := kept.read(1 << 20):
        out.write(block)
    out.write(shape.tail(report))


def headline(report: Report) -> str:
    cases = "case" if report.case_count == 1 else "cases"
    return f"RAG scope check: {report.verdict} ({report.case_count} {cases})"


def findings(outcome: Outcome, limits: Limits) -> list[str]:
    """What a reader should look at in one case, worst first; nothing for a case without a blemish."""
    found = []
    if outcome.leaked:
        found.append(f"unauthorized documents returned: {_names(outcome.leaked)}")
    if outcome.unauthorized_candidates:
        found.append(f"unauthorized candidates: {_names(outcome.unauthorized_candidates)}")
    if outcome.underfilled:
        found.append(f"top-k underfilled{_where(outcome)}")
    if outcome.hits < outcome.wanted:
        enough, recall = limits.min_cohort_recall, Fraction(outcome.hits, outcome.wanted)
        if enough is None or recall < enough:
            found.append(f"authorized recall={_hundredths(recall)}")
    if limits.max_policy_age_hours is not None:
        age = policy_hours(outcome)
        if age is None or age > limits.max_policy_age_hours:
            found.append("policy snapshot missing" if age is None else f"policy snapshot {number(age)} h old")
    return found


def policy_hours(outcome: Outcome) -> Fraction | None:
    age = outcome.case.policy_age
    if age is None:
        return None
    seconds = age.days * 86_400 + age.seconds
    return Fraction(seconds * 1_000_000 + age.microseconds, HOUR)


class Text:
    """For people: a verdict, a line a cohort, ``!`` findings of cases, ``-`` reasons for a failure."""

    in_parts = True

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def case(self, outcome: Outcome) -> str:
        found = findings(outcome, self._limits)
        if not found:
            return ""
        name = printable(outcome.case.id)
        return "".join(f"! {name}: {finding}\n" for finding in found)

    def head(self, report: Report) -> str:
        return headline(report) + "\n" + "".join(map(self._cohort, report.cohorts))

    def tail(self, report: Report) -> str:
        return "".join(f"- {printable(failure)}\n" for failure in report.failures)

    def _cohort(self, cohort: Cohort) -> str:
        mean = cohort.mean_recall
        recall = "unscored" if mean is None else _hundredths(mean)
        place = printable(f"{cohort.tenant}/{cohort.name}")
        return (
            f"{place}: authorized recall={recall} ({cohort.scored} scored), "
            f"underfill={_hundredths(cohort.underfill_rate)}, leaking cases={cohort.leaking}\n"
        )


class Json:
    """For programs: one object; ``cases`` in the order of the input."""

    in_parts = False

    def __init__(self, _limits: Limits) -> None:
        self._separator = ""

    def case(self, outcome: Outcome) -> str:
        before, self._separator = self._separator, ",\n  "
        return before + _json(_case(outcome))

    def head(self, report: Report) -> str:
        cohorts = ",\n  ".join(_json(_cohort(cohort)) for cohort in report.cohorts)
        return (
            f'{{"verdict": {_json(report.verdict)},\n "case_count": {report.case_count},\n'
            f' "cohorts": [\n  {cohorts}],\n "failures": {_json(list(report.failures))},\n "cases": [\n  '
        )

    def tail(self, report: Report) -> str:
        limits = report.limits
        asked = {name: _float(getattr(limits, name)) for name in Limits.__dataclass_fields__}
        return f'],\n "limits": {_json(asked)}}}\n'


class JUnit:
    """For build servers: a test case a cohort, which fails as the cohort does, and its findings as output."""

    in_parts = True

    def __init__(self, limits: Limits) -> None:
        self._text = Text(limits)

    def case(self, outcome: Outcome) -> str:
        return _xml(self._text.case(outcome))

    def head(self, report: Report) -> str:
        failing = [failures_of(cohort, report.limits) for cohort in report.cohorts]
        lines = [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<testsuite name="scope-check" tests="{len(failing)}" failures="{sum(map(bool, failing))}" errors="0">',
        ]
        for cohort, failures in zip(report.cohorts, failing, strict=True):
            case = f'<testcase classname="{_xml(printable(cohort.tenant))}" name="{_xml(printable(cohort.name))}"'
            texts = "".join(f'<failure message="{_xml(printable(failure))}"/>' for failure in failures)
            lines.append(f"  {case}>{texts}</testcase>" if texts else f"  {case}/>")
        return "\n".join([*lines, "  <system-out>"])

    def tail(self, _report: Report) -> str:
        return "</system-out>\n</testsuite>\n"


class GitHub:
    """For a workflow log: an error for each leak and failed gate, a warning for every other finding."""

    in_parts = True

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def case(self, outcome: Outcome) -> str:
        lines = []
        for finding in findings(outcome, self._limits):
            level = "error" if finding.startswith("unauthorized documents") else "warning"
            lines.append(_annotation(level, f"{outcome.case.id}: {finding}"))
        return "".join(lines)

    def head(self, report: Report) -> str:
        level = "error" if report.failures else "notice"
        return _annotation(level, headline(report))

    def tail(self, report: Report) -> str:
        return "".join(_annotation("error", failure) for failure in report.failures)


FORMATS: dict[str, Callable[[Limits], Format]] = {
    "text": Text,
    "json": Json,
    "junit": JUnit,
    "github": GitHub,
}


def printable(text: str) -> str:
    """A name from the input on one line of a terminal: what is not printable is escaped."""
    if text.isprintable():
        return text
    return "".join(mark if mark.isprintable() else mark.encode("unicode_escape").decode() for mark in text)


def _names(documents: frozenset[str]) -> str:
    return ", ".join(map(printable, sorted(documents)))


def _where(outcome: Outcome) -> str:
    if outcome.candidate_underfill:
        return " at candidate generation"
    return " after candidate generation" if outcome.ranker_underfill else ""


def _hundredths(rate: Fraction) -> str:
    """Two decimals, never rounded up to a perfect 1.00 nor down to 0.00 that was not reached."""
    shown = f"{float(rate):.2f}"
    if shown == "1.00" and rate < 1:
        return "0.99"
    return "0.01" if shown == "0.00" and rate > 0 else shown


def _float(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


def _json(value: Any) -> str:
    return json.dumps(value, allow_nan=False)


def _cohort(cohort: Cohort) -> dict[str, Any]:
    return {
        "tenant": cohort.tenant,
        "cohort": cohort.name,
        "cases": cohort.cases,
        "scored_cases": cohort.scored,
        "mean_authorized_recall": _float(cohort.mean_recall),
        "underfill_rate": _float(cohort.underfill_rate),
        "leaking_cases": cohort.leaking,
    }


def _case(outcome: Outcome) -> dict[str, Any]:
    case = outcome.case
    return {
        "id": case.id,
        "tenant": case.tenant,
        "cohort": case.cohort,
        "authorized_recall": _float(outcome.recall),
        "authorized_relevant_count": outcome.wanted,
        "leaked_doc_ids": sorted(outcome.leaked),
        "unauthorized_candidate_ids": sorted(outcome.unauthorized_candidates),
        "underfilled_top_k": outcome.underfilled,
        "candidate_underfill": None if case.candidates is None else outcome.candidate_underfill,
        "ranker_underfill": None if case.candidates is None else outcome.ranker_underfill,
        "policy_age_hours": _float(policy_hours(outcome)),
    }


def _xml(text: str) -> str:
    return escape("\n".join(map(printable, text.split("\n"))))


def _annotation(level: str, message: str) -> str:
    escaped = message.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return f"::{level} title=scope check::{printable(escaped)}\n"
