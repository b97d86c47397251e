"""One file of a source → its record: front matter, the source's defaults, what is no document."""

import re
from typing import Any

from msgspec import Struct, field

from clearcite.adapters.connectors.front import clean_labels, front_fields
from clearcite.config import SourceSettings
from clearcite.domain.corpus import DocumentKey, SourceRecord
from clearcite.domain.digest import sha256_bytes, sha256_text
from clearcite.errors import InputError
from clearcite.wire import loads, media
from clearcite.wire.decode import decode_text
from clearcite.wire.frontmatter import body_of, read_front_matter, split_front_matter
from clearcite.wire.instants import parse_instant
from clearcite.wire.records import RecordRules, read_record
from clearcite.wire.strict import shown
from clearcite.wire.threads import looks_like_thread, read_thread
from clearcite.wire.zones import zone_of

STEP = 2
"""By which a sequence rises, so that there is room for an operator's delete between two states of a file: a file
that is deleted by hand stays deleted until it changes."""

UNKNOWN_TYPE = "unknown file type"
_ENDS = frozenset(("effective_to", "effective_through"))
_TOML_FENCE = re.compile(r"\s*\+\+\+[ \t]*\n\s*[\w-]+[ \t]*=")
_WITH_FRONT_MATTER = (media.MARKDOWN, media.PLAIN, media.RST)


class FileReader(Struct, frozen=True, kw_only=True):
    """``settings`` give what documents do not say themselves. ``skipped`` lists what is no document: (id, reason)."""

    settings: SourceSettings
    max_bytes: int
    skipped: list[tuple[str, str]] = field(default_factory=list)

    def is_document(self, name: str) -> bool:
        """By its name; what is none is reported."""
        known = media.media_type_of(name) is not None
        if not known:
            self.skip(name, UNKNOWN_TYPE)
        return known

    def skip(self, name: str, reason: str) -> None:
        self.skipped.append((name, reason))

    def read(self, name: str, raw: bytes, **more: Any) -> SourceRecord | None:
        """The record of a file, its sequence not yet set; None for what is no document. ``more``: what the
        source knows of this state of the file. Raises InputError."""
        media_type = media.media_type_of(name)
        if media_type is None:
            return None
        fields: dict[str, Any] = {}
        if media_type == media.THREAD:
            if not looks_like_thread(loads(raw)):
                self.skip(name, "JSON that is not a forum thread")
                return None
            fields = _thread_fields(raw, self.settings)
        elif media_type in _WITH_FRONT_MATTER:
            text = decode_text(raw)
            if _TOML_FENCE.match(text):
                raise InputError("front matter between +++ is not read; write it as YAML between ---")
            fields = front_fields(read_front_matter(split_front_matter(text)[0]))
            if "denied_groups" in fields:
                # A document may deny more than its source, never less.
                denied = {*self.settings.denied_groups, *fields["denied_groups"]}
                fields["denied_groups"] = sorted(denied)
            if _ENDS & fields.keys():  # it says itself how long it holds
                fields = dict.fromkeys(_ENDS) | fields
        defaults = self._defaults(name, media_type) | {"source_version": _version(raw, media_type)}
        return read_record(defaults | more | fields, self._rules(raw, media_type))

    def delete(self, name: str, sequence: int, instant: str | None = None) -> SourceRecord:
        """``instant``: when the file went, where that is known."""
        return SourceRecord(
            key=self.key(name),
            source_sequence=sequence,
            operation="delete",
            delete_reason="source_deleted",
            source_time=None if instant is None else parse_instant(instant),
            keeps_history=self.settings.history,
        )

    def key(self, name: str) -> DocumentKey:
        settings = self.settings
        return DocumentKey(tenant_id=settings.tenant, source_id=settings.source_id, document_id=name)

    def _defaults(self, name: str, media_type: str) -> dict[str, Any]:
        settings = self.settings
        values: dict[str, Any] = {
            "tenant_id": settings.tenant,
            "source_id": settings.source_id,
            "document_id": name,
            "source_sequence": 1,
            "source_uri": name,
            "content_path": name,
            "media_type": media_type,
            "allowed_groups": list(settings.allowed_groups),
            "denied_groups": list(settings.denied_groups),
            "parent": settings.parent,
            "status": settings.status,
            "source_type": settings.source_type,
            "authority": settings.authority,
            "language": settings.language,
            "product_version": settings.product_version,
            "effective_from": settings.effective_from,
            "effective_to": settings.effective_to,
            "effective_through": settings.effective_through,
        }
        return values

    def _rules(self, raw: bytes, media_type: str) -> RecordRules:
        return RecordRules(
            zone=zone_of(self.settings.zone),
            max_bytes=self.max_bytes,
            trusted=self.settings.trusted,
            read_content=lambda _: raw,
            front_matter_is_read=media_type in _WITH_FRONT_MATTER,
            keeps_history=self.settings.history,
        )


def _thread_fields(raw: bytes, settings: SourceSettings) -> dict[str, Any]:
    thread = read_thread(raw)
    fields: dict[str, Any] = {"title": thread.title, "labels": clean_labels(list(thread.tags))}
    if thread.url:
        fields["source_uri"] = thread.url
    if thread.product_version:
        fields["product_version"] = thread.product_version
    if thread.created_at:
        fields["published_at"] = thread.created_at
    if settings.source_type == SourceSettings(path="").source_type:
        fields["source_type"] = "forum"
    return fields


def _version(raw: bytes, media_type: str) -> str:
    """A name for this state of the text. Newline form, NFC and front matter do not count, as in the content hash."""
    if media_type not in media.TEXTUAL:
        return sha256_bytes(raw)[:12]
    text = decode_text(raw)
    return sha256_text(body_of(text) if media_type in _WITH_FRONT_MATTER else text)[:12]


_OF_FILE = "$.content_path: "


def located(name: str, error: InputError) -> InputError:
    """The fault of a file, by its name; what is wrong with its bytes is no fault of a field that nobody wrote."""
    place = f"{shown(name, 200)}: "
    return type(error)(
        place + error.message.replace(_OF_FILE, ""),
        tuple(place + fault.replace(_OF_FILE, "") for fault in error.violations),
    )
