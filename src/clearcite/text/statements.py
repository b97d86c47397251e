"""What a unit of a passage states, one value at a time: with which words, and what narrows it.

    "For interns the notice period is two weeks."     value: two weeks     words: interns, notice, period
                                                      narrowed by: interns

What is an example, a plan or past states nothing.
"""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from clearcite.domain.retrieval import QueryTerm
from clearcite.text.analysis import Analyzer, base_language
from clearcite.text.asks import names_in
from clearcite.text.candidates import Asked, Candidate, terms_of
from clearcite.text.clauses import Clause, clauses, own_text, unmarked
from clearcite.text.phrases import folded_words
from clearcite.text.polarity import find_negations, find_states
from clearcite.text.readings import Reading, readings
from clearcite.text.scopes import (
    ARTICLES,
    BASE_FORMS,
    EVERYBODY,
    HOLLOW,
    NARROWING,
    OF,
    RESTRICTING,
    SCOPES,
    UNREAL,
)
from clearcite.text.terms import stop_word_of
from clearcite.text.tokens import fold, take_apart, token_spans

_STOP = re.compile(r"[,;:.!?()–—]|\s-\s")
_ENDS_PHRASE = frozenset(("", "and", "or", "e", "ou", "but", "mas"))


class Statement(Struct, frozen=True, kw_only=True):
    """``text``: the clause that holds the value. ``words``: what it is said with, values left out.

    ``bound``: words that the other side must know too: names, codes, kinds. ``narrowing``: phrases of which it must
    know a word. ``terms``: index terms of the clause; ``titled``: of title and headings. ``plain``: folded words.
    ``others``: the values of other classes, which are conditions.
    """

    candidate: Candidate
    text: str
    reading: Reading
    words: tuple[QueryTerm, ...]
    bound: tuple[QueryTerm, ...]
    narrowing: tuple[tuple[QueryTerm, ...], ...]
    terms: frozenset[str]
    titled: frozenset[str]
    plain: frozenset[str]
    others: tuple[Reading, ...]
    is_cell: bool = False


def statements(asked: Asked, item: Candidate, proper: frozenset[str]) -> Iterator[Statement]:
    """The statements of a candidate. ``proper``: folded words that are written like names in these passages."""
    language = base_language(item.passage.language) or asked.analyzer.detect_language(item.text)
    found = list(clauses(item, language))
    if not found or _is_unreal(asked, item):
        return
    for clause in found:
        told = [reading for reading in clause.found if not _is_known(asked, clause.text, reading)]
        for reading in _single(told):
            yield _statement(asked, item, clause, reading, proper)


def denials(asked: Asked, item: Candidate, proper: frozenset[str]) -> Iterator[Statement]:
    """What a candidate affirms or denies: one statement for each state it names, or one for its negation."""
    if _is_unreal(asked, item):
        return
    language = base_language(item.passage.language) or asked.analyzer.detect_language(item.text)
    text = unmarked(own_text(item))
    found = _polarity(text, language)
    values = readings(text, language)
    for reading in found:
        clause = Clause(text=text, found=(*values, *found))
        yield _statement(asked, item, clause, reading, proper)


def _is_known(asked: Asked, text: str, reading: Reading) -> bool:
    """The question's own value tells nothing."""
    return all(word in asked.expected.known for word in folded_words(text[reading.start : reading.end]))


def _is_unreal(asked: Asked, item: Candidate) -> bool:
    return UNREAL.found_in(item.text) and not UNREAL.found_in(asked.plan.question)


def says(statement: Statement, unit: QueryTerm) -> bool:
    """Whether a word is among those the statement is said with; its value is none of them."""
    forms = frozenset(unit.forms)
    return any(not forms.isdisjoint(own.forms) for own in (*statement.words, *statement.bound))


def namings(asked: Asked, item: Candidate, proper: frozenset[str]) -> Iterator[Statement]:
    """What a candidate names, if it is one name that the question does not have."""
    text = unmarked(own_text(item))
    spans = names_in(text, asked.expected.known)
    if len(spans) != 1 or not text[spans[0][0]].isupper() or _is_unreal(asked, item):
        return
    start, end = spans[0]
    name = " ".join(folded_words(text[start:end]))
    language = base_language(item.passage.language) or asked.analyzer.detect_language(item.text)
    reading = Reading(
        kind="name", unit_class="name", first=name, last=name, shape="exact", start=start, end=end
    )
    values = (value for value in readings(text, language) if value.end <= start or end <= value.start)
    clause = Clause(text=text, found=(*values, reading))
    yield _statement(asked, item, clause, reading, proper)


def _polarity(text: str, language: str) -> tuple[Reading, ...]:
    states = list(find_states(text, language))
    negations = list(find_negations(text, language))
    if states:
        names = [name for name, *_ in states]
        return tuple(
            _said(name, answer, start, end) for name, answer, start, end in states if names.count(name) == 1
        )
    answer = "no" if len(negations) % 2 else "yes"
    if not negations:
        return (_said("negation", answer, 0, 0),)
    return tuple(_said("negation", answer, start, end) for _, start, end in negations)


