"""Case results → rates. A rate whose denominator is zero is None with a reason: never 0, 1 or NaN."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from msgspec import Struct

from clearcite.bench.judge import STAGES, CaseResult


class Rate(Struct, frozen=True, kw_only=True):
    """``value`` of ``n`` things; None where there was nothing to measure, and ``reason`` says why."""

    hits: int
    n: int
    reason: str | None = None

    @property
    def value(self) -> Fraction | None:
        return Fraction(self.hits, self.n) if self.n else None

    def decimal(self) -> str | None:
        """Six decimals, as reports and hashes hold it."""
        return None if self.value is None else decimal(self.value)


def decimal(value: Fraction) -> str:
    """A fraction as a decimal string of six places, rounded half up: no float is ever hashed."""
    scaled = (value.numerator * 2_000_000 + value.denominator) // (2 * value.denominator)
    sign = "-" if scaled < 0 else ""
    return f"{sign}{abs(scaled) // 1_000_000}.{abs(scaled) % 1_000_000:06d}"


def rate(items: Sequence[CaseResult], holds: Callable[[CaseResult], bool], nothing: str) -> Rate:
    return Rate(hits=sum(map(holds, items)), n=len(items), reason=None if items else nothing)


def measures(results: Sequence[CaseResult]) -> Mapping[str, Rate]:
    """The measures of a fixture's policy, over the cases given."""
    critical = [one for one in results if one.critical]
    found: dict[str, Rate] = {
        "case_pass_rate": rate(results, lambda one: one.passes, "no case"),
        "critical_case_pass_rate": rate(critical, lambda one: one.passes, "no critical case"),
        "status_accuracy": rate(results, lambda one: one.status == one.expected, "no case"),
    }
    wanted = sum(one.wanted for one in results)
    for stage in STAGES:
        hits = sum(one.found[stage] for one in results)
        found[f"{stage}_fact_recall"] = Rate(
            hits=hits, n=wanted, reason=None if wanted else "no fact is expected"
        )
    return found


def by_slice(results: Sequence[CaseResult]) -> Mapping[str, Mapping[str, Rate]]:
    """The same measures of each slice, worst slice first, so that a mean hides none."""
    slices = {one.slice for one in results}
    found = {name: measures([one for one in results if one.slice == name]) for name in slices}
    return dict(
        sorted(found.items(), key=lambda item: (item[1]["case_pass_rate"].value or Fraction(0), item[0]))
    )


def confusion(results: Sequence[CaseResult]) -> Mapping[str, Mapping[str, int]]:
    """Expected status → status that came back → how many."""
    table: dict[str, dict[str, int]] = {}
    for one in results:
        row = table.setdefault(one.expected, {})
        row[one.status] = row.get(one.status, 0) + 1
    return {name: dict(sorted(row.items())) for name, row in sorted(table.items())}
