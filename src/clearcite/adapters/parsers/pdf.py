"""PDF → text. Blocks come from the structure tree where the file has one, else from where the text stands.

The canonical text is written here: blocks in order, words whole, table rows as ``a | b | c``, pages from 1.
What stands outside the structure (running headers, footers, page numbers) is left out, and so is text that no
reader would see; the latter raises a flag.
"""

import re
from collections import Counter
from collections.abc import Sequence

from clearcite.adapters.parsers.compose import Composer
from clearcite.adapters.parsers.pdf_blocks import Block, page_blocks
from clearcite.adapters.parsers.pdf_join import body_size, has_bold_header, join_pages, make_joiner
from clearcite.adapters.parsers.pdf_page import Line, Page, open_document, read_page
from clearcite.domain.corpus import ElementKind, ParsedDocument
from clearcite.errors import TooLarge
from clearcite.wire.decode import repair_text

MAX_PAGES = 3000

_NUMBERED = re.compile(r"(\d{1,2}(?:\.\d{1,2})*)(?:[.)]\s*|\s+)(?=[^\W\d])")
_SPACES = re.compile(r"[^\S\n]+")
_JUNK_TITLE = re.compile(
    r"(?:microsoft word - .*|untitled.*|.*\.(?:docx?|pdf|indd|tex|odt)|document\d*)\Z", re.I
)


def parse_pdf(content: bytes) -> ParsedDocument:
    """Raises InputError for an encrypted or damaged file, and for one with more than MAX_PAGES pages."""
    document = open_document(content)
    try:
        count = len(document)
        if count > MAX_PAGES:
            raise TooLarge(f"the PDF has more than {MAX_PAGES} pages")
        pages = [read_page(document, i) for i in range(count)]
        title = " ".join(document.get_metadata_value("Title").split())
    finally:
        document.close()
    _drop_repeated(pages)
    blocks = [block for page in pages for block in page_blocks(page)]
    assembly = _Assembly(blocks)
    composer = assembly.write()
    flags = ("hidden_text",) if any(page.invisible for page in pages) else ()
    return ParsedDocument(
        text=composer.text,
        elements=composer.elements,
        title=assembly.title if not title or _JUNK_TITLE.match(title) else repair_text(title),
        flags=flags,
        notes=(("parser", "pdf"), ("pages", str(count))),
    )


def _drop_repeated(pages: Sequence[Page]) -> None:
    """Drop lines at the top and bottom that stand on most pages, whatever number they carry."""
    if len(pages) < 3:
        return
    seen: Counter[str] = Counter()
    for page in pages:
        seen.update({_stripped(line) for line in page.lines if _is_at_edge(line, page)})
    often = {text for text, count in seen.items() if count * 2 > len(pages)}
    for page in pages:
        page.lines = [
            line for line in page.lines if not (_is_at_edge(line, page) and _stripped(line) in often)
        ]


def _is_at_edge(line: Line, page: Page) -> bool:
    return line.top < 0.08 * page.height or line.top > 0.92 * page.height


def _stripped(line: Line) -> str:
    return re.sub(r"\d+", "0", line.text.strip())


class _Assembly:
    """Blocks → one text and its elements."""

    def __init__(self, blocks: list[Block]) -> None:
        self.blocks = blocks
        self.joiner = make_joiner(blocks)
        self.body_size = body_size(blocks)
        self.title: str | None = None
        self.composer = Composer()
        self.header: tuple[int, int] | None = None
        self.columns = 0

    def write(self) -> Composer:
        self._take_title()
        for block in join_pages(self.blocks, self.joiner):
            if block.kind == "table":
                self._table(block)
                continue
            self.header = None
            self._text(block)
        return self.composer

    def _take_title(self) -> None:
        """Bold or large lines that open the document are its title."""
        lines: list[str] = []
        while self.blocks and len(lines) < 3:
            block = self.blocks[0]
            is_title = block.kind in ("heading", "paragraph") and self._stands_out(block)
            if not is_title or _NUMBERED.match(self._paragraphs(block)[0]):
                break
            lines.append(" ".join(self._paragraphs(block)))
            self.blocks.pop(0)
        if lines:
            self.title = self._resolved(" ".join(lines))
            self.composer.put("heading", self.title, level=1, page=1)

    def _text(self, block: Block) -> None:
        paragraphs = self._paragraphs(block)
        level = self._heading_level(block, paragraphs)
        for paragraph in paragraphs:
            text = self._resolved(paragraph)
            if text and level:
                self.composer.put("heading", text, level=level, page=block.page)
            elif text:
                kind: ElementKind = "list_item" if block.kind == "list_item" else "paragraph"
                self.composer.put(kind, text, level=block.level, page=block.page)

    def _heading_level(self, block: Block, paragraphs: Sequence[str]) -> int:
        """0 for what is no heading. A tagged heading of level n stands below the title: n + 1."""
        text = paragraphs[0] if len(paragraphs) == 1 else ""
        numbered = _NUMBERED.match(text)
        if block.kind == "heading":
            return min(block.level, 6)
        if (
            not text
            or len(text.split()) > 12
            or text.endswith((".", ",", ";"))
            or not self._stands_out(block)
        ):
            return 0
        if numbered:
            return min(numbered[1].count(".") + 2, 6)
        return 4 if block.kind == "paragraph" else 0

    def _stands_out(self, block: Block) -> bool:
        chars = sum(len(line.text.strip()) for line in block.lines)
        bold = sum(line.bold_chars for line in block.lines)
        large = all(line.size > 1.15 * self.body_size for line in block.lines)
        return chars > 0 and len(block.lines) <= 3 and (bold >= 0.9 * chars or large)

    def _table(self, block: Block) -> None:
        columns = max((len(row) for row in block.rows), default=0)
        goes_on = self.header is not None and columns == self.columns and not block.has_header
        for number, row in enumerate(block.rows):
            text = self._resolved(" | ".join(self.joiner.cell(cell).strip() for cell in row))
            if not text.replace("|", "").strip():
                continue
            is_header = number == 0 and not goes_on and (block.has_header or has_bold_header(block))
            header = None if is_header else self.header
            span = self.composer.put("table_row", text, header=header, page=block.page)
            if is_header:
                self.header, self.columns = span, columns
            elif number == 0 and not goes_on:
                self.header = None
        self.columns = columns

    def _paragraphs(self, block: Block) -> list[str]:
        return self.joiner.paragraphs(block.lines) or [""]

    def _resolved(self, text: str) -> str:
        return _SPACES.sub(" ", repair_text(self.joiner.unbroken(text).replace("\0", ""))).strip()
