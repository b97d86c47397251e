"""What a unit of a passage states, one value at a time: with which words, and what narrows it.

    "For interns the notice period is two weeks."     value: two weeks     words: interns, notice, period
                                                      narrowed by: interns

A sentence with several values of one class is cut between them; a table row gives a statement for each cell,
named by its row and its column. What is an example, a plan or past states nothing.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from clearcite.domain.retrieval import QueryTerm
from clearcite.text.analysis import Analyzer, base_language
from clearcite.text.candidates import Asked, Candidate
from clearcite.text.polarity import find_negations, find_states
from clearcite.text.quoting import text_of
from clearcite.text.readings import Reading, readings
from clearcite.text.scopes import (
    BASE_FORMS,
    EVERYBODY,
    HOLLOW,
    NARROWING,
    RESTRICTING,
    SCOPES,
    UNREAL,
)
from clearcite.text.terms import stop_word_of
from clearcite.text.tokens import fold, take_apart, token_spans

_MARKUP = re.compile(r"[*`|]|(?<!\w)_|_(?!\w)|^\s*(?:[-+•]|\d{1,2}[.)])\s+", re.MULTILINE)
_STOP = re.compile(r"[,;:.!?()–—]|\s-\s")
_CUT = re.compile(r"[;,]|\b(?:and|but|while|whereas|or|e|mas|enquanto|ou)\b", re.IGNORECASE)
_RATE_IN_HEADER = re.compile(r"\b(?:per|por)\s+\w+", re.IGNORECASE)
_ENDS_PHRASE = frozenset(("", "and", "or", "e", "ou", "but", "mas"))
_CODE_IN_HEADER = re.compile(r"\b(?:EUR|USD|GBP|BRL|CHF|JPY)\b|[€$£¥]|R\$")


@dataclass(frozen=True, kw_only=True, slots=True)
class Statement:
    """``text``: the clause that holds the value, markup blanked. ``words``: what it is said with, values left out.

    ``bound``: words that must be known to the other side too: names, codes, kinds, days and months.
    ``narrowing``: phrases of which the other side must know at least one word. ``opposites``: words that matter
    because they have an opposite. ``others``: the values of other classes, which are conditions.
    """

    candidate: Candidate
    text: str
    reading: Reading
    words: tuple[QueryTerm, ...]
    bound: tuple[QueryTerm, ...]
    narrowing: tuple[tuple[QueryTerm, ...], ...]
    plain: frozenset[str]
    others: tuple[Reading, ...]
    is_cell: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class _Clause:
    text: str
    found: tuple[Reading, ...]
    label: str = ""
    is_cell: bool = False


def statements(asked: Asked, item: Candidate, proper: frozenset[str]) -> Iterator[Statement]:
    """The statements of a candidate. ``proper``: folded words that are written like names in these passages."""
    if UNREAL.found_in(item.text) and not UNREAL.found_in(asked.plan.question):
        return
    language = base_language(item.passage.language) or asked.analyzer.detect_language(item.text)
    for clause in _clauses(item, language):
        for reading in _single(clause.found):
            yield _statement(asked.analyzer, item, clause, reading, proper)


def denials(asked: Asked, item: Candidate, proper: frozenset[str]) -> Iterator[Statement]:
    """What a candidate affirms or denies: one statement for each state it names, or one for its negation."""
    if UNREAL.found_in(item.text) and not UNREAL.found_in(asked.plan.question):
        return
    language = base_language(item.passage.language) or asked.analyzer.detect_language(item.text)
    text = _unmarked(_own_text(item))
    found = _polarity(text, language)
    values = readings(text, language)
    for reading in found:
        clause = _Clause(text=text, found=(*values, *found))
        yield _statement(asked.analyzer, item, clause, reading, proper)


def says(statement: Statement, unit: QueryTerm) -> bool:
    """Whether a word is among those the statement is said with; its value is none of them."""
    forms = frozenset(unit.forms)
    return any(not forms.isdisjoint(own.forms) for own in (*statement.words, *statement.bound))


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


# ---- units into clauses


def _clauses(item: Candidate, language: str) -> Iterator[_Clause]:
    own = _own_text(item)
    if item.unit.kind == "table_row" and len(item.spans) == 2:
        yield from _cells(text_of(item.passage, item.spans[0]), own, language)
        return
    text = _unmarked(own)
    found = readings(text, language)
    for start, end in _cut(text, found):
        inside = tuple(_moved(reading, -start) for reading in found if start <= reading.start < end)
        if inside:
            yield _Clause(text=text[start:end], found=inside)


def _own_text(item: Candidate) -> str:
    return text_of(item.passage, (item.unit.start, item.unit.end))


def _unmarked(text: str) -> str:
    """The same length, marks of emphasis, code and lists blanked."""
    return _MARKUP.sub(lambda match: " " * len(match.group()), text)


def _moved(reading: Reading, by: int) -> Reading:
    return Reading(
        kind=reading.kind,
        unit_class=reading.unit_class,
        first=reading.first,
        last=reading.last,
        shape=reading.shape,
        start=reading.start + by,
        end=reading.end + by,
    )


def _cut(text: str, found: Sequence[Reading]) -> Iterator[tuple[int, int]]:
    """Between two values of one class, at the first comma or conjunction that stands between them."""
    start = 0
    last: dict[tuple[str, str], Reading] = {}
    for reading in found:
        before = last.get((reading.kind, reading.unit_class))
        if before is not None and (cut := _CUT.search(text, before.end, reading.start)):
            yield start, cut.start()
            start = cut.end()
            last = {}
        last[(reading.kind, reading.unit_class)] = reading
    yield start, len(text)


def _cells(header: str, row: str, language: str) -> Iterator[_Clause]:
    names, cells = _split(header), _split(row)
    if len(names) != len(cells) or len(cells) < 2:
        return
    for name, cell in zip(names[1:], cells[1:], strict=True):
        text = f"{names[0]} {cells[0]}, {name}: {_with_unit(cell, name, language)}"
        at = len(text) - len(_with_unit(cell, name, language))
        found = tuple(reading for reading in readings(text, language) if reading.start >= at)
        if found:
            yield _Clause(text=text, found=found, label=cells[0], is_cell=True)


def _split(row: str) -> list[str]:
    return [_unmarked(cell).strip() for cell in row.strip().strip("|").split("|")]


def _with_unit(cell: str, name: str, language: str) -> str:
    """A bare number counts what its column is called: ``300`` under *Requests per minute*, ``22`` under *(EUR)*."""
    found = readings(cell, language)
    rate = _RATE_IN_HEADER.search(name)
    if (
        rate
        and len(found) == 1
        and found[0].kind == "quantity"
        and len(cell) == found[0].end - found[0].start
    ):
        return f"{cell} {rate.group()}"
    if len(found) != 1 or found[0].kind != "number" or len(cell) != found[0].end - found[0].start:
        return cell
    if code := _CODE_IN_HEADER.search(name):
        return f"{code.group()} {cell}"
    whole = f"{cell} {name.lower()}"
    counted = readings(whole, language)
    return whole if len(counted) == 1 and counted[0].start == 0 and counted[0].unit_class else cell


# ---- what a clause is said with


def _statement(
    analyzer: Analyzer, item: Candidate, clause: _Clause, reading: Reading, proper: frozenset[str]
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
        words=_words(analyzer, core),
        bound=_words(analyzer, " ; ".join(dict.fromkeys(bound))),
        narrowing=tuple(words for phrase in _phrases(core, reading) if (words := _words(analyzer, phrase)))
        if not clause.is_cell
        else (),
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
    """What follows a narrowing word, up to the next one, a conjunction or a mark; not what leads to the value."""
    phrase: list[str] | None = None
    at = 0
    for raw, start, end in (*token_spans(core), ("", len(core), len(core))):
        word = fold(raw)
        meets_value = at <= reading.start < start
        if meets_value or word in _ENDS_PHRASE or word in NARROWING or _STOP.search(core[at:start]):
            is_open = phrase is not None and not EVERYBODY.intersection(map(fold, phrase))
            if phrase and is_open and not (meets_value and stop_word_of(phrase[-1])):
                yield " ".join(phrase)
            phrase = [] if word in NARROWING and _narrows(word, reading) else None
        elif phrase is not None:
            phrase.append(raw)
        at = end


def _narrows(word: str, reading: Reading) -> bool:
    """``per person`` makes another price of a price; it makes no other size of a size."""
    return word not in ("per", "por") or reading.unit_class.startswith("currency:")


def _words(analyzer: Analyzer, text: str) -> tuple[QueryTerm, ...]:
    """Informative words, irregular past forms as their base forms."""
    raws = [raw for raw, *_ in token_spans(text) if fold(raw) not in HOLLOW]
    return analyzer.informative(" ".join(BASE_FORMS.get(fold(raw), raw) for raw in raws)) if raws else ()
