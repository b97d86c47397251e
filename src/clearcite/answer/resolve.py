"""A fixed cascade decides a disagreement, or nothing does and the question ends as a conflict.

Version match → deprecation (supersedes) → recency → authority. Each step removes the sides that another side with
another value beats; the step that leaves one value is named. Between two documents of one source type that are both
inside their validity windows neither recency nor authority decides: an older rule in force is in force. Only
documents in force get here, so both act across source types only, and what is newer never beats what outranks it:
a post of yesterday does not overrule the documentation. What was observed is no question of rank.
"""

from collections.abc import Callable
from dataclasses import replace

from clearcite.domain.access import Micros
from clearcite.domain.answer import Disagreement, Side
from clearcite.domain.retrieval import Passage, Plan
from clearcite.domain.thresholds import AUTHORITY_GAP, STANDING
from clearcite.text.forms import clean_text
from clearcite.text.phrases import PhraseSet
from clearcite.text.tokens import raw_tokens
from clearcite.text.versions import asked_version, same_version

Beats = Callable[[Plan, Passage, Passage], bool]

_OBSERVED = PhraseSet(
    (
        "on the forum", "in the forum", "community", "observed", "reported by", "have people seen", "experience with",
        "experiences with", "workaround", "symptom", "symptoms", "no forum", "na comunidade", "observado", "relatado",
    )
)  # fmt: skip


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
    """One is about the version asked for and the other is not; a bare ``2.6`` in the question asks for it too."""
    asked = plan.target_version or asked_version(plan.question)
    wanted = [asked] if asked else [raw for raw in raw_tokens(clean_text(plan.question)) if _is_dotted(raw)]
    return any(_is_of(one, version) and not _is_of(other, version) for version in wanted)


def _is_dotted(raw: str) -> bool:
    return "." in raw and raw.replace(".", "").isdigit()


def _is_of(passage: Passage, version: str) -> bool:
    stated = passage.description.product_version
    return stated is not None and same_version(version, stated)


def _supersedes(_: Plan, one: Passage, other: Passage) -> bool:
    """One says so itself. A source deprecates its own documents only."""
    if (one.key.tenant_id, one.key.source_id) != (other.key.tenant_id, other.key.source_id):
        return False
    headings = {heading.casefold() for heading in other.heading}
    return any(
        item.document_id == other.key.document_id
        and (item.heading is None or item.heading.casefold() in headings)
        for item in one.description.supersedes
    )


def _is_newer(plan: Plan, one: Passage, other: Passage) -> bool:
    first, second = _date(one), _date(other)
    if first is None or second is None or first <= second or not _may_rank(plan, one, other):
        return False
    return not _stands_over(other, one)


def _outranks(plan: Plan, one: Passage, other: Passage) -> bool:
    return _may_rank(plan, one, other) and _stands_over(one, other)


def _may_rank(plan: Plan, one: Passage, other: Passage) -> bool:
    types = (one.description.source_type, other.description.source_type)
    return types[0] != types[1] and not ("forum" in types and _OBSERVED.found_in(plan.question))


def _stands_over(one: Passage, other: Passage) -> bool:
    """By source type, unless the authority given to the two says the opposite; by authority for other types."""
    ours, theirs = STANDING.get(one.description.source_type), STANDING.get(other.description.source_type)
    gap = one.description.authority - other.description.authority
    if ours is None or theirs is None:
        return gap >= AUTHORITY_GAP
    return ours > theirs and gap >= 0


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
