"""``python -m clearcite.scope_check``: the same command where nothing else is installed."""

import argparse
import sys
from fractions import Fraction

from clearcite.errors import ClearciteError, DependencyUnavailable, InputError
from clearcite.scope_check.command import fraction, run
from clearcite.scope_check.measure import Limits
from clearcite.scope_check.render import FORMATS
from clearcite.wire.streams import take_streams

EXAMPLES = """examples:
  python -m clearcite.scope_check cases.jsonl
  python -m clearcite.scope_check cases.jsonl --min-cohort-recall 0.9 --max-underfill-rate 0.05
  export-cases | python -m clearcite.scope_check - --format junit > report.xml

exit codes: 0 PASS, 1 FAIL, 2 the input must change (then nothing is written to standard output),
3 the system refused an operation."""


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="scope-check",
        description="Check exported retrieval cases: leaks, missed grants, starved result lists, old policies.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("cases", help="a JSONL file, one case a line; - reads standard input")
    parser.add_argument("--min-cohort-recall", type=_number, metavar="X", help="0 to 1, a cohort's mean")
    parser.add_argument("--max-underfill-rate", type=_number, metavar="Y", help="0 to 1, a cohort's share")
    parser.add_argument(
        "--max-policy-age-hours", type=_number, metavar="H", help="at the moment of retrieval"
    )
    parser.add_argument("--format", choices=list(FORMATS), default="text")
    take_streams()
    given = parser.parse_args()
    try:
        limits = Limits(
            min_cohort_recall=given.min_cohort_recall,
            max_underfill_rate=given.max_underfill_rate,
            max_policy_age_hours=given.max_policy_age_hours,
        )
        report = run(given.cases, limits, given.format, sys.stdout)
        sys.stdout.flush()
    except ClearciteError as error:
        sys.stderr.write(f"Error: {error}\n")
        return error.exit_code
    except OSError as error:
        sys.stderr.write(f"Error: the system refused an operation ({type(error).__name__})\n")
        return DependencyUnavailable.exit_code
    except KeyboardInterrupt:
        return 130
    return 1 if report.failures else 0


def _number(text: str) -> Fraction:
    try:
        return fraction(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


if __name__ == "__main__":
    sys.exit(main())
