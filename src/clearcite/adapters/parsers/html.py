"""HTML → the text a reader sees. Scripts, styles, navigation and hidden parts are not in it."""

import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from selectolax.lexbor import LexborHTMLParser

from clearcite.adapters.parsers.compose import Composer
from clearcite.domain.corpus import ParsedDocument
from clearcite.errors import TooLarge
from clearcite.wire.decode import repair_text

MAX_DEPTH = 1500
"""The tree builder takes quadratic time in the depth of nesting: 200,000 levels are three minutes."""

_DROPPED = frozenset(
    (
        *(
            "script",
            "style",
            "template",
            "noscript",
            "head",
            "nav",
            "footer",
            "iframe",
            "object",
            "svg",
            "math",
        ),
        *("canvas", "select", "button", "input", "textarea", "audio", "video", "map", "dialog", "-comment"),
    )
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCKS = frozenset(
    (
        *("address", "article", "aside", "blockquote", "body", "caption", "dd", "details", "div", "dl", "dt"),
        *(
            "fieldset",
            "figcaption",
            "figure",
            "form",
            "header",
            "hgroup",
            "hr",
            "html",
            "legend",
            "li",
            "main",
        ),
        *("ol", "p", "pre", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul"),
        *_HEADINGS,
    )
)
_STRUCTURED = "table, h1, h2, h3, h4, h5, h6, ul, ol, pre, section, article"
_HIDDEN_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0*(?:\.0+)?\s*(?:;|!|\Z)"
    r"|font-size\s*:\s*0*(?:\.0+)?(?:px|pt|em|rem|%)?\s*(?:;|!|\Z)"
    r"|text-indent\s*:\s*-\d{3,}|(?:left|top|right)\s*:\s*-\d{4,}",
    re.IGNORECASE,
)
_WHITE = re.compile(
    r"(?:\A|;)\s*color\s*:\s*(?:white|#fff(?:fff)?|transparent|rgba?\(255,\s*255,\s*255)", re.IGNORECASE
)
_RULE = re.compile(r"([^{}]{1,500})\{([^{}]{0,2000})\}")
_SIMPLE_SELECTOR = re.compile(r"[a-zA-Z0-9]*([.#])([\w-]+)\Z")
_LISTS = frozenset(("ul", "ol", "dl"))
_ITEMS = frozenset(("li", "dt", "dd"))
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
_OPEN_ENDED = frozenset(
    (
        *(
            "p",
            "li",
            "dd",
            "dt",
            "tr",
            "td",
            "th",
            "thead",
            "tbody",
            "tfoot",
            "option",
            "colgroup",
            "rp",
            "rt",
        ),
        *(
            "area",
            "base",
            "br",
            "col",
            "embed",
            "hr",
            "img",
            "input",
            "link",
            "meta",
            "source",
            "track",
            "wbr",
        ),
    )
)


def parse_html(source: str) -> ParsedDocument:
    """Raises TooLarge for a tree nested too deeply to build in bounded time."""
    _check_depth(source)
    tree = LexborHTMLParser(source)
    walk = _Walk(_hidden_names(tree))
    title_node = tree.css_first("title")
    title = " ".join(title_node.text().split()) if title_node is not None else ""
    mains = tree.css("main")
    root = mains[0] if len(mains) == 1 else tree.body
    if root is not None:
        walk.run(root)
    elements = walk.composer.elements
    text = walk.composer.text
    heading = next((text[e.start : e.end] for e in elements if e.kind == "heading"), None)
    return ParsedDocument(
        text=text,
        elements=elements,
        title=repair_text(title) or heading,
        flags=("hidden_text",) if walk.hidden else (),
        notes=(("parser", "html"),),
    )


def _check_depth(source: str) -> None:
    depth = 0
    for match in _TAG.finditer(source):
        name = match[2].lower()
        if name in _OPEN_ENDED:
            continue
        depth = max(0, depth - 1) if match[1] else depth + 1
        if depth > MAX_DEPTH:
            raise TooLarge(f"the HTML is nested deeper than {MAX_DEPTH} levels")


def _hidden_names(tree: Any) -> frozenset[tuple[str, str]]:
    """(``.`` or ``#``, name) of the simple selectors that a style sheet of the page hides."""
    found: set[tuple[str, str]] = set()
    for sheet in tree.css("style"):
        for selectors, body in _RULE.findall(sheet.text()[:500_000]):
            if not _HIDDEN_STYLE.search(body):
                continue
            for selector in selectors.split(","):
                match = _SIMPLE_SELECTOR.match(selector.strip())
                if match:
                    found.add((match[1], match[2]))
    return frozenset(found)


class _Buffer(Struct, kw_only=True):
    """Inline text of the block that is open: what it will become when it ends."""

    kind: str = "paragraph"
    level: int = 0
    text: str = ""


class _Walk:
    """One pass over the tree, without recursion: a page may nest as deep as it likes."""

    def __init__(self, hidden_names: frozenset[tuple[str, str]]) -> None:
        self.composer = Composer()
        self.hidden_names = hidden_names
        self.hidden = False
        self.buffer = _Buffer()
        self.lists = 0
        self.preformatted = 0
        self.list_item_open = False
        self.item_level = 1

    def run(self, root: Any) -> None:
        for node, is_leaving in _events(root, self._is_entered):
            if is_leaving:
                self._leave(node.tag)
            elif node.is_text_node:
                self._take_text(node.text_content or "")
            else:
                self._enter(node)
        self._flush()

    def _is_entered(self, node: Any) -> bool:
        """Whether the walk goes into a node; a data table is taken whole."""
        tag = node.tag
        if tag in _DROPPED:
            return False
        if self._is_hidden(node):
            self.hidden = self.hidden or any(char.isalnum() for char in node.text(deep=True))
            return False
        if tag == "table" and not any(cell.css_first(_STRUCTURED) for cell in node.css("td, th")):
            self._flush()
            self._table(node)
            return False
        return True

    def _is_hidden(self, node: Any) -> bool:
        attributes = node.attributes
        if not attributes:
            return False
        style = attributes.get("style") or ""
        if "hidden" in attributes or _HIDDEN_STYLE.search(style):
            return True
        if _WHITE.search(style) and "background" not in style:
            return True
        if self.hidden_names:
            names = [(".", name) for name in (attributes.get("class") or "").split()]
            names.append(("#", attributes.get("id") or ""))
            return any(name in self.hidden_names for name in names)
        return False

    def _enter(self, node: Any) -> None:
        tag = node.tag
        if tag == "br":
            self.buffer.text += "\n"
        if tag not in _BLOCKS:
            return
        # A paragraph that begins a list item is the item.
        starts_item = self.list_item_open and not self.buffer.text.strip()
        self._flush()
        if tag in _HEADINGS:
            self.buffer = _Buffer(kind="heading", level=_HEADINGS[tag])
        elif tag in _LISTS:
            self.lists += 1
        elif tag in _ITEMS or (starts_item and tag in ("p", "div")):
            if tag in _ITEMS:  # what a term means stands below it, as an item of a list inside its item
                self.item_level = max(self.lists, 1) + (tag == "dd")
            self.buffer = _Buffer(kind="list_item", level=self.item_level)
            self.list_item_open = True
        elif tag == "pre":
            self.preformatted += 1
            self.buffer = _Buffer(kind="code")

    def _leave(self, tag: str) -> None:
        if tag not in _BLOCKS:
            return
        self._flush()
        if tag in _LISTS:
            self.lists -= 1
        elif tag == "pre":
            self.preformatted -= 1
        elif tag in _ITEMS:
            self.list_item_open = False

    def _take_text(self, text: str) -> None:
        self.buffer.text += text if self.preformatted else re.sub(r"\s+", " ", text)

    def _flush(self) -> None:
        buffer, self.buffer = self.buffer, _Buffer()
        text = _tidy(buffer.text, keeps_lines=buffer.kind == "code")
        if text:
            self.composer.put(buffer.kind, text, level=buffer.level)  # type: ignore[arg-type]
            if buffer.kind == "list_item":
                self.list_item_open = False

    def _table(self, table: Any) -> None:
        caption = table.css_first("caption")
        if caption is not None and (text := _tidy(caption.text(deep=True))):
            self.composer.put("paragraph", text)
        header: tuple[int, int] | None = None
        carried: dict[int, tuple[int, str]] = {}
        for number, row in enumerate(table.css("tr")):
            if self._is_hidden(row):
                self.hidden = True
                continue
            cells = [cell for cell in _children(row) if cell.tag in ("td", "th")]
            texts = _with_spans(cells, [self._cell_text(cell) for cell in cells], carried)
            if not any(texts):
                continue
            is_header = number == 0 and all(cell.tag == "th" for cell in cells)
            span = self.composer.put("table_row", " | ".join(texts).strip(), header=header)
            if is_header:
                header = span

    def _cell_text(self, cell: Any) -> str:
        """The visible text of a cell on one line."""
        pieces: list[str] = []
        for node, is_leaving in _events(
            cell, lambda node: node.tag not in _DROPPED and not self._hides(node)
        ):
            if is_leaving or node.tag in _BLOCKS or node.tag == "br":
                pieces.append(" ")
            elif node.is_text_node:
                pieces.append(node.text_content or "")
        return " ".join(repair_text("".join(pieces).replace("\0", "")).split())

    def _hides(self, node: Any) -> bool:
        is_hidden = self._is_hidden(node)
        self.hidden = self.hidden or is_hidden
        return is_hidden


def _with_spans(cells: list[Any], texts: list[str], carried: dict[int, tuple[int, str]]) -> list[str]:
    """The texts of a row, with those of cells above that reach down into it (``rowspan``)."""
    row: list[str] = []
    pending = list(zip(cells, texts, strict=True))
    while pending or len(row) in carried:
        column = len(row)
        if column in carried:
            left, text = carried.pop(column)
            row.append(text)
            if left > 1:
                carried[column] = (left - 1, text)
            continue
        cell, text = pending.pop(0)
        row.append(text)
        down = cell.attributes.get("rowspan") or ""
        if down.isascii() and down.isdigit() and 1 < int(down[:6]) <= 10_000:
            carried[column] = (int(down) - 1, text)
    return row


def _events(root: Any, is_entered: Any) -> Iterator[tuple[Any, bool]]:
    """(node, False) on the way down, (node, True) on the way up; what is not entered is not seen."""
    stack: list[tuple[Any, bool]] = [(root, False)]
    while stack:
        node, is_leaving = stack.pop()
        if is_leaving:
            yield node, True
            continue
        if node.is_text_node:
            yield node, False
        elif node is root or is_entered(node):
            yield node, False
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(_children(node)))


def _children(node: Any) -> list[Any]:
    found: list[Any] = []
    child = node.child
    while child is not None:
        if child.is_text_node or child.is_element_node:
            found.append(child)
        child = child.next
    return found


def _tidy(text: str, keeps_lines: bool = False) -> str:
    text = repair_text(text.replace("\0", ""))
    if keeps_lines:
        return text.strip("\n").rstrip()
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "\n".join(line for line in lines if line)
