"""What the trace keeps of each stage's result: ids, spans and integers, never document text."""

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

from clearcite.answer.evidence import Chosen
from clearcite.domain.answer import Answer, Claim, Disagreement
from clearcite.domain.retrieval import Confirmed, DenseQuery, Dropped, Plan, Ranked, Recall


@singledispatch
def describe(result: Any) -> dict[str, Any]:
    """Nothing, for results that say nothing by themselves."""
    if isinstance(result, tuple):
        return _describe_tuple(result)
    return {}


@describe.register
def _(plan: Plan) -> dict[str, Any]:
    return {
        "route": plan.route,
        "identifiers": list(plan.identifiers),
        "target_version": plan.target_version,
        "topic": plan.topic,
        "depth": plan.depth,
        "attempt": plan.attempt,
    }


@describe.register
def _(query: DenseQuery) -> dict[str, Any]:
    return {"vector": query.vector.hex(), "scale": query.scale}


@describe.register
def _(recall: Recall) -> dict[str, Any]:
    return {
        "legs": [
            {
                "leg": leg,
                "documents": page.documents,
                "frequencies": list(page.frequencies),
                "hits": [[hit.chunk_id, hit.score] for hit in page.hits],
            }
            for leg, page in recall.pages
        ]
    }


@describe.register
def _(confirmed: Confirmed) -> dict[str, Any]:
    legs = {leg.leg: [passage.chunk_id for passage, _ in leg.hits] for leg in confirmed.legs}
    return {"confirmed": legs, "dropped": _dropped(confirmed.dropped)}


@describe.register
def _(chosen: Chosen) -> dict[str, Any]:
    selected = [[item.number, item.passage.chunk_id] for item in chosen.evidence]
    return {"selected": selected, "dropped": _dropped(chosen.dropped)}


@describe.register
def _(answer: Answer) -> dict[str, Any]:
    return {
        "status": answer.status,
        "confidence": answer.confidence,
        "cause": answer.cause,
        "claims": [_claim(claim) for claim in answer.claims],
    }


def _describe_tuple(items: tuple[Any, ...]) -> dict[str, Any]:
    if len(items) == 2 and all(isinstance(part, tuple) for part in items):
        return _describe_tuple(items[0]) | _describe_tuple(items[1])
    if items and all(isinstance(item, Ranked) for item in items):
        return {"ranked": [[r.passage.chunk_id, r.score, [list(f) for f in r.factors]] for r in items]}
    if items and all(isinstance(item, Dropped) for item in items):
        return {"dropped": _dropped(items)}
    if items and all(isinstance(item, Claim) for item in items):
        return {"claims": [_claim(claim) for claim in items]}
    if items and all(isinstance(item, Disagreement) for item in items):
        return {"disagreements": [_disagreement(item) for item in items]}
    return {}


def _dropped(items: Sequence[Dropped]) -> list[list[str]]:
    return [[item.chunk_id, item.reason] for item in items]


def _claim(claim: Claim) -> dict[str, Any]:
    quotes = [[quote.passage.chunk_id, quote.start, quote.end] for quote in claim.quotes]
    return {"quotes": quotes, "support": claim.support, "score": claim.score}


def _disagreement(item: Disagreement) -> dict[str, Any]:
    sides = [_claim(side.claim) for side in item.sides]
    return {"kind": item.kind, "resolved_by": item.resolved_by, "winner": item.winner, "sides": sides}
