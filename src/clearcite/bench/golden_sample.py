"""What a sample says of one document."""

from collections.abc import Mapping

from msgspec import Struct, field

FIELDS = (
    *("source_uri", "source_version", "source_type", "source_time", "media_type", "canonical_document_id"),
    *("authority", "product_version", "published_at", "language"),
    *("status", "effective_from", "effective_to"),
)
"""Fields of a document that a sample may ask for."""


class Golden(Struct, frozen=True, kw_only=True, eq=False):
    """``document`` is ``DOCUMENT`` or ``SOURCE:DOCUMENT``. ``allowed_groups`` and ``denied_groups`` are the list of the
    document itself, ``readable_by`` and ``hidden_from`` groups, each judged by itself with everything that counts.
    ``fields``: values as text, instants as RFC 3339 in UTC. What is not given is not asked."""

    tenant: str
    document: str
    contains: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    title: str | None = None
    headings: tuple[str, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)
    allowed_groups: tuple[str, ...] | None = None
    denied_groups: tuple[str, ...] | None = None
    readable_by: tuple[str, ...] = ()
    hidden_from: tuple[str, ...] = ()

    @property
    def checks(self) -> int:
        """How many things are asked of the document; that it is there and current is one."""
        lists = (self.contains, self.lacks, self.headings, self.readable_by, self.hidden_from, self.fields)
        single = (self.title, self.allowed_groups, self.denied_groups)
        return 1 + sum(map(len, lists)) + sum(value is not None for value in single)
