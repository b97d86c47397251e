"""Does the log of a ledger hold, and is every document in the state that was logged last?"""

from __future__ import annotations

from clearcite.adapters.ledgers.sqlite import SqliteLedger
from clearcite.domain.audit import check_events


def log_faults(ledger: SqliteLedger) -> list[str]:
    with ledger.events() as events:
        found = list(check_events(events, ledger.event_head()))
    return [f"log {finding.number}: {finding.what}" for finding in (*found, *ledger.unlogged())]
