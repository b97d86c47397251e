"""Ask a reranker for scores and believe it only if it scored each passage exactly once."""

from clearcite.answer.fuse import by_score
from clearcite.domain.retrieval import Plan, Ranked
from clearcite.errors import DependencyUnavailable
from clearcite.ports import Reranker

POOL = 50
"""Passages given to the reranker; those below keep their order behind them."""


def rerank(plan: Plan, ranked: tuple[Ranked, ...], reranker: Reranker) -> tuple[Ranked, ...]:
    """Reorder the head of the list. Unknown, duplicate, missing and non-integer scores are refused."""
    pool, rest = ranked[:POOL], ranked[POOL:]
    scores = _checked(reranker.rerank(plan, [item.passage for item in pool]), pool)
    floor = max((item.score for item in rest), default=0)
    scored = [
        Ranked(
            passage=item.passage,
            score=floor + max(0, scores[item.passage.chunk_id]),
            factors=(*item.factors, ("rerank", scores[item.passage.chunk_id])),
        )
        for item in pool
    ]
    scored.sort(key=by_score)
    return (*scored, *rest)


def _checked(returned: object, pool: tuple[Ranked, ...]) -> dict[str, int]:
    wanted = {item.passage.chunk_id for item in pool}
    scores: dict[str, int] = {}
    if not isinstance(returned, list | tuple):
        raise DependencyUnavailable("The reranker returned no list.")
    for entry in returned:
        if not isinstance(entry, list | tuple) or len(entry) != 2:
            raise DependencyUnavailable("The reranker returned a malformed entry.")
        name, score = entry
        if name not in wanted or name in scores:
            raise DependencyUnavailable("The reranker returned an unknown or repeated passage.")
        if isinstance(score, bool) or not isinstance(score, int):
            raise DependencyUnavailable("The reranker returned a score that is not an integer.")
        scores[name] = score
    if len(scores) != len(wanted):
        raise DependencyUnavailable("The reranker left passages out.")
    return scores
