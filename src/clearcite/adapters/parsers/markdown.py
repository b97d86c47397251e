"""Markdown. The canonical text is the source itself without its front matter, so every span is verbatim."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from markdown_it import MarkdownIt
from markdown_it.token import Token

from clearcite.adapters.parsers.lines import Lines, Outline, trimmed
from clearcite.domain.corpus import Element, ParsedDocument
from clearcite.errors import InputError
from clearcite.wire.frontmatter import read_front_matter, split_front_matter

Span = tuple[int, int]

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_TAG = re.compile(r"<[^<>]*>")
_CLOSING_FENCE = re.compile(r"[\s>]*(`{3,}|~{3,})\s*\Z")
_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\([^()\s]*\)|\[[^\[\]]*\])")
_EMPHASIS = re.compile(r"(\*{1,3}|`+|(?<!\w)_{1,3}(?=\w))(.+?)\1")


def make_reader() -> MarkdownIt:
    """Blocks only: inline markup is not resolved, the text is quoted as it was written."""
    reader = MarkdownIt("commonmark", {"maxNesting": 60}).enable("table")
    reader.core.ruler.enableOnly(["normalize", "block"])
    return reader


_READER = make_reader()


def parse_markdown(source: str) -> ParsedDocument:
    """``source``: decoded, NFC, ``\\n``. Offsets of the result count from the first character of the body."""
    title, text, flags = without_front_matter(source)
    elements, has_hidden = read_blocks(text)
    if has_hidden:
        flags = (*flags, "hidden_text")
    if title is None:
        title = next((plain_inline(text[e.start : e.end]) for e in elements if e.kind == "heading"), None)
    return ParsedDocument(
        text=text, elements=elements, title=title, flags=flags, notes=(("parser", "markdown"),)
    )


def read_blocks(text: str) -> tuple[tuple[Element, ...], bool]:
    """The elements of a Markdown text, and whether it holds comments that a reader would not see."""
    walk = _Walk(text)
    for token in _READER.parse(text):
        walk.take(token)
    return tuple(walk.outline.elements), walk.hidden


def without_front_matter(source: str) -> tuple[str | None, str, tuple[str, ...]]:
    """Title of the front matter, the body, flags. Front matter that cannot be read is text, with a flag."""
    front, body = split_front_matter(source)
    if not front:
        return None, source[body:], ()
    try:
        title = read_front_matter(front).get("title")
    except InputError:
        return None, source, ("front_matter_unreadable",)
    return (title.strip() or None) if isinstance(title, str) else None, source[body:], ()


def plain_inline(text: str) -> str:
    """A heading as a reader sees it, on one line: link targets and marks of emphasis dropped."""
    text = _LINK.sub(r"\1", _COMMENT.sub("", text))
    text = _EMPHASIS.sub(r"\2", _EMPHASIS.sub(r"\2", text))
    return " ".join(text.split())


class _Walk:
    """One pass over the block tokens."""

    def __init__(self, text: str) -> None:
        self.lines = Lines(text)
        self.outline = Outline()
        self.hidden = False
        self.heading_level = 0
        self.lists = 0
        self.item_starts = False
        self.header: Span | None = None
        self.in_head = False

    def take(self, token: Token) -> None:
        handler = _HANDLERS.get(token.type)
        if handler is not None:
            handler(self, token)

    def _heading_open(self, token: Token) -> None:
        # A heading inside a quotation or a list is somebody else's: it opens no section here.
        self.heading_level = int(token.tag[1:]) if token.level == 0 else 0

    def _heading_close(self, _: Token) -> None:
        self.heading_level = 0

    def _bullet_list_open(self, _: Token) -> None:
        self.lists += 1

    _ordered_list_open = _bullet_list_open

    def _bullet_list_close(self, _: Token) -> None:
        self.lists -= 1
        self.item_starts = False

    _ordered_list_close = _bullet_list_close

    def _list_item_open(self, _: Token) -> None:
        self.item_starts = True

    def _thead_open(self, _: Token) -> None:
        self.in_head = True
        self.header = None

    def _thead_close(self, _: Token) -> None:
        self.in_head = False

    def _tr_open(self, token: Token) -> None:
        first, after = _map(token)
        span = self._without_markers(*self.lines.span(first, after))
        self.outline.add("table_row", span, header=None if self.in_head else self.header)
        if self.in_head:
            self.header = span

    def _table_close(self, _: Token) -> None:
        self.header = None

    def _td_open(self, _: Token) -> None:
        self.heading_level = -1

    _th_open = _td_open

    def _td_close(self, _: Token) -> None:
        self.heading_level = 0

    _th_close = _td_close

    def _inline(self, token: Token) -> None:
        if self.heading_level < 0 or not token.content:
            return
        span = self._located(token)
        if self.heading_level:
            title = plain_inline(token.content)
            self.outline.heading(span, self.heading_level, title)
            return
        kind = "list_item" if self.item_starts else "paragraph"
        level = self.lists if self.item_starts else 0
        self.item_starts = False
        for part in self._visible(span):
            self.outline.add(kind, part, level=level)  # type: ignore[arg-type]

    def _fence(self, token: Token) -> None:
        first, after = _map(token)
        closed = after - 1 > first and _CLOSING_FENCE.match(self.lines.line(after - 1))
        if first + 1 < (last := after - 1 if closed else after):
            self._code(first + 1, last)

    def _code_block(self, token: Token) -> None:
        self._code(*_map(token))

    def _code(self, first: int, after: int) -> None:
        # The indentation of the first line belongs to code.
        start, end = self.lines.span(first, after)
        start = max(self.lines.starts[self.lines.number_at(start)], self.lines.starts[first])
        self.outline.add("code", (start, end))
        self.item_starts = False

    def _html_block(self, token: Token) -> None:
        for start, end in self._visible(self.lines.span(*_map(token))):
            if _TAG.sub("", self.lines.text[start:end]).strip():
                self.outline.add("paragraph", (start, end))

    def _visible(self, span: Span) -> Iterator[Span]:
        """The span without HTML comments: a reader of the page never sees them."""
        text, (at, end) = self.lines.text, span
        if "<!--" in text[at:end]:
            for comment in _COMMENT.finditer(text, at, end):
                self.hidden = self.hidden or any(char.isalnum() for char in comment.group())
                yield trimmed(text, at, comment.start())
                at = comment.end()
        yield trimmed(text, at, end)

    def _located(self, token: Token) -> Span:
        """The span of inline content: from its first character, after any marker, to the end of its last."""
        first, after = _map(token)
        start, end = self.lines.span(first, after)
        opening = token.content.split("\n", 1)[0].strip()
        found = self.lines.line(first).find(opening)
        if found >= 0:
            start = self.lines.starts[first] + found
        if self.heading_level:
            found = self.lines.text.rfind(token.content.rsplit("\n", 1)[-1].strip(), start, end)
            end = found + len(token.content.rsplit("\n", 1)[-1].strip()) if found >= 0 else end
        return start, max(start, end)

    def _without_markers(self, start: int, end: int) -> Span:
        """A table row without its outer bars (one at each end) and the quotation marks before it."""
        text = self.lines.text
        while start < end and text[start] in "> ":
            start += 1
        if text.startswith("|", start, end):
            start += 1
        if end > start and text[end - 1] == "|" and text[end - 2] != "\\":
            end -= 1
        return trimmed(text, start, end)


_HANDLERS: Mapping[str, Callable[[_Walk, Token], None]] = MappingProxyType(
    {
        name.removeprefix("_"): handler
        for name, handler in vars(_Walk).items()
        if name.endswith(("_open", "_close")) or name in ("_inline", "_fence", "_code_block", "_html_block")
    }
)
"""By the type of a token: ``heading_open`` is taken by ``_heading_open``."""


def _map(token: Token) -> Sequence[int]:
    if token.map is None:
        raise InputError("the Markdown reader gave no place for a block")
    return token.map
