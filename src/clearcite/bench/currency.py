"""Gates over time: how far the index is behind the ledger, and whether windows hold to the microsecond."""

from collections.abc import Iterator

from msgspec.structs import replace

from clearcite.bench.answering import CaseRun, Places, run_case
from clearcite.bench.gates import Gate, GateState, skipped
from clearcite.bench.judge import NOTHING
from clearcite.bench.judged import Judged
from clearcite.bench.stats import binomial_interval
from clearcite.bench.suite import SuiteCase
from clearcite.domain.access import Micros
from clearcite.domain.corpus import DocumentKey

MOST_ASKED = 60
"""Questions asked again at the edges of windows."""


def index_lag_gate(judged: Judged) -> Gate:
    """The oldest event that the live generation has not taken in, and those it gave up."""
    limit = judged.suite.limits.max_index_lag_seconds
    if limit is None:
        return skipped("index_lag", "the suite gives no limit")
    live = {item.name for item in judged.operator.generations() if item.is_live}
    rows = [row for row in judged.operator.status()["outbox"] if row["generation"] in live]
    oldest = max((int(row["oldest_seconds"]) for row in rows), default=0)
    given_up = sum(int(row["quarantined"]) for row in rows)
    waiting = sum(int(row["waiting"]) for row in rows)
    reasons = []
    if waiting and oldest > limit:
        reasons.append(f"an event waits longer than {limit} s")
    if given_up:
        reasons.append(f"{given_up} events were given up")
    state: GateState = "fail" if reasons else "pass"
    reason = "; ".join(reasons) or None
    return Gate(
        name="index_lag",
        state=state,
        value=str(given_up),
        limit=str(limit),
        n=len(rows),
        n_scored=len(rows),
        reason=reason,
    )


def revision_currency_gate(judged: Judged) -> Gate:
    """No candidate is a revision that was replaced, revoked or has ended; and what a case touched and holds for a time
    only is asked for again at its first moment, its last, and after it."""
    asked = failed = 0
    places = Places(operator=judged.operator)
    for case, moment in _edges(judged) if judged.tries_windows else ():
        again = replace(case.asked, as_of=moment)
        run = run_case(judged.engine, places, case.id, again)
        asked += 1
        failed += bool(_touched(run) - judged.readers.readable(again))
    stale = sum(one.scores.get("stale_candidates") not in (None, NOTHING) for one in judged.results)
    if not asked and not stale:
        touched = "nothing that the suite touches is old or holds for a time only"
        return skipped(
            "revision_currency", touched if judged.tries_windows else "windows are tried elsewhere"
        )
    n = asked + stale
    reasons = ["asked at the first moment of a window, the last one, and the one after it"] if asked else []
    if stale:
        reasons.append(f"{stale} cases had a candidate that is not the newest revision, or not in force")
    return Gate(
        name="revision_currency",
        state="fail" if failed or stale else "pass",
        value=str(failed + stale),
        limit="0",
        n=n,
        n_scored=n,
        interval=binomial_interval(failed + stale, n),
        reason="; ".join(reasons),
    )


def _edges(judged: Judged) -> Iterator[tuple[SuiteCase, Micros]]:
    seen = 0
    for case, run in zip(judged.suite.cases, judged.runs, strict=True):
        moments = sorted({moment for key in _touched(run) for moment in _bounds(judged, key)})
        for moment in moments:
            if moment <= judged.now and seen < MOST_ASKED:
                seen += 1
                yield case, moment


def _bounds(judged: Judged, key: DocumentKey) -> Iterator[Micros]:
    served = judged.readers.served.get(key)
    for side in served.sides if served is not None else ():
        if side.effective_from is not None:
            yield side.effective_from
            yield side.effective_from - 1
        if side.effective_to is not None:
            yield side.effective_to - 1
            yield side.effective_to


def _touched(run: CaseRun) -> set[DocumentKey]:
    places = (*run.retrieved, *run.selected, *run.cited)
    return {*run.candidates, *(place.document for place in places)}
