"""What a suite says of a document: it must hold this once it is taken in."""

from collections.abc import Mapping
from dataclasses import dataclass

from clearcite.domain.corpus import DocumentKey

FIELDS = ("source_uri", "source_version", "source_type", "product_version", "language")


@dataclass(frozen=True, kw_only=True, slots=True)
class Golden:
    """``contains`` and ``lacks`` are strings of the canonical text, ``headings`` lines of it. ``allowed_groups`` and
    ``denied_groups`` None: not looked at. ``fields``: of the description, see ``FIELDS``."""

    id: str
    document: DocumentKey
    contains: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    title: str | None = None
    headings: tuple[str, ...] = ()
    allowed_groups: tuple[str, ...] | None = None
    denied_groups: tuple[str, ...] | None = None
    status: str | None = None
    fields: tuple[tuple[str, str], ...] = ()


def fields_in(table: Mapping[str, str | None]) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name in FIELDS if (value := table.get(name)) is not None)
