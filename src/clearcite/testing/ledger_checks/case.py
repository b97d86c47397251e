"""What the parts of the suite share: how to open a ledger, and three readers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

from clearcite.ports import Clock
from clearcite.storing import Ledger
from clearcite.testing.clock import PinnedClock
from clearcite.testing.library import Library
from clearcite.testing.records import access, principal

ALICE, BOB = principal("staff", subject_id="alice"), principal("guest", subject_id="bob")
BOTH = access("guest", "staff")


class LedgerCase:
    """What the parts of the suite share."""

    def open_ledger(self, clock: Clock) -> Ledger:
        """A new, empty ledger, other than any opened before."""
        raise NotImplementedError

    @contextmanager
    def library(self) -> Iterator[tuple[Library, PinnedClock]]:
        """A started library on a fresh ledger."""
        clock = PinnedClock()
        with closing(self.open_ledger(clock)) as ledger:
            yield Library(ledger=ledger, clock=clock).start(), clock
