"""One answer and everything it follows from, as plain values for an auditor's own checker (``clearcite.auditor``).

Documents of the asker's tenant go out with their access lists, whether he could read them or not, and with hashes;
with text only those that the response cites, and only where that is asked for. Both logs go with them, so that what
is said here can be held against a head that was kept elsewhere.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from clearcite.answer.past import Past
from clearcite.answer.verify import Asked
from clearcite.domain.access import Access, Acl, Micros
from clearcite.domain.audit import Event, TraceEntry
from clearcite.domain.corpus import DocumentKey
from clearcite.ports import Snapshot, StoredDocument
from clearcite.wire.convert import to_json

SCHEMA = "clearcite-audit-export-1"


class Material(Struct, frozen=True, kw_only=True):
    """``response``: the public response, if it is known. ``policy``: who is who, as the policy file says it."""

    asked: Asked
    trace_id: str
    response: Any | None
    policy: Any | None
    now: Micros


def build_export(
    material: Material, snapshot: Snapshot, logs: tuple[Iterable[Event], Iterable[TraceEntry]], *, texts: bool
) -> dict[str, Any]:
    """``snapshot``: the ledger at the traced position. Raises IntegrityFault for a document that does not match."""
    partition = material.asked.principal.tenant_id
    rows = snapshot.visibility_since(partition, 0)
    stored = snapshot.documents_at(partition, sorted(rows.slot.tolist()))
    wanted = _cited(material.response) if texts else frozenset()
    documents = [_document(item, snapshot, with_text=item.key.shown_id in wanted) for item in stored]
    guessed = snapshot.guessed if isinstance(snapshot, Past) else set()
    traces = list(logs[1])
    return {
        "schema": SCHEMA,
        "made_at": material.now,
        "position": snapshot.position,
        "generation": snapshot.generation,
        "events": [_event(event) for event in logs[0]],
        "traces": [_entry(entry) for entry in traces],
        "trace": next((_body(entry) for entry in traces if entry.trace_id == material.trace_id), None),
        "policy": material.policy,
        "collections": {path: _acl(acl) for path, acl in sorted(snapshot.collections(partition)[1].items())},
        "documents": documents,
        "access_changed_since": [_names(key) for key in sorted(guessed)],
        "response": material.response,
    }


def _cited(response: Any) -> frozenset[str]:
    citations = response.get("citations", ()) if isinstance(response, Mapping) else ()
    return frozenset(str(item.get("document_id")) for item in citations)


def _names(key: DocumentKey) -> list[str]:
    return [key.tenant_id, key.source_id, key.document_id]


def _document(stored: StoredDocument, snapshot: Snapshot, *, with_text: bool) -> dict[str, Any]:
    whole = snapshot.document(stored.key) if with_text else None
    return {
        "tenant_id": stored.key.tenant_id,
        "source_id": stored.key.source_id,
        "document_id": stored.key.document_id,
        "slot": stored.slot,
        "present": stored.present,
        "title": stored.title,
        "content_sha256": stored.content_sha256,
        "normal_sha256": stored.normal_sha256,
        "text_sha256": stored.text_sha256,
        "text": None if whole is None else whole.text,
        "description": to_json(stored.description),
        "served": _access(stored.served_access),
        "head": _access(stored.head_access),
    }


def _access(access: Access) -> dict[str, Any]:
    return {
        "allow": list(access.allow),
        "deny": list(access.deny),
        "parent": access.parent,
        "status": access.status,
        "effective_from": access.effective_from,
        "effective_to": access.effective_to,
        "trusted": access.trusted,
    }


def _acl(acl: Acl) -> dict[str, Any]:
    return {"allow": None if acl.allow is None else list(acl.allow), "deny": list(acl.deny)}


def _event(event: Event) -> list[Any]:
    who = [event.tenant_id, event.source_id, event.document_id]
    return [event.number, event.at, event.kind, *who, event.detail, event.link]


def _entry(entry: TraceEntry) -> list[Any]:
    who = [entry.trace_id, entry.tenant_id, entry.kind, entry.created_at]
    return [entry.number, *who, entry.commitment, entry.link]


def _body(entry: TraceEntry) -> dict[str, Any]:
    salt = None if entry.salt is None else entry.salt.hex()
    return {"number": entry.number, "salt": salt, "body": entry.body}
