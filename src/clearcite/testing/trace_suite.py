"""The contract of ``storing.TraceStore``: subclass ``TraceSuite``, say how to open one, let pytest collect it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

from clearcite.domain.audit import GENESIS, Head, check_traces
from clearcite.domain.trace import StageRecord, Trace
from clearcite.errors import InputError, IntegrityFault
from clearcite.storing import TraceStore
from clearcite.testing.clock import NOON
from clearcite.testing.expect import expect, expect_equal, expect_raises


def trace(number: int = 1, **fields: Any) -> Trace:
    """A small trace with every kind of value a trace may hold."""
    stage = StageRecord(
        stage="recall", outcome="ok", milliseconds=3, detail={"hits": [["c1", 12], ["c2", 9]]}
    )
    values: dict[str, Any] = {
        "trace_id": f"{number:032x}",
        "kind": "ask",
        "tenant_id": "acme",
        "created_at": NOON + number,
        "request": {"question": "Où est-il? 何処", "groups": ["staff"], "as_of": None},
        "state": {"position": 7, "generation": "g1"},
        "stages": (stage,),
        "response": {"status": "answered", "spans": [[0, 5]]},
        "degraded": False,
        "cause": None,
        **fields,
    }
    return Trace(**values)


class TraceSuite:
    """The whole contract. ``open_traces`` must return a new, empty store each time."""

    def open_traces(self) -> TraceStore:
        raise NotImplementedError

    def test_a_trace_comes_back_as_it_was_written(self) -> None:
        with closing(self.open_traces()) as traces:
            traces.append(trace())
            expect_equal(traces.get(trace().trace_id), trace())

    def test_an_unknown_trace_is_none(self) -> None:
        with closing(self.open_traces()) as traces:
            expect(traces.get("0" * 32) is None, "an unknown trace is None")
            expect(traces.get("") is None, "an empty id is unknown")

    def test_the_newest_come_first(self) -> None:
        with closing(self.open_traces()) as traces:
            for number in (3, 1, 2):
                traces.append(trace(number))
            expect_equal([item.trace_id[-1] for item in traces.newest(2)], ["2", "1"])
            expect_equal(list(traces.newest(0)), [])

    def test_an_id_is_written_once(self) -> None:
        with closing(self.open_traces()) as traces:
            traces.append(trace())
            expect_raises(IntegrityFault, traces.append, trace(tenant_id="globex"))
            expect_equal(traces.get(trace().trace_id), trace())

    def test_what_has_no_json_form_is_refused_and_nothing_is_written(self) -> None:
        with closing(self.open_traces()) as traces:
            for value in (b"bytes", float("nan"), object()):
                expect_raises(InputError, traces.append, trace(state={"value": value}))
            expect_equal(list(traces.newest(10)), [])

    def test_threads_may_write_and_read_at_once(self) -> None:
        with closing(self.open_traces()) as traces:

            def use(number: int) -> bool:
                traces.append(trace(number))
                return traces.get(trace(number).trace_id) == trace(number)

            with ThreadPoolExecutor(8) as pool:
                expect(all(pool.map(use, range(1, 65))), "every thread reads what it wrote")
            expect_equal(len(traces.newest(100)), 64)

    def test_every_trace_is_linked_to_the_one_before(self) -> None:
        with closing(self.open_traces()) as traces:
            expect_equal(traces.head(), Head(size=0, root=GENESIS))
            heads = []
            for number in (1, 2, 3):
                traces.append(trace(number))
                heads.append(traces.head())
            expect_equal([head.size for head in heads], [1, 2, 3])
            for head in heads:
                with traces.entries() as entries:
                    expect_equal(list(check_traces(entries, head)), [])
            with traces.entries() as entries:
                wrong = Head(size=2, root=heads[0].root)
                expect_equal([finding.number for finding in check_traces(entries, wrong)], [2])

    def test_an_erased_trace_leaves_an_entry_that_tells_nothing_and_the_log_holds(self) -> None:
        with closing(self.open_traces()) as traces:
            for number in (1, 2, 3):
                traces.append(trace(number))
            kept = traces.head()
            expect_equal(traces.forget_before(trace(3).created_at), 2)
            expect_equal(traces.forget_before(trace(3).created_at), 0, "they are erased once")
            expect(traces.get(trace(1).trace_id) is None, "an erased trace is not given")
            expect_equal([item.trace_id for item in traces.newest(9)], [trace(3).trace_id])
            with traces.entries() as entries:
                found = list(entries)
            expect_equal([entry.body is None for entry in found], [True, True, False, False])
            expect_equal(found[-1].erases, (1, 2))
            expect_equal(list(check_traces(found, kept)), [])
            expect_equal(len(list(check_traces(found[:-1], kept))), 2, "nothing says why two are empty")
