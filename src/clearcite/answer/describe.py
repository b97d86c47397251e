"""What the trace keeps of each stage's result: ids, spans and integers, never document text."""

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

from msgspec.structs import astuple

from clearcite.answer.check import Checked
from clearcite.answer.evidence import Chosen
from clearcite.answer.past import mask_sha256
from clearcite.answer.pipeline import Sight
from clearcite.domain.answer import Answer, Claim, Disagreement
from clearcite.domain.retrieval import Confirmed, DenseQuery, Dropped, Plan, Ranked, Recall

FACTORS = {
    "weigh": ("lexical", "dense", "authority", "source_type", "version", "named"),
    "rerank": ("rerank",),
}


def describe(stage: str, result: Any) -> dict[str, Any]:
    """Every factor of a score is kept once: those of the weights where passages are weighed, that of the reranker
    where it ranks; other stages keep order and score. What sets passages aside without moving any keeps those alone."""
    if stage == "set_aside_superseded":
        return {"dropped": _dropped(result[1])}
    if isinstance(result, tuple):
        return _describe_tuple(result, FACTORS.get(stage, ()))
    return _describe(result)


@singledispatch
def _describe(_result: Any) -> dict[str, Any]:
    """Nothing, for results that say nothing by themselves."""
    return {}


@_describe.register
def _(sight: Sight) -> dict[str, Any]:
    """How much was kept from the asker and why. Which documents, ``inspect`` rebuilds from the position; the hash
    tells whether what it rebuilds is what held."""
    filters = {}
    for partition in sight.readable.partitions:
        mask = sight.readable.mask(partition)
        filters[partition] = {
            **sight.readable.counts(partition),
            "readable": int(mask.sum()),
            "mask_sha256": mask_sha256(mask),
        }
    superseding = [list(astuple(document.key)) for document in sight.superseding]
    return {"filter": filters, "superseding": superseding}


@_describe.register
def _(plan: Plan) -> dict[str, Any]:
    return {
        "route": plan.route,
        "terms": [term.surface for term in plan.lexical.terms],
        "identifiers": list(plan.identifiers),
        "target_version": plan.target_version,
        "topic": plan.topic,
        "depth": plan.depth,
        "attempt": plan.attempt,
    }


@_describe.register
def _(query: DenseQuery) -> dict[str, Any]:
    return {"vector": query.vector.hex(), "scale": query.scale}


@_describe.register
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


@_describe.register
def _(confirmed: Confirmed) -> dict[str, Any]:
    legs = {leg.leg: [passage.chunk_id for passage, _ in leg.hits] for leg in confirmed.legs}
    return {"confirmed": legs, "dropped": _dropped(confirmed.dropped)}


@_describe.register
def _(chosen: Chosen) -> dict[str, Any]:
    selected = [[item.number, item.passage.chunk_id] for item in chosen.evidence]
    return {"selected": selected, "dropped": _dropped(chosen.dropped)}


@_describe.register
def _(answer: Answer) -> dict[str, Any]:
    return {
        "status": answer.status,
        "confidence": answer.confidence,
        "cause": answer.cause,
        "claims": [_claim(claim) for claim in answer.claims],
    }


@_describe.register
def _(checked: Checked) -> dict[str, Any]:
    found = checked.sufficiency
    judged: dict[str, Any] = {}
    if found is not None:
        judged = {"score": found.score, **dict(found.features), "missing": list(found.missing)}
    again = None if checked.again is None else checked.again.depth
    return {**_describe(checked.answer), "sufficiency": judged, "again_at_depth": again}


def _describe_tuple(items: tuple[Any, ...], factors: Sequence[str]) -> dict[str, Any]:
    if len(items) == 2 and all(isinstance(part, tuple) for part in items):
        parts = [_describe_tuple(part, factors) for part in items]
        return parts[0] | parts[1]
    kinds = {type(item) for item in items}
    if kinds == {Ranked}:
        ranked = [[item.passage.chunk_id, item.score] for item in items]
        if not factors:
            return {"ranked": ranked}
        return {"ranked": ranked, "factors": _columns(items, factors)}
    if kinds == {Dropped}:
        return {"dropped": _dropped(items)}
    if kinds == {Claim}:
        return {"claims": [_claim(claim) for claim in items]}
    if kinds == {Disagreement}:
        return {"disagreements": [_disagreement(item) for item in items]}
    return {}


def _columns(items: Sequence[Ranked], names: Sequence[str]) -> dict[str, list[int | None]]:
    """Each factor as a column in the order of ``ranked``, null where a passage has none: a third of the room."""
    rows = [dict(item.factors) for item in items]
    columns = {name: [row.get(name) for row in rows] for name in names}
    return {name: column for name, column in columns.items() if any(value is not None for value in column)}


def _dropped(items: Sequence[Dropped]) -> list[list[str]]:
    return [[item.chunk_id, item.reason] for item in items]


def _claim(claim: Claim) -> dict[str, Any]:
    quotes = [[quote.passage.chunk_id, quote.start, quote.end] for quote in claim.quotes]
    return {"quotes": quotes, "support": claim.support, "score": claim.score}


def _disagreement(item: Disagreement) -> dict[str, Any]:
    sides = [_claim(side.claim) for side in item.sides]
    return {"kind": item.kind, "resolved_by": item.resolved_by, "winner": item.winner, "sides": sides}
