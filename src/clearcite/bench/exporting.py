"""A suite asked of an engine → cases of scope-check: what came back to each asker, beside what he may read.

Who may read is derived from the stored access lists, not asked of the part that searched. Cases hold ids of documents
that their asker may not read, as any oracle does: they are an operator's.
"""

from collections.abc import Iterator
from typing import Any

from clearcite.bench.answering import OPERATOR, CaseRun, run_case
from clearcite.bench.readers import readers_of
from clearcite.bench.suite import Suite, SuiteCase
from clearcite.domain.access import Micros
from clearcite.domain.corpus import DocumentKey
from clearcite.engine import Engine
from clearcite.wire.instants import format_instant

SEARCH = "recall"


def export_cases(engine: Engine, suite: Suite, now: Micros) -> Iterator[dict[str, Any]]:
    """One case for each question that was searched for. One that is sent to a tool, because it asks for what is true
    this minute, returns no document and is left out."""
    operator = engine.operator(OPERATOR)
    readers = readers_of(operator, now)
    policy = operator.policy()
    times = _times(None if policy is None else policy.issued_at, now)
    for case in suite.cases:
        run = run_case(engine, operator, case.id, case.asked)
        if SEARCH in run.milliseconds:
            yield {**_case(case, run, readers.readable(case.asked), suite.limits.k), **times}


def _case(case: SuiteCase, run: CaseRun, readable: frozenset[DocumentKey], k: int) -> dict[str, Any]:
    returned = list(dict.fromkeys(place.document for place in run.retrieved))[:k]
    candidates = list(dict.fromkeys([*run.candidates, *returned]))
    relevant = case.oracle.relevant
    seen = dict.fromkeys([*candidates, *relevant])
    return {
        "id": case.id,
        "tenant": case.tenant,
        "cohort": case.cohort or "all",
        "k": k,
        "eligible_doc_count": len(readable),
        "authorized_doc_ids": [_name(key) for key in seen if key in readable],
        "relevant_doc_ids": [_name(key) for key in relevant],
        "candidate_doc_ids": [_name(key) for key in candidates],
        "returned_doc_ids": [_name(key) for key in returned],
    }


def _name(key: DocumentKey) -> str:
    """Unique in the store: two sources, or two tenants, may have a document of one id."""
    return f"{key.tenant_id}/{key.source_id}/{key.document_id}"


def _times(issued_at: Micros | None, now: Micros) -> dict[str, str]:
    """Nothing where no policy says when it was issued, or says a later moment: an age that is asked for then fails."""
    if issued_at is None or issued_at > now:
        return {}
    return {"policy_as_of": format_instant(issued_at), "retrieved_at": format_instant(now)}
