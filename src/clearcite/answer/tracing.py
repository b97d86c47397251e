"""Request and response → Trace. A trace names documents by id and span; it holds none of their text."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from clearcite.answer.pipeline import Outcome
from clearcite.domain.access import Micros, Principal
from clearcite.domain.answer import PublicAnswer, PublicSearch, Statement
from clearcite.domain.digest import sha256_bytes, sha256_text
from clearcite.domain.retrieval import Question
from clearcite.domain.trace import StageRecord, Trace
from clearcite.wire import canonical
from clearcite.wire.convert import to_json


class Request(Struct, frozen=True, kw_only=True):
    """One request and what it depends on. ``state``: position, generation, manifest, configuration and parts;
    ``page``: of a search, how many, collapsed how, after what."""

    asked: Question
    principal: Principal
    state: dict[str, Any]
    stages: Sequence[StageRecord]
    now: Micros
    page: dict[str, Any] | None = None


def ask_trace(request: Request, public: PublicAnswer, outcome: Outcome) -> Trace:
    return _trace(request, public, response_of(public), (outcome.degraded, outcome.answer.cause))


def search_trace(request: Request, public: PublicSearch, cause: str | None = None) -> Trace:
    """``cause``: why it failed; then ``public`` is what a caller saw instead of hits, an error."""
    fell_back = any(stage.outcome == "fallback" for stage in request.stages)
    return _trace(request, public, found_of(public), (fell_back or cause is not None, cause))


def found_of(public: PublicSearch) -> dict[str, Any]:
    """The public list with every text left out or replaced by its hash."""
    hits = [[hit.document_id, hit.revision, hit.span.start, hit.span.end] for hit in public.hits]
    return {"status": public.status, "hits": hits, "next": public.next, "sha256": _hash(public)}


def _trace(
    request: Request,
    public: PublicAnswer | PublicSearch,
    response: dict[str, Any],
    fate: tuple[bool, str | None],
) -> Trace:
    return Trace(
        trace_id=public.trace_id,
        kind="ask" if isinstance(public, PublicAnswer) else "search",
        tenant_id=request.principal.tenant_id,
        created_at=request.now,
        request=request_of(request),
        state=request.state,
        stages=tuple(request.stages),
        response=response,
        degraded=fate[0],
        cause=fate[1],
    )


def request_of(request: Request) -> dict[str, Any]:
    asked = {"question": to_json(request.asked), "principal": to_json(request.principal)}
    return asked if request.page is None else {**asked, "page": request.page}


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
