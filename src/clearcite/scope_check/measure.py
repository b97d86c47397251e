"""What a case shows, what cohorts add up to, and what fails.

Rates are exact fractions, so that a limit such as 0.9 is met by nine of ten. What cannot be scored is None,
never 0 or 1: a case without a relevant document that its asker may read says nothing about recall.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from fractions import Fraction
from hashlib import blake2b
from typing import Any, Literal, NamedTuple

from clearcite.errors import InputError
from clearcite.scope_check.cases import Case, parse_case
from clearcite.wire.strict import shown

HOUR = 3_600_000_000
"""Microseconds."""
Verdict = Literal["PASS", "FAIL"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """What a team asks for; None asks nothing. A leak fails whatever the limits. Raises InputError."""

    min_cohort_recall: Fraction | None = None
    max_underfill_rate: Fraction | None = None
    max_policy_age_hours: Fraction | None = None

    def __post_init__(self) -> None:
        for name in ("min_cohort_recall", "max_underfill_rate"):
            rate = getattr(self, name)
            if rate is not None and not 0 <= rate <= 1:
                raise InputError(f"{name} must lie between 0 and 1")
        if self.max_policy_age_hours is not None and self.max_policy_age_hours < 0:
            raise InputError("max_policy_age_hours must not be negative")


class Outcome(NamedTuple):
    """What one case shows. ``hits`` of ``wanted``: relevant documents the asker may read, and those returned."""

    case: Case
    hits: int
    wanted: int
    leaked: frozenset[str]
    unauthorized_candidates: frozenset[str]
    underfilled: bool
    candidate_underfill: bool
    ranker_underfill: bool

    @property
    def recall(self) -> Fraction | None:
        return Fraction(self.hits, self.wanted) if self.wanted else None


@dataclass(slots=True)
class Cohort:
    """The sums of one (tenant, cohort): two tenants with a cohort of one name never share a figure."""

    tenant: str
    name: str
    cases: int = 0
    scored: int = 0
    underfilled: int = 0
    leaking: int = 0
    undated: int = 0
    oldest_policy: timedelta = timedelta(0)
    hits_by_wanted: Counter[int] = field(default_factory=Counter)

    def add(self, outcome: Outcome) -> None:
        self.cases += 1
        if outcome.wanted:
            self.scored += 1
            self.hits_by_wanted[outcome.wanted] += outcome.hits
        self.underfilled += outcome.underfilled
        self.leaking += bool(outcome.leaked)
        age = outcome.case.policy_age
        if age is None:
            self.undated += 1
        elif age > self.oldest_policy:
            self.oldest_policy = age

    def join(self, other: "Cohort") -> None:
        """Take in the sums of the same cohort of other cases."""
        self.cases += other.cases
        self.scored += other.scored
        self.underfilled += other.underfilled
        self.leaking += other.leaking
        self.undated += other.undated
        self.oldest_policy = max(self.oldest_policy, other.oldest_policy)
        self.hits_by_wanted.update(other.hits_by_wanted)

    @property
    def mean_recall(self) -> Fraction | None:
        """Over scored cases, each counting once."""
        if not self.scored:
            return None
        total = sum((Fraction(hits, wanted) for wanted, hits in self.hits_by_wanted.items()), Fraction(0))
        return total / self.scored

    @property
    def underfill_rate(self) -> Fraction:
        return Fraction(self.underfilled, self.cases)


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    case_count: int
    cohorts: tuple[Cohort, ...]
    limits: Limits

    @property
    def verdict(self) -> Verdict:
        return "FAIL" if self.failures else "PASS"

    @property
    def failures(self) -> tuple[str, ...]:
        """Every reason, cohort by cohort."""
        return tuple(fault for cohort in self.cohorts for fault in failures_of(cohort, self.limits))


def check(
    cases: Iterable[Case | Mapping[str, Any]],
    limits: Limits | None = None,
    see: Callable[[Outcome], None] | None = None,
    seen: set[bytes] | None = None,
) -> Report:
    """Judge a batch; ``see`` is called with each case's outcome, in order; ``seen``, an empty set, gets digests of
    their ids.

    Raises InputError for a batch without a case or without a document, a case id that stands twice, or a case that
    ``parse_case`` refuses.
    """
    limits = limits or Limits()
    cohorts: dict[tuple[str, str], Cohort] = {}
    seen = set() if seen is None else seen
    is_empty = True
    for number, given in enumerate(cases, 1):
        case = given if isinstance(given, Case) else _parse_nth(number, given)
        # A digest instead of the id, so that memory does not depend on how long the ids are.
        seen.add(blake2b(case.id.encode(errors="surrogatepass"), digest_size=16).digest())
        if len(seen) != number:
            raise InputError(f"case {number}: the case id {shown(case.id)} stands twice")
        is_empty = is_empty and not (case.eligible or case.returned or case.candidates)
        outcome = measure(case)
        place = (case.tenant, case.cohort)
        cohort = cohorts.get(place)
        if cohort is None:
            cohort = cohorts[place] = Cohort(*place)
        cohort.add(outcome)
        if see is not None:
            see(outcome)
    if not seen:
        raise InputError("there is no case: an empty batch proves nothing")
    if is_empty:
        raise InputError(
            "no case has a document that anybody may read, a candidate or a returned one: an empty corpus, or a search"
            " that is down, proves nothing"
        )
    ordered = tuple(cohorts[place] for place in sorted(cohorts))
    return Report(case_count=len(seen), cohorts=ordered, limits=limits)


def _parse_nth(number: int, given: Mapping[str, Any]) -> Case:
    try:
        return parse_case(given)
    except InputError as error:
        raise InputError(f"case {number}: {error}", error.violations) from None


def measure(case: Case) -> Outcome:
    """Leaks, recall among what may be read, and where a short result list lost its documents."""
    wanted = case.authorized & case.relevant
    returned, candidates = len(case.returned), case.candidates
    full = min(case.k, case.eligible)
    underfilled = returned < full
    starved = underfilled and candidates is not None and len(candidates) < full
    return Outcome(
        case,
        len(wanted & case.returned),
        len(wanted),
        case.returned - case.authorized,
        frozenset() if candidates is None else candidates - case.authorized,
        underfilled,
        starved,
        underfilled and candidates is not None and not starved,
    )


def failures_of(cohort: Cohort, limits: Limits) -> list[str]:
    """Why a cohort fails, in words; empty if it does not."""
    place = f"{cohort.tenant}/{cohort.name}"
    failures = []
    if cohort.leaking:
        cases = "case" if cohort.leaking == 1 else "cases"
        failures.append(f"{place}: unauthorized documents returned in {cohort.leaking} {cases}")
    least, most = limits.min_cohort_recall, limits.max_underfill_rate
    mean = cohort.mean_recall
    if least is not None and (mean is None or mean < least):
        failures.append(f"{place}: authorized recall below {number(least)} or unscored")
    if most is not None and cohort.underfill_rate > most:
        failures.append(f"{place}: underfill rate above {number(most)}")
    if limits.max_policy_age_hours is not None and not _fresh(cohort, limits.max_policy_age_hours):
        hours = number(limits.max_policy_age_hours)
        failures.append(f"{place}: policy snapshot missing or older than {hours} h")
    return failures


def _fresh(cohort: Cohort, hours: Fraction) -> bool:
    return not cohort.undated and cohort.oldest_policy // timedelta(microseconds=1) <= hours * HOUR


def number(value: Fraction) -> str:
    """A fraction as a short decimal: 4/5 → 0.8, 24 → 24."""
    return f"{float(value):.6f}".rstrip("0").rstrip(".")
