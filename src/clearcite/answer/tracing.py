"""Request and response → Trace. A trace names documents by id and span; it holds none of their text."""

from collections.abc import Sequence
from typing import Any

from clearcite.answer.pipeline import Outcome
from clearcite.domain.access import Micros, Principal
from clearcite.domain.answer import PublicAnswer, PublicSearch, Statement
from clearcite.domain.digest import sha256_bytes, sha256_text
from clearcite.domain.retrieval import Question
from clearcite.domain.trace import StageRecord, Trace
from clearcite.wire import canonical, to_json


def ask_trace(
    asked: Question,
    principal: Principal,
    public: PublicAnswer,
    *,
    outcome: Outcome,
    state: dict[str, Any],
    stages: Sequence[StageRecord],
    now: Micros,
) -> Trace:
    return Trace(
        trace_id=public.trace_id,
        kind="ask",
        tenant_id=principal.tenant_id,
        created_at=now,
        request=request_of(asked, principal),
        state=state,
        stages=tuple(stages),
        response=response_of(public),
        degraded=outcome.degraded,
        cause=outcome.answer.cause,
    )


def search_trace(
    asked: Question,
    principal: Principal,
    public: PublicSearch,
    *,
    state: dict[str, Any],
    stages: Sequence[StageRecord],
    now: Micros,
) -> Trace:
    hits = [[hit.document_id, hit.revision, hit.span.start, hit.span.end] for hit in public.hits]
    return Trace(
        trace_id=public.trace_id,
        kind="search",
        tenant_id=principal.tenant_id,
        created_at=now,
        request=request_of(asked, principal),
        state=state,
        stages=tuple(stages),
        response={"status": public.status, "hits": hits, "sha256": _hash(public)},
        degraded=any(stage.outcome == "fallback" for stage in stages),
        cause=None,
    )


def request_of(asked: Question, principal: Principal) -> dict[str, Any]:
    return {"question": to_json(asked), "principal": to_json(principal)}


def response_of(public: PublicAnswer) -> dict[str, Any]:
    """The public response with every text replaced by its hash."""
    citations = [
        {
            "n": citation.n,
            "document_id": citation.document_id,
            "revision": citation.revision,
            "span": [citation.span.start, citation.span.end],
            "sha256": citation.sha256,
            "document_sha256": citation.document_sha256,
            "support": citation.support,
        }
        for citation in public.citations
    ]
    conflicts = [
        {
            "kind": item.kind,
            "resolved_by": item.resolved_by,
            "sides": [_statement(side) for side in item.sides],
        }
        for item in public.conflicts
    ]
    return {
        "status": public.status,
        "confidence": public.confidence,
        "answer": [_statement(item) for item in public.answer],
        "citations": citations,
        "conflicts": conflicts,
        "sha256": _hash(public),
    }


def _statement(item: Statement) -> dict[str, Any]:
    return {"citations": list(item.citations), "sha256": sha256_text(item.text)}


def _hash(public: PublicAnswer | PublicSearch) -> str:
    return sha256_bytes(canonical(to_json(public)))
