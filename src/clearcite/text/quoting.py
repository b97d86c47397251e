"""Which spans must be quoted with a unit so that it can be read by itself, and their text."""

from clearcite.domain.corpus import Unit
from clearcite.domain.retrieval import Passage
from clearcite.text.phrases import folded_words

Span = tuple[int, int]

MOST_UNITS = 3
"""A quote is one to three units; a longer chain of pronouns is quoted from its middle."""

# First words that point back at the sentence before.
_BACK = """
it its they their them this these those he she his her him such both either neither however otherwise then also but
and so therefore instead afterwards thereafter
ele ela eles elas isto isso esse essa esses essas seu sua seus suas tal porem contudo tambem entao assim
"""
_POINTS_BACK = frozenset(_BACK.split())
_POINTS_BACK_PAIRS = frozenset(
    (("if", "so"), ("if", "not"), ("that", "is"), ("that", "means"), ("after", "that"))
)


def spans_with(passage: Passage, index: int) -> tuple[Span, ...]:
    """The spans for unit ``index``: a row after its header, an item after its lead, a pronoun after its noun.

    Only what stands in the passage can be quoted; a header or lead in another one is left out.
    """
    unit = passage.units[index]
    above = unit.header if unit.kind == "table_row" else unit.lead if unit.kind == "list_item" else None
    if above and passage.start <= above[0] and above[1] <= passage.end:
        return (above, (unit.start, unit.end))
    first = index
    while unit.kind == "sentence" and first > 0 and index - first < MOST_UNITS - 1:
        before = passage.units[first - 1]
        if before.kind != "sentence" or not points_back(text_of(passage, _span(passage.units[first]))):
            break
        first -= 1
    return _joined(passage, passage.units[first : index + 1])


def points_back(sentence: str) -> bool:
    """Whether a sentence begins with a word that means something said before it."""
    words = folded_words(sentence[:40])
    return bool(words) and (words[0] in _POINTS_BACK or words[:2] in _POINTS_BACK_PAIRS)


def text_of(passage: Passage, span: Span) -> str:
    """A span of the canonical text that lies inside the passage."""
    return passage.text[span[0] - passage.start : span[1] - passage.start]


def _span(unit: Unit) -> Span:
    return (unit.start, unit.end)


def _joined(passage: Passage, units: tuple[Unit, ...]) -> tuple[Span, ...]:
    """Neighbours with only white space between them become one span."""
    spans: list[Span] = []
    for unit in units:
        if spans and not text_of(passage, (spans[-1][1], unit.start)).strip():
            spans[-1] = (spans[-1][0], unit.end)
        else:
            spans.append(_span(unit))
    return tuple(spans)
