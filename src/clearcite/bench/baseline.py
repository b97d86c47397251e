"""A baseline: a run that somebody said later runs are to be measured by, in one file with who said so and why."""

import os
import tempfile
from pathlib import Path
from typing import Any

from clearcite.bench.run_file import BASELINE, CASE, KeptRun, sealed
from clearcite.errors import InputError
from clearcite.wire import canonical
from clearcite.wire.convert import to_json


def baseline_of(run: KeptRun, *, by: str, reason: str, at: str, forced: bool) -> dict[str, Any]:
    kept = {
        "schema": BASELINE,
        "blessed": {"by": by, "reason": reason, "at": at, "forced": forced, "verdict": run.verdict},
        "run": dict(run.statement),
        "cases": [{"schema": CASE, **to_json(one), "passes": one.passes} for one in run.cases],
    }
    return sealed(kept)


def write_whole(value: Any, path: Path) -> None:
    """Canonical JSON in place of what stood there, all of it or nothing. Raises InputError where it cannot be."""
    try:
        handle, name = tempfile.mkstemp(prefix=".baseline-", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(canonical(value) + b"\n")
                stream.flush()
                os.fsync(stream.fileno())
            Path(name).chmod(0o644)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InputError(f"The baseline cannot be written to {path}: {error.strerror}.") from error
