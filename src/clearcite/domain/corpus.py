"""What a source gives, and what it becomes: SourceRecord → Revision → Element → Unit → Chunk."""

from typing import Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from clearcite.domain.access import Access, Micros
from clearcite.domain.digest import digest, digest_written, part_of, sha256_text

Operation = Literal["upsert", "delete"]
DeleteReason = Literal["source_deleted", "access_revoked", "retention_expired", "user_request"]
UnitKind = Literal["sentence", "list_item", "table_row", "code", "heading"]
ChunkKind = Literal["text", "table", "code"]
ElementKind = Literal["heading", "paragraph", "list_item", "table_row", "code"]

DELETE_REASONS: tuple[DeleteReason, ...] = (
    "source_deleted",
    "access_revoked",
    "retention_expired",
    "user_request",
)


PAST = "\x1f"
"""Parts the id of a document from the instant at which a kept older revision of it began; no source can say it."""


class DocumentKey(Struct, frozen=True, kw_only=True, order=True):
    """The identity of a document. Compared exactly; nothing is folded."""

    tenant_id: str
    source_id: str
    document_id: str

    @property
    def shown_id(self) -> str:
        """The id that people know: an older revision that is kept goes by the id of its document."""
        return self.document_id.partition(PAST)[0]

    def at(self, start: Micros) -> "DocumentKey":
        """The entry of an older revision that is kept, by when it began to be current."""
        return replace(self, document_id=f"{self.document_id}{PAST}{start}")


class Place(Struct, frozen=True, kw_only=True):
    """A span of one document's canonical text, half-open, in code points."""

    document: DocumentKey
    start: int
    end: int


class Fact(Struct, frozen=True, kw_only=True):
    """A statement the source vouches for; it stands verbatim in the text."""

    fact_id: str
    topic: str
    statement: str
    value: str
    unit: str | None = None


class Superseded(Struct, frozen=True, kw_only=True):
    """A document, or one section of it, that the record supersedes from its own effective_from."""

    document_id: str
    heading: str | None = None


class Description(Struct, frozen=True, kw_only=True):
    """What a revision says about itself: shown in citations or used to weigh, never to authorize."""

    source_uri: str
    source_version: str
    title: str | None = None
    media_type: str = "text/markdown"
    source_time: Micros | None = None
    canonical_document_id: str | None = None
    supersedes: tuple[Superseded, ...] = ()
    authority: int = 50
    source_type: str = "documentation"
    product_version: str | None = None
    published_at: Micros | None = None
    language: str | None = None
    labels: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()

    def digest(self) -> str:
        """Over everything except ``source_time``: when a state began is not part of the state."""
        uri, version, media = self.source_uri, self.source_version, self.media_type
        plain = (uri, version, self.title, media, self.canonical_document_id)
        kind = self.source_type
        more = (self.authority, kind, self.product_version, self.published_at, self.language)
        if not (self.supersedes or self.labels or self.facts):
            whole = (
                f"s11:descriptions{len(uri)}:{uri}s{len(version)}:{version}{part_of(self.title)}s{len(media)}:{media}"
                f"{part_of(self.canonical_document_id)}{part_of(self.authority)}s{len(kind)}:{kind}"
                f"{part_of(self.product_version)}{part_of(self.published_at)}{part_of(self.language)}s1:0s1:0"
            )
            return digest_written(whole) or digest("description", *plain, *more, "0", "0")
        lists: list[str | None] = [str(len(self.supersedes))]
        for item in self.supersedes:
            lists += [item.document_id, item.heading]
        lists += [str(len(self.labels)), *self.labels]
        for fact in self.facts:
            lists += [fact.fact_id, fact.topic, fact.statement, fact.value, fact.unit]
        return digest("description", *plain, *more, *lists)


class SourceRecord(Struct, frozen=True, kw_only=True):
    """One validated event of a source. ``content`` is the original bytes as the source gave them.

    ``text`` is the decoded content (NFC, ``\\n``) for textual media; for PDF and DOCX it is None and the
    parser extracts it. A delete has no content, no access and no description; ``source_time`` says when the document
    went, where its source knows. ``keeps_history``: a question about the past shall find what was current then.
    """

    key: DocumentKey
    source_sequence: int
    operation: Operation = "upsert"
    content: bytes = b""
    text: str | None = None
    access: Access | None = None
    description: Description | None = None
    delete_reason: DeleteReason | None = None
    run_id: str | None = None
    source_time: Micros | None = None
    keeps_history: bool = False

    @property
    def content_sha256(self) -> str:
        """Of the decoded text where there is one, so that newline form and NFC do not make a revision."""
        return sha256_text(self.text) if self.text is not None else digest("bytes", self.content)

    def source_state_hash(self) -> str:
        return state_hash(self.content_sha256, self.access, self.description)


