"""Putting lines of a PDF together: which line breaks end a word, a line, a paragraph, a page."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

from clearcite.adapters.parsers.pdf_blocks import Block, Cell, lines_of
from clearcite.adapters.parsers.pdf_page import HYPHEN, Line

_WORD = re.compile(r"\w+")
_LAST_WORD = re.compile(r"\w+\Z")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_SENTENCE_END = (".", "!", "?", ":", ";", "。", "”", '"')
_HYPHENATED = re.compile(rf"(\w+){HYPHEN}(\w+)")


class Joiner(Struct, frozen=True, kw_only=True):
    """``spaced``: the writer ends wrapped lines in a space, as word processors do. Only then can a line break
    inside a word be told from one between words. ``words``: what stands unbroken in the running text."""

    spaced: bool
    words: frozenset[str]

    def paragraphs(self, lines: Sequence[Line]) -> list[str]:
        """Lines → paragraphs. A line without a space at its end, and not cut inside a word, ends one."""
        right = max((line.right for line in lines), default=0.0)
        found: list[str] = []
        text = ""
        for i, line in enumerate(lines):
            if i == 0:
                text = line.text
                continue
            glue = self._glue(text, line, lines[i - 1].right + line.first_width > right + 0.5)
            if glue is None:
                found.append(text)
                text = line.text
            else:
                text = _glued(text, line.text, glue)
        return [paragraph for paragraph in (*found, text) if paragraph.strip()]

    def cell(self, lines: Sequence[Line]) -> str:
        """Lines of a table cell → one line. Narrow cells cut words anywhere."""
        text = ""
        for line in lines:
            glue = self._glue(text, line, True) if text else ""
            text = _glued(text, line.text, " " if glue is None else glue)
        return text

    def _glue(self, text: str, line: Line, is_full: bool) -> str | None:
        """What stands between two lines: a space, nothing, or None for the end of a paragraph."""
        last, first = text[-1:], line.text[:1]
        if last == HYPHEN or (_UNSPACED.match(last) and _UNSPACED.match(first)):
            return ""
        if last.isspace() or first.isspace() or not self.spaced:
            return " "
        if last in "-–—/":
            return ""
        return "" if is_full and self._is_cut(text, line.text) else None

    def _is_cut(self, left: str, right: str) -> bool:
        """Whether a break without a space stands inside a word: both sides are not words of their own."""
        before, after = _LAST_WORD.search(left), _WORD.match(right)
        if before is None or after is None:
            return False
        if after[0][0].islower():
            return not (before[0].lower() in self.words and after[0].lower() in self.words)
        both_capitals = before[0][-1:].isupper() and after[0][:2].isupper()
        return both_capitals or (before[0][-1:].isdigit() and after[0][:1].isdigit())

    def unbroken(self, text: str) -> str:
        """A hyphen at a line's end stays, unless the document writes the word without it elsewhere."""
        if HYPHEN not in text:
            return text
        return _HYPHENATED.sub(self._without_hyphen, text).replace(HYPHEN, "-")

    def _without_hyphen(self, match: re.Match[str]) -> str:
        whole = match[1] + match[2]
        return whole if whole.lower() in self.words else f"{match[1]}-{match[2]}"

    def row_goes_on(self, above: Sequence[Cell], below: Sequence[Cell]) -> bool:
        """Whether a row at the top of a page continues the last row of the page before."""
        if len(below) < len(above):
            # A cut row has cells only where text was left over.
            return True
        for upper, lower in zip(above, below, strict=False):
            if self.spaced and upper and lower:
                end, start = upper[-1].text, lower[0].text
                if end[-1:].isspace() or (start[:1].islower() and self._is_cut(end, start)):
                    return True
        return False


def _glued(left: str, right: str, glue: str) -> str:
    return f"{left.rstrip()} {right.lstrip()}" if glue == " " else left + right


def make_joiner(blocks: Sequence[Block]) -> Joiner:
    words: set[str] = set()
    ends: Counter[bool] = Counter()
    for block in blocks:
        for lines in (block.lines, *(cell for row in block.rows for cell in row)):
            ends.update(line.text[-1:].isspace() for line in lines[:-1])
        for line in block.lines:
            words.update(_WORD.findall(line.text.lower()))
    return Joiner(spaced=ends[True] >= 5 and ends[True] > ends[False], words=frozenset(words))


def body_size(blocks: Sequence[Block]) -> float:
    """The height in which most characters are set."""
    sizes: Counter[float] = Counter()
    for block in blocks:
        for line in lines_of(block):
            sizes[round(line.size, 1)] += len(line.text)
    return max(sizes, key=lambda size: (sizes[size], -size)) if sizes else 0.0


def join_pages(blocks: Sequence[Block], joiner: Joiner) -> Iterator[Block]:
    """A paragraph or table row cut by the end of a page becomes one block again, of the page it begins on."""
    last: Block | None = None
    for block in blocks:
        if last is not None and block.page == last.page + 1:
            if _paragraph_goes_on(last, block):
                last.lines += block.lines
                continue
            if _take_rest_of_row(last, block, joiner) and not block.rows:
                continue
        if last is not None:
            yield last
        last = block
    if last is not None:
        yield last


def _paragraph_goes_on(last: Block, block: Block) -> bool:
    if block.kind != "paragraph" or last.kind not in ("paragraph", "list_item"):
        return False
    before, after = last.lines[-1].text.rstrip(), block.lines[0].text.lstrip()
    return not before.endswith(_SENTENCE_END) and after[:1].islower()


def _take_rest_of_row(last: Block, block: Block, joiner: Joiner) -> bool:
    if last.kind != "table" or block.kind != "table" or not last.rows or not block.rows:
        return False
    above, rest = last.rows[-1], block.rows[0]
    if len(rest) > len(above) or not joiner.row_goes_on(above, rest):
        return False
    lefts = [min((line.left for line in cell), default=-1.0) for cell in above]
    for cell in rest:
        if cell:
            nearest = min(range(len(lefts)), key=lambda i: abs(lefts[i] - cell[0].left))
            above[nearest].extend(cell)
    block.rows.pop(0)
    return True


def has_bold_header(block: Block) -> bool:
    """Whether the first row is bold and, if there are more, not every row is."""
    bold = [all(line.bold for cell in row for line in cell) and any(row) for row in block.rows]
    return bold[0] and (len(bold) == 1 or not all(bold))
