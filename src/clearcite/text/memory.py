"""What one question has computed is kept until it is answered, and no longer.

A memory kept between questions would let one caller time which texts another caller's answer was drawn from. Only
for functions of their arguments, so that no result depends on it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_memory: ContextVar[dict[str, dict[Any, Any]] | None] = ContextVar("memory_of_this_question", default=None)


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