def state_hash(content_sha256: str, access: Access | None, description: Description | None) -> str:
    """Covers content, access and description: what a source sequence number stands for."""
    described = description.digest() if description else None
    return state_hash_of(content_sha256, access.digest() if access else None, described)


def state_hash_of(content_sha256: str, access_digest: str | None, description_digest: str | None) -> str:
    """``state_hash`` from digests that are known already."""
    digests = f"{part_of(access_digest)}{part_of(description_digest)}"
    whole = f"s12:source-states{len(content_sha256)}:{content_sha256}{digests}"
    return digest_written(whole) or digest("source-state", content_sha256, access_digest, description_digest)


def build_hash(source_state_hash: str, manifest_hash: str) -> str:
    """The source state under one pipeline manifest."""
    state, manifest = source_state_hash, manifest_hash
    whole = f"s11:build-states{len(state)}:{state}s{len(manifest)}:{manifest}"
    return digest_written(whole) or digest("build-state", source_state_hash, manifest_hash)


class Element(Struct, frozen=True, kw_only=True):
    """One block of parsed text. ``start`` and ``end`` are code points of the canonical text, half-open.

    A ``table_row`` names the span of its header row, unless it is one. ``heading`` is the path of headings
    above; ``page`` counts from 1 and is None where the format has no pages.
    """

    kind: ElementKind
    start: int
    end: int
    heading: tuple[str, ...] = ()
    page: int | None = None
    header: tuple[int, int] | None = None
    level: int = 0


class ParsedDocument(Struct, frozen=True, kw_only=True):
    """What a parser returns: the canonical text (NFC, ``\\n``) and its elements in order.

    ``flags`` are findings about the text (``hidden_text``, ``instruction_like``, ``no_title`` …); ``facts``
    about the parse (parser name, encoding) go into ``notes``.
    """

    text: str
    elements: tuple[Element, ...]
    title: str | None = None
    flags: tuple[str, ...] = ()
    notes: tuple[tuple[str, str], ...] = ()


class Unit(NamedTuple):
    """The smallest thing that may be quoted: a whole sentence, list item, table row or code block.

    Offsets are code points of the canonical text. A table row carries the span of its header. ``lead`` is
    the span of the sentence that introduces a list item, if there is one. A tuple: each of the hundred passages that
    a question confirms has several.
    """

    kind: UnitKind
    start: int
    end: int
    header: tuple[int, int] | None = None
    lead: tuple[int, int] | None = None


class Chunk(Struct, frozen=True, kw_only=True):
    """Consecutive units of one revision. ``text`` is ``canonical[start:end]``; ``context`` is what the index
    reads besides it (title, heading path, the header of a table) and is never quoted."""

    chunk_id: str
    ordinal: int
    start: int
    end: int
    text: str
    sha256: str
    context: str
    heading: tuple[str, ...] = ()
    page: int | None = None
    kind: ChunkKind = "text"
    units: tuple[Unit, ...] = ()
    language: str | None = None
    flags: tuple[str, ...] = ()

    def seal(self) -> str:
        """Over everything that its id, which covers text and span, does not: what citations show, and what units
        may be quoted."""
        rows = [f"{kind!r},{start},{end},{header},{lead}" for kind, start, end, header, lead in self.units]
        units, kind, context = ";".join(rows), self.kind, self.context
        lists = (str(len(self.heading)), *self.heading, *self.flags)
        whole = (
            f"s10:chunk-seal{part_of(self.ordinal)}{part_of(self.page)}s{len(kind)}:{kind}{part_of(self.language)}"
            f"s{len(context)}:{context}s{len(units)}:{units}{''.join([f's{len(one)}:{one}' for one in lists])}"
        )
        plain = (self.ordinal, self.page, kind, self.language, context, units)
        return digest_written(whole) or digest("chunk-seal", *plain, *lists)


def build_seal(title: str, normal_sha256: str) -> str:
    """Over what a build says of a whole document beside its text."""
    whole = f"s10:build-seals{len(title)}:{title}s{len(normal_sha256)}:{normal_sha256}"
    return digest_written(whole) or digest("build-seal", title, normal_sha256)


def chunk_id(key: DocumentKey, content_sha256: str, chunker: str, span: tuple[int, int]) -> str:
    """Stable: the same text cut in the same way has the same id on every machine. 32 hex digits."""
    tenant, source, document = key.tenant_id, key.source_id, key.document_id
    whole = (
        f"s5:chunks{len(tenant)}:{tenant}s{len(source)}:{source}s{len(document)}:{document}"
        f"s{len(content_sha256)}:{content_sha256}s{len(chunker)}:{chunker}{part_of(span[0])}{part_of(span[1])}"
    )
    found = digest_written(whole) or digest("chunk", tenant, source, document, content_sha256, chunker, *span)
    return found[:32]


def revision_label(content_sha256: str) -> str:
    """The public name of a revision: access edits never move it."""
    return content_sha256[:16]
