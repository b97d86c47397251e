"""Which statements answer a question: units near the best ones, and of their values those that are asked for."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from clearcite.domain.retrieval import Plan, QueryTerm
from clearcite.domain.thresholds import LEXICAL_CLAIMS
from clearcite.text.analysis import Analyzer, is_covered
from clearcite.text.asks import answers_kind
from clearcite.text.candidates import Asked, Candidate, read_question
from clearcite.text.coverage import Need, coverage
from clearcite.text.phrases import folded_words
from clearcite.text.readings import comparable, readings
from clearcite.text.scopes import ABOUT_PAGE, NUMBERED, OF, other_forms
from clearcite.text.statements import Statement, denials, namings, statements

_YEAR = re.compile(r"1[1-9]\d\d|20\d\d")

_NAMES_KIND = frozenset(("what", "which", "que", "qual"))
_KINDS_OF_TIME = frozenset(
    ("time", "date", "day", "month", "year", "hora", "horas", "data", "dia", "mes", "ano")
)


def read_in_both_forms(plan: Plan, analyzer: Analyzer) -> Asked:
    """The question, its irregular verbs in both forms: *kept* also needs *keep*. Without the kind it asks for: the
    *time* of *what time* stands in no answer."""
    asked = read_question(plan, analyzer)
    kinds = _kinds_named(plan.question)
    needs = [need for need in asked.needs if need.unit.surface not in kinds] or asked.needs
    return replace(asked, needs=tuple(_in_both_forms(need, analyzer) for need in needs))


def _kinds_named(question: str) -> frozenset[str]:
    words = folded_words(question)
    return frozenset(
        word for before, word in pairwise(words) if before in _NAMES_KIND and word in _KINDS_OF_TIME
    )


def _in_both_forms(need: Need, analyzer: Analyzer) -> Need:
    others = [unit for word in other_forms(need.unit.surface) for unit in analyzer.informative(word)]
    forms = dict.fromkeys((*need.unit.forms, *(form for unit in others for form in unit.forms)))
    return replace(need, unit=QueryTerm(surface=need.unit.surface, forms=tuple(forms)))


class Answering(Struct, frozen=True, kw_only=True):
    """A unit that answers, with what it covers of the question in thousandths of what the best unit covers: in its
    own words, or with those around it. ``behind``: how much less it scores than the best."""

    item: Candidate
    behind: int
    cover: int


def answering(asked: Asked, found: Sequence[Candidate]) -> list[Answering]:
    """The units that know the codes and years of the question, best first whatever the rank of their passages."""
    codes = [need.unit for need in asked.needs if _is_code(need, asked.plan)]
    merits = [_merit(item) for item in found]
    inside = [coverage(asked.needs, item.terms) for item in found]
    around = [coverage(asked.needs, item.terms | item.context) for item in found]
    best = (max(merits, default=0), max(inside, default=0) or 1, max(around, default=0) or 1)
    units = [
        Answering(
            item=item,
            behind=best[0] - merit,
            cover=max(1000 * own // best[1], 1000 * wide // best[2]),
        )
        for item, merit, own, wide in zip(found, merits, inside, around, strict=True)
        if all(is_covered(unit, item.terms | item.context) for unit in codes)
    ]
    return sorted(units, key=lambda unit: (unit.behind, unit.item.passage.chunk_id, unit.item.index))


def _is_code(need: Need, plan: Plan) -> bool:
    """An identifier, a year, or letters with digits; a plain number may be told in passing."""
    surface = need.unit.surface
    if plan.target_version is not None and surface.removeprefix("v") == plan.target_version:
        return False
    if surface in plan.identifiers:
        return True
    return need.coded and (not surface.isdigit() or bool(_YEAR.fullmatch(surface)))


def _merit(item: Candidate) -> int:
    """The score as an answer without the rank of the passage: a disagreement does not hang on that."""
    return sum(LEXICAL_CLAIMS.of(name) * value for name, value in item.features if name != "place") // 1000


def asserted(asked: Asked, item: Candidate, proper: frozenset[str]) -> Iterator[Statement]:
    kinds = asked.expected.kinds
    for statement in statements(asked, item, proper):
        if _is_asked(asked, statement):
            yield statement
    if "name" in kinds:
        yield from namings(asked, item, proper)
    if item.unit.kind in ("sentence", "list_item") and (not kinds or "choice" in kinds):
        for statement in denials(asked, item, proper):
            if "choice" in kinds or statement.reading.unit_class != "negation":
                yield statement


def _is_asked(asked: Asked, statement: Statement) -> bool:
    reading, text = statement.reading, statement.text
    if _is_reference(statement) or (reading.kind == "identifier" and not _is_code_number(statement)):
        return False
    if reading.kind == "date" and ABOUT_PAGE.found_in(text) and not ABOUT_PAGE.found_in(asked.plan.question):
        return False
    if reading.unit_class == "weekday" and any(other.unit_class == "time" for other in statement.others):
        return False
    kinds = asked.expected.kinds
    if "choice" in kinds:
        return any(comparable(reading, value) for value in readings(asked.plan.question))
    if "name" in kinds:
        return reading.kind in ("phone", "identifier")
    if not kinds:
        return not _is_year(statement)
    _, wanted = answers_kind(asked.expected, text, statement.candidate.passage.language)
    return any(value.start < reading.end and reading.start < value.end for value in wanted)


def _is_year(statement: Statement) -> bool:
    reading = statement.reading
    return reading.kind == "number" and bool(_YEAR.fullmatch(reading.first))


def _is_code_number(statement: Statement) -> bool:
    """``TR-12`` and ``LOG_LEVEL`` stand for one thing; names in small letters are many ways to do it."""
    written = statement.text[statement.reading.start : statement.reading.end]
    return written.isupper()


def _is_reference(statement: Statement) -> bool:
    """``step 3``, ``dock 4``: the number names something and is no value."""
    before = folded_words(statement.text[max(0, statement.reading.start - 20) : statement.reading.start])
    named = [word for word in before if word not in OF][-1:]
    return statement.reading.kind == "number" and bool(NUMBERED.intersection(named))
