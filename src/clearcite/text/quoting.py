"""Which spans must be quoted with a unit so that it can be read by itself, and their text."""

import re
from collections.abc import Sequence

from clearcite.domain.corpus import Unit
from clearcite.domain.retrieval import Passage
from clearcite.text.phrases import folded_words
from clearcite.text.scopes import DOCUMENT_WORDS
from clearcite.text.terms import stop_word_of

Span = tuple[int, int]

MOST_UNITS = 3
"""A quote is one to three units; a longer chain of pronouns is quoted from its middle."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# First words that point back at the sentence before.
_POINTS_BACK = _words("""
    it its they their them this these those he she his her him such both either neither however otherwise then also but
    and so therefore instead afterwards thereafter others
    ele ela eles elas isto isso esse essa esses essas seu sua seus suas tal porem contudo tambem entao assim
""")
_POINTS_BACK_PAIRS = frozenset(
    tuple(pair.split())
    for pair in (
        *("if so", "if not", "that is", "that means", "the rest", "the latter", "the former", "the others"),
        *("o resto", "os outros", "o mesmo"),
    )
)
# Within the first words: *two of them*, *since June the same holds*, *with every other bank*.
_EARLY = 6
_POINTS_BACK_EARLY = frozenset(
    tuple(words.split())
    for words in (
        *("of them", "of these", "of those", "every other", "any other", "all other", "all others"),
        *(f"the same {word}" for word in ("holds", "applies", "goes", "is", "was", "rule", "rules")),
        *("deles", "delas", "destes", "destas", "desses", "dessas", "disto", "disso", "o mesmo vale"),
    )
)
# *After that*, *in this case*, *without them*.
_BEFORE_POINTING = _words(
    "for after before with without in on at from by because if until para com sem apos por"
)
_POINTING = _words("this that these those them it isso isto esse essa")

# An answer that is none without its question: *Yes, on weekdays.*
_REPLIES = _words("yes no only not because sometimes usually sim nao so apenas somente porque")
_ASKS = re.compile(r"[?？][\"'”’»)\]*_`」』）]*\s*\Z")
_ENDS = re.compile(r"[.!?…。！？][\"'”’»)\]*_`」』）]*\s*\Z")


def spans_with(passage: Passage, index: int) -> tuple[Span, ...]:
    """The spans for unit ``index``: a row after its header, an item after its lead, a pronoun after its noun, a
    reply after its question.

    Only what stands in the passage can be quoted; a header or lead in another one is left out.
    """
    unit = passage.units[index]
    above = unit.header if unit.kind == "table_row" else unit.lead if unit.kind == "list_item" else None
    if above and passage.start <= above[0] and above[1] <= passage.end:
        return (above, _span(unit))
    if unit.kind == "list_item":
        opening = _opening_of_item(passage, index)
        return _spans(passage, [*opening, index])
    first = index
    while unit.kind == "sentence" and first > 0 and index - first < MOST_UNITS - 1:
        before = passage.units[first - 1]
        if (
            before.kind != "sentence"
            or asks(_text(passage, first - 1))
            or not points_back(_text(passage, first))
        ):
            break
        first -= 1
    opening = _question_of(passage, first) if unit.kind == "sentence" else []
    return _spans(passage, [*opening, *range(first, index + 1)])


def points_back(sentence: str) -> bool:
    """Whether a sentence begins with words that mean something said before it."""
    words = folded_words(sentence[:80])
    if not words:
        return False
    if words[0] in _POINTS_BACK or words[:2] in _POINTS_BACK_PAIRS:
        return True
    if words[0] in _BEFORE_POINTING and words[1:2] and words[1] in _POINTING:
        return words[2:3] == () or words[2] not in DOCUMENT_WORDS
    return any(
        words[at : at + size] in _POINTS_BACK_EARLY
        for at in range(min(len(words), _EARLY))
        for size in (1, 2, 3)
    )


def asks(text: str) -> bool:
    """Whether a text ends as a question does."""
    return _ASKS.search(text) is not None


def is_ended(text: str) -> bool:
    """Whether a text ends as a sentence does."""
    return _ENDS.search(text) is not None


def text_of(passage: Passage, span: Span) -> str:
    """A span of the canonical text that lies inside the passage."""
    return passage.text[span[0] - passage.start : span[1] - passage.start]


def _text(passage: Passage, index: int) -> str:
    return text_of(passage, _span(passage.units[index]))


def _span(unit: Unit) -> Span:
    return (unit.start, unit.end)


def _opening_of_item(passage: Passage, index: int) -> list[int]:
    """The heading of a list without a lead, for an item that is no sentence by itself."""
    at = index
    while at > 0 and passage.units[at].kind == "list_item":
        at -= 1
    is_headed = passage.units[at].kind == "heading" and not is_ended(_text(passage, index))
    return [at] if is_headed else []


def _question_of(passage: Passage, first: int) -> list[int]:
    """The question that stands right above unit ``first``, if that is no full answer without it: a heading, a
    sentence, or the post that a reply under a heading of its own answers."""
    above = first - 1
    if above > 0 and passage.units[above].kind == "heading" and not asks(_text(passage, above)):
        above -= 1
    if above < 0 or passage.units[above].kind not in ("heading", "sentence"):
        return []
    question, reply = _text(passage, above), folded_words(_text(passage, first))
    if not asks(question) or not reply:
        return []
    said = {word for word in reply if not stop_word_of(word)}
    needs_it = reply[0] in _REPLIES or said.isdisjoint(folded_words(question))
    return [above] if needs_it or points_back(_text(passage, first)) else []


def _spans(passage: Passage, indices: Sequence[int]) -> tuple[Span, ...]:
    """Neighbours with only white space between them become one span."""
    spans: list[Span] = []
    for at, unit in ((at, passage.units[at]) for at in indices):
        is_next = at > 0 and unit.kind == "sentence" == passage.units[at - 1].kind
        if spans and is_next and not text_of(passage, (spans[-1][1], unit.start)).strip():
            spans[-1] = (spans[-1][0], unit.end)
        else:
            spans.append(_span(unit))
    return tuple(spans)
