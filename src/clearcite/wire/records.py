"""One JSON object of a feed → SourceRecord. The fields and their bounds stand here once, for code and schema.

Identifiers are refused, not repaired; text is repaired to NFC and ``\\n``. All faults of one record are
reported together. Source of the rules: the contracts page, "Source record".
"""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, tzinfo
from functools import lru_cache
from typing import Annotated, Any

from msgspec import Struct, field

from clearcite.domain.access import Access, Micros, Status
from clearcite.domain.corpus import (
    DELETE_REASONS,
    DeleteReason,
    Description,
    DocumentKey,
    Fact,
    Operation,
    SourceRecord,
    Superseded,
)
from clearcite.errors import InputError
from clearcite.wire.convert import Limits, read, refusal
from clearcite.wire.decode import decode_text, fault_of_name, fault_of_path, repair_text
from clearcite.wire.frontmatter import body_of
from clearcite.wire.glance import glance
from clearcite.wire.instants import day_start, parse_instant, parse_moment
from clearcite.wire.media import TEXTUAL, media_type_of
from clearcite.wire.strict import MAX_INTEGER, loads

Name = Annotated[str, Limits(least=1, most=200)]
Line = Annotated[str, Limits(least=1, most=2000)]
Names = Annotated[tuple[Name, ...], Limits(most=128, unique=True)]
Groups = Annotated[tuple[Name, ...], Limits(most=4096, unique=True)]
"""The bound of one feed is ``RecordRules.max_groups``, 128 unless configured; this one holds for all."""

MAX_CONTENT_BYTES = 10_000_000
_IDENTIFIERS = (
    "tenant_id",
    "source_id",
    "document_id",
    "canonical_document_id",
    "run_id",
    "source_version",
    "source_type",
    "product_version",
)
REQUIRED_OF_AN_UPSERT = ("source_uri", "source_version", "allowed_groups")
_OF_A_DELETE = frozenset(
    (
        *("operation", "tenant_id", "source_id", "document_id", "source_sequence", "source_time"),
        *("source_uri", "source_version", "reason", "run_id"),
    )
)
_ENDS = frozenset(("effective_to", "effective_through"))
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_UNSAFE_SCHEMES = frozenset(("file", "javascript", "data", "vbscript", "about", "blob"))


class FactFields(Struct, frozen=True, kw_only=True):
    """A statement the source vouches for; it stands verbatim in the text."""

    fact_id: Name
    topic: Name
    statement: Annotated[str, Limits(least=1, most=10_000)]
    value: Annotated[str, Limits(most=2000)]
    unit: Name | None = None


class SupersededFields(Struct, frozen=True, kw_only=True):
    """A document, or with ``heading`` one section of it, superseded from this one's effective_from."""

    document_id: Name
    heading: Line | None = None


class RecordFields(Struct, frozen=True, kw_only=True):
    """A source record as it stands in a feed: one JSON object a line. A null means the same as no field.

    An upsert needs source_uri, source_version, allowed_groups (at least one) and either content or
    content_path. A delete needs a reason and has no content, access or description.
    """

    tenant_id: Name
    document_id: Name
    source_sequence: Annotated[int, Limits(least=1, most=MAX_INTEGER)]
    operation: Operation = "upsert"
    source_id: Name | None = None
    source_time: str | None = None
    source_uri: Line | None = None
    source_version: Name | None = None
    content: str | None = None
    content_path: Line | None = None
    media_type: Name | None = None
    title: Annotated[str, Limits(least=1, most=1000)] | None = None
    allowed_groups: Groups | None = None
    denied_groups: Groups | None = None
    parent: Annotated[str, Limits(least=1, most=1000)] | None = None
    status: Status | None = None
    effective_from: str | None = None
    effective_to: str | None = None
    effective_through: str | None = None
    canonical_document_id: Name | None = None
    supersedes: Annotated[tuple[SupersededFields, ...], Limits(most=128)] | None = None
    authority: Annotated[int, Limits(least=0, most=100)] | None = None
    source_type: Name | None = None
    trusted: bool | None = None
    product_version: Name | None = None
    published_at: str | None = None
    language: Name | None = None
    labels: Names | None = None
    facts: Annotated[tuple[FactFields, ...], Limits(most=128)] | None = None
    reason: DeleteReason | None = None
    run_id: Name | None = None


