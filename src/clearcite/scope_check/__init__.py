"""Check any retrieval system's exported cases: leaks, missed grants, starved result lists, old policy snapshots.

Needs the standard library alone, and streams: ``python -m clearcite.scope_check cases.jsonl``. The Python API
refuses what the command refuses:

    report = check(cases, Limits(min_cohort_recall=Fraction(9, 10)))
    report.verdict, report.failures
"""

from clearcite.scope_check.cases import Case, parse_case, read_cases
from clearcite.scope_check.measure import Cohort, Limits, Outcome, Report, check, measure

__all__ = ["Case", "Cohort", "Limits", "Outcome", "Report", "check", "measure", "parse_case", "read_cases"]
