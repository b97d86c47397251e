"""The one place where a stage is timed, meets its deadline, may be made to fail, and is recorded.

A stage is a plain function; ``Run.step`` calls it and records it under its own name. Faults are injected here
and nowhere else, so that a drill exercises the code that runs in earnest.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

from msgspec import Struct, field

from clearcite.domain.trace import StageRecord
from clearcite.errors import ClearciteError, DeadlineExceeded, DependencyUnavailable

P = ParamSpec("P")
T = TypeVar("T")
Describe = Callable[[str, Any], dict[str, Any]]


class Run(Struct):
    """One request on its way through the stages.

    ``faults`` maps a stage name to the exception it shall raise. ``describe`` turns a stage's name and result into the
    ids, spans and integers the trace keeps. ``deadline`` is in seconds of ``time.monotonic``. ``instead`` maps a stage
    name to another function of the same form, so that what a stage is worth can be measured.
    """

    describe: Describe
    deadline: float | None = None
    faults: Mapping[str, Exception] = field(default_factory=dict)
    instead: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    records: list[StageRecord] = field(default_factory=list)

    def step(self, stage: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call one stage. An unexpected exception of a port becomes DependencyUnavailable."""
        name = getattr(stage, "__name__", type(stage).__name__)
        started = time.monotonic()
        try:
            self._check_deadline(started)
            if name in self.faults:
                raise self.faults[name]
            result: T = self.instead.get(name, stage)(*args, **kwargs)
            self._check_deadline(time.monotonic())
        except ClearciteError as error:
            self._failed(name, started, error)
            raise
        except Exception as error:
            self._failed(name, started, error)
            raise DependencyUnavailable(f"The stage {name} failed.") from error
        self.records.append(
            StageRecord(
                stage=name, outcome="ok", milliseconds=_since(started), detail=self.describe(name, result)
            )
        )
        return result

    def note(self, stage: str, outcome: str, detail: dict[str, Any]) -> None:
        """Record a decision of the pipeline itself, such as a fallback."""
        self.records.append(StageRecord(stage=stage, outcome=outcome, milliseconds=0, detail=detail))  # type: ignore[arg-type]

    def _check_deadline(self, now: float) -> None:
        if self.deadline is not None and now > self.deadline:
            raise DeadlineExceeded("The request ran out of time.")

    def _failed(self, name: str, started: float, error: Exception) -> None:
        code = error.code if isinstance(error, ClearciteError) else "unexpected"
        cause = type(error).__name__
        detail = {"code": code, "cause": cause}
        self.records.append(
            StageRecord(stage=name, outcome="failed", milliseconds=_since(started), detail=detail)
        )


def _since(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
