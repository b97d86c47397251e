"""Whether two statements speak of one thing, so that their values can be compared.

They must share most of the words of the shorter one, and neither may be narrowed by something the other does not
know: a name, a code, a kind, a day, a condition, a title that tells it from its sibling. What the titles, headings
and neighbouring sentences say is known; what stands in most of the documents at hand tells nothing.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from msgspec import Struct

from clearcite.domain.retrieval import Passage, QueryTerm
from clearcite.text.candidates import Asked
from clearcite.text.forms import clean_text
from clearcite.text.readings import Reading, comparable, contradict
from clearcite.text.scopes import ARTICLES, CONTRASTS, DOCUMENT_WORDS, ROLES
from clearcite.text.statements import Statement, says
from clearcite.text.terms import stop_word_of
from clearcite.text.tokens import fold, token_spans

LONGER = 300
"""Thousandths of the longer statement's words that the shorter must hold: a short one is part of many."""


class Surroundings(Struct, frozen=True, kw_only=True):
    """What the passages at hand say about words. Folded words.

    ``proper``: only ever written with a capital, at least once inside a sentence. ``lower``: written in lower case
    somewhere. ``common``: index terms that stand in more than half of the documents (two at least).
    """

    proper: frozenset[str]
    lower: frozenset[str]
    common: frozenset[str]


