"""``audit``: the heads of both logs, and whether the logs hold."""

import tomllib
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import date
from datetime import time as datetime_time
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Any

from clearcite.adapters.ledgers.sqlite import open_sqlite_ledger
from clearcite.adapters.traces.sqlite import open_sqlite_traces
from clearcite.config import Settings
from clearcite.domain.audit import Finding, Heads, check_events, check_traces
from clearcite.errors import ConfigError
from clearcite.keeping import EventLog, TraceLog
from clearcite.wire import loads
from clearcite.wiring.parts import LEDGER, TRACES, SystemClock, existing_store

MOST_FINDINGS = 100


@contextmanager
def _opened(settings: Settings) -> Iterator[tuple[EventLog, TraceLog]]:
    store = existing_store(settings)
    with ExitStack() as stack:
        ledger = stack.enter_context(closing(open_sqlite_ledger(store / LEDGER, SystemClock())))
        yield ledger, stack.enter_context(closing(open_sqlite_traces(store / TRACES)))


def checker_source() -> str:
    """The auditor's checker, as a file of its own."""
    return (files("clearcite") / "auditor.py").read_text(encoding="utf-8")


def policy_as_written(settings: Settings, policy: str | None) -> Any | None:
    """The policy file as plain values, unjudged: the auditor judges it for himself. None without one."""
    path = Path(policy) if policy else settings.path(settings.policy) if settings.policy else None
    if path is None:
        return None
    try:
        text = path.read_text(encoding="utf-8")
        found = loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"The policy file cannot be read: {type(error).__name__}.") from error
    return _plain(found)


def _plain(value: Any) -> Any:
    """TOML has instants; JSON has not."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value.isoformat() if isinstance(value, date | datetime_time) else value


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
