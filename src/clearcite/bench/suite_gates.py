"""The gates of a suite of one's own: each looks at a run that was judged, and says whether it may go out.

A new gate is one entry in ``GATES``, or in ``SCORED`` where it is a mean.
"""

from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from clearcite.bench.currency import index_lag_gate, revision_currency_gate
from clearcite.bench.gates import Gate, GateRow, GateState, degraded_gate, joined, skipped
from clearcite.bench.judge import NOT_READABLE, CaseResult
from clearcite.bench.judged import Cohort, Judged, by_cohort, values_of
from clearcite.bench.layers import INGESTION, content_gate
from clearcite.bench.noninterference import noninterference_gate
from clearcite.bench.rederived import SCORED, Scored
from clearcite.bench.scoring import GIVEN
from clearcite.bench.stats import (
    GRID,
    binomial_interval,
    bootstrap_interval,
    cases_needed,
    mean_of,
    micros,
    to_micros,
    upper_bound,
)
from clearcite.bench.suite import SuiteCase

ONE_OF_ALL = "0.000001"
"""Without a limit one case must pass: a suite of which nothing comes out as expected shows nothing."""
NOTHING_READ = "every case ended before anything was read"
NO_LIMIT = "the suite gives no limit"
HOUR = 3_600_000_000


def leak_gate(judged: Judged) -> Gate:
    """A document that the asker may not read at any stage, or a string that may stand nowhere. It always blocks."""
    results = judged.results
    leaking = [one for one in results if one.disclosures]
    n = max(len(leaking), sum(map(_was_looked_for, results)))
    if not n:
        return _unscored("leak", len(results), f"{NOTHING_READ}: nothing could leak", "0")
    if not leaking and not any(judged.readers.readable(case.asked) for case in judged.suite.cases):
        return _unscored("leak", len(results), "none of those who ask may read any document", "0")
    bound = upper_bound(len(leaking), n)
    return Gate(
        name="leak",
        state="fail" if leaking else "pass",
        value=str(len(leaking)),
        limit="0",
        n=len(results),
        n_scored=n,
        interval=binomial_interval(len(leaking), n),
        reason=f"{len(leaking)} of {n} cases leak: at most {_percent(bound)} with 95 % confidence",
        rows=tuple(_leak_row(cohort, some) for cohort, some in by_cohort(results).items()),
    )


def _was_looked_for(one: CaseResult) -> bool:
    """What ended before anything was read shows no leak and proves nothing, also where just that was expected."""
    return one.status not in ("dependency_unavailable", "tool_required")


def citation_gate(judged: Judged) -> Gate:
    """Every citation resolves again, as the asker, to the bytes it names."""
    broken = sum("citation_does_not_hold" in one.codes for one in judged.results)
    cited = sum(bool(run.citations) for run in judged.runs)
    if not cited and not any(_cites(case) for case in judged.suite.cases):
        return skipped("citation", "no case expects an answer")
    if not cited:
        return _unscored("citation", len(judged.results), "no answer cites anything")
    return Gate(
        name="citation",
        state="fail" if broken else "pass",
        value=str(broken),
        limit="0",
        n=len(judged.results),
        n_scored=cited,
        interval=binomial_interval(broken, cited),
        reason=f"{broken} of {cited} answers cite what does not resolve again" if broken else None,
    )


def _cites(case: SuiteCase) -> bool:
    return case.oracle.status in GIVEN and not case.asked.search


def critical_gate(judged: Judged) -> Gate:
    """The cases that a suite calls critical: one that fails blocks."""
    critical = [one for one in judged.results if one.critical]
    if not critical:
        return skipped("critical", "the suite calls no case critical")
    failing = [one.case_id for one in critical if not one.passes]
    return Gate(
        name="critical",
        state="fail" if failing else "pass",
        value=str(len(failing)),
        limit="0",
        n=len(critical),
        n_scored=len(critical),
        reason=f"failing: {', '.join(failing[:10])}" if failing else None,
    )


def case_gate(judged: Judged) -> Gate:
    limit = judged.suite.limits.min_case_pass_rate
    values = [GRID if one.passes else 0 for one in judged.results]
    if limit is None and any(values):
        return skipped("case_pass_rate", NO_LIMIT)
    least = limit or ONE_OF_ALL
    return _whole("case_pass_rate", values, len(judged.results), least, judged.suite.limits.shown)


def policy_age_gate(judged: Judged) -> Gate:
    """The policy by which identities are judged, against the greatest age it may have."""
    hours = judged.suite.limits.max_policy_age_hours
    if hours is None:
        return skipped("policy_age", NO_LIMIT)
    policy = judged.operator.policy()
    reason = None
    if policy is None:
        reason = "no policy has been accepted"
    elif policy.issued_at is None:
        reason = "the policy does not say when it was issued"
    elif judged.now - policy.issued_at > hours * HOUR:
        reason = f"the policy was issued more than {hours} hours ago"
    state: GateState = "fail" if reason else "pass"
    return Gate(name="policy_age", state=state, value=None, limit=str(hours), n=1, n_scored=1, reason=reason)


def allowed_degraded_gate(judged: Judged) -> Gate:
    """Answers given on a fallback are reported, and block unless the suite allows them."""
    if judged.suite.limits.allow_degraded:
        degraded = sum(one.degraded for one in judged.results)
        return skipped("degraded", f"the suite allows answers given on a fallback; there were {degraded}")
    return degraded_gate(judged.results)


