"""A suite that was run and judged case by case: what gates and reports are made of."""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct, field

from clearcite.bench.answering import CaseRun
from clearcite.bench.gates import Gate
from clearcite.bench.golden import Checked
from clearcite.bench.ingestion import SourceHealth
from clearcite.bench.judge import CaseResult
from clearcite.bench.readers import Readers
from clearcite.bench.stats import to_micros
from clearcite.bench.suite import Suite
from clearcite.bench.trec import Ranked
from clearcite.config import Settings
from clearcite.domain.access import Micros
from clearcite.engine import Engine
from clearcite.operator import Operator

Tell = Callable[[str, int, int], None]
"""Told what goes on, how much of it is done, and of how much."""
Cohort = tuple[str, str]
"""Tenant and cohort: cohorts of two tenants are never joined by their name."""


def silent(_what: str, _done: int, _all: int) -> None:
    """Nobody looks on."""


class Judged(Struct, frozen=True, kw_only=True):
    """``settings`` are those of the store that was asked, where there is one to look into; ``now`` is when it was.
    ``tries_windows`` and ``tell``: see ``Subject``. ``hidden`` gives the gate of hidden documents where another process
    looks at it."""

    suite: Suite
    engine: Engine
    operator: Operator
    readers: Readers
    settings: Settings | None
    tries_windows: bool = True
    tell: Tell = silent
    hidden: Callable[[], Gate] | None = None
    now: Micros
    runs: tuple[CaseRun, ...]
    results: tuple[CaseResult, ...]
    content: Checked = field(default_factory=Checked)
    sources: tuple[SourceHealth, ...] = ()
    ranked: tuple[Ranked, ...] = ()


def by_cohort(results: Sequence[CaseResult]) -> Mapping[Cohort, list[CaseResult]]:
    found: dict[Cohort, list[CaseResult]] = {}
    for one in results:
        found.setdefault((one.tenant, one.cohort), []).append(one)
    return dict(sorted(found.items()))


def in_slices(results: Sequence[CaseResult]) -> Mapping[str, list[CaseResult]]:
    found: dict[str, list[CaseResult]] = {}
    for one in results:
        found.setdefault(one.slice, []).append(one)
    return dict(sorted(found.items()))


def values_of(results: Sequence[CaseResult], score: str) -> list[int]:
    """The millionths of a score, of the cases that have it."""
    found = (one.scores.get(score) for one in results)
    return [to_micros(value) for value in found if value is not None]
