"""Lines of a page → blocks (headings, paragraphs, list items, tables): by tags, else by place."""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from clearcite.adapters.parsers.pdf_page import Line, Node, Page

Cell = list[Line]

_HEADING = re.compile(r"H(?:eading\s*)?([1-6])?", re.IGNORECASE)
_PARAGRAPHS = frozenset(("P", "Caption", "BlockQuote", "Note", "FENote", "Code", "Formula", "TOCI", "Index"))
_COVERED = 0.7
"""A page whose tags cover less of its text than this is read by place."""


class Block(Struct, kw_only=True):
    """``lines`` of a text block, or ``rows`` of a table (each cell a list of lines)."""

    kind: Literal["heading", "paragraph", "list_item", "table"]
    page: int
    lines: list[Line] = field(default_factory=list)
    rows: list[list[Cell]] = field(default_factory=list)
    level: int = 0
    has_header: bool = False


def page_blocks(page: Page) -> list[Block]:
    """The blocks of one page in reading order."""
    by_tag: dict[int, list[Line]] = {}
    for line in page.lines:
        if line.tag is not None:
            by_tag.setdefault(line.tag, []).append(line)
    blocks = [block for block in _Tagged(page, by_tag).read() if next(lines_of(block), None)]
    tagged = sum(_size(line) for block in blocks for line in lines_of(block))
    total = sum(map(_size, page.lines))
    if total and tagged >= _COVERED * total:
        # Writers nest lists oddly; the order in which the text is drawn is the order in which it is read.
        return sorted(blocks, key=lambda block: min(line.number for line in lines_of(block)))
    return list(_by_place(page))


def _size(line: Line) -> int:
    return len(line.text.strip())


def lines_of(block: Block) -> Iterator[Line]:
    yield from block.lines
    for row in block.rows:
        for cell in row:
            yield from cell


class _Tagged:
    """Walks the structure tree; each piece of content is taken once."""

    def __init__(self, page: Page, by_tag: dict[int, list[Line]]) -> None:
        self.page = page
        self.by_tag = by_tag
        self.lists = 0

    def read(self) -> Iterator[Block]:
        for node in self.page.tree:
            yield from self._node(node)

    def _node(self, node: Node) -> Iterator[Block]:
        heading = _HEADING.fullmatch(node.kind)
        if heading or node.kind == "Title":
            level = int(heading[1] or 1) if heading else 0
            yield self._text("heading", node, level + 1)
        elif node.kind == "Table":
            yield self._table(node)
        elif node.kind == "L":
            self.lists += 1
            for child in node.children:
                if isinstance(child, Node):
                    yield from self._item(child) if child.kind == "LI" else self._node(child)
            self.lists -= 1
        elif node.kind in _PARAGRAPHS or any(isinstance(child, int) for child in node.children):
            yield self._text("paragraph", node, 0)
        else:
            for child in node.children:
                if isinstance(child, Node):
                    yield from self._node(child)

    def _item(self, node: Node) -> Iterator[Block]:
        """One list item without its label; lists inside it follow as items of their own."""
        body = Node(kind="LI")
        nested: list[Node] = []
        pending = [child for child in node.children if not (isinstance(child, Node) and child.kind == "Lbl")]
        while pending:
            child = pending.pop(0)
            if isinstance(child, Node) and child.kind in ("L", "Table"):
                nested.append(child)
            elif isinstance(child, Node) and child.kind == "LBody":
                pending = child.children + pending
            else:
                body.children.append(child)
        yield self._text("list_item", body, self.lists)
        for inner in nested:
            yield from self._node(inner)

    def _text(self, kind: Literal["heading", "paragraph", "list_item"], node: Node, level: int) -> Block:
        return Block(kind=kind, page=self.page.number, lines=self._lines(node), level=level)

    def _table(self, node: Node) -> Block:
        rows: list[list[Cell]] = []
        has_header = False
        for row in _find(node, "TR"):
            cells = [
                child for child in row.children if isinstance(child, Node) and child.kind in ("TD", "TH")
            ]
            if not rows and cells and all(cell.kind == "TH" for cell in cells):
                has_header = True
            rows.append([self._lines(cell) for cell in cells])
        return Block(kind="table", page=self.page.number, rows=rows, has_header=has_header)

    def _lines(self, node: Node) -> list[Line]:
        tags: list[int] = []
        pending: list[int | Node] = [node]
        while pending:
            item = pending.pop(0)
            if isinstance(item, int):
                tags.append(item)
            else:
                pending = item.children + pending
        found = [line for tag in tags for line in self.by_tag.pop(tag, ())]
        return merge_lines(found)


