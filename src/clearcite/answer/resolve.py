"""A fixed cascade decides a disagreement, or nothing does and the question ends as a conflict.

Version match → deprecation (supersedes) → recency → authority. Each step removes the sides that another side with
another value beats; the step that leaves one value is named. Between two documents of one source type that are both
inside their validity windows neither recency nor authority decides: an older rule in force is in force. Only
documents in force get here, so both act across source types only, and what is newer never beats what outranks it:
a post of yesterday does not overrule the documentation. What was observed is no question of rank.
"""

from collections.abc import Callable

from msgspec.structs import replace

from clearcite.domain.access import Micros
from clearcite.domain.answer import Disagreement, Side
from clearcite.domain.retrieval import Passage, Plan
from clearcite.domain.standing import stands_over
from clearcite.text.scopes import OBSERVED
from clearcite.text.versions import same_version, versions_asked

Beats = Callable[[Plan, Passage, Passage], bool]


def resolve_conflicts(plan: Plan, conflicts: tuple[Disagreement, ...]) -> tuple[Disagreement, ...]:
    """Decided ones keep the winner and every side with another value; open ones one side for each value."""
    return tuple(_resolved(plan, conflict) for conflict in conflicts)


def _resolved(plan: Plan, conflict: Disagreement) -> Disagreement:
    left = list(conflict.sides)
    for name, beats in _CASCADE:
        left = _unbeaten(plan, left, beats)
        if len({side.value for side in left}) == 1:
            return _decided(conflict, left[0], name)
    first: dict[str, Side] = {}
    for side in conflict.sides:
        first.setdefault(side.value, side)
    return replace(conflict, sides=tuple(first.values()))


def _unbeaten(plan: Plan, sides: list[Side], beats: Beats) -> list[Side]:
    """Without the sides that one with another value beats; all of them where they beat each other in a circle."""
    left = [
        side
        for side in sides
        if not any(
            other.value != side.value and beats(plan, _passage(other), _passage(side)) for other in sides
        )
    ]
    return left or sides


def _decided(conflict: Disagreement, winner: Side, name: str) -> Disagreement:
    sides = tuple(side for side in conflict.sides if side is winner or side.value != winner.value)
    kind = "version" if name == "version_match" else conflict.kind
    at = next(index for index, side in enumerate(sides) if side is winner)
    return replace(conflict, kind=kind, sides=sides, resolved_by=name, winner=at)


def _matches_version(plan: Plan, one: Passage, other: Passage) -> bool:
    """One is about the version asked for and the other is not."""
    wanted = versions_asked(plan.question, plan.target_version)
    return any(_is_of(one, version) and not _is_of(other, version) for version in wanted)


def _is_of(passage: Passage, version: str) -> bool:
    stated = passage.description.product_version
    return stated is not None and same_version(version, stated)


def _supersedes(_: Plan, one: Passage, other: Passage) -> bool:
    """One says so itself. A source deprecates its own documents only."""
    if (one.key.tenant_id, one.key.source_id) != (other.key.tenant_id, other.key.source_id):
        return False
    headings = {heading.casefold() for heading in other.heading}
    return any(
        item.document_id == other.key.shown_id
        and (item.heading is None or item.heading.casefold() in headings)
        for item in one.description.supersedes
    )


def _is_newer(plan: Plan, one: Passage, other: Passage) -> bool:
    first, second = _date(one), _date(other)
    if first is None or second is None or first <= second or not _may_rank(plan, one, other):
        return False
    return not stands_over(other.description, one.description)


def _outranks(plan: Plan, one: Passage, other: Passage) -> bool:
    return _may_rank(plan, one, other) and stands_over(one.description, other.description)


def _may_rank(plan: Plan, one: Passage, other: Passage) -> bool:
    types = (one.description.source_type, other.description.source_type)
    return types[0] != types[1] and not ("forum" in types and OBSERVED.found_in(plan.question))


def _date(passage: Passage) -> Micros | None:
    described = passage.description
    dates = (described.published_at, described.source_time, passage.valid_from)
    return next((date for date in dates if date is not None), None)


def _passage(side: Side) -> Passage:
    return side.claim.quotes[0].passage


_CASCADE: tuple[tuple[str, Beats], ...] = (
    ("version_match", _matches_version),
    ("deprecation", _supersedes),
    ("recency", _is_newer),
    ("authority", _outranks),
)
