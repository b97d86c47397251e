"""What a source is worth and whether a passage holds what was named, applied to the rank: small, fixed, documented
factors in thousandths.

Weights move a passage among others of like relevance; they never hide it and never decide a conflict (see
``resolve_conflicts``). Numbers are chosen, not fitted: the whole range of source type and authority together is
under a fifth, so a clearly better passage of a humble source stays ahead.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from clearcite.answer.fuse import by_score
from clearcite.domain.retrieval import Passage, Plan, Ranked, Recall
from clearcite.text.forms import search_text
from clearcite.text.versions import same_version

SOURCE_TYPES: Mapping[str, int] = MappingProxyType(
    {"documentation": 1000, "policy": 1000, "ticket": 950, "blog": 950, "forum": 920}
)
OTHER_SOURCE_TYPE = 970
VERSION_MATCH = 1050
VERSION_MISMATCH = 700
"""Strong: text about another version answers another question, but may be all there is."""
NAMED = 1100
"""For a passage that holds a code or name of the question: an exact want, which the sum of its words can blur. It goes
before what is a little better, and not before what is far better (decision 0031)."""
WHOLE = 1000**4
"""Four factors are multiplied, each in thousandths."""
SURE = 10
"""So many hits must lie above whatever is not looked at."""


def depth_needed(plan: Plan, found: Recall) -> int:
    """How many hits a leg have to be confirmed: ``plan.enough``, if neither the weights of a source nor identifiers
    could bring one of the others before the first ten, and else as many as the plan wants. With two legs all are: what
    a passage scores depends on how far each of them goes. Decision 0020.
    """
    if plan.enough is None or len(found.pages) != 1:
        return plan.depth
    ((_, page),) = found.pages
    if len(page.hits) <= plan.enough:
        return plan.depth
    lowest, highest = _bounds(plan)
    last, next_one = page.hits[SURE - 1].score, page.hits[plan.enough].score
    return plan.enough if next_one * highest // WHOLE < last * lowest // WHOLE else plan.depth


def _bounds(plan: Plan) -> tuple[int, int]:
    """The least and the most that a score can be multiplied by, in parts of ``WHOLE``."""
    kinds = (*SOURCE_TYPES.values(), OTHER_SOURCE_TYPE)
    versions = (1000, 1000) if plan.target_version is None else (VERSION_MISMATCH, VERSION_MATCH)
    named = NAMED if plan.identifiers else 1000
    return 950 * min(kinds) * versions[0] * 1000, 1050 * max(kinds) * versions[1] * named


def weigh(plan: Plan, ranked: tuple[Ranked, ...]) -> tuple[Ranked, ...]:
    """Multiply each score by its factors (rounded down once) and sort again by (−score, chunk id)."""
    return weigh_by(SOURCE_TYPES, plan, ranked)


def weigh_by(source_types: Mapping[str, int], plan: Plan, ranked: tuple[Ranked, ...]) -> tuple[Ranked, ...]:
    """``source_types``: the factor of each, in thousandths."""
    wanted = [search_text(name) for name in plan.identifiers]
    weighed = [_weighed(item, plan, source_types, wanted) for item in ranked]
    weighed.sort(key=by_score)
    return tuple(weighed)


def _weighed(item: Ranked, plan: Plan, source_types: Mapping[str, int], wanted: Sequence[str]) -> Ranked:
    passage, described = item.passage, item.passage.description
    authority = 950 + described.authority
    source_type = source_types.get(described.source_type, OTHER_SOURCE_TYPE)
    version = _version_factor(passage, plan)
    named = _named_factor(passage, wanted)
    factors: tuple[tuple[str, int], ...]
    factors = (("authority", authority), ("source_type", source_type), ("version", version))
    if wanted:
        factors = (*factors, ("named", named))
    score = item.score * authority * source_type * version * named // WHOLE
    return Ranked(passage=passage, score=score, factors=item.factors + factors)


def _version_factor(passage: Passage, plan: Plan) -> int:
    stated = passage.description.product_version
    if plan.target_version is None or stated is None:
        return 1000
    return VERSION_MATCH if same_version(plan.target_version, stated) else VERSION_MISMATCH


def _named_factor(passage: Passage, wanted: Sequence[str]) -> int:
    if not wanted:
        return 1000
    text = search_text(f"{passage.context}\n{passage.text}")
    return NAMED if any(name in text for name in wanted) else 1000
