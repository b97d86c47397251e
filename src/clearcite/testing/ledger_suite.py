"""The contract of ``storing.Ledger``: subclass ``LedgerSuite``, say how to open one, and let pytest collect it.

Every check raises through ``expect``, so the suite also holds under ``python -O``.
"""

from clearcite.testing.ledger_checks.both_sides import BothSidesChecks
from clearcite.testing.ledger_checks.generations import GenerationChecks
from clearcite.testing.ledger_checks.intake import IntakeChecks
from clearcite.testing.ledger_checks.logging import LoggingChecks
from clearcite.testing.ledger_checks.outbox import OutboxChecks
from clearcite.testing.ledger_checks.policies import PolicyChecks
from clearcite.testing.ledger_checks.reading import ReadingChecks
from clearcite.testing.ledger_checks.sources import SourceChecks


class LedgerSuite(
    IntakeChecks,
    BothSidesChecks,
    OutboxChecks,
    ReadingChecks,
    GenerationChecks,
    SourceChecks,
    PolicyChecks,
    LoggingChecks,
):
    """The whole contract. ``open_ledger(clock)`` must return a new, empty ledger each time."""
