"""The gate that no other tool has: what an asker may not read changes no byte of what he gets.

The questions of a suite are asked on a copy of the store, then again after documents that their askers cannot read
were added, altered and removed: near copies of the questions, other values for what was answered, words that weigh
much where everybody's documents are counted, each hidden in another way. Public bytes must be the same, the trace id
apart.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from random import Random
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from clearcite.bench.gates import Gate, GateRow, joined, skipped
from clearcite.bench.judged import Judged
from clearcite.bench.planted import Planted, planted
from clearcite.bench.stats import binomial_interval, upper_bound
from clearcite.bench.suite import SuiteCase
from clearcite.bench.taking import take_in
from clearcite.config import Settings
from clearcite.domain.corpus import DocumentKey, SourceRecord
from clearcite.engine import Engine
from clearcite.text.memory import remembering_a_run
from clearcite.wire import canonical
from clearcite.wire.convert import to_json
from clearcite.wiring import Workshop, engine_on, live_target, open_workshop, scratch_copy

NAME = "noninterference"
MOST_REMOVED = 40
REVERSED = 2_000
"""Characters that an alteration adds, backwards."""
HIDDEN = "a hidden document"
UNAVAILABLE = b'"status":"dependency_unavailable"'
TOOL = b'"status":"tool_required"'
SILENT = "every question ended before anything was read: nothing could move"
SEQUENCE = 1_000_000_000
Bytes = Mapping[str, tuple[bytes, bytes]]
"""Case → public bytes of the answer and of the search."""


def noninterference_gate(judged: Judged) -> Gate:
    """Compared after each of: documents added, altered, and removed."""
    if judged.hidden is not None:
        judged.tell(f"{NAME}: in a second process", 0, 1)
        return judged.hidden()
    most = judged.suite.limits.noninterference_questions
    if judged.settings is None:
        return skipped(NAME, "there is no store of its own to copy")
    if not most:
        return skipped(NAME, "the suite asks for none")
    cases = _chosen(judged, most)
    with _copy(judged.settings) as (settings, shop):
        before = _public(settings, cases, partial(judged.tell, f"{NAME}: before"))
        moved: dict[str, str] = {}
        for step, records in _steps(judged, cases, before):
            take_in(shop, records, HIDDEN)
            after = _public(settings, cases, partial(judged.tell, f"{NAME}: {step}"))
            moved |= {name: step for name in before if before[name] != after[name] and name not in moved}
    silent = frozenset(name for name, both in before.items() if _is_silent(*both) and name not in moved)
    hit = [case for case in cases if case.id in moved]
    kinds = _kinds(judged.settings, judged, hit, before) if hit else {}
    return _gate(cases, _Compared(moved=moved, silent=silent, kinds=kinds))


def _chosen(judged: Judged, most: int) -> list[SuiteCase]:
    """The same ones each time; critical ones first."""
    drawn = list(judged.suite.cases)
    Random(judged.suite.sha256).shuffle(drawn)  # noqa: S311 - a drawing that anybody can repeat
    drawn.sort(key=lambda case: not case.critical)
    return drawn[:most]


@contextmanager
def _copy(store: Settings) -> Iterator[tuple[Settings, Workshop]]:
    """A copy of the store, and what takes records into its live generation. What is confirmed of equal bytes is shared
    by its questions; each pass opens an engine of its own."""
    with (
        scratch_copy(store) as settings,
        closing(open_workshop(settings, live_target)) as shop,
        remembering_a_run(),
    ):
        yield settings, shop


def _public(settings: Settings, cases: Sequence[SuiteCase], tell: Callable[[int, int], None]) -> Bytes:
    found: dict[str, tuple[bytes, bytes]] = {}
    with engine_on(settings) as engine:
        for case in cases:
            tell(len(found), len(cases))
            found[case.id] = (_asked(engine, case), _searched(engine, case))
    return found


def _is_silent(answer: bytes, search: bytes) -> bool:
    """Whether nothing was read, so that no hidden document could have moved a byte."""
    return UNAVAILABLE in answer + search or (TOOL in answer and not search)


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
    made = _made(judged, cases, before)
    yield "added", [_record(item, 1) for item in made]
    yield "altered", [_record(replace(item, text=_altered(item.text)), 2) for item in made]
    hidden = _unread_by_all(judged, cases)
    yield "removed", [_gone(item.key, 3) for item in made[::2]] + [_gone(key, SEQUENCE) for key in hidden]


def _altered(text: str) -> str:
    return f"{text}\n\n{text[:REVERSED][::-1]}"


def _made(judged: Judged, cases: Sequence[SuiteCase], before: Bytes) -> list[Planted]:
    source = f"clearcite-bench-{judged.suite.sha256[:8]}"
    documents = len(judged.operator.known())
    return [
        item
        for case in cases
        for item in planted(case, before[case.id][0].decode("utf-8"), source, documents)
    ]


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


def _kinds(
    store: Settings, judged: Judged, cases: Sequence[SuiteCase], before: Bytes
) -> Mapping[str, list[str]]:
    """Of each case that moved, which kinds of hidden document move it by themselves: one copy of the store a kind."""
    found: dict[str, list[str]] = {}
    made = _made(judged, cases, before)
    for kind in sorted({item.kind for item in made}):
        own = [item for item in made if item.kind == kind]
        with _copy(store) as (settings, shop):
            take_in(shop, [_record(item, 1) for item in own], HIDDEN)
            after = _public(settings, cases, partial(judged.tell, f"{NAME}: {kind} alone"))
        for case in cases:
            if before[case.id] != after[case.id]:
                found.setdefault(case.id, []).append(kind)
    return found


class _Compared(Struct, frozen=True, kw_only=True):
    """``moved``: case → the step at which its bytes moved; ``silent``: cases that ended before anything was read, so
    that nothing is known of them; ``kinds``: case → the kinds of hidden document that move it alone."""

    moved: Mapping[str, str]
    silent: frozenset[str]
    kinds: Mapping[str, Sequence[str]]


def _gate(cases: Sequence[SuiteCase], seen: _Compared) -> Gate:
    cohorts: dict[tuple[str, str], list[SuiteCase]] = {}
    for case in cases:
        cohorts.setdefault((case.tenant, case.cohort), []).append(case)
    rows = tuple(_row(place, some, seen) for place, some in sorted(cohorts.items()))
    n, hit = sum(row.n_scored for row in rows), len(seen.moved)
    steps = ", ".join(sorted(set(seen.moved.values())))
    if hit:
        why = f"bytes moved when hidden documents were {steps}"
    elif n:
        bound = upper_bound(0, n)
        why = f"0 of {n} questions moved by a byte: at most a share of {bound} with 95 % confidence"
    else:
        why = SILENT
    return Gate(
        name=NAME,
        state=joined(row.state for row in rows),
        value=str(hit) if n else None,
        limit="0",
        n=len(cases),
        n_scored=n,
        interval=binomial_interval(hit, n) if n else None,
        reason=why,
        rows=rows,
    )


def _row(place: tuple[str, str], cases: Sequence[SuiteCase], seen: _Compared) -> GateRow:
    hit = [case.id for case in cases if case.id in seen.moved]
    n = sum(case.id not in seen.silent for case in cases)
    kinds = sorted({kind for name in hit for kind in seen.kinds.get(name, ())})
    steps = sorted({seen.moved[name] for name in hit})
    return GateRow(
        tenant=place[0],
        part=place[1],
        state="fail" if hit else "pass" if n else "unscored",
        value=str(len(hit)) if n else None,
        n=len(cases),
        n_scored=n,
        interval=binomial_interval(len(hit), n) if n else None,
        reason=f"{', '.join(steps)}; by itself: {', '.join(kinds) or 'none'}"
        if hit
        else None
        if n
        else SILENT,
    )
