"""A copy of a store to try things on. The store itself is only read, and the copy is gone at the end."""

import secrets
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from msgspec.structs import replace

from clearcite.adapters.ledgers.sqlite import open_sqlite_ledger
from clearcite.config import Settings
from clearcite.wiring.parts import LEDGER, SystemClock, existing_store
from clearcite.wiring.safekeeping import copy_ledger_and_index

WHY = "a copy to try things on"


@contextmanager
def scratch_copy(settings: Settings) -> Iterator[Settings]:
    """The settings of the copy: ledger and index as they stand, no traces. Segments are linked where they can be."""
    store = existing_store(settings)
    with tempfile.TemporaryDirectory(prefix="clearcite-copy-") as folder:
        target = Path(folder) / "store"
        target.mkdir(mode=0o700)
        with closing(open_sqlite_ledger(store / LEDGER, SystemClock())) as ledger:
            copy_ledger_and_index(ledger, store, target)
        with closing(open_sqlite_ledger(target / LEDGER, SystemClock(), sealed=True)) as copy:
            copy.unseal((SystemClock().now(), 0, None, WHY, "{}"), secrets.token_hex(16))
        yield replace(settings, store=str(target))
