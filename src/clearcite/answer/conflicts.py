"""Do readable sources give different values for the thing that was asked?

Looked for before the budget, or it would hide one side. Two statements disagree when they stand in different
documents, answer the question about equally well, speak of one thing (see ``text.sameness``; a fact topic decides
where both have one) and give values that cannot both hold. A false conflict withholds a good answer, so every
doubt counts as agreement.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from msgspec import Struct

from clearcite.domain.answer import Disagreement, Side
from clearcite.domain.corpus import DocumentKey, Fact
from clearcite.domain.retrieval import Passage, Plan, QueryTerm, Ranked
from clearcite.domain.thresholds import CONFLICT_LIMITS, ConflictLimits
from clearcite.text.analysis import Analyzer, is_covered
from clearcite.text.asserted import answering, asserted, read_in_both_forms
from clearcite.text.candidates import Asked, Candidate, candidates
from clearcite.text.forms import clean_text
from clearcite.text.readings import comparable, contradict
from clearcite.text.sameness import Surroundings, knows, shared_share, surroundings
from clearcite.text.statements import Statement, says
from clearcite.text.tokens import token_spans
from clearcite.text.versions import same_version

Kind = Literal["value", "version", "polarity", "date", "code"]


_KINDS: Mapping[str, Kind] = MappingProxyType(
    {"date": "date", "state": "polarity", "identifier": "code", "version": "code", "phone": "code"}
)
_EXACT = frozenset(("state", "identifier", "name"))
"""Yes or no, and codes: one word more may be the reason for another answer, so more words must be common."""


def find_conflicts(
    plan: Plan, ranked: tuple[Ranked, ...], analyzer: Analyzer, limits: ConflictLimits = CONFLICT_LIMITS
) -> tuple[Disagreement, ...]:
    """At most one disagreement, about the best answering statement that is contradicted.

    One side for each document that takes part, best first; ``resolve_conflicts`` leaves one for each value.
    """
    asked = read_in_both_forms(plan, analyzer)
    found = candidates(asked, [item.passage for item in ranked[: limits.passages]])
    units = answering(asked, found)
    beside = [u.item for u in units if u.behind <= limits.beside_margin and u.cover >= limits.beside_cover]
    best = {id(u.item) for u in units if u.behind <= limits.margin and u.cover >= limits.cover}
    near = _surroundings(found)
    stated = _of_version(plan, [item for unit in beside for item in asserted(asked, unit, near.proper)])
    compared = _Comparison(asked=asked, near=near, limits=limits, names=_names(plan.question, analyzer))
    anchors = [item for item in stated if id(item.candidate) in best]
    sides = compared.best_sides(anchors, stated)
    return (_disagreement(plan, sides),) if sides else ()


def _of_version(plan: Plan, stated: Sequence[Statement]) -> list[Statement]:
    """Text about another version than the asked one takes part only beside text about that version."""
    if plan.target_version is None:
        return list(stated)
    fits = [_fits_version(item.candidate.passage, plan.target_version) for item in stated]
    return [item for item, fit in zip(stated, fits, strict=True) if fit is not False or True in fits]


def _fits_version(passage: Passage, version: str) -> bool | None:
    stated = passage.description.product_version
    return None if stated is None else same_version(version, stated)


def _names(question: str, analyzer: Analyzer) -> tuple[QueryTerm, ...]:
    """Words of the question that are written like names where they stand."""
    raws = token_spans(clean_text(question))
    named = [raw for raw, start, _ in raws if start and len(raw) > 1 and raw[0].isupper()]
    return analyzer.informative(" ; ".join(named)) if named else ()


def _surroundings(found: Sequence[Candidate]) -> Surroundings:
    by_document: dict[DocumentKey, list[Candidate]] = {}
    for item in found:
        by_document.setdefault(item.passage.key, []).append(item)
    return surroundings(
        [
            (
                list({item.passage.chunk_id: item.passage for item in items}.values()),
                frozenset[str]().union(*(item.terms | item.context for item in items)),
            )
            for items in by_document.values()
        ]
    )


class _Comparison(Struct, frozen=True, kw_only=True):
    asked: Asked
    near: Surroundings
    limits: ConflictLimits
    names: tuple[QueryTerm, ...]

    def best_sides(
        self, anchors: Sequence[Statement], stated: Sequence[Statement]
    ) -> list[tuple[Statement, str]]:
        """The statements for and against the first anchor that is contradicted, each with its group's value."""
        for anchor in anchors:
            alike = [item for item in stated if item is anchor or self._are_alike(anchor, item)]
            groups = _grouped(_one_a_document(anchor, alike))
            if len(groups) > 1:
                self._let_join(groups, stated)
                return [(item, _shown(group[0])) for group in groups for item in group]
        return []

    def _let_join(self, groups: Sequence[list[Statement]], stated: Sequence[Statement]) -> None:
        """Documents that speak of the same as some side and give its value, though the anchor does not know them."""
        taken = {item.candidate.passage.key for group in groups for item in group}
        for item in stated:
            if item.candidate.passage.key in taken:
                continue
            for group in groups:
                agrees = not contradict(group[0].reading, item.reading)
                if agrees and any(self._are_alike(member, item) for members in groups for member in members):
                    group.append(item)
                    taken.add(item.candidate.passage.key)
                    break

    def _are_alike(self, one: Statement, other: Statement) -> bool:
        if not comparable(one.reading, other.reading):
            return False
        passage, second = one.candidate.passage, other.candidate.passage
        if passage.key == second.key:
            return self._share(one, other) >= self.limits.shared
        if _is_mirror(passage, second) or not self._of_one_version(passage, second):
            return False
        facts = _fact(one.candidate), _fact(other.candidate)
        if facts[0] is not None and facts[1] is not None:
            return facts[0].topic == facts[1].topic
        limits = self.limits
        enough = limits.shared_exactly if one.reading.kind in _EXACT else limits.shared
        return self._answer_alike(one, other) and self._share(one, other) >= enough

    def _share(self, one: Statement, other: Statement) -> int:
        return shared_share(self.asked, one, other, self.near)

    def _of_one_version(self, one: Passage, other: Passage) -> bool:
        """Text about two versions does not disagree, unless the question says which of them it means."""
        first, second = one.description.product_version, other.description.product_version
        if first is None or second is None or self.asked.plan.target_version is not None:
            return True
        return same_version(first, second)

    def _answer_alike(self, one: Statement, other: Statement) -> bool:
        """What only one of them says of the question sets them apart; a name that only one of them knows does."""
        left, right = one.candidate, other.candidate
        for name in self.names:
            known = [is_covered(name, item.terms | item.context) for item in (left, right)]
            if known[0] != known[1] and self.near.common.isdisjoint(name.forms):
                return False
        version = self.asked.plan.target_version
        needs = [need for need in self.asked.needs if need.unit.surface.removeprefix("v") != version]
        total = sum(need.weight for need in needs)
        apart = sum(
            need.weight
            for need in needs
            for mine, theirs in ((one, other), (other, one))
            if says(mine, need.unit) and not knows(theirs, need.unit)
        )
        return apart * 1000 <= (0 if one.reading.kind in _EXACT else self.limits.apart) * total


