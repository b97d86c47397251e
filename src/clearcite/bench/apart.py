"""The gate of hidden documents, looked at in a second process while a long suite is asked in the first.

It needs the suite, the store, and who may read what, but no answer. Its result is the same in either place.
"""

import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context

from clearcite.bench.answering import OPERATOR
from clearcite.bench.gates import Gate
from clearcite.bench.judged import Judged
from clearcite.bench.noninterference import noninterference_gate
from clearcite.bench.readers import readers_of
from clearcite.bench.suite import Suite
from clearcite.config import Settings
from clearcite.wiring import engine_on

MANY = 100
"""Cases from which on a second process, which starts in about a second, pays."""


@contextmanager
def looked_at_apart(settings: Settings | None, suite: Suite) -> Iterator[Callable[[], Gate] | None]:
    """What waits for the gate and gives it, or raises what went wrong there; None where it is to be looked at here."""
    if settings is None or not _pays(suite):
        yield None
        return
    # A new interpreter: a copy of this one would share its open ledger and the threads of its model.
    with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as pool:
        with _interrupts("SIG_BLOCK"):
            gate = pool.submit(_gate_of, settings, suite)
        yield gate.result


@contextmanager
def _interrupts(how: str) -> Iterator[None]:
    """Hold interrupts back, or let them through. The second process is born with them held back: only while it is at
    work can it end as quietly as this one. Where signals have no mask, nothing is done."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(getattr(signal, how), {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _pays(suite: Suite) -> bool:
    is_asked = suite.limits.noninterference_questions > 0
    return is_asked and len(suite.cases) >= MANY and (os.cpu_count() or 1) > 1


def _gate_of(settings: Settings, suite: Suite) -> Gate:
    now = time.time_ns() // 1_000
    with _interrupts("SIG_UNBLOCK"), engine_on(settings) as engine:
        operator = engine.operator(OPERATOR)
        judged = Judged(
            suite=suite,
            engine=engine,
            operator=operator,
            readers=readers_of(operator, now),
            settings=settings,
            now=now,
            runs=(),
            results=(),
        )
        return noninterference_gate(judged)
