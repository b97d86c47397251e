"""A unit of a passage in clauses that hold their values: a sentence cut between two values of one class, a table row
cut into its cells, each named by its row and its column."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from clearcite.text.candidates import Candidate
from clearcite.text.quoting import text_of
from clearcite.text.readings import Reading, readings

_MARKUP = re.compile(r"[*`|]|(?<!\w)_|_(?!\w)|^\s*(?:[-+•]|\d{1,2}[.)])\s+", re.MULTILINE)
_SENTENCE_END = re.compile(r"(?<=\w[.!?])\s+(?=[A-ZÀ-Þ])")
_CUT = re.compile(r"[;,]|\b(?:and|but|while|whereas|or|e|mas|enquanto|ou)\b", re.IGNORECASE)
_RATE_IN_HEADER = re.compile(r"\b(?:per|por)\s+\w+", re.IGNORECASE)
_CODE_IN_HEADER = re.compile(r"\b(?:EUR|USD|GBP|BRL|CHF|JPY)\b|[€$£¥]|R\$")
MOST_OF_A_CLASS = 2
"""Of more values of one class nobody knows which is meant: a list states nothing."""


class Clause(Struct, frozen=True, kw_only=True):
    """``found``: the values of the text, with spans in it. ``label``: the first cell of a row; with the name of its
    column where the row holds more values of the class, for then the column tells them apart."""

    text: str
    found: tuple[Reading, ...]
    label: str = ""
    is_cell: bool = False


def clauses(item: Candidate, language: str) -> Iterator[Clause]:
    own = own_text(item)
    if item.unit.kind == "table_row" and len(item.spans) == 2:
        yield from _cells(text_of(item.passage, item.spans[0]), own, language)
        return
    text = unmarked(own)
    found = _no_lists(readings(text, language))
    for start, end in _cut(text, found):
        inside = tuple(_moved(reading, -start) for reading in found if start <= reading.start < end)
        if inside:
            yield Clause(text=text[start:end], found=inside)


def _no_lists(found: Sequence[Reading]) -> list[Reading]:
    """Without the values of a class of which there are more than two: which of a list is meant, nobody knows."""
    counts = Counter((reading.kind, reading.unit_class) for reading in found)
    return [reading for reading in found if counts[(reading.kind, reading.unit_class)] <= MOST_OF_A_CLASS]


def own_text(item: Candidate) -> str:
    return text_of(item.passage, (item.unit.start, item.unit.end))


def unmarked(text: str) -> str:
    """The same length, marks of emphasis, code and lists blanked."""
    return _MARKUP.sub(lambda match: " " * len(match.group()), text)


def _moved(reading: Reading, by: int) -> Reading:
    return replace(reading, start=reading.start + by, end=reading.end + by)


def _cut(text: str, found: Sequence[Reading]) -> Iterator[tuple[int, int]]:
    """Between sentences, and between two values of one class at the first comma or conjunction between them."""
    start = 0
    last: dict[tuple[str, str], Reading] = {}
    ends = [match.start() for match in _SENTENCE_END.finditer(text)]
    for reading in found:
        for end in (end for end in ends if start < end <= reading.start):
            yield start, end
            start, last = end, {}
        before = last.get((reading.kind, reading.unit_class))
        if before is not None and (cut := _CUT.search(text, before.end, reading.start)):
            yield start, cut.start()
            start = cut.end()
            last = {}
        last[(reading.kind, reading.unit_class)] = reading
    yield start, next((end for end in ends if end > start), len(text))


def _cells(header: str, row: str, language: str) -> Iterator[Clause]:
    names, cells = _split(header), _split(row)
    if len(names) != len(cells) or len(cells) < 2:
        return
    found_in = [_with_unit(cell, name, language) for name, cell in zip(names[1:], cells[1:], strict=True)]
    classes = Counter(
        kind for value in found_in for kind in {(r.kind, r.unit_class) for r in readings(value, language)}
    )
    for name, value in zip(names[1:], found_in, strict=True):
        label = cells[0] if " " in cells[0] else f"{names[0]} {cells[0]}"
        text = f"{label}, {name}: {value}"
        at = len(text) - len(value)
        found = tuple(reading for reading in readings(text, language) if reading.start >= at)
        if found:
            is_one_of_several = any(classes[reading.kind, reading.unit_class] > 1 for reading in found)
            told = f"{cells[0]} {name}" if is_one_of_several else cells[0]
            yield Clause(text=text, found=found, label=told, is_cell=True)


def _split(row: str) -> list[str]:
    return [unmarked(cell).strip() for cell in row.strip().strip("|").split("|")]


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
