"""Every trace store passes the shipped suite; a file outlives its process."""

import stat
from contextlib import closing
from pathlib import Path

import pytest

from clearcite.adapters.traces.sqlite import open_sqlite_traces
from clearcite.errors import DependencyUnavailable, IntegrityFault
from clearcite.storing import TraceStore
from clearcite.testing.trace_suite import TraceSuite, trace


class TestMemoryTraces(TraceSuite):
    def open_traces(self) -> TraceStore:
        return open_sqlite_traces(None)


class TestFileTraces(TraceSuite):
    @pytest.fixture(autouse=True)
    def _place(self, tmp_path: Path) -> None:
        self.path = tmp_path / "store" / "traces.db"

    def open_traces(self) -> TraceStore:
        return open_sqlite_traces(self.path)

    def test_traces_outlive_the_store_that_wrote_them(self) -> None:
        with closing(self.open_traces()) as traces:
            traces.append(trace())
        with closing(self.open_traces()) as traces:
            assert traces.get(trace().trace_id) == trace()

    def test_only_the_owner_may_read_the_file(self) -> None:
        with closing(self.open_traces()) as traces:
            traces.append(trace())
            for path in self.path.parent.iterdir():
                assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(self.path.parent.stat().st_mode) == 0o700

    def test_a_closed_store_is_unavailable(self) -> None:
        traces = self.open_traces()
        traces.close()
        with pytest.raises(DependencyUnavailable):
            traces.append(trace())
        with pytest.raises(DependencyUnavailable):
            traces.get("1" * 32)

    def test_a_damaged_trace_is_an_integrity_fault(self) -> None:
        import apsw

        with closing(self.open_traces()) as traces:
            traces.append(trace())
            with closing(apsw.Connection(str(self.path))) as db:
                db.execute("UPDATE traces SET body = replace(body, '\"kind\"', '\"kinds\"')")
            with pytest.raises(IntegrityFault):
                traces.get(trace().trace_id)
