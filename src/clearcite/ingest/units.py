"""Element → Unit: the smallest things that may be quoted, none longer than the hard limit."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from clearcite.domain.corpus import Element, Unit
from clearcite.ingest.words import count_words, word_ends
from clearcite.text.sentences import split_sentences

Span = tuple[int, int]

_ITEM_WORDS = 60
"""A list item up to this length is quoted whole; a longer one is quoted by its sentences."""


class Measured(NamedTuple):
    """A unit with the element it comes from and its length in words."""

    unit: Unit
    element: Element
    words: int


def measure_units(text: str, elements: Sequence[Element], hard_limit: int) -> list[Measured]:
    """The units of all elements in order. They do not overlap, and each lies inside its element."""
    measured: list[Measured] = []
    leads = _Leads(text)
    for element in elements:
        lead = leads.before(element) if element.kind == "list_item" else None
        for unit in _units(text, element, lead):
            words = count_words(text[unit.start : unit.end])
            if words <= hard_limit:
                measured.append(Measured(unit, element, words))
            else:
                measured += _parts(text, element, unit, hard_limit)
        if measured and measured[-1].element is element:
            leads.after(element, measured[-1].unit)
    return measured


def _units(text: str, element: Element, lead: Span | None) -> list[Unit]:
    start, end, kind = element.start, element.end, element.kind
    if kind == "heading":
        return [Unit(kind="heading", start=start, end=end)]
    if kind == "table_row":
        return [Unit(kind="table_row", start=start, end=end, header=element.header)]
    if kind == "code":
        return [Unit(kind="code", start=start, end=end)]
    inside = text[start:end]
    if kind == "list_item" and count_words(inside) <= _ITEM_WORDS:
        return [Unit(kind="list_item", start=start, end=end, lead=lead)]
    return [
        Unit("sentence", start + left, start + right, None, lead) for left, right in split_sentences(inside)
    ]


def _parts(text: str, element: Element, unit: Unit, hard_limit: int) -> Iterator[Measured]:
    """The parts of a unit longer than the hard limit: code is cut at blank lines, then anything at a word."""
    spans = _code_blocks(text, unit) if unit.kind == "code" else [(unit.start, unit.end)]
    for start, end in spans:
        for left, right in _slices(text, start, end, hard_limit):
            part = Unit(kind=unit.kind, start=left, end=right, header=unit.header, lead=unit.lead)
            yield Measured(unit=part, element=element, words=count_words(text[left:right]))


def _code_blocks(text: str, unit: Unit) -> list[Span]:
    spans: list[Span] = []
    at = unit.start
    while at < unit.end:
        blank = text.find("\n\n", at, unit.end)
        end = unit.end if blank < 0 else blank
        if text[at:end].strip():
            spans.append((at, end))
        at = end
        while at < unit.end and text[at] == "\n":
            at += 1
    return spans


def _slices(text: str, start: int, end: int, hard_limit: int) -> list[Span]:
    """Cut after a word where there are too many of them."""
    if count_words(text[start:end]) <= hard_limit:
        return [(start, end)]
    spans: list[Span] = []
    for cut in [*word_ends(text, start, end, hard_limit), end]:
        while start < cut and text[start].isspace():
            start += 1
        if start < cut:
            spans.append((start, cut))
        start = cut
    return spans


class _Leads:
    """Remembers which sentence introduces a list: the one before it that ends in a colon; inside a nested
    list, the item above."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.by_level: dict[int, Span] = {}

    def before(self, element: Element) -> Span | None:
        """The lead of a list item."""
        level = max(element.level, 1)
        self.by_level = {key: span for key, span in self.by_level.items() if key < level or key == 0}
        if level > 1:
            above = [key for key in self.by_level if 0 < key < level]
            if above:
                return self.by_level[max(above)]
        return self.by_level.get(0)

    def after(self, element: Element, last: Unit) -> None:
        span = (last.start, last.end)
        if element.kind == "list_item":
            self.by_level[max(element.level, 1)] = span
            return
        if self.by_level:
            self.by_level = {}
        if element.kind == "paragraph" and self.text[last.start : last.end].endswith((":", "：")):
            self.by_level[0] = span