def _one_a_document(anchor: Statement, alike: Sequence[Statement]) -> list[Statement]:
    """The anchor, and one statement of each other document for or against it.

    Several values inside one document are its own cases, not a disagreement; so is a value that the anchor's
    document gives too.
    """
    documents: dict[DocumentKey, list[Statement]] = {}
    for item in alike:
        documents.setdefault(item.candidate.passage.key, []).append(item)
    own = documents.pop(anchor.candidate.passage.key)
    sides = [anchor]
    for items in documents.values():
        supporting = [item for item in items if not contradict(anchor.reading, item.reading)]
        known = [item for item in items if not all(contradict(mine.reading, item.reading) for mine in own)]
        if supporting or not known:
            sides.append((supporting or items)[0])
    return sides


def _grouped(sides: Sequence[Statement]) -> list[list[Statement]]:
    """By value, the anchor's group first: what does not contradict the first of a group belongs to it."""
    groups: list[list[Statement]] = []
    for item in sides:
        for group in groups:
            if not contradict(group[0].reading, item.reading):
                group.append(item)
                break
        else:
            groups.append([item])
    return groups


def _is_mirror(one: Passage, other: Passage) -> bool:
    """Mirrors cannot disagree: one of them is late."""
    canonical = one.description.canonical_document_id
    same = canonical is not None and canonical == other.description.canonical_document_id
    return same or (one.normal_sha256 != "" and one.normal_sha256 == other.normal_sha256)


def _fact(item: Candidate) -> Fact | None:
    """The fact whose statement the candidate quotes."""
    for fact in item.passage.description.facts:
        if fact.statement in item.text or item.text in fact.statement:
            return fact
    return None


def _shown(statement: Statement) -> str:
    reading = statement.reading
    return reading.first if reading.kind == "state" else statement.text[reading.start : reading.end].strip()


def _disagreement(plan: Plan, sides: Sequence[tuple[Statement, str]]) -> Disagreement:
    first = sides[0][0]
    fact = _fact(first.candidate)
    versions = {item.candidate.passage.description.product_version for item, _ in sides}
    kind = (
        "version" if len(versions) > 1 and None not in versions else _KINDS.get(first.reading.kind, "value")
    )
    return Disagreement(
        topic=plan.topic or (fact.topic if fact else plan.question),
        kind=kind,
        sides=tuple(Side(claim=item.candidate.claim(), value=value) for item, value in sides),
    )
