"""The protected traces of a run, kept only when asked for: they name documents, people and what was hidden."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from clearcite.bench.answering import OPERATOR, CaseRun
from clearcite.engine import Engine
from clearcite.errors import InputError
from clearcite.wire import canonical
from clearcite.wire.convert import to_json

FOLDER = "audit"


def traces_of(engine: Engine, runs: Iterable[CaseRun]) -> Mapping[str, bytes]:
    """Trace id → the trace with its case. The ids are random, so these files differ from run to run."""
    operator = engine.operator(OPERATOR)
    found = {}
    for run in runs:
        trace = operator.inspect(run.public.trace_id)
        found[trace.trace_id] = canonical({"case": run.case_id, "trace": to_json(trace)}) + b"\n"
    return found


def require_fresh(out: Path) -> None:
    """Raises InputError where traces of another run stand: nobody could tell them apart."""
    folder = out / FOLDER
    if folder.is_dir() and any(folder.iterdir()):
        raise InputError(
            f"{folder} holds the traces of another run. Name another folder with --out, or: rm -r {folder}"
        )


def write_traces(traces: Mapping[str, bytes], out: Path) -> None:
    """Readable by their owner only. Raises InputError where the folder cannot be written."""
    folder = out / FOLDER
    try:
        for name, content in traces.items():
            folder.mkdir(mode=0o700, exist_ok=True)
            target = os.open(folder / f"{name}.json", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(target, "wb") as file:
                file.write(content)
    except OSError as error:
        raise InputError(f"the traces cannot be written to {folder}: {error.strerror}") from None
