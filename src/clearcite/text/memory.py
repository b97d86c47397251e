"""What one question has computed is kept until it is answered, and no longer.

A memory kept between questions would let one caller time which texts another caller's answer was drawn from. Only
for functions of their arguments, so that no result depends on it. A bench that asks every question itself has no
other caller, and may share more over its run.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_memory: ContextVar[dict[str, dict[Any, Any]] | None] = ContextVar("memory_of_this_question", default=None)


_memory_of_run: ContextVar[dict[str, dict[Any, Any]] | None] = ContextVar("memory_of_this_run", default=None)


@contextmanager
def remembering_a_run() -> Iterator[None]:
    """Let the questions of one run share what ``memory_of_run`` gives; whoever asks them is the only one who sees how
    long they take."""
    token = _memory_of_run.set({})
    try:
        yield
    finally:
        _memory_of_run.reset(token)


def memory_of_run(kind: str) -> dict[Any, Any] | None:
    """The one dictionary of this kind inside ``remembering_a_run``, else None."""
    memory = _memory_of_run.get()
    return None if memory is None else memory.setdefault(kind, {})


def memory_of_texts(kind: str) -> dict[Any, Any]:
    """For what depends on the texts in its keys alone: of the run, or else of the question."""
    memory = memory_of_run(kind)
    return memory_of(kind) if memory is None else memory


@contextmanager
def remembering() -> Iterator[None]:
    """Let all stages of one question share what ``memory_of`` gives."""
    token = _memory.set({})
    try:
        yield
    finally:
        _memory.reset(token)


def memory_of(kind: str) -> dict[Any, Any]:
    """The one dictionary of this kind inside ``remembering``, else a new one."""
    memory = _memory.get()
    return {} if memory is None else memory.setdefault(kind, {})