def _said(name: str, answer: str, start: int, end: int) -> Reading:
    return Reading(
        kind="state", unit_class=name, first=answer, last=answer, shape="exact", start=start, end=end
    )


def _single(found: Sequence[Reading]) -> Iterator[Reading]:
    """The values that are alone in their class: of several, nobody knows which one is meant."""
    for reading in found:
        same = [
            other for other in found if (other.kind, other.unit_class) == (reading.kind, reading.unit_class)
        ]
        if len({(other.canonical, other.shape) for other in same}) == 1 and same[0] is reading:
            yield reading


def _statement(
    asked: Asked, item: Candidate, clause: Clause, reading: Reading, proper: frozenset[str]
) -> Statement:
    values = [
        value for value in clause.found if value is reading or value.kind not in ("identifier", "version")
    ]
    core = _core(_blanked(clause.text, values), reading.end)
    bound = list(_scopes(core))
    if not clause.is_cell:
        bound += _names(core, proper)
    else:
        bound += [raw for raw, *_ in token_spans(re.sub(r"\(.*?\)", " ", _blanked(clause.label, ())))]
    return Statement(
        candidate=item,
        text=clause.text,
        reading=reading,
        words=_words(asked.analyzer, core),
        bound=_words(asked.analyzer, " ; ".join(dict.fromkeys(bound))),
        narrowing=tuple(
            words for phrase in _phrases(core, reading) if (words := _words(asked.analyzer, phrase))
        )
        if not clause.is_cell
        else (),
        terms=terms_of(asked, clause.text, item.passage),
        titled=terms_of(asked, "\n".join((item.passage.title, *item.passage.heading)), item.passage),
        plain=frozenset(fold(raw) for raw, *_ in token_spans(core)),
        others=tuple(other for other in clause.found if other is not reading),
        is_cell=clause.is_cell,
    )


def _blanked(text: str, values: Sequence[Reading]) -> str:
    for value in values:
        text = text[: value.start] + " " * (value.end - value.start) + text[value.end :]
    return text


def _core(rest: str, value_end: int) -> str:
    """Without what a comma adds after the value, unless it restricts: ``…, tolls included``; ``…, if paid early``."""
    for match in re.finditer(r"[,;(–—]", rest[value_end:]):
        following = [fold(raw) for raw, *_ in token_spans(rest[value_end + match.end() :])]
        if not following or (following[0] not in RESTRICTING and "only" not in following):
            return rest[: value_end + match.start()]
    return rest


def _names(rest: str, proper: frozenset[str]) -> Iterator[str]:
    """Names and codes: capitals that no sentence start explains, words known as names, anything with a digit."""
    begins = True
    at = 0
    for raw, start, end in token_spans(rest):
        begins = begins or bool(re.search(r"[.!?:]\s*\Z|[\"“]\Z", rest[at:start]))
        kinds = {token.kind for token in take_apart(raw)}
        is_name = raw[0].isupper() and (not begins or fold(raw) in proper)
        if is_name or kinds & {"identifier", "version", "number"}:
            yield raw
        begins, at = False, end


def _scopes(rest: str) -> Iterator[str]:
    return (raw for raw, *_ in token_spans(rest) if fold(raw) in SCOPES)


def _phrases(core: str, reading: Reading) -> Iterator[str]:
    """What follows a narrowing word, up to the next noun phrase, conjunction or mark; not what leads to the value.

    After ``of`` only the first word counts: where the noun ends and the verb begins is not known.
    """
    phrase: list[str] | None = None
    at = 0
    is_of = False
    for raw, start, end in (*token_spans(core), ("", len(core), len(core))):
        word = fold(raw)
        meets_value = at <= reading.start < start
        goes_on = phrase is not None and not (phrase and word in ARTICLES) and word not in _ENDS_PHRASE
        opens = word in NARROWING and not (phrase and word in OF)
        if meets_value or not goes_on or opens or _STOP.search(core[at:start]):
            is_open = phrase is not None and not EVERYBODY.intersection(map(fold, phrase))
            if phrase and is_open and not (meets_value and stop_word_of(phrase[-1])):
                yield phrase[0] if is_of else " ".join(phrase)
            is_of = word in OF
            phrase = (
                []
                if word in NARROWING and _narrows(word, reading, follows=at <= reading.end <= start)
                else None
            )
        elif phrase is not None:
            phrase.append(raw)
        at = end


def _narrows(word: str, reading: Reading, *, follows: bool) -> bool:
    """``per person`` makes another price of a price, but no other size of a size. ``of`` after the value belongs to
    it: ``25 days of leave``."""
    if word in OF:
        return not follows
    return word not in ("per", "por") or reading.unit_class.startswith("currency:")


def _words(analyzer: Analyzer, text: str) -> tuple[QueryTerm, ...]:
    """Informative words, irregular past forms as their base forms."""
    raws = [raw for raw, *_ in token_spans(text) if fold(raw) not in HOLLOW]
    return analyzer.informative(" ".join(BASE_FORMS.get(fold(raw), raw) for raw in raws)) if raws else ()
