"""What happened to one question. Protected: read by operators only, and holds no document text."""

from typing import Any, Literal

from msgspec import Struct, field

VISIBILITY: Literal["privileged_audit"] = "privileged_audit"


class StageRecord(Struct, frozen=True, kw_only=True):
    """One stage: its name, what it did (ids, spans, integers; never text), and how long it took."""

    stage: str
    outcome: Literal["ok", "fallback", "failed"]
    milliseconds: int
    detail: dict[str, Any] = field(default_factory=dict)


class Trace(Struct, frozen=True, kw_only=True):
    """``request`` holds the question and the principal; ``state`` what the answer depends on (ledger
    position, generation, manifest and configuration hashes); ``response`` the spans of the public response."""

    trace_id: str
    kind: Literal["ask", "search"]
    tenant_id: str
    created_at: int
    request: dict[str, Any]
    state: dict[str, Any]
    stages: tuple[StageRecord, ...]
    response: dict[str, Any]
    degraded: bool
    cause: str | None
    visibility: str = VISIBILITY
