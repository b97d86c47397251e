"""A fixed cascade decides a disagreement, or nothing does and the question ends as a conflict.

Version match → supersedes → recency → authority; the first step that singles out one side wins and is named.
Between two documents of one source type that are both inside their validity windows neither recency nor authority
decides: an older rule in force is in force. Only documents in force get here, so both act across source types only.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from clearcite.domain.answer import Disagreement, Side
from clearcite.domain.retrieval import Passage, Plan
from clearcite.domain.thresholds import standing
from clearcite.text.forms import clean_text
from clearcite.text.tokens import raw_tokens
from clearcite.text.versions import asked_version, same_version

Step = Callable[[Plan, Sequence[Passage]], int | None]


def resolve_conflicts(plan: Plan, conflicts: tuple[Disagreement, ...]) -> tuple[Disagreement, ...]:
    return tuple(_resolved(plan, conflict) for conflict in conflicts)


def _resolved(plan: Plan, conflict: Disagreement) -> Disagreement:
    passages = [_passage(side) for side in conflict.sides]
    for name, step in _CASCADE:
        winner = step(plan, passages)
        if winner is not None:
            return replace(conflict, resolved_by=name, winner=winner)
    return conflict


def _by_version(plan: Plan, passages: Sequence[Passage]) -> int | None:
    """The one side of the version asked for: the plan's, or a number of the question that is a stated version."""
    asked = plan.target_version or asked_version(plan.question)
    wanted = [asked] if asked else [raw for raw in raw_tokens(clean_text(plan.question)) if raw[:1].isdigit()]
    matching = {
        i
        for i, passage in enumerate(passages)
        for version in wanted
        if (stated := passage.description.product_version) is not None and same_version(version, stated)
    }
    return min(matching) if len(matching) == 1 else None


def _by_supersession(_: Plan, passages: Sequence[Passage]) -> int | None:
    """The one side whose document supersedes every other side's document, or the section it stands in."""
    winners = [
        i
        for i, passage in enumerate(passages)
        if all(_supersedes(passage, other) for j, other in enumerate(passages) if j != i)
    ]
    return winners[0] if len(winners) == 1 else None


def _supersedes(newer: Passage, older: Passage) -> bool:
    same_owner = (newer.key.tenant_id, newer.key.source_id) == (older.key.tenant_id, older.key.source_id)
    return same_owner and any(
        item.document_id == older.key.document_id and (item.heading is None or item.heading in older.heading)
        for item in newer.description.supersedes
    )


def _by_recency(_: Plan, passages: Sequence[Passage]) -> int | None:
    """The newest side, if it is of another source type than all others and stands at least as high."""
    dates = [passage.description.published_at or passage.valid_from for passage in passages]
    known = [date for date in dates if date is not None]
    if len(known) < len(passages) or known.count(max(known)) > 1:
        return None
    newest = dates.index(max(known))
    others = [passage for i, passage in enumerate(passages) if i != newest]
    return newest if all(_stands_over(passages[newest], other, equal=True) for other in others) else None


def _by_authority(_: Plan, passages: Sequence[Passage]) -> int | None:
    """The one side whose source type stands above those of all others."""
    winners = [
        i
        for i, passage in enumerate(passages)
        if all(_stands_over(passage, other, equal=False) for j, other in enumerate(passages) if j != i)
    ]
    return winners[0] if len(winners) == 1 else None


def _stands_over(passage: Passage, other: Passage, *, equal: bool) -> bool:
    if passage.description.source_type == other.description.source_type:
        return False
    ours, theirs = standing(passage.description.source_type), standing(other.description.source_type)
    return ours > theirs or (equal and ours == theirs)


def _passage(side: Side) -> Passage:
    return side.claim.quotes[0].passage


_CASCADE: tuple[tuple[str, Step], ...] = (
    ("version_match", _by_version),
    ("supersedes", _by_supersession),
    ("recency", _by_recency),
    ("authority", _by_authority),
)
