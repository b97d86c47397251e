"""A run as JUnit XML, for build servers: a test case a gate, and one a failing case of the suite."""

from collections.abc import Sequence

from clearcite.bench.gates import Gate
from clearcite.bench.judge import CaseResult
from clearcite.bench.markup import shown


def junit(suite: str, gates: Sequence[Gate], results: Sequence[CaseResult]) -> bytes:
    failing = [one for one in results if not one.passes]
    blocking = sum(gate.state not in ("pass", "skipped", "error") for gate in gates)
    errors, skipped = (sum(gate.state == state for gate in gates) for state in ("error", "skipped"))
    tests, failures = len(gates) + len(failing), blocking + len(failing)
    counts = f'tests="{tests}" failures="{failures}" errors="{errors}" skipped="{skipped}"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuite name="{shown(suite)}" {counts}>',
        *map(_gate, gates),
        *map(_case, failing),
        "</testsuite>",
    ]
    return ("\n".join(lines) + "\n").encode("utf-8")


def _gate(gate: Gate) -> str:
    """A gate that is not scored or not shown blocks, so it fails here too."""
    head = f'  <testcase classname="gate" name="{shown(gate.name)}"'
    if gate.state == "pass":
        return f"{head}/>"
    kind = gate.state if gate.state in ("skipped", "error") else "failure"
    value = "not scored" if gate.value is None else gate.value
    said = [
        gate.state,
        f"{value} against {gate.limit}" if gate.limit is not None else value,
        gate.reason or "",
    ]
    if kind == "skipped":
        said = [gate.reason or ""]
    rows = "\n".join(
        _row(row.tenant, row.part, row.state, row.value) for row in gate.rows if row.state != "pass"
    )
    message = shown("; ".join(filter(None, said)))
    return f'{head}><{kind} message="{message}">{rows}</{kind}></testcase>'


def _row(tenant: str | None, part: str, state: str, value: str | None) -> str:
    place = part if tenant is None else f"{tenant}/{part}"
    return shown(f"{place}: {state}, {'not scored' if value is None else value}")


def _case(one: CaseResult) -> str:
    message = shown(f"expected {one.expected}, came back {one.status}: {', '.join(one.codes)}")
    return (
        f'  <testcase classname="case {shown(one.slice)}" name="{shown(one.case_id)}">'
        f'<failure message="{message}"/></testcase>'
    )
