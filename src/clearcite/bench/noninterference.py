"""The gate that no other tool has: what an asker may not read changes no byte of what he gets.

The questions of a suite are asked on a copy of the store, then again after documents that their askers cannot read
were added, altered and removed: near copies of the questions, other values for what was answered, words that weigh
much where everybody's documents are counted, each hidden in another way. Public bytes must be the same, the trace id
apart.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from clearcite.bench.gates import Gate, GateRow, joined, skipped
from clearcite.bench.judged import Judged
from clearcite.bench.planted import Planted, planted
from clearcite.bench.stats import binomial_interval, upper_bound
from clearcite.bench.suite import SuiteCase
from clearcite.config import Settings
from clearcite.domain.corpus import DocumentKey, SourceRecord
from clearcite.engine import Engine
from clearcite.errors import InputError
from clearcite.ingest.pipeline import project, take
from clearcite.ports import Applied
from clearcite.wire import canonical, to_json
from clearcite.wiring import engine_on, live_target, open_workshop, scratch_copy

NAME = "noninterference"
MOST_REMOVED = 40
SEQUENCE = 1_000_000_000
Bytes = Mapping[str, tuple[bytes, bytes]]
"""Case → public bytes of the answer and of the search."""


def noninterference_gate(judged: Judged) -> Gate:
    """Compared after each of: documents added, altered, and removed."""
    most = judged.suite.limits.noninterference_questions
    if judged.settings is None:
        return skipped(NAME, "there is no store of its own to copy")
    if not most:
        return skipped(NAME, "the suite asks for none")
    cases = _chosen(judged, most)
    with scratch_copy(judged.settings) as settings:
        before = _public(settings, cases)
        moved: dict[str, str] = {}
        for step, records in _steps(judged, cases, before):
            _apply(settings, records)
            after = _public(settings, cases)
            moved |= {name: step for name in before if before[name] != after[name] and name not in moved}
    return _gate(cases, moved)


def _chosen(judged: Judged, most: int) -> list[SuiteCase]:
    """The same ones each time; critical ones first."""
    drawn = list(judged.suite.cases)
    Random(judged.suite.sha256).shuffle(drawn)  # noqa: S311 - a drawing that anybody can repeat
    drawn.sort(key=lambda case: not case.critical)
    return drawn[:most]


def _public(settings: Settings, cases: Sequence[SuiteCase]) -> Bytes:
    with engine_on(settings) as engine:
        return {case.id: (_asked(engine, case), _searched(engine, case)) for case in cases}


def _asked(engine: Engine, case: SuiteCase) -> bytes:
    asked = case.asked
    if asked.search:
        return b""
    return _without_trace(engine.ask(asked.text, asked.principal, **asked.options()))


def _searched(engine: Engine, case: SuiteCase) -> bytes:
    asked = case.asked
    if asked.route == "tool_required":
        return b""
    options: dict[str, Any] = {
        "as_of": asked.as_of,
        "target_version": asked.target_version,
        "sources": asked.sources,
    }
    return _without_trace(engine.search(asked.text, asked.principal, k=100, **options))


def _without_trace(public: Any) -> bytes:
    return canonical(to_json(replace(public, trace_id="")))


def _steps(
    judged: Judged, cases: Sequence[SuiteCase], before: Bytes
) -> Iterator[tuple[str, Sequence[SourceRecord]]]:
    source = f"clearcite-bench-{judged.suite.sha256[:8]}"
    said = {name: answer.decode("utf-8") for name, (answer, _) in before.items()}
    made = [item for case in cases for item in planted(case, said[case.id], source)]
    yield "added", [_record(item, 1) for item in made]
    yield "altered", [_record(replace(item, text=f"{item.text}\n\n{item.text[::-1]}"), 2) for item in made]
    hidden = _unread_by_all(judged, cases)
    yield "removed", [_gone(item.key, 3) for item in made[::2]] + [_gone(key, SEQUENCE) for key in hidden]


def _unread_by_all(judged: Judged, cases: Sequence[SuiteCase]) -> list[DocumentKey]:
    """Documents of the store itself that none of the askers can read."""
    read = set().union(*(judged.readers.readable(case.asked) for case in cases))
    return sorted(key for key in judged.operator.known() if key not in read)[:MOST_REMOVED]


def _record(item: Planted, sequence: int) -> SourceRecord:
    return SourceRecord(
        key=item.key,
        source_sequence=sequence,
        content=item.text.encode("utf-8"),
        text=item.text,
        access=item.access,
        description=item.description,
    )


def _gone(key: DocumentKey, sequence: int) -> SourceRecord:
    return SourceRecord(key=key, source_sequence=sequence, operation="delete", delete_reason="source_deleted")


def _apply(settings: Settings, records: Sequence[SourceRecord]) -> None:
    """Into the live generation of the copy."""
    shop = open_workshop(settings, live_target)
    try:
        for batch in take(records, shop.ledger, shop.manifest.hash()):
            for item in batch:
                if isinstance(item, Applied) and item.error is not None:
                    raise InputError(f"a hidden document was refused: {item.error.message}")
        for done in project(shop.worker):
            if done.failed:
                raise InputError(f"a hidden document could not be indexed: {done.failed[0][1]}")
    finally:
        shop.close()


def _gate(cases: Sequence[SuiteCase], moved: Mapping[str, str]) -> Gate:
    cohorts = sorted({(case.tenant, case.cohort) for case in cases})
    rows = tuple(
        _row(
            tenant, cohort, [case for case in cases if (case.tenant, case.cohort) == (tenant, cohort)], moved
        )
        for tenant, cohort in cohorts
    )
    n, bound = len(cases), upper_bound(len(moved), len(cases))
    steps = sorted(set(moved.values()))
    why = f"bytes moved when hidden documents were {', '.join(steps)}" if moved else None
    return Gate(
        name=NAME,
        state=joined(row.state for row in rows),
        value=str(len(moved)),
        limit="0",
        n=n,
        n_scored=n,
        interval=binomial_interval(len(moved), n),
        reason=why or f"0 of {n} questions moved by a byte: at most a share of {bound} with 95 % confidence",
        rows=rows,
    )


def _row(tenant: str, cohort: str, cases: Sequence[SuiteCase], moved: Mapping[str, str]) -> GateRow:
    hit = sum(case.id in moved for case in cases)
    return GateRow(
        tenant=tenant,
        part=cohort,
        state="fail" if hit else "pass",
        value=str(hit),
        n=len(cases),
        n_scored=len(cases),
        interval=binomial_interval(hit, len(cases)),
    )
