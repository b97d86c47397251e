"""How much is worked: steps of SQLite's virtual machine and rows it changes, calls of Python; not time."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import apsw


@dataclass
class Work:
    """``steps`` by statement since the last ``reset``; ``changed``: rows written by statements since then; ``pages``:
    how many the write log holds. It is not written back while it is counted."""

    steps: dict[str, int] = field(default_factory=dict)
    changes: dict[int, tuple[int, int]] = field(default_factory=dict)
    pages: int = 0

    @property
    def total(self) -> int:
        return sum(self.steps.values())

    @property
    def changed(self) -> int:
        return sum(last - first for first, last in self.changes.values())

    def reset(self) -> None:
        self.steps.clear()
        self.changes = {name: (last, last) for name, (_, last) in self.changes.items()}

    def note_log(self, _db: apsw.Connection, _name: str, pages: int) -> int:
        self.pages = max(self.pages, pages)
        return apsw.SQLITE_OK

    def note(self, event: dict[str, Any]) -> None:
        sql, name = event["sql"], id(event["connection"])
        self.steps[sql] = self.steps.get(sql, 0) + event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"]
        self.changes[name] = (self.changes.get(name, (0, 0))[0], event["total_changes"])


@contextmanager
def counted() -> Iterator[Work]:
    """Counts on every connection that is opened inside."""
    work = Work()

    def hook(db: apsw.Connection) -> None:
        db.trace_v2(apsw.SQLITE_TRACE_PROFILE, work.note)
        db.set_wal_hook(work.note_log)

    apsw.connection_hooks.append(hook)
    try:
        yield work
    finally:
        apsw.connection_hooks.remove(hook)


@dataclass
class Calls:
    count: int = 0

    def note(self, _frame: Any, event: str, _arg: Any) -> None:
        self.count += event in ("call", "c_call")


@contextmanager
def calls_counted() -> Iterator[Calls]:
    """Counts what is called on this thread inside, in Python and in C. Nothing is collected meanwhile: when garbage is,
    depends on what was there before."""
    calls, was = Calls(), sys.getprofile()
    gc.disable()
    sys.setprofile(calls.note)
    try:
        yield calls
    finally:
        sys.setprofile(was)
        gc.enable()
