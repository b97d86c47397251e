"""Named SQL statements: ``sql/NAME.sql`` holds several, each under a line ``-- name: statement``."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from clearcite.errors import ConfigError

Queries = Mapping[str, str]

_MARK = "-- name: "


@cache
def load(name: str) -> Queries:
    """The statements of one file. Raises ConfigError for a name given twice or text outside a statement."""
    text = (files("clearcite.adapters.ledgers") / "sql" / f"{name}.sql").read_text(encoding="utf-8")
    return parse(text)


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
