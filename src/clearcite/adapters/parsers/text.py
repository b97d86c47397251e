"""Plain text and reStructuredText, read as text with headings: the canonical text is the source itself."""

import re
from collections.abc import Callable

from clearcite.adapters.parsers.lines import Lines, Outline, first_heading
from clearcite.adapters.parsers.markdown import without_front_matter
from clearcite.domain.corpus import ParsedDocument

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1{2,}\s*\Z")
_BULLET = re.compile(r"(\s*)(?:[-*+•‣–]|#\.|\(?(?:\d{1,3}|[a-zA-Z])[.)])\s+(?=\S)")
_SILENT_DIRECTIVE = re.compile(
    r"\.\.\s*(?:\Z|_|\||\[|[^:\s]+\s*\Z"
    r"|(?:image|figure|raw|include|contents|toctree|index|meta|highlight|include|currentmodule)::)"
    r"|\.\.\s+(?!\S+::)"
)
_DIRECTIVE = re.compile(r"(\s*)\.\.\s+([\w-]+)::[^\S\n]*(.*)\Z")
_CODE_DIRECTIVES = frozenset(("code-block", "code", "sourcecode", "parsed-literal", "doctest", "prompt"))
_TITLE_WORDS = 12
_NO_TITLE = re.compile(r"[.!:;,…。！：；，、]\W*\Z|[:=]\s|[\d@]")
_FIELD = re.compile(r"\s+:[\w-]+:")


def parse_plain(source: str) -> ParsedDocument:
    """Paragraphs between empty lines, list items, headings underlined with one repeated mark."""
    return _parse(source, "text", lambda walk: walk.plain())


def parse_rst(source: str) -> ParsedDocument:
    """Like plain text; besides, literal blocks and code directives are code, and comments are no text."""
    return _parse(source, "rst", lambda walk: walk.rst())


def _parse(source: str, name: str, run: Callable[["_Walk"], None]) -> ParsedDocument:
    title, text, flags = without_front_matter(source)
    walk = _Walk(text)
    run(walk)
    elements = tuple(walk.outline.elements)
    return ParsedDocument(
        text=text,
        elements=elements,
        title=title or first_heading(elements, text),
        flags=flags,
        notes=(("parser", name),),
    )


