"""Every ledger adapter passes the shipped suite."""

from pathlib import Path

import pytest

from clearcite.adapters.ledgers.sqlite import open_sqlite_ledger
from clearcite.ports import Clock
from clearcite.storing import Ledger
from clearcite.testing.ledger_suite import LedgerSuite


class TestMemoryLedger(LedgerSuite):
    def open_ledger(self, clock: Clock) -> Ledger:
        return open_sqlite_ledger(None, clock)


class TestFileLedger(LedgerSuite):
    @pytest.fixture(autouse=True)
    def _place(self, tmp_path: Path) -> None:
        self.folder = tmp_path / "store"

    def open_ledger(self, clock: Clock) -> Ledger:
        return open_sqlite_ledger(self.folder / "ledger.db", clock)