class RecordRules(Struct, frozen=True, kw_only=True):
    """What holds for a whole feed. ``read_content`` reads a ``content_path`` inside the feed's folder;
    without it such a path is refused. A feed that is not ``trusted`` cannot call its records trusted.
    ``tenant_id`` and ``only_source`` bind a writer that may not write for anybody else. ``front_matter_is_read``:
    the fields of the file's front matter have been taken into the record, so its text begins after it, and an edit
    of front matter alone makes no new revision. ``defaults``: fields of an upsert that does not say them itself; the
    groups that they deny are denied besides its own. ``keeps_history``: older revisions answer about the past."""

    tenant_id: str | None = None
    only_source: str | None = None
    zone: tzinfo = UTC
    max_bytes: int = MAX_CONTENT_BYTES
    max_groups: int = 128
    source_id: str = "default"
    source_type: str = "documentation"
    authority: int = 50
    trusted: bool = True
    read_content: Callable[[str], bytes] | None = None
    front_matter_is_read: bool = False
    keeps_history: bool = False
    defaults: Mapping[str, Any] = field(default_factory=dict)


DEFAULT_RULES = RecordRules()


def read_line(line: bytes, rules: RecordRules, max_bytes: int) -> SourceRecord:
    """``read_record`` of one line of JSON, which the caller has held to ``max_bytes``. Raises InputError, as
    ``strict.loads`` does besides."""
    fields = glance(RecordFields, line, lambda value: _filled(value, rules.defaults))
    if fields is not None:
        judge = _Judge(fields, rules, frozenset())
        record = judge.record()
        if not judge.faults:
            return record
    return read_record(loads(line, max_bytes=max_bytes), rules)


def read_record(value: Any, rules: RecordRules = DEFAULT_RULES) -> SourceRecord:
    """Validate one parsed JSON object. Raises InputError with every violation found."""
    violations: list[str] = []
    bad: set[str] = set()

    def report(path: str, fault: str) -> None:
        violations.append(f"{path}: {fault}")
        bad.add(re.split(r"[.\[]", path.removeprefix("$."), maxsplit=1)[0])

    value = _filled(value, rules.defaults)
    fields = read(RecordFields, value, report)
    if not isinstance(fields, RecordFields):
        if not isinstance(value, dict):
            raise refusal("the record", violations)
        fields = _salvaged(value, bad)
    judge = _Judge(fields, rules, frozenset(bad))
    record = judge.record()
    if violations or judge.faults:
        raise refusal("the record", violations + judge.faults)
    return record


def _filled(value: Any, defaults: Mapping[str, Any]) -> Any:
    """A record with what its source says where it is silent itself."""
    if not defaults or not isinstance(value, dict) or value.get("operation") == "delete":
        return value
    said = {name: item for name, item in value.items() if item is not None}
    silent = defaults.keys() - (_ENDS if _ENDS & said.keys() else frozenset())
    filled = value | {name: defaults[name] for name in silent if name not in said}
    denied = said.get("denied_groups")
    if isinstance(denied, list) and "denied_groups" in defaults:
        filled["denied_groups"] = [
            *denied,
            *(name for name in defaults["denied_groups"] if name not in denied),
        ]
    return filled


def _salvaged(value: dict[str, Any], bad: set[str]) -> RecordFields:
    """The fields that could be read, so that their faults are reported together with those that could not."""
    known = RecordFields.__struct_fields__
    kept = {name: item for name, item in value.items() if name in known and name not in bad}
    needed = {"tenant_id": "-", "document_id": "-", "source_sequence": 1}
    fields: RecordFields = read(RecordFields, needed | kept, lambda _path, _fault: None)
    return fields


@lru_cache(maxsize=256)
def _access_of(
    lists: tuple[tuple[str, ...], tuple[str, ...]],
    parent: str | None,
    state: tuple[Status, bool],
    window: tuple[Micros | None, Micros | None],
) -> Access:
    """One for all records that say the same: there are few. ``lists``: allowed and denied; ``state``: status, trust."""
    return Access(
        allow=tuple(sorted(lists[0])),
        deny=tuple(sorted(lists[1])),
        parent=parent,
        status=state[0],
        effective_from=window[0],
        effective_to=window[1],
        trusted=state[1],
    )


