"""Named SQL statements: ``sql/NAME.sql`` holds several, each under a line ``-- name: statement``."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from clearcite.errors import ConfigError

Queries = Mapping[str, str]

_FOLDER = Path(__file__).parent / "sql"
_MARK = "-- name: "


@cache
def load(name: str) -> Queries:
    """The statements of one file. Raises ConfigError for a name given twice or text outside a statement."""
    return parse((_FOLDER / f"{name}.sql").read_text(encoding="utf-8"))


def parse(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    head, *blocks = text.split(_MARK)
    if any(line.strip() and not line.startswith("--") for line in head.splitlines()):
        raise ConfigError("A file of statements must start with a name.")
    for block in blocks:
        name, _, statement = block.partition("\n")
        if name.strip() in found or not statement.strip():
            raise ConfigError(f"The statement {name.strip()} is empty or named twice.")
        found[name.strip()] = statement.strip().rstrip(";")
    return found
