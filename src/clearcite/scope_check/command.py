"""From a file of cases to a report on standard output, and the verdict as a value."""

import re
import sys
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import BinaryIO, TextIO

from clearcite.errors import InputError
from clearcite.scope_check.cases import read_cases
from clearcite.scope_check.halves import Work, check_halves, worth_halving
from clearcite.scope_check.measure import Limits, Outcome, Report, check
from clearcite.scope_check.render import FORMATS, copy_report

DECIMAL = re.compile(r"-?[0-9]{1,12}(\.[0-9]{1,12})?")
IN_MEMORY = 1 << 20
"""Characters of findings that are kept in memory; more go to a temporary file."""


def run(source: str, limits: Limits, shape: str, out: TextIO) -> Report:
    """Check the cases of a file (``-`` for standard input) and write the report to ``out``.

    Raises InputError before anything is written: for a file that cannot be read, a malformed case, an empty batch.
    """
    with tempfile.SpooledTemporaryFile(IN_MEMORY, "w+", encoding="utf-8", newline="") as kept:
        rendered = FORMATS[shape](limits)

        def see(outcome: Outcome) -> None:
            if text := rendered.case(outcome):
                kept.write(text)

        halved = None
        if source != "-" and rendered.in_parts and worth_halving(Path(source)):
            halved = check_halves(Work(Path(source), limits, rendered.case), kept)
            if halved is None:
                kept.seek(0)
                kept.truncate()
        if halved is not None:
            report = halved
        elif source == "-":
            report = check(read_cases(sys.stdin.buffer), limits, see)
        else:
            with _opened(source) as stream:
                report = check(read_cases(stream), limits, see)
        copy_report(rendered, report, kept, out)
    return report


def fraction(text: str) -> Fraction:
    """A decimal such as ``0.9`` or ``24``, exactly. Raises InputError."""
    if not DECIMAL.fullmatch(text):  # a short one: 1e-99999999 would be worked out for hours
        raise InputError("must be a number such as 0.9")
    return Fraction(text)


def _opened(source: str) -> BinaryIO:
    try:
        return Path(source).open("rb")
    except OSError as error:
        raise InputError(f"cannot read {source}: {error.strerror}") from None