class _Walk:
    """One pass over the lines."""

    def __init__(self, text: str) -> None:
        self.lines = Lines(text)
        self.outline = Outline()
        self.styles: list[str] = []
        self.at = 0

    def plain(self) -> None:
        self._title_line()
        while self.at < len(self.lines):
            if self._is_blank(self.at):
                self.at += 1
            elif not self._heading():
                self._block()

    def rst(self) -> None:
        while self.at < len(self.lines):
            if self._is_blank(self.at):
                self.at += 1
            elif not (self._directive() or self._heading()):
                ends_in_colons = self._block()
                if ends_in_colons:
                    self._indented_code()

    def _is_blank(self, number: int) -> bool:
        return not self.lines.line(number).strip()

    def _title_line(self) -> None:
        """A short first line between empty ones that ends as no sentence does heads the text."""
        first = next((number for number in range(len(self.lines)) if not self._is_blank(number)), None)
        if first is None or first + 2 >= len(self.lines) or not self._is_blank(first + 1):
            return
        line = self.lines.line(first)
        if len(line.split()) <= _TITLE_WORDS and not _NO_TITLE.search(line) and not _BULLET.match(line):
            self.outline.heading(self.lines.span(first, first + 1), 1, " ".join(line.split()))
            self.at = first + 1

    def _heading(self) -> bool:
        """An underlined line, with or without a line above; levels by the order in which styles appear."""
        first = self.at
        over = bool(_ADORNMENT.match(self.lines.line(first)))
        if over:
            first += 1
        if first + 1 >= len(self.lines):
            return self._rule(over)
        title, under = self.lines.line(first), self.lines.line(first + 1)
        mark = _ADORNMENT.match(under)
        if not title.strip() or not mark or (not over and title[:1].isspace()):
            return self._rule(over)
        if len(under.rstrip()) < min(len(title.strip()), 4) or _ADORNMENT.match(title):
            return self._rule(over)
        style = mark[1] + ("=" if over else "")
        if style not in self.styles:
            self.styles.append(style)
        span = self.lines.span(first, first + 1)
        level = min(self.styles.index(style) + 1, 6)
        self.outline.heading(span, level, " ".join(title.split()))
        self.at = first + 2
        return True

    def _rule(self, is_rule: bool) -> bool:
        """A line of marks alone separates and says nothing."""
        if is_rule:
            self.at += 1
        return is_rule

    def _block(self) -> bool:
        """Lines up to the next empty one, cut at list markers. True when it announces a literal block."""
        first = self.at
        while self.at < len(self.lines) and not self._is_blank(self.at):
            if self.at > first and self._is_underlined(self.at):
                break
            self.at += 1
        start, kind, level = first, "paragraph", 0
        for number in range(first, self.at):
            marker = _BULLET.match(self.lines.line(number))
            if marker is None:
                continue
            self._emit(start, number, kind, level)
            start, kind, level = number, "list_item", 1 + min(len(marker[1].expandtabs()) // 2, 8)
        self._emit(start, self.at, kind, level)
        return self.lines.line(self.at - 1).rstrip().endswith("::")

    def _is_underlined(self, number: int) -> bool:
        if number + 1 >= len(self.lines):
            return False
        under = self.lines.line(number + 1)
        title = self.lines.line(number)
        return (
            bool(_ADORNMENT.match(under))
            and not title[:1].isspace()
            and abs(len(under.rstrip()) - len(title.rstrip())) <= 2
        )

    def _emit(self, first: int, after: int, kind: str, level: int) -> None:
        if first >= after:
            return
        start, end = self.lines.span(first, after)
        if kind == "list_item":
            marker = _BULLET.match(self.lines.line(first))
            start = self.lines.starts[first] + marker.end() if marker else start
        self.outline.add(kind, (start, end), level=level)  # type: ignore[arg-type]

    # --- reStructuredText only ----------------------------------------------------------------------------

    def _directive(self) -> bool:
        line = self.lines.line(self.at)
        if not line.lstrip().startswith(".."):
            return False
        match = _DIRECTIVE.match(line)
        if match and match[2] in _CODE_DIRECTIVES:
            self.at += 1
            self._skip_fields()
            self._indented_code()
            return True
        if match and not _SILENT_DIRECTIVE.match(line.strip()):
            # An admonition: its argument and body are text for the reader.
            if match[3].strip():
                start = self.lines.starts[self.at] + match.start(3)
                self.outline.add("paragraph", (start, start + len(match[3].rstrip())))
            self.at += 1
            self._skip_fields()
            return True
        if _SILENT_DIRECTIVE.match(line.strip()):
            self.at += 1
            self._skip_indented(_indent(line))
            return True
        return False

    def _skip_fields(self) -> None:
        while self.at < len(self.lines) and _FIELD.match(self.lines.line(self.at)):
            self.at += 1

    def _skip_indented(self, indent: int) -> None:
        while self.at < len(self.lines):
            line = self.lines.line(self.at)
            if line.strip() and _indent(line) <= indent:
                return
            self.at += 1

    def _indented_code(self) -> None:
        while self.at < len(self.lines) and self._is_blank(self.at):
            self.at += 1
        if self.at >= len(self.lines) or not _indent(self.lines.line(self.at)):
            return
        first, indent, last = self.at, _indent(self.lines.line(self.at)), self.at
        while self.at < len(self.lines):
            line = self.lines.line(self.at)
            if line.strip():
                if _indent(line) < indent:
                    break
                last = self.at
            self.at += 1
        self.outline.add("code", (self.lines.starts[first], self.lines.span(first, last + 1)[1]))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
