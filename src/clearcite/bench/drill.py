"""A drill: each fault in a copy of its own, and whether the first stage that fails is the one it belongs to."""

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from clearcite.bench.faults.observe import Seen, look
from clearcite.bench.faults.registry import ALIASES, BROKEN, FAULTS, Fault
from clearcite.bench.faults.site import NotApplicableError, Site
from clearcite.bench.faults.stages import STAGES, Stage, failing
from clearcite.bench.suite import Suite
from clearcite.config import Settings
from clearcite.domain.access import Micros
from clearcite.errors import InputError, did_you_mean
from clearcite.text.memory import remembering_a_run
from clearcite.wiring import reconcile_store, scratch_copy

SAFE, ALL_AT_ONCE = "safe", "broken"
NAMES = (SAFE, ALL_AT_ONCE, *(fault.name for fault in FAULTS), *ALIASES)
Outcome = Literal["clean", "failed", "caught", "elsewhere", "missed", "not_applicable"]
Tell = Callable[[str], None]


class Result(Struct, frozen=True, kw_only=True):
    """One copy. ``fault`` None: the safe baseline, or all at once. ``failing``: lines by stage, in their order.
    ``reason``: why there was nothing to damage."""

    name: str
    fault: Fault | None
    outcome: Outcome
    failing: Mapping[str, tuple[str, ...]]
    reason: str = ""

    @property
    def first(self) -> str | None:
        return next(iter(self.failing), None)


class Drill(Struct, frozen=True, kw_only=True):
    """``golden``: what was seen of the safe copy."""

    suite: Suite
    golden: Seen
    results: tuple[Result, ...]

    @property
    def holds(self) -> bool:
        """Whether the baseline is clean and every fault that could be put in was caught at its own stage."""
        outcomes = {item.outcome for item in self.results}
        return outcomes <= {"clean", "caught", "not_applicable"} and bool(outcomes & {"clean", "caught"})


def fault_of(name: str) -> Fault:
    """Raises InputError for a name that no fault has."""
    wanted = ALIASES.get(name, name)
    for fault in FAULTS:
        if fault.name == wanted:
            return fault
    raise InputError(f"There is no fault {name}.{did_you_mean([name], NAMES)} They are: {', '.join(NAMES)}.")


def drill(
    base: Site, names: Sequence[str], stages: Sequence[Stage] = STAGES, tell: Tell = lambda _: None
) -> Drill:
    """``base`` is the safe copy and stays as it is. The baseline is always judged, and comes first.

    What is read out of a text is read once for all copies; of a copy nothing is remembered but by its own bytes.
    """
    with remembering_a_run():
        return _drilled(base, names, stages, tell)


def _drilled(base: Site, names: Sequence[str], stages: Sequence[Stage], tell: Tell) -> Drill:
    wanted = [fault_of(name) for name in names if name not in (SAFE, ALL_AT_ONCE)]
    now = time.time_ns() // 1_000
    tell(SAFE)
    golden = look(base.settings, base.suite, {}, now)
    if golden.evaluation is None or not golden.documents:
        raise InputError("The store answers nothing: a drill on it proves nothing.")
    results = [_baseline(base, golden, now, stages)]
    with tempfile.TemporaryDirectory(prefix="clearcite-drill-") as folder:
        for fault in wanted:
            tell(fault.name)
            results.append(_one(copy_of(base, golden, Path(folder) / fault.name), fault, now, stages))
        if ALL_AT_ONCE in names:
            tell(ALL_AT_ONCE)
            results.append(_broken(copy_of(base, golden, Path(folder) / ALL_AT_ONCE), now, stages))
    return Drill(suite=base.suite, golden=golden, results=tuple(results))


@contextmanager
def safe_copy(settings: Settings, suite: Suite, least: Mapping[str, int]) -> Iterator[Site]:
    """A copy of the user's store for as long as the drill takes."""
    with scratch_copy(settings) as copy:
        yield Site(settings=copy, suite=suite, least=least)


def _baseline(base: Site, golden: Seen, now: Micros, stages: Sequence[Stage]) -> Result:
    """Without a fault every stage holds, the panel passes, and the store follows from its original bytes."""
    wrong = dict(failing(golden, look(base.settings, base.suite, {}, now), stages))
    low = too_low(golden, base.least)
    if low:
        wrong["panel"] = low
    mismatches = reconcile_store(base.settings, while_pending=True).total
    if mismatches:
        wrong["reconcile"] = (f"rows that do not follow from the original bytes: {mismatches}",)
    return Result(name=SAFE, fault=None, outcome="failed" if wrong else "clean", failing=wrong)


def too_low(seen: Seen, least: Mapping[str, int]) -> tuple[str, ...]:
    """The rates of a panel that do not reach their least value."""
    if seen.panel is None:
        return ("it could not be measured",)
    rates = {name: replace(rate, least=least[name]) for name, rate in seen.panel.rates.items()}
    return tuple(f"{name}: {rate.right} of {rate.all}" for name, rate in rates.items() if not rate.holds)


def copy_of(base: Site, golden: Seen, folder: Path) -> Site:
    """Another copy for one fault."""
    shutil.copytree(base.settings.path(base.settings.store), folder)
    return Site(
        settings=replace(base.settings, store=str(folder)), suite=base.suite, least=base.least, golden=golden
    )


def _one(site: Site, fault: Fault, now: Micros, stages: Sequence[Stage]) -> Result:
    try:
        fault.mutate(site)
    except NotApplicableError as error:
        return Result(name=fault.name, fault=fault, outcome="not_applicable", failing={}, reason=str(error))
    found = _failing(site, now, stages, fault.legitimate(site.before))
    return Result(name=fault.name, fault=fault, outcome=_outcome(fault, found), failing=found)


def _outcome(fault: Fault, found: Mapping[str, tuple[str, ...]]) -> Outcome:
    if not found:
        return "missed"
    is_own = next(iter(found)) == fault.stage
    with_it = set(fault.must_fail) <= set(found) and not set(fault.must_not_fail) & set(found)
    return "caught" if is_own and with_it else "elsewhere"


def _broken(site: Site, now: Micros, stages: Sequence[Stage]) -> Result:
    """All faults of content at once: each of their stages must fail."""
    put = []
    for name in BROKEN:
        fault = fault_of(name)
        try:
            fault.mutate(site)
        except NotApplicableError:
            continue
        put.append(fault.stage)
    if not put:
        reason = "no fault of content can be put in"
        return Result(name=ALL_AT_ONCE, fault=None, outcome="not_applicable", failing={}, reason=reason)
    found = _failing(site, now, stages, site.before)
    outcome: Outcome = "caught" if set(put) <= set(found) else "elsewhere" if found else "missed"
    return Result(name=ALL_AT_ONCE, fault=None, outcome=outcome, failing=found)


def _failing(
    site: Site, now: Micros, stages: Sequence[Stage], expected: Seen
) -> Mapping[str, tuple[str, ...]]:
    seen = look(site.settings, site.suite, site.failing, now, expected)
    if site.report is not None:
        seen = replace(seen, reports=site.report(seen.reports, seen))
    return failing(expected, seen, stages)
