"""A suite asked of an engine, or what was asked already → cases of scope-check: what came back to each asker, beside
what he may read.

Who may read is derived from the stored access lists, for a recorded question as they were at its position, and not
asked of the part that searched. Cases hold ids of documents that their asker may not read, as any oracle does: they are
an operator's.
"""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from clearcite.answer.verify import asked_of
from clearcite.bench.answering import OPERATOR, CaseRun, Places, hits_of, ranking_of, run_case
from clearcite.bench.readers import readers_of
from clearcite.bench.suite import Suite, SuiteCase
from clearcite.domain.access import Micros
from clearcite.domain.corpus import DocumentKey
from clearcite.domain.digest import sha256_text
from clearcite.domain.trace import Trace
from clearcite.engine import Engine
from clearcite.errors import DependencyUnavailable
from clearcite.operator import Operator
from clearcite.wire.instants import format_instant

SEARCH = "recall"
Asking = tuple[str, str]
"""A tenant, and the SHA-256 of a question's text."""


def export_cases(engine: Engine, suite: Suite, now: Micros) -> Iterator[dict[str, Any]]:
    """One case for each question that was searched for. One that is sent to a tool, because it asks for what is true
    this minute, returns no document and is left out. Raises DependencyUnavailable where one could not be asked: what
    is down returns nothing to anybody, which is no proof."""
    operator = engine.operator(OPERATOR)
    readers = readers_of(operator, now)
    places, policy = Places(operator=operator), operator.policy()
    times = _times(None if policy is None else policy.issued_at, now)
    for case in suite.cases:
        run = run_case(engine, places, case.id, case.asked)
        if run.public.status == "dependency_unavailable":
            raise DependencyUnavailable(
                f"Case {case.id} could not be asked: a part that is needed was unavailable. Nothing was written."
                " Find it with: clearcite doctor"
            )
        if SEARCH in run.milliseconds:
            yield {**_case(case, run, readers.readable(case.asked), suite.limits.k), **times}


def export_traces(
    operator: Operator, traces: Sequence[Trace], judged: Mapping[Asking, Sequence[DocumentKey]], k: int
) -> Iterator[dict[str, Any] | str]:
    """A case for each recorded question, or why there is none. ``judged``: which documents are relevant, see
    ``relevance_of``; a question that nobody judged has none, and is not scored. ``k``: of a question that asked for an
    answer, how many of its ranking count as returned; a search says itself how many it wanted."""
    live = next((item.name for item in operator.generations() if item.is_live), None)
    policy = operator.policy()
    for trace in traces:
        left_out = _why_left_out(trace, live)
        hits, ranked = hits_of(trace), ranking_of(trace)
        places = operator.places([*hits, *ranked])
        if left_out is None and not all(chunk in places for chunk in (*hits, *ranked)):
            left_out = "a document that it found has been replaced or deleted since"
        if left_out is not None:
            yield left_out
            continue
        asked = asked_of(trace)
        found = Found(
            readable=_readable_then(operator, trace, asked.question.sources),
            candidates=[places[chunk].document for chunk in hits],
            ranked=[places[chunk].document for chunk in ranked],
            relevant=judged.get(_asking(trace.tenant_id, asked.question.text), ()),
        )
        named = {
            "id": trace.trace_id,
            "tenant": trace.tenant_id,
            "cohort": "+".join(sorted(asked.principal.groups)),
        }
        is_newest = policy is not None and asked.principal.authorization_revision == str(policy.revision)
        issued_at = policy.issued_at if policy is not None and is_newest else None
        wanted = k if asked.page is None else asked.page["k"]
        yield {**named, **_lists(found, wanted), **_times(issued_at, trace.created_at)}


def relevance_of(suite: Suite) -> Mapping[Asking, Sequence[DocumentKey]]:
    """What a suite says is relevant to a question, whoever asks it: who may read it is another matter."""
    found: dict[Asking, dict[DocumentKey, None]] = {}
    for case in suite.cases:
        known = found.setdefault(_asking(case.tenant, case.asked.text), {})
        known.update(dict.fromkeys(case.oracle.relevant))
    return {asking: tuple(keys) for asking, keys in found.items()}


def _asking(tenant: str, text: str) -> Asking:
    """As the engine reads a question: NFC."""
    return tenant, sha256_text(unicodedata.normalize("NFC", text))


def _why_left_out(trace: Trace, live: str | None) -> str | None:
    if not any(stage.stage == SEARCH for stage in trace.stages):
        return "nothing was searched for it"
    if trace.state.get("generation") != live:
        return "another generation answered it"
    if trace.request.get("page", {}).get("after") is not None:
        return "it is a later page of a search"
    return None


def _readable_then(operator: Operator, trace: Trace, sources: Sequence[str]) -> frozenset[str]:
    return frozenset(
        name
        for name, hidden in operator.reasons(trace).items()
        if not hidden and (not sources or name.split("/", 2)[1] in sources)
    )


class Found(Struct, frozen=True, kw_only=True):
    """Of one question. ``candidates`` and ``ranked`` name a document once for each of its passages."""

    readable: frozenset[str]
    candidates: Sequence[DocumentKey]
    ranked: Sequence[DocumentKey]
    relevant: Sequence[DocumentKey]


def _case(case: SuiteCase, run: CaseRun, readable: frozenset[DocumentKey], k: int) -> dict[str, Any]:
    found = Found(
        readable=frozenset(map(_name, readable)),
        candidates=run.candidates,
        ranked=[place.document for place in run.retrieved],
        relevant=case.oracle.relevant,
    )
    named = {"id": case.id, "tenant": case.tenant, "cohort": case.cohort or "all"}
    return {**named, **_lists(found, k)}


def _lists(found: Found, k: int) -> dict[str, Any]:
    returned = list(dict.fromkeys(map(_name, found.ranked)))[:k]
    candidates = list(dict.fromkeys([*map(_name, found.candidates), *returned]))
    relevant = list(map(_name, found.relevant))
    return {
        "k": k,
        "eligible_doc_count": len(found.readable),
        "authorized_doc_ids": [
            name for name in dict.fromkeys([*candidates, *relevant]) if name in found.readable
        ],
        "relevant_doc_ids": relevant,
        "candidate_doc_ids": candidates,
        "returned_doc_ids": returned,
    }


def _name(key: DocumentKey) -> str:
    """Unique in the store: two sources, or two tenants, may have a document of one id."""
    return f"{key.tenant_id}/{key.source_id}/{key.document_id}"


def _times(issued_at: Micros | None, now: Micros) -> dict[str, str]:
    """Nothing where no policy says when it was issued, or says a later moment: an age that is asked for then fails."""
    if issued_at is None or issued_at > now:
        return {}
    return {"policy_as_of": format_instant(issued_at), "retrieved_at": format_instant(now)}
