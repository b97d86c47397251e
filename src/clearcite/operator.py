"""What an operator may do: read traces, verify them, see why a document is or is not visible, watch the store."""

from collections.abc import Mapping, Sequence
from typing import Any

from clearcite.answer.verify import Replay, Verdict, verify_trace
from clearcite.domain.trace import Trace
from clearcite.errors import NotFound
from clearcite.ports import Ledger, TraceStore


class Operator:
    """Bound to one engine; ``Engine.operator`` checks the role before it makes one."""

    def __init__(self, ledger: Ledger, traces: TraceStore, replay: Replay) -> None:
        self._ledger = ledger
        self._traces = traces
        self._replay = replay

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

    def status(self) -> Mapping[str, Any]:
        return self._ledger.status()


