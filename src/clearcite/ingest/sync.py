"""Taking one source, and remembering how far: its cursor, when it was listed whole, what waits for approval."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from msgspec.structs import replace

from clearcite.domain.corpus import DocumentKey, SourceRecord
from clearcite.domain.lifecycle import Decision, Head, decide, head_of
from clearcite.domain.sources import Checkpoint, SourceState
from clearcite.errors import ClearciteError, DeletesWait, InputError
from clearcite.ingest.pipeline import Refused, take
from clearcite.keeping import Sources
from clearcite.ports import Clock
from clearcite.storing import Applied, Connector, Intake

RUNNING, OK = "running", "ok"
Batch = Sequence[Applied | Refused]


class Books(Intake, Sources, Protocol):
    """What is written when a source is taken."""


def take_source(
    connector: Connector, books: Books, state: SourceState, clock: Clock, manifest_hash: str
) -> Iterator[Batch]:
    """Take what a source has, batch by batch. ``state``: as it was before. A run that is cut short counts as no
    full listing, and the next one goes on from the last cursor whose records are durable."""
    state = replace(state, tried_at=clock.now(), outcome=RUNNING, refused=0)
    books.put_source(state)
    try:
        for batch in take(connector.records(), books, manifest_hash):
            said = [item for item in batch if not isinstance(item, Checkpoint)]
            state = replace(state, refused=state.refused + sum(map(_is_refused, said)))
            for point in (item for item in batch if isinstance(item, Checkpoint)):
                state = _advanced(state, point, clock)
                books.put_source(state)
                if point.covered and not point.withheld and state.approved:
                    books.approve(state.tenant_id, state.source_id, state.kind, 0)  # it has been used
            yield said
    except ClearciteError as error:
        books.put_source(replace(state, outcome=error.message))
        raise
    books.put_source(replace(state, outcome=OK, finished_at=clock.now()))


def _is_refused(item: Applied | Refused) -> bool:
    if isinstance(item, ClearciteError):
        return not isinstance(item, DeletesWait)
    return item.error is not None


def _advanced(state: SourceState, point: Checkpoint, clock: Clock) -> SourceState:
    cursor = state.cursor if point.cursor is None else point.cursor
    if not point.covered:
        return replace(state, cursor=cursor)
    return replace(state, cursor=cursor, covered_at=clock.now(), withheld=point.withheld)


class Heads(Protocol):
    """The part of a ledger that a rehearsal reads."""

    def head(self, key: DocumentKey) -> Head | None: ...

    def dated(self, record: SourceRecord) -> SourceRecord: ...

    def places(self, record: SourceRecord) -> bool: ...


class Rehearsal:
    """What a ledger would decide, with nothing written. Implements ``Judge``."""

    def __init__(self, ledger: Heads) -> None:
        self._ledger = ledger
        self._heads: dict[DocumentKey, Head] = {}

    def apply(self, records: Sequence[SourceRecord], manifest_hash: str) -> tuple[Applied, ...]:
        return tuple(self._judged(record, manifest_hash) for record in records)

    def _judged(self, record: SourceRecord, manifest_hash: str) -> Applied:
        before = self._heads.get(record.key) or self._ledger.head(record.key)
        after = head_of(self._ledger.dated(record), manifest_hash)
        decision, refused = None, None
        try:
            decision = decide(before, after)
        except InputError as error:
            refused = error
        if decision is not None and decision.action == "stale_ignored":
            decision = Decision(action="placed_in_past") if self._ledger.places(record) else decision
        elif decision is not None and decision.action != "noop":
            self._heads[record.key] = after
        return Applied(
            key=record.key, source_sequence=record.source_sequence, decision=decision, error=refused
        )