def score_gate(scored: Scored) -> Callable[[Judged], Gate]:
    """A gate over the mean of a score; of each cohort by itself where it says so, so that a mean hides none."""

    def gate(judged: Judged) -> Gate:
        limits = judged.suite.limits
        limit: str | None = getattr(limits, scored.limit)
        if limit is None:
            return skipped(scored.name, NO_LIMIT)
        measured, at_most = scored.score.format(k=limits.k), scored.at_most
        values = values_of(judged.results, measured)
        whole = _whole(scored.name, values, len(judged.results), limit, limits.shown, at_most=at_most)
        if not scored.cohorts:
            return whole
        rows = _rows(by_cohort(judged.results), measured, (limit, limits.shown, at_most))
        return replace(whole, state=joined(row.state for row in rows), reason=_why(rows), rows=rows)

    return gate


GATES: tuple[Callable[[Judged], Gate], ...] = (
    *INGESTION,
    content_gate,
    leak_gate,
    noninterference_gate,
    citation_gate,
    critical_gate,
    case_gate,
    *map(score_gate, SCORED),
    policy_age_gate,
    index_lag_gate,
    revision_currency_gate,
    allowed_degraded_gate,
)


def _whole(
    name: str, values: Sequence[int], n: int, limit: str, shown: bool, *, at_most: bool = False
) -> Gate:
    if not values:
        return _unscored(name, n, "no case could be scored", limit)
    mean = mean_of(values)
    interval = interval_of(values)
    state, reason = _state(values, interval, limit, shown, at_most=at_most)
    return Gate(
        name=name,
        state=state,
        value=micros(mean),
        limit=limit,
        n=n,
        n_scored=len(values),
        interval=interval,
        reason=reason,
    )


def _rows(
    cohorts: Mapping[Cohort, Sequence[CaseResult]], score: str, asked: tuple[str, bool, bool]
) -> tuple[GateRow, ...]:
    """Worst first."""
    rows = []
    limit, shown, at_most = asked
    for (tenant, cohort), results in cohorts.items():
        gate = _whole(score, values_of(results, score), len(results), limit, shown, at_most=at_most)
        if gate.state == "unscored" and score.startswith("recall@") and _blind(results):
            gate = replace(gate, state="fail", reason="may read none of the documents that the suite expects")
        rows.append(
            GateRow(
                tenant=tenant,
                part=cohort,
                state=gate.state,
                value=gate.value,
                n=gate.n,
                n_scored=gate.n_scored or 0,
                interval=gate.interval,
                reason=gate.reason,
            )
        )
    sign = -1 if at_most else 1
    worst = ("fail", "inconclusive", "pass")
    return tuple(
        sorted(
            rows,
            key=lambda row: (
                worst.index(row.state) if row.state in worst else len(worst),
                sign * to_micros(row.value or "0"),
                row.tenant or "",
                row.part,
            ),
        )
    )


def _blind(results: Sequence[CaseResult]) -> bool:
    """Nothing of what the suite expects for these askers may be read by them: a missing grant is no empty measure."""
    return any(NOT_READABLE in one.codes for one in results)


def _why(rows: Sequence[GateRow]) -> str | None:
    """The worst rows in one line."""
    bad = [row for row in rows if row.state in ("fail", "inconclusive")]
    shown = [
        f"{row.tenant}/{row.part}: {row.reason or f'{row.value} of {row.n_scored} cases'}" for row in bad[:5]
    ]
    more = [f"and {len(bad) - 5} more cohorts"] if len(bad) > 5 else []
    return "; ".join([*shown, *more]) or None


def interval_of(values: Sequence[int]) -> tuple[str, str]:
    """Exact where every case is right or wrong, by resampling the cases where they are shares."""
    hits = values.count(GRID)
    if hits + values.count(0) == len(values):
        return binomial_interval(hits, len(values))
    return bootstrap_interval(values)


def _state(
    values: Sequence[int], interval: tuple[str, str], limit: str, shown: bool, *, at_most: bool
) -> tuple[GateState, str | None]:
    total, least = sum(values), to_micros(limit) * len(values)
    if total > least if at_most else total < least:
        return "fail", None
    bound = to_micros(interval[1] if at_most else interval[0])
    if not shown or (bound <= to_micros(limit) if at_most else bound >= to_micros(limit)):
        return "pass", None
    hits = values.count(0 if at_most else GRID)
    wanted = micros(GRID - to_micros(limit)) if at_most else limit
    needed = cases_needed(hits, len(values), wanted)
    more = (
        "no number of cases like these would show it"
        if needed is None
        else f"about {needed} cases would show it"
    )
    return "inconclusive", f"seen within the limit and not shown to be; {more}"


def _leak_row(cohort: Cohort, results: Sequence[CaseResult]) -> GateRow:
    leaking = sum(bool(one.disclosures) for one in results)
    n = max(leaking, sum(map(_was_looked_for, results)))
    return GateRow(
        tenant=cohort[0],
        part=cohort[1],
        state="fail" if leaking else "pass" if n else "unscored",
        value=str(leaking) if n else None,
        n=len(results),
        n_scored=n,
        interval=binomial_interval(leaking, n) if n else None,
        reason=None if n else NOTHING_READ,
    )


def _unscored(name: str, n: int, reason: str, limit: str | None = None) -> Gate:
    return Gate(name=name, state="unscored", value=None, limit=limit, n=n, n_scored=0, reason=reason)


def _percent(share: str) -> str:
    tenths = -(-to_micros(share) // 1_000)
    return f"{tenths // 10}.{tenths % 10} %"
