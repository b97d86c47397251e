"""Confirmed legs → one ranking, in integers: how much of the question a passage meets, by words and by meaning.

A leg counts with the share of its whole (``HitPage.whole``) that a passage has, so that a leg in which nothing meets
much of the question decides little; spread over one range, its best passage would count like a perfect one (decision
0026). A passage that a leg did not return counts there like the last one it did, or like 0 where the leg ended or
that one points away from the question. A leg alone stays as it is, so that lexical scores mean the same with and
without an embedder elsewhere.

Where documents are looked for, not passages, a leg counts for a document with the best passage it found of it: one may
meet the words, and another the meaning.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from msgspec.structs import replace

from clearcite.domain.corpus import DocumentKey
from clearcite.domain.retrieval import Confirmed, ConfirmedLeg, Leg, Passage, Plan, Ranked

FUSION = "shares-2"
"""Stands in every trace: another one may rank the same hits in another order."""
SCALE = 1_000_000
"""What a passage scores that meets all of the question in every leg, beside others that meet nothing of it."""
PARTS: Mapping[Leg, int] = MappingProxyType({"lexical": 3, "dense": 2})
"""How much a share of each leg counts. 5 : 4 and 7 : 4 are nearly as good (decision 0026)."""


def fuse(confirmed: Confirmed, depth: int, by_document: bool = False) -> tuple[Ranked, ...]:
    """Every passage once, in the order (−score, chunk id). Factors: each leg's own score, by its name.

    ``depth``: how many passages a leg has that did not end before.
    ``by_document``: passages go by what their document scores, and among each other by what they score themselves.
    """
    legs = [leg for leg in confirmed.legs if leg.hits]
    if len(legs) == 1:
        return _alone(legs[0])
    own = {leg.leg: _as_is(leg.hits) for leg in legs}
    shares = [_shares(leg, depth) for leg in legs]
    passages = {passage.chunk_id: passage for leg in legs for passage, _ in leg.hits}
    scores = {name: sum(share.get(name, 0) for share in shares) for name in passages}
    if by_document:
        of_document = _of_documents(passages, shares)
        scores = {name: SCALE * of_document[passages[name].key] + own for name, own in scores.items()}
    ranked = [
        Ranked(
            passage=passage,
            score=scores[name],
            factors=tuple((leg.leg, own[leg.leg][name]) for leg in legs if name in own[leg.leg]),
        )
        for name, passage in passages.items()
    ]
    return tuple(sorted(ranked, key=by_score))


def by_score(item: Ranked) -> tuple[int, str]:
    """The order of every ranking."""
    return (-item.score, item.passage.chunk_id)


def _alone(leg: ConfirmedLeg) -> tuple[Ranked, ...]:
    name = leg.leg
    ranked = [Ranked(passage=passage, score=score, factors=((name, score),)) for passage, score in leg.hits]
    ranked.sort(key=by_score)
    return tuple(ranked)


def _as_is(hits: Sequence[tuple[Passage, int]]) -> dict[str, int]:
    return {passage.chunk_id: score for passage, score in hits}


def _shares(leg: ConfirmedLeg, depth: int) -> dict[str, int]:
    """What each passage has of the leg's whole, beyond what one has that was not returned; times the leg's part."""
    scores = [score for _, score in leg.hits]
    least = max(0, min(scores)) if len(scores) >= depth else 0
    whole = max(leg.whole, *scores, 1) * sum(PARTS.values())
    part = PARTS[leg.leg] * SCALE
    return {passage.chunk_id: max(0, score - least) * part // whole for passage, score in leg.hits}


def _of_documents(
    passages: Mapping[str, Passage], shares: Iterable[Mapping[str, int]]
) -> Counter[DocumentKey]:
    """For each document the sum, over the legs, of the best share of its passages."""
    total: Counter[DocumentKey] = Counter()
    for share in shares:
        best: dict[DocumentKey, int] = {}
        for name, value in share.items():
            key = passages[name].key
            best[key] = max(value, best.get(key, 0))
        total.update(best)
    return total


def counted(plan: Plan, confirmed: Confirmed) -> Plan:
    """The plan with the readable counts of its words, as the lexical leg was scored with."""
    for leg in confirmed.legs:
        if leg.leg == "lexical":
            return replace(plan, documents=leg.documents, frequencies=leg.frequencies)
    return plan