def surroundings(documents: Sequence[tuple[Sequence[Passage], frozenset[str]]]) -> Surroundings:
    """``documents``: for each, its passages at hand and all their index terms."""
    lower: set[str] = set()
    inside: set[str] = set()
    for passages, _ in documents:
        for passage in passages:
            begins = True
            at = 0
            text = clean_text(passage.text)
            for raw, start, end in token_spans(text):
                begins = begins or any(mark in text[at:start] for mark in '.!?:\n|"“*#')
                if raw[0].islower():
                    lower.add(fold(raw))
                elif raw[0].isupper() and not begins:
                    inside.add(fold(raw))
                begins, at = False, end
    counts: dict[str, int] = {}
    for _, terms in documents:
        for term in terms:
            counts[term] = counts.get(term, 0) + 1
    many = max(2, len(documents) // 2 + 1)
    common = frozenset(term for term, count in counts.items() if count >= many)
    return Surroundings(proper=frozenset(inside - lower), lower=frozenset(lower), common=common)


def shared_share(asked: Asked, left: Statement, right: Statement, near: Surroundings) -> int:
    """Common words in thousandths of those of the shorter statement; 0 when the two are of different things."""
    if _opposed(left, right) or _are_siblings(asked, left, right, near):
        return 0
    for one, other in ((left, right), (right, left)):
        if _is_narrower(asked, one, other, near):
            return 0
    shorter, longer = sorted((left, right), key=lambda item: len(item.words))
    known = [word for word in shorter.words if knows(longer, word, around=False)]
    alike = left.reading.unit_class == right.reading.unit_class
    counted = int(alike and left.reading.unit_class.startswith("count:"))
    if len(known) + counted < 2 and not _says_what_is_asked(asked, known):
        return 0
    if 1000 * (len(known) + counted) < LONGER * (len(longer.words) + counted):
        return 0
    return 1000 * (len(known) + counted) // max(1, len(shorter.words) + counted)


def _says_what_is_asked(asked: Asked, words: Sequence[QueryTerm]) -> bool:
    """Whether a single common word is at least half of what the question needs."""
    forms = frozenset(form for word in words for form in word.forms)
    said = sum(need.weight for need in asked.needs if not forms.isdisjoint(need.unit.forms))
    return 2 * said >= sum(need.weight for need in asked.needs) > 0


def _is_narrower(asked: Asked, one: Statement, other: Statement, near: Surroundings) -> bool:
    """Whether ``one`` holds of less than ``other`` says."""
    versions = _version_words(one, asked)
    for word in one.bound:
        told = near.common.isdisjoint(word.forms) and word.surface not in versions
        if told and not (knows(other, word, around=False) or _is_titled(other, word)):
            return True
    asked_for = frozenset(form for need in asked.needs for form in need.unit.forms)
    for phrase in one.narrowing:
        if not any(
            knows(other, word)
            or not asked_for.isdisjoint(word.forms)
            or not near.common.isdisjoint(word.forms)
            for word in phrase
        ):
            return True
    conditions = [value for value in one.others if value.first not in versions]
    return (
        _has_other_condition(one, other, conditions)
        or _has_own_modifier(one, other)
        or _is_headed_by_kind(one, other)
    )


def knows(statement: Statement, word: QueryTerm, *, around: bool = True) -> bool:
    """Whether a word stands in the statement or its unit; ``around``: or in title, headings and neighbours."""
    item = statement.candidate
    forms = frozenset(word.forms)
    if not forms.isdisjoint(statement.terms):
        return True
    if around and not (forms.isdisjoint(item.terms) and forms.isdisjoint(item.context)):
        return True
    return says(statement, word)


def _is_titled(statement: Statement, word: QueryTerm) -> bool:
    """Whether a word stands in the unit with what is quoted with it, or in its title or headings."""
    return not (statement.candidate.terms | statement.titled).isdisjoint(word.forms)


def _version_words(statement: Statement, asked: Asked) -> frozenset[str]:
    """The version a document describes tells nothing apart when the question says which version it means."""
    stated = statement.candidate.passage.description.product_version
    return frozenset((stated, f"v{stated}")) if stated and asked.plan.target_version else frozenset()


def _opposed(left: Statement, right: Statement) -> bool:
    """One says *before* and the other *after*; who says both is not opposed."""
    for one, other in CONTRASTS:
        sides = [(bool(item.plain & one), bool(item.plain & other)) for item in (left, right)]
        if sorted(sides) == [(False, True), (True, False)]:
            return True
    return False


def _has_other_condition(one: Statement, other: Statement, conditions: Sequence[Reading]) -> bool:
    """A day, month or year that the other side does not give, or an amount of one class that differs."""
    for value in conditions:
        alike = [theirs for theirs in other.others if comparable(value, theirs)]
        if alike and all(contradict(value, theirs) for theirs in alike):
            return True
        if not alike and value.kind == "date":
            words = [raw for raw, *_ in token_spans(one.text[value.start : value.end])]
            around = " ".join((other.candidate.passage.title, *other.candidate.passage.heading)).casefold()
            if not any(word.casefold() in around for word in words):
                return True
    return False


def _has_own_modifier(one: Statement, other: Statement) -> bool:
    """``a trial account`` is not ``an account``: a word between an article and a shared word."""
    if one.is_cell:
        return False
    known = {word.surface: knows(other, word) for word in one.words}
    folded = [fold(raw) for raw, *_ in token_spans(one.text[: one.reading.start] or one.text)]
    return any(
        before in ARTICLES and known.get(word) is False and known.get(after) is True
        for before, word, after in zip(folded, folded[1:], folded[2:], strict=False)
    )


def _is_headed_by_kind(one: Statement, other: Statement) -> bool:
    """Under a heading *Contractors*, or in *Terms for interns*, and the other side knows nothing of them."""
    passage = one.candidate.passage
    words = list(_folded(passage.heading[-1])) if passage.heading else []
    title = list(_folded(passage.title))
    words += [word for before, word in pairwise(title) if before in ("for", "para")]
    theirs = " ".join((other.candidate.passage.title, *other.candidate.passage.heading, other.text))
    known = {_singular(word) for word in _folded(theirs)}
    return any(word in ROLES and _singular(word) not in known for word in words)


def _are_siblings(asked: Asked, left: Statement, right: Statement, near: Surroundings) -> bool:
    """Titles (or, under one title, headings) that share words and differ in names or numbers."""
    one, other = left.candidate.passage, right.candidate.passage
    ours, theirs = _label(one.title), _label(other.title)
    if ours == theirs:
        ours, theirs = _label(" ".join(one.heading[-1:])), _label(" ".join(other.heading[-1:]))
    elif not ours & theirs:
        return False
    own = ours - theirs - right.plain - _version_words(left, asked)
    others = theirs - ours - left.plain - _version_words(right, asked)
    if not own or not others:
        return False
    return all(any(_tells_apart(word, near) for word in words) for words in (own, others))


def _tells_apart(word: str, near: Surroundings) -> bool:
    return any(char.isdigit() for char in word) or word not in near.lower


def _label(text: str) -> frozenset[str]:
    return frozenset(word for word in _folded(text) if word not in DOCUMENT_WORDS and not stop_word_of(word))


def _folded(text: str) -> Iterable[str]:
    return (fold(raw) for raw, *_ in token_spans(clean_text(text)))


def _singular(word: str) -> str:
    return word[:-1] if word.endswith("s") else word
