"""Run tests that must fail, and succeed only if every one of them failed because an expectation was not met.

    python -O scripts/must_fail.py tests/must_fail

A pass, an error at collection, another exception, or no test at all is a fault: then a contract could be broken
unnoticed. Under -O, because that is where an ``assert`` would say nothing.
"""

import contextlib
import io
import sys
from pathlib import Path

import pytest

UNMET = "Unmet"


class Recorder:
    """``unmet``: tests that failed as they must. ``faults``: whatever else happened, in words."""

    def __init__(self) -> None:
        self.unmet: list[str] = []
        self.faults: list[str] = []

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> object:
        report: object = yield
        raised = call.excinfo
        if call.when == "call" and raised is not None and raised.type.__name__ == UNMET:
            self.unmet.append(item.nodeid)
        elif call.when == "call" or raised is not None:
            how = "passed" if raised is None else f"ended in {raised.type.__name__}"
            self.faults.append(f"{item.nodeid} {how}")
        return report

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.faults.append(f"{report.nodeid} cannot be collected")


def main(folder: str) -> int:
    recorder = Recorder()
    options = ["-q", "--continue-on-collection-errors", "-p", "no:cacheprovider"]
    options += ["-W", "ignore::pytest.PytestConfigWarning", "-p", "no:hypothesispytest", "-p", "no:xdist"]
    files = sorted(str(path) for path in Path(folder).glob("test_*.py"))
    with contextlib.redirect_stdout(io.StringIO()):
        pytest.main([*options, *files], plugins=[recorder])
    faults = recorder.faults if recorder.unmet or recorder.faults else ["no test was run"]
    if __debug__:
        faults = [*faults, "asserts are on: run this with python -O"]
    for fault in faults:
        print(f"must fail, and did not as it should: {fault}", file=sys.stderr)
    print(f"{len(recorder.unmet)} tests failed as they must")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
