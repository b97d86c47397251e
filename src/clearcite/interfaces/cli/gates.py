"""The commands that gate a release: they print a verdict and exit with 1 when it does not hold."""

import sys
from fractions import Fraction
from typing import Annotated

from clearcite.errors import InputError
from clearcite.interfaces.cli.commands import Argument, Command, Option
from clearcite.scope_check.command import fraction, run
from clearcite.scope_check.measure import Limits
from clearcite.scope_check.render import FORMATS

SCOPE_HELP = """Check a retrieval system's exported cases.

Leaks, missed grants, starved result lists, old policy snapshots, for each tenant and cohort. A case is one JSON
object a line; docs/how-to/scope-check.md says how to export them. PASS exits with 0, FAIL with 1, and input that
must change with 2 and nothing on stdout.

Example:

  clearcite scope-check cases.jsonl --min-cohort-recall 0.9 --max-underfill-rate 0.05
"""


def scope_check(
    cases: Annotated[str, Argument(help="A JSONL file; - reads standard input.")],
    min_cohort_recall: Annotated[
        str | None, Option(help="The least mean recall of a cohort, 0 to 1.")
    ] = None,
    max_underfill_rate: Annotated[
        str | None, Option(help="The largest share of short result lists of a cohort, 0 to 1.")
    ] = None,
    max_policy_age_hours: Annotated[
        str | None, Option(help="How old a policy snapshot may be at retrieval.")
    ] = None,
    shape: Annotated[str, Option("--format", help=f"One of {', '.join(FORMATS)}.")] = "text",
) -> int:
    if shape not in FORMATS:
        raise InputError(f"--format is one of {', '.join(FORMATS)}.")
    limits = Limits(
        min_cohort_recall=_number("--min-cohort-recall", min_cohort_recall),
        max_underfill_rate=_number("--max-underfill-rate", max_underfill_rate),
        max_policy_age_hours=_number("--max-policy-age-hours", max_policy_age_hours),
    )
    report = run(cases, limits, shape, sys.stdout)
    return 1 if report.failures else 0


def _number(option: str, text: str | None) -> Fraction | None:
    try:
        return None if text is None else fraction(text)
    except InputError as error:
        raise InputError(f"{option} {error}.") from None


COMMANDS = {"scope-check": Command(scope_check, SCOPE_HELP)}