class _Judge:
    """Collects the faults of one record while building it."""

    def __init__(self, fields: RecordFields, rules: RecordRules, bad: frozenset[str]) -> None:
        self.fields = fields
        self.rules = rules
        self.bad = bad
        self.faults: list[str] = []
        for name in _IDENTIFIERS:
            value = getattr(fields, name)
            if value is not None and (fault := fault_of_name(value)) is not None:
                self.fault(f"$.{name}", fault)
        self.key = DocumentKey(
            tenant_id=fields.tenant_id,
            source_id=fields.source_id or rules.source_id,
            document_id=fields.document_id,
        )
        if rules.tenant_id not in (None, fields.tenant_id):
            self.fault("$.tenant_id", "is not the tenant of this source")
        if rules.only_source not in (None, self.key.source_id):
            self.fault("$.source_id", "is not this source")

    def fault(self, path: str, text: str) -> None:
        self.faults.append(f"{path}: {text}")

    def missing(self, name: str, more: str = "") -> None:
        if getattr(self.fields, name) is None and name not in self.bad:
            self.fault("$", f"missing field {name}{more}")

    def record(self) -> SourceRecord:
        return self.delete() if self.fields.operation == "delete" else self.upsert()

    def delete(self) -> SourceRecord:
        fields = self.fields
        for name in RecordFields.__struct_fields__:
            if name not in _OF_A_DELETE and getattr(fields, name) is not None:
                self.fault(f"$.{name}", "a delete does not carry this field")
        self.missing("reason", ": one of " + ", ".join(DELETE_REASONS))
        return SourceRecord(
            key=self.key,
            source_sequence=fields.source_sequence,
            operation="delete",
            delete_reason=fields.reason,
            run_id=fields.run_id,
            source_time=self._instant("source_time"),
            keeps_history=self.rules.keeps_history,
        )

    def upsert(self) -> SourceRecord:
        fields = self.fields
        for name in REQUIRED_OF_AN_UPSERT:
            self.missing(name)
        if fields.reason is not None:
            self.fault("$.reason", "only a delete carries a reason")
        access = self._access()
        media_type = self._media_type()
        content, text = self._content(media_type)
        description = self._description(media_type, text)
        return SourceRecord(
            key=self.key,
            source_sequence=fields.source_sequence,
            content=content,
            text=text,
            access=access,
            description=description,
            run_id=fields.run_id,
            keeps_history=self.rules.keeps_history,
        )

    # --- access -------------------------------------------------------------------------------------------

    def _access(self) -> Access:
        fields = self.fields
        allow, deny = fields.allowed_groups or (), fields.denied_groups or ()
        if fields.allowed_groups is not None and not allow:
            self.fault(
                "$.allowed_groups", "must name at least one group: public reading is a group of its own"
            )
        for name, groups in (("allowed_groups", allow), ("denied_groups", deny)):
            if len(groups) > self.rules.max_groups:
                self.fault(f"$.{name}", f"must be at most {self.rules.max_groups} items")
            for i, fault in enumerate(map(fault_of_name, groups)):
                if fault is not None:
                    self.fault(f"$.{name}[{i}]", fault)
        state = (fields.status or "published", self.rules.trusted and fields.trusted is not False)
        return _access_of((allow, deny), self._parent(), state, self._window())

    def _parent(self) -> str | None:
        parent = self.fields.parent
        fault = None if parent is None else fault_of_path(parent)
        if fault is not None:
            self.fault("$.parent", fault)
        return parent

    def _window(self) -> tuple[Micros | None, Micros | None]:
        start, end = self._moment("effective_from"), self._moment("effective_to")
        through = self.fields.effective_through
        if through is not None:
            if self.fields.effective_to is not None:
                self.fault("$.effective_through", "cannot stand beside effective_to")
            end = self._parsed("effective_through", lambda text: day_start(text, self.rules.zone, 1))
        if start is not None and end is not None and start >= end:
            self.fault("$.effective_from", "must be before the end of the window")
        return start, end

    # --- content ------------------------------------------------------------------------------------------

    def _media_type(self) -> str:
        fields = self.fields
        if fields.media_type is not None:
            return fields.media_type.lower()
        found = media_type_of(fields.content_path) if fields.content_path is not None else None
        if fields.content_path is not None and found is None:
            self.fault("$.content_path", "has no known file type; name its media_type")
        return found or "text/markdown"

    def _content(self, media_type: str) -> tuple[bytes, str | None]:
        """The original bytes, and the decoded text of textual media."""
        fields = self.fields
        if (fields.content is None) == (fields.content_path is None):
            if not self.bad & {"content", "content_path"}:
                self.fault("$", "needs exactly one of content and content_path")
            return b"", None
        try:
            if fields.content is not None:
                return self._inline_content(fields.content, media_type)
            return self._content_of_file(fields.content_path or "", media_type)
        except InputError as error:
            self.fault("$.content" if fields.content is not None else "$.content_path", error.message)
            return b"", None

    def _inline_content(self, content: str, media_type: str) -> tuple[bytes, str | None]:
        if media_type not in TEXTUAL:
            raise InputError("a binary or unknown media type needs content_path")
        text = repair_text(content)
        raw = content.encode("utf-8")
        return self._sized(raw), _not_blank(text)

    def _content_of_file(self, path: str, media_type: str) -> tuple[bytes, str | None]:
        if self.rules.read_content is None:
            raise InputError("is not accepted here; send the content itself")
        raw = self._sized(self.rules.read_content(path))
        if not raw:
            raise InputError("the file is empty")
        if media_type not in TEXTUAL:
            return raw, None
        text = decode_text(raw)
        return raw, _not_blank(body_of(text) if self.rules.front_matter_is_read else text)

    def _sized(self, raw: bytes) -> bytes:
        if len(raw) > self.rules.max_bytes:
            raise InputError(f"the content is larger than {self.rules.max_bytes} bytes")
        return raw

    # --- description --------------------------------------------------------------------------------------

    def _description(self, media_type: str, text: str | None) -> Description:
        fields, rules = self.fields, self.rules
        if fields.language is not None and not _LANGUAGE.fullmatch(fields.language):
            self.fault("$.language", "must be a language tag such as en or pt-BR")
        for i, label in enumerate(fields.labels or ()):
            self._check_name(f"$.labels[{i}]", label)
        return Description(
            source_uri=self._uri(),
            source_version=fields.source_version or "",
            title=self._title(),
            media_type=media_type,
            source_time=self._instant("source_time"),
            canonical_document_id=fields.canonical_document_id,
            supersedes=self._supersedes(),
            authority=rules.authority if fields.authority is None else fields.authority,
            source_type=fields.source_type or rules.source_type,
            product_version=fields.product_version,
            published_at=self._moment("published_at"),
            language=fields.language,
            labels=tuple(sorted(fields.labels or ())),
            facts=self._facts(media_type, text),
        )

    def _uri(self) -> str:
        uri = self.fields.source_uri or ""
        if uri:
            self._check_name("$.source_uri", uri)
        scheme = _SCHEME.match(uri)
        is_drive = scheme is not None and len(scheme[1]) == 1
        if uri.startswith(("/", "\\", "~")) or is_drive:
            self.fault("$.source_uri", "must be relative to the source or a full address, not a local path")
        elif scheme is not None and scheme[1].lower() in _UNSAFE_SCHEMES:
            self.fault("$.source_uri", "must not use this scheme: it is shown in citations")
        return uri

    def _title(self) -> str | None:
        title = self.fields.title
        if title is None:
            return None
        try:
            plain = " ".join(repair_text(title).split())
        except InputError as error:
            self.fault("$.title", error.message)
            return None
        if not plain:
            self.fault("$.title", "must not be white space only")
        return plain

    def _supersedes(self) -> tuple[Superseded, ...]:
        items = self.fields.supersedes
        if not items:
            return ()
        for i, item in enumerate(items):
            self._check_name(f"$.supersedes[{i}].document_id", item.document_id)
            if item.document_id == self.fields.document_id and item.heading is None:
                self.fault(f"$.supersedes[{i}]", "a document cannot supersede itself")
        found = tuple(Superseded(document_id=item.document_id, heading=item.heading) for item in items)
        return tuple(sorted(set(found), key=lambda item: (item.document_id, item.heading or "")))

    def _facts(self, media_type: str, text: str | None) -> tuple[Fact, ...]:
        if not self.fields.facts:
            return ()
        facts: list[Fact] = []
        seen: set[str] = set()
        for i, item in enumerate(self.fields.facts):
            self._check_name(f"$.facts[{i}].fact_id", item.fact_id)
            if item.fact_id in seen:
                self.fault(f"$.facts[{i}].fact_id", "stands twice")
            seen.add(item.fact_id)
            statement = self._repaired(f"$.facts[{i}].statement", item.statement)
            # Only where the text as written is the canonical text; elsewhere the parser's text decides.
            if text is not None and media_type in ("text/markdown", "text/plain") and statement not in text:
                self.fault(f"$.facts[{i}].statement", "does not stand verbatim in the text")
            fact = Fact(
                fact_id=item.fact_id, topic=item.topic, statement=statement, value=item.value, unit=item.unit
            )
            facts.append(fact)
        return tuple(facts)

    # --- helpers ------------------------------------------------------------------------------------------

    def _check_name(self, path: str, value: str) -> None:
        fault = fault_of_name(value)
        if fault is not None:
            self.fault(path, fault)

    def _repaired(self, path: str, text: str) -> str:
        try:
            return repair_text(text)
        except InputError as error:
            self.fault(path, error.message)
            return text

    def _instant(self, name: str) -> Micros | None:
        return self._parsed(name, parse_instant)

    def _moment(self, name: str) -> Micros | None:
        if getattr(self.fields, name) is None:
            return None
        return self._parsed(name, lambda text: parse_moment(text, self.rules.zone))

    def _parsed(self, name: str, reader: Callable[[str], Micros]) -> Micros | None:
        text = getattr(self.fields, name)
        if text is None:
            return None
        try:
            return reader(text)
        except InputError as error:
            self.fault(f"$.{name}", error.message)
            return None


def _not_blank(text: str) -> str:
    if not text.strip():
        raise InputError("the content is white space only")
    return text