def _find(node: Node, kind: str) -> Iterator[Node]:
    for child in node.children:
        if isinstance(child, Node):
            if child.kind == kind:
                yield child
            elif child.kind != "Table":
                yield from _find(child, kind)


def merge_lines(runs: Sequence[Line]) -> list[Line]:
    """Runs of the same line become one, with a space where pdfium sees a gap."""
    lines: list[Line] = []
    for run in runs:
        if lines and lines[-1].number == run.number:
            extend_line(lines[-1], run)
        else:
            lines.append(replace(run))
    return [line for line in lines if line.text.strip()]


def extend_line(line: Line, more: Line) -> None:
    line.text += (" " if line.gap else "") + more.text
    line.gap = more.gap
    line.right = max(line.right, more.right)
    line.bold_chars += more.bold_chars
    line.bold = line.bold and more.bold


# --- by place -----------------------------------------------------------------------------------------------

_BULLET = re.compile(r"\s*(?:[●•▪◦‣■□*–-]|\(?(?:\d{1,2}|[a-zA-Z])[.)])\s+(?=\S)")


def _by_place(page: Page) -> Iterator[Block]:
    """Untagged text: lines in pdfium's order, blocks by gaps, columns of a table by their left edges."""
    rows = _visual_rows(page.lines)
    at = 0
    while at < len(rows):
        table, used = _table_rows(rows, at)
        if len(table) >= 2:
            yield Block(kind="table", page=page.number, rows=table)
            at += used
            continue
        block = Block(kind="paragraph", page=page.number, lines=[_joined(rows[at])])
        first = block.lines[0]
        # A bold numbered line is a heading, and its number belongs to it.
        if _BULLET.match(first.text) and not (first.bold and first.text.lstrip()[:1].isdigit()):
            block.kind, block.level = "list_item", 1
        at += 1
        while at < len(rows) and _continues(block.lines, rows[at]) and len(_table_rows(rows, at)[0]) < 2:
            block.lines.append(_joined(rows[at]))
            at += 1
        if block.kind == "list_item":
            first.text = _BULLET.sub("", first.text, count=1)
        yield block


def _visual_rows(runs: Sequence[Line]) -> list[list[Line]]:
    """Cells of each line of the page: runs closer than a wide gap belong together."""
    rows: list[list[Line]] = []
    for run in runs:
        last = rows[-1][-1] if rows else None
        same_row = last is not None and (
            last.number == run.number or (abs(last.top - run.top) < last.size / 2 and run.left > last.right)
        )
        if last is None or not same_row:
            rows.append(merge_lines([run]) or [])
        elif run.left - last.right > 1.2 * last.size:
            rows[-1] += merge_lines([run])
        else:
            extend_line(last, run)
        if not rows[-1]:
            rows.pop()
    return rows


def _table_rows(rows: Sequence[list[Line]], at: int) -> tuple[list[list[Cell]], int]:
    """Consecutive lines of several cells that begin where those of the first line do, and how many lines
    they take: a line of one cell that is not the first goes on with that cell of the row above."""
    first = rows[at]
    if len(first) < 2 or _BULLET.fullmatch(first[0].text + " x"):
        return [], 0
    found: list[list[Cell]] = []
    for used, row in enumerate(rows[at:]):
        cells: list[Cell] = [[] for _ in first]
        for line in row:
            near = [i for i, cell in enumerate(first) if abs(cell.left - line.left) < line.size]
            if not near:
                return found, used
            cells[near[0]].append(line)
        if len(row) == 1 and found and row[0].left > first[0].left + row[0].size:
            for cell, more in zip(found[-1], cells, strict=True):
                cell.extend(more)
        elif len(row) < 2:
            return found, used
        else:
            found.append(cells)
    return found, len(rows) - at


def _joined(row: Sequence[Line]) -> Line:
    line = row[0]
    for other in row[1:]:
        line.text = f"{line.text.rstrip()} {other.text}"
        line.right = max(line.right, other.right)
        line.bold_chars += other.bold_chars
    return line


def _continues(block: Sequence[Line], row: Sequence[Line]) -> bool:
    """Whether a line goes on with the paragraph above it."""
    last, line = block[-1], row[0]
    if _BULLET.match(line.text) or abs(line.size - last.size) > 0.1 * last.size or line.bold != last.bold:
        return False
    gap = line.top - last.top
    return 0 < gap < 1.7 * last.size
