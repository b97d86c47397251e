"""A clock that stands still until it is told to move."""

import threading

from clearcite.domain.access import Micros

NOON: Micros = 1_767_268_800_000_000
"""2026-01-01 12:00 UTC, where a pinned clock starts unless told otherwise."""

SECOND: Micros = 1_000_000
DAY: Micros = 86_400 * SECOND


class PinnedClock:
    """Implements ``ports.Clock``."""

    def __init__(self, now: Micros = NOON) -> None:
        self._now = now
        self._lock = threading.Lock()

    def now(self) -> Micros:
        with self._lock:
            return self._now

    def advance(self, micros: Micros) -> None:
        with self._lock:
            self._now += micros
