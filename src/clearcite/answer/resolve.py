"""A fixed cascade decides a disagreement, or nothing does and the question ends as a conflict.

Version match → supersedes → recency → authority. Between two documents of one source type that are both inside
their validity windows neither recency nor authority decides: an older rule in force is in force.
"""

from dataclasses import replace

from clearcite.domain.answer import Disagreement, Side
from clearcite.domain.retrieval import Passage, Plan
from clearcite.text.versions import same_version


def resolve_conflicts(plan: Plan, conflicts: tuple[Disagreement, ...]) -> tuple[Disagreement, ...]:
    return tuple(_resolved(plan, conflict) for conflict in conflicts)


def _resolved(plan: Plan, conflict: Disagreement) -> Disagreement:
    if plan.target_version is not None:
        wanted = plan.target_version
        matching = [i for i, side in enumerate(conflict.sides) if _is_of(_passage(side), wanted)]
        if len(matching) == 1:
            return replace(conflict, kind="version", resolved_by="version_match", winner=matching[0])
    return conflict


def _is_of(passage: Passage, version: str) -> bool:
    stated = passage.description.product_version
    return stated is not None and same_version(version, stated)


def _passage(side: Side) -> Passage:
    return side.claim.quotes[0].passage
