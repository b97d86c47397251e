"""What an operator may do: read traces, verify them, see why a document is or is not visible, watch the store."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from clearcite.answer.past import Past
from clearcite.answer.verify import Replay, Verdict, asked_of, verify_trace
from clearcite.domain.corpus import Place
from clearcite.domain.purge import Receipt, Selection
from clearcite.domain.reconcile import Reconciliation
from clearcite.domain.retrieval import Scope
from clearcite.domain.trace import Trace
from clearcite.errors import ConfigError, NotFound
from clearcite.ports import Ledger, TraceStore
from clearcite.visibility import Visibility


class Upkeep(Protocol):
    """What keeps a store in order; ``wiring`` knows how, for it needs parsers and files."""

    def reconcile(self, *, while_pending: bool = False, vectors: bool = False) -> Reconciliation:
        """See ``ingest.reconcile``."""

    def purge(self, selection: Selection) -> Receipt:
        """See ``wiring.purging``."""


class Operator:
    """Bound to one engine; ``Engine.operator`` checks the role before it makes one."""

    def __init__(
        self,
        ledger: Ledger,
        traces: TraceStore,
        visibility: Visibility,
        replay: Replay,
        upkeep: Upkeep | None,
    ) -> None:
        self._ledger = ledger
        self._traces = traces
        self._visibility = visibility
        self._replay = replay
        self._upkeep = upkeep

    @property
    def upkeep(self) -> Upkeep:
        """Raises ConfigError for an engine that was not opened on a store of its own."""
        if self._upkeep is None:
            raise ConfigError("This engine was not opened on a store.")
        return self._upkeep

    def reconcile(self, *, while_pending: bool = False, vectors: bool = False) -> Reconciliation:
        """Does everything that is stored still follow from the original bytes? See ``ingest.reconcile``."""
        return self.upkeep.reconcile(while_pending=while_pending, vectors=vectors)

    def purge(self, selection: Selection) -> Receipt:
        """Erase deleted documents and old revisions for good. The receipt says of every store how it was left."""
        return self.upkeep.purge(selection)

    def inspect(self, trace_id: str) -> Trace:
        """The protected trace of one answer."""
        trace = self._traces.get(trace_id)
        if trace is None:
            raise NotFound("There is no such trace.")
        return trace

    def newest(self, limit: int = 20) -> Sequence[Trace]:
        return self._traces.newest(limit)

    def verify(self, trace_id: str, response: Any | None = None) -> Verdict:
        """Recompute an answer from the ledger; see ``answer.verify``."""
        return verify_trace(self.inspect(trace_id), self._replay, response)

    def places(self, chunk_ids: Sequence[str]) -> Mapping[str, Place]:
        """Where chunks that a trace names stand; one that is no longer stored is left out."""
        with self._ledger.snapshot() as snapshot:
            found = snapshot.chunks(list(dict.fromkeys(chunk_ids)))
        return {
            name: Place(document=stored.key, start=stored.chunk.start, end=stored.chunk.end)
            for name, stored in found.items()
        }

    def reasons(self, trace: Trace) -> Mapping[str, Sequence[str]]:
        """Why each document of the store was hidden from the traced asker, at the traced position; [] if it was not.

        Empty for a trace of a request that failed before anything was read.
        """
        if not trace.state:
            return {}
        asked = asked_of(trace)
        partitions = (asked.principal.tenant_id,)
        scope = Scope(principal=asked.principal, as_of=trace.state["as_of"], partitions=partitions)
        with self._ledger.snapshot() as now:
            found = Visibility().reasons(Past(now, asked.position), scope)
        return {
            f"{key.tenant_id}/{key.source_id}/{key.document_id}": list(why)
            for key, why in sorted(found.items())
        }

    def status(self) -> Mapping[str, Any]:
        return self._ledger.status()
