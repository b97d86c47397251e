"""Golden samples: what must be true of a document of one's own before any question is asked of it.

*This document must contain that string*, with its title, headings, provenance, version, fields and readers. Each that
does not hold names the stage that lost it and who has to act. The document stands in the operator's report alone.
"""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field

from clearcite.bench.golden_sample import Golden
from clearcite.bench.readers import Readers
from clearcite.bench.suite import Asked
from clearcite.domain.access import Principal
from clearcite.domain.corpus import Chunk, DocumentKey
from clearcite.domain.panel import Finding
from clearcite.domain.policy import LOCAL
from clearcite.operator import Operator
from clearcite.ports import StoredDocument
from clearcite.text.forms import clean_text
from clearcite.wire.instants import format_instant

SOURCE = "the owner of the source"
INGESTION = "whoever runs ingestion: sources, parsers, failed documents"
CHUNKS = "whoever runs ingestion: parsers and chunks"
PERMISSIONS = "whoever runs permissions: policy, lists, collections"
FAULTS: Mapping[str, tuple[str, str]] = {
    "document_missing": ("ingestion", INGESTION),
    "document_not_current": ("publication", "whoever runs ingestion: workers and their backlog"),
    "string_missing": ("parsing", f"{CHUNKS}; {SOURCE}, where it is not in the original"),
    "string_split": ("chunking", CHUNKS),
    "title_differs": ("parsing", f"{CHUNKS}; {SOURCE}, where it gives none"),
    "heading_missing": ("parsing", CHUNKS),
    "string_present": ("content", SOURCE),
    "readers_differ": ("access", PERMISSIONS),
    "status_differs": ("access", PERMISSIONS),
    "effective_from_differs": ("access", PERMISSIONS),
    "effective_to_differs": ("access", PERMISSIONS),
    "not_readable": ("access", PERMISSIONS),
    "readable": ("access", PERMISSIONS),
}
"""What can be wrong → the stage to look at, and who has to act."""
FIELD = ("provenance", SOURCE)
"""Of every other field that differs."""


class Checked(Struct, frozen=True, kw_only=True):
    """The samples of a suite, compared: ``checks`` by tenant, and what does not hold."""

    checks: Mapping[str, int] = field(default_factory=dict)
    findings: Sequence[tuple[str, Finding]] = ()


def checked(samples: Sequence[Golden], operator: Operator, readers: Readers) -> Checked:
    """Every sample against what is served now. A finding comes with its tenant."""
    keys = {sample: _key(sample, readers) for sample in samples}
    chunks = operator.chunks([key for key in keys.values() if key is not None])
    checks: dict[str, int] = {}
    findings = []
    for sample, key in keys.items():
        checks[sample.tenant] = checks.get(sample.tenant, 0) + sample.checks
        for fault, detail in _faults(sample, key, (operator, readers), chunks):
            stage, owner = FAULTS.get(fault, FIELD)
            where = f"{sample.tenant}/{sample.document}"
            found = Finding(rate=fault, stage=stage, owner=owner, where=where, detail=detail)
            findings.append((sample.tenant, found))
    return Checked(checks=checks, findings=tuple(findings))


def _key(sample: Golden, readers: Readers) -> DocumentKey | None:
    """The document a sample names, as ``DOCUMENT`` or ``SOURCE:DOCUMENT``; not an older revision of it."""
    for key in sorted(readers.served):
        names = (key.document_id, f"{key.source_id}:{key.document_id}")
        if key.tenant_id == sample.tenant and sample.document in names:
            return key
    return None


def _faults(
    sample: Golden,
    key: DocumentKey | None,
    looked: tuple[Operator, Readers],
    chunks: Mapping[DocumentKey, Sequence[Chunk]],
) -> Iterator[tuple[str, str]]:
    operator, readers = looked
    stored = None if key is None else operator.stored(key)
    if key is None or stored is None:
        yield "document_missing", "it is not served"
        return
    if not readers.is_current(key, _reader(sample.tenant, "nobody")):
        yield "document_not_current", "what is served is not the newest state, or not in force"
    yield from _content(sample, stored, chunks.get(key, ()))
    yield from _fields(sample, stored)
    for fault, groups, wanted in (
        ("not_readable", sample.readable_by, True),
        ("readable", sample.hidden_from, False),
    ):
        for group in groups:
            if (key in readers.readable(_reader(sample.tenant, group))) != wanted:
                yield fault, f"by a member of {group}"


def _content(sample: Golden, stored: StoredDocument, chunks: Sequence[Chunk]) -> Iterator[tuple[str, str]]:
    text, parts = _plain(stored.text), [_plain(chunk.text) for chunk in chunks]
    for n, string in enumerate(sample.contains, start=1):
        if _plain(string) not in text:
            yield "string_missing", f"string {n} of contains"
        elif not any(_plain(string) in part for part in parts):
            yield "string_split", f"string {n} of contains stands in no single passage"
    for n, string in enumerate(sample.lacks, start=1):
        if _plain(string) in text:
            yield "string_present", f"string {n} of lacks"
    if sample.title is not None and _plain(sample.title) != _plain(stored.title):
        yield "title_differs", "title"
    headings = {_plain(heading) for chunk in chunks for heading in chunk.heading}
    for n, heading in enumerate(sample.headings, start=1):
        if _plain(heading) not in headings:
            yield "heading_missing", f"heading {n} of headings"


def _fields(sample: Golden, stored: StoredDocument) -> Iterator[tuple[str, str]]:
    access = stored.head_access
    for key, wanted, have in (
        ("allowed_groups", sample.allowed_groups, access.allow),
        ("denied_groups", sample.denied_groups, access.deny),
    ):
        if wanted is not None and set(wanted) != set(have):
            yield "readers_differ", key
    for name, value in sample.fields.items():
        if value != _value(stored, name):
            yield f"{name}_differs", name


_INSTANTS = ("published_at", "source_time", "effective_from", "effective_to")


def _value(stored: StoredDocument, name: str) -> str | None:
    """A field as a suite writes it."""
    holder = (
        stored.served_access if name in ("status", "effective_from", "effective_to") else stored.description
    )
    value = getattr(holder, name)
    if value is None:
        return None
    return format_instant(value) if name in _INSTANTS else str(value)


def _reader(tenant: str, group: str) -> Asked:
    who = Principal(tenant_id=tenant, subject_id="golden", groups=(group,), authorization_revision=LOCAL)
    return Asked(text="", principal=who)


def _plain(text: str) -> str:
    """Single spaces, so that the end of a line does not count; letters and digits exactly."""
    return " ".join(clean_text(text).split())
