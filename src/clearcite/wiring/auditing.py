"""``audit``: the heads of both logs, and whether the logs hold."""

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from itertools import islice

from clearcite.adapters.ledgers.sqlite import open_sqlite_ledger
from clearcite.adapters.traces.sqlite import open_sqlite_traces
from clearcite.config import Settings
from clearcite.domain.audit import Finding, Heads, check_events, check_traces
from clearcite.keeping import EventLog, TraceLog
from clearcite.wiring.parts import LEDGER, TRACES, SystemClock, existing_store

MOST_FINDINGS = 100


@contextmanager
def _opened(settings: Settings) -> Iterator[tuple[EventLog, TraceLog]]:
    store = existing_store(settings)
    with ExitStack() as stack:
        ledger = stack.enter_context(closing(open_sqlite_ledger(store / LEDGER, SystemClock())))
        yield ledger, stack.enter_context(closing(open_sqlite_traces(store / TRACES)))


def audit_heads(settings: Settings) -> Heads:
    """What to keep elsewhere."""
    with _opened(settings) as (ledger, traces):
        return Heads(events=ledger.event_head(), traces=traces.head())


def audit_store(settings: Settings, kept: Heads | None) -> tuple[Heads, list[Finding]]:
    """The heads now, and what does not hold: of both logs, and of the ledger's documents against its log. At most
    ``MOST_FINDINGS``."""
    with _opened(settings) as (ledger, traces):
        heads = Heads(events=ledger.event_head(), traces=traces.head())
        with ledger.events() as events, traces.entries() as entries:
            before = (None, None) if kept is None else (kept.events, kept.traces)
            found = [*islice(check_events(events, before[0]), MOST_FINDINGS)]
            found += islice(check_traces(entries, before[1]), MOST_FINDINGS - len(found))
        found += ledger.unlogged()[: MOST_FINDINGS - len(found)]
        return heads, found
