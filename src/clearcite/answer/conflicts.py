"""Do readable sources give different values for the thing that was asked?

Looked for before the budget, or it would hide one side. Two statements disagree when they stand in different
documents, say nearly the same words, answer the question equally well, and give different values of one class.
A false conflict withholds a good answer, so every doubt counts as agreement.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from clearcite.domain.answer import Disagreement, Side
from clearcite.domain.retrieval import Plan, Ranked
from clearcite.text.analysis import Analyzer
from clearcite.text.candidates import Candidate, candidates, read_question
from clearcite.text.units import Value, values


@dataclass(frozen=True, kw_only=True, slots=True)
class ConflictLimits:
    """``passages``: how far down a disagreement matters. ``shared``: common terms, thousandths of the fewer."""

    passages: int = 12
    shared: int = 700


LIMITS = ConflictLimits()


def find_conflicts(
    plan: Plan, ranked: tuple[Ranked, ...], analyzer: Analyzer, limits: ConflictLimits = LIMITS
) -> tuple[Disagreement, ...]:
    """At most one disagreement: the best answering statement with those that contradict it."""
    asked = read_question(plan, analyzer)
    found = candidates(asked, [item.passage for item in ranked[: limits.passages]])
    for item in found[:1]:
        value = _only_quantity(item)
        if value is None:
            continue
        sides = [(item, value), *_against(item, value, found, limits)]
        if len(sides) > 1:
            return (_disagreement(plan, sides),)
    return ()


def _against(
    item: Candidate, value: Value, found: Sequence[Candidate], limits: ConflictLimits
) -> list[tuple[Candidate, Value]]:
    against = []
    for other in found:
        second = _only_quantity(other)
        if other.passage.key == item.passage.key or second is None:
            continue
        differs = (second.kind, second.unit_class) == (value.kind, value.unit_class)
        if differs and second.canonical != value.canonical and _say_the_same(item, other, limits):
            against.append((other, second))
    return against


def _say_the_same(left: Candidate, right: Candidate, limits: ConflictLimits) -> bool:
    fewer = min(len(left.terms), len(right.terms))
    return len(left.terms & right.terms) * 1000 >= limits.shared * fewer


def _only_quantity(item: Candidate) -> Value | None:
    found = [value for value in values(item.text, item.passage.language) if value.kind == "quantity"]
    return found[0] if len(found) == 1 else None


def _disagreement(plan: Plan, sides: Sequence[tuple[Candidate, Value]]) -> Disagreement:
    made = tuple(Side(claim=item.claim(), value=value.canonical) for item, value in sides)
    return Disagreement(topic=plan.topic or plan.question, kind="value", sides=made)
