"""clearcite: answers from your documents, with citations you can check, from only what the asker may read."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clearcite.config import Settings, load_settings
    from clearcite.domain.access import Principal
    from clearcite.domain.answer import PublicAnswer, PublicSearch
    from clearcite.engine import Engine
    from clearcite.errors import ClearciteError
    from clearcite.wiring import open_engine

_HOMES = {
    "ClearciteError": "clearcite.errors",
    "Engine": "clearcite.engine",
    "Principal": "clearcite.domain.access",
    "PublicAnswer": "clearcite.domain.answer",
    "PublicSearch": "clearcite.domain.answer",
    "Settings": "clearcite.config",
    "load_settings": "clearcite.config",
    "open_engine": "clearcite.wiring",
}

__all__ = [
    "ClearciteError",
    "Engine",
    "Principal",
    "PublicAnswer",
    "PublicSearch",
    "Settings",
    "load_settings",
    "open_engine",
]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used, so that parts that need nothing import nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
