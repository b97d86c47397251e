"""Do readable sources give different values for the thing that was asked?

Looked for before the budget, or it would hide one side. Two statements disagree when they stand in different
documents, speak of one thing, answer the question about equally well, and give values of one class that cannot
both hold. *One thing*: a fact topic if both state one, else heading and informative words, by words and, with an
embedder, by meaning, the values left out. A false conflict withholds a good answer, so doubt counts as agreement.
"""

from collections.abc import Sequence

from clearcite.answer.disputed import Disputed, contradicts, disputed_values, fact_of
from clearcite.domain.answer import Disagreement, Side
from clearcite.domain.retrieval import Passage, Plan, Ranked
from clearcite.domain.thresholds import CONFLICT_LIMITS, ConflictLimits, standing
from clearcite.ports import Embedder
from clearcite.text.analysis import Analyzer
from clearcite.text.candidates import Asked, Candidate, candidates, read_question, terms_of
from clearcite.text.coverage import covered_weight
from clearcite.text.similarity import Similarity

Statement = tuple[Candidate, Disputed]


def find_conflicts(
    plan: Plan,
    ranked: tuple[Ranked, ...],
    analyzer: Analyzer,
    embedder: Embedder | None = None,
    limits: ConflictLimits = CONFLICT_LIMITS,
) -> tuple[Disagreement, ...]:
    """At most one disagreement: the best answering statement with those that contradict it."""
    similarity = Similarity(embedder, plan.question) if embedder else None
    asked = read_question(plan, analyzer, similarity)
    found = candidates(asked, [item.passage for item in ranked[: limits.passages]])
    if not found:
        return ()
    near = [item for item in found if item.score >= found[0].score - limits.margin]
    for anchor in near[: limits.anchors]:
        sides = _sides(asked, anchor, near, limits)
        if len(sides) > 1:
            return (_disagreement(plan, sides),)
    return ()


def _sides(
    asked: Asked, anchor: Candidate, near: Sequence[Candidate], limits: ConflictLimits
) -> list[Statement]:
    """One statement for each value given to the anchor's thing: of the sources that give it, the best standing."""
    for value in disputed_values(asked, anchor):
        groups: list[list[Statement]] = [[(anchor, value)]]
        for other in near:
            if other is not anchor:
                _join(asked, groups, other, limits)
        if len(groups) > 1:
            return [min(group, key=_standing) for group in groups]
    return []


def _join(asked: Asked, groups: list[list[Statement]], other: Candidate, limits: ConflictLimits) -> None:
    """Add a statement to the values it does not contradict, or as a new value; mirrors add nothing."""
    anchor = groups[0][0]
    for value in disputed_values(asked, other):
        same_kind = (value.kind, value.unit_class) == (anchor[1].kind, anchor[1].unit_class)
        if not same_kind or not _one_thing(asked, anchor, (other, value), limits):
            continue
        for group in groups:
            if not any(contradicts(value, member) for _, member in group):
                group.append((other, value))
                return
        taken = (item for group in groups for item, _ in group)
        if not any(_same_source(other.passage, item.passage) for item in taken):
            groups.append([(other, value)])
        return


def _standing(statement: Statement) -> tuple[int, int, int, int, int]:
    item = statement[0]
    description = item.passage.description
    return (-standing(description.source_type), -description.authority, -item.score, item.place, item.index)


def _same_source(left: Passage, right: Passage) -> bool:
    """One document, or mirrors of one: they cannot disagree with themselves."""
    canonical = left.description.canonical_document_id
    mirrors = canonical is not None and canonical == right.description.canonical_document_id
    return left.key == right.key or left.normal_sha256 == right.normal_sha256 or mirrors


def _one_thing(asked: Asked, left: Statement, right: Statement, limits: ConflictLimits) -> bool:
    facts = fact_of(left[0]), fact_of(right[0])
    if facts[0] is not None and facts[1] is not None:
        return facts[0].topic == facts[1].topic
    if not _answer_alike(asked, left[0], right[0], limits):
        return False
    words = _shared_words(asked, left, right)
    if words is None:
        return False
    if asked.similarity is None:
        return words >= limits.shared
    if words < limits.shared_at_least:
        return False
    meaning = asked.similarity.between(left[1].rest, right[1].rest)
    return words + meaning >= 2 * limits.alike


def _answer_alike(asked: Asked, left: Candidate, right: Candidate, limits: ConflictLimits) -> bool:
    """Whether the two cover the same of the question: what only one of them covers sets them apart."""
    total = sum(need.weight for need in asked.needs)
    only_left = covered_weight(asked.needs, left.terms, without=right.terms | right.context)
    only_right = covered_weight(asked.needs, right.terms, without=left.terms | left.context)
    return (only_left + only_right) * 1000 <= limits.apart * total


def _shared_words(asked: Asked, left: Statement, right: Statement) -> int | None:
    """Common terms without the values, in thousandths of the fewer; None when there are too few to compare."""
    ours = terms_of(asked, left[1].rest, left[0].passage)
    theirs = terms_of(asked, right[1].rest, right[0].passage)
    fewer = min(len(ours), len(theirs))
    return 1000 * len(ours & theirs) // fewer if fewer >= 2 else None


def _disagreement(plan: Plan, sides: Sequence[Statement]) -> Disagreement:
    made = tuple(Side(claim=item.claim(), value=value.shown) for item, value in sides)
    versions = {item.passage.description.product_version for item, _ in sides}
    fact = fact_of(sides[0][0])
    return Disagreement(
        topic=plan.topic or (fact.topic if fact else plan.question),
        kind="version" if len(versions) > 1 and None not in versions else sides[0][1].kind,
        sides=made,
    )
