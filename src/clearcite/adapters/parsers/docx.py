"""DOCX → text, from the two or three parts of the archive that hold it. Nothing is ever extracted to disk.

The XML is read as a stream by expat, with declarations of types and entities refused: no depth to recurse into,
nothing to expand. Deleted text, field codes and text marked as hidden are not part of the text.
"""

import io
import re
import struct
import zipfile
import zlib
from typing import Protocol
from xml.parsers import expat

from msgspec import Struct, field

from clearcite.adapters.parsers.compose import Composer
from clearcite.domain.corpus import ParsedDocument
from clearcite.errors import InputError, TooLarge
from clearcite.wire.decode import repair_text

MAX_MEMBERS = 5000
MAX_PART_BYTES = 100_000_000
MAX_TOTAL_BYTES = 500_000_000
MAX_RATIO = 200
MAX_DEPTH = 250

_BODY = "word/document.xml"
_STYLES = "word/styles.xml"
_CORE = "docProps/core.xml"
_WORD_NAMESPACES = (
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "http://purl.oclc.org/ooxml/wordprocessingml/main",
)
_HEADING_NAME = re.compile(r"(?:heading|título|titulo|überschrift|titre)\s*([1-9])\Z", re.IGNORECASE)
_OFF = ("0", "false", "off")


def parse_docx(content: bytes) -> ParsedDocument:
    """Raises InputError for what is not a sound archive, is encrypted, or is larger than it may be."""
    with _open(content) as archive:
        styles = _read_styles(_read(archive, _STYLES))
        title = _core_title(_read(archive, _CORE))
        body = _read(archive, _BODY)
    if body is None:
        raise InputError("the file is not a DOCX document")
    reader = _Body(styles)
    _parse(body, reader)
    composer = reader.composer
    text = composer.text
    heading = next((text[e.start : e.end] for e in composer.elements if e.kind == "heading"), None)
    return ParsedDocument(
        text=text,
        elements=composer.elements,
        title=reader.title or title or heading,
        flags=("hidden_text",) if reader.hidden else (),
        notes=(("parser", "docx"),),
    )


# --- archive ------------------------------------------------------------------------------------------------


def _open(content: bytes) -> zipfile.ZipFile:
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
    except (zipfile.BadZipFile, ValueError, OSError, struct.error, NotImplementedError):
        raise InputError("the file is not a DOCX document, or it is encrypted") from None
    names = archive.namelist()
    if len(names) > MAX_MEMBERS:
        raise TooLarge(f"the archive has more than {MAX_MEMBERS} members")
    if len(set(names)) != len(names):
        raise InputError("the archive names a member twice")
    if sum(member.file_size for member in archive.infolist()) > MAX_TOTAL_BYTES:
        raise TooLarge("the archive is too large when unpacked")
    return archive


def _read(archive: zipfile.ZipFile, name: str) -> bytes | None:
    """One member, streamed: what it unpacks to is counted, not believed."""
    try:
        member = archive.getinfo(name)
    except KeyError:
        return None
    if member.flag_bits & 1:
        raise InputError("the file is encrypted")
    limit = min(MAX_PART_BYTES, max(1_000_000, MAX_RATIO * member.compress_size))
    parts: list[bytes] = []
    size = 0
    try:
        with archive.open(member) as stream:
            while part := stream.read(65_536):
                size += len(part)
                if size > limit:
                    raise TooLarge("the archive is too large when unpacked")
                parts.append(part)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, ValueError):
        raise InputError("the archive is damaged") from None
    return b"".join(parts)


# --- XML ----------------------------------------------------------------------------------------------------


class _Handler(Protocol):
    """What reads a part: names come without their namespace, as ``w:name`` for those of Word."""

    def start(self, name: str, attributes: dict[str, str], /) -> None: ...

    def end(self, name: str, /) -> None: ...

    def data(self, text: str, /) -> None: ...


def _parse(xml: bytes, handler: _Handler) -> None:
    depth = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_DEPTH:
            raise TooLarge(f"the XML is nested deeper than {MAX_DEPTH} levels")
        handler.start(_short(name), {_short(key): value for key, value in attributes.items()})

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        handler.end(_short(name))

    parser = expat.ParserCreate(namespace_separator="\n")
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _refuse
    parser.EntityDeclHandler = _refuse
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = handler.data
    try:
        parser.Parse(xml, True)
    except (expat.ExpatError, ValueError):
        raise InputError("the XML of the document is damaged") from None


def _refuse(*_: object) -> None:
    raise InputError("the XML declares types or entities, which is not accepted")


def _short(name: str) -> str:
    namespace, _, local = name.rpartition("\n")
    return f"w:{local}" if namespace in _WORD_NAMESPACES else local


class _Styles:
    """Style id → level: 1 to 6 for headings, 0 for the title; and the styles of list items."""

    def __init__(self) -> None:
        self.levels: dict[str, int] = {}
        self.lists: set[str] = set()
        self.parents: dict[str, str] = {}
        self.style = ""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        value = attributes.get("w:val", "")
        if name == "w:style":
            self.style = attributes.get("w:styleId", "")
        elif not self.style:
            return
        elif name == "w:name":
            match = _HEADING_NAME.match(value.strip())
            if match:
                self.levels[self.style] = int(match[1])
            elif value.strip().lower() == "title":
                self.levels[self.style] = 0
        elif name == "w:outlineLvl" and value.isdigit() and int(value) < 9:
            self.levels.setdefault(self.style, int(value) + 1)
        elif name == "w:numPr":
            self.lists.add(self.style)
        elif name == "w:basedOn":
            self.parents[self.style] = value

    def end(self, name: str) -> None:
        if name == "w:style":
            self.style = ""

    def data(self, _: str) -> None:
        """Names stand in attributes."""


def _read_styles(xml: bytes | None) -> _Styles:
    """The styles, each with what it inherits from those it is based on."""
    styles = _Styles()
    if xml is None:
        return styles
    _parse(xml, styles)
    for style in styles.parents:
        seen = {style}
        parent: str | None = styles.parents[style]
        while parent and parent not in seen:
            if style not in styles.levels and parent in styles.levels:
                styles.levels[style] = styles.levels[parent]
            if parent in styles.lists:
                styles.lists.add(style)
            seen.add(parent)
            parent = styles.parents.get(parent)
    return styles


class _Core:
    def __init__(self) -> None:
        self.title = ""
        self.inside = False

    def start(self, name: str, _: dict[str, str]) -> None:
        self.inside = name == "title"

    def end(self, _: str) -> None:
        self.inside = False

    def data(self, text: str) -> None:
        if self.inside:
            self.title += text


def _core_title(xml: bytes | None) -> str | None:
    if xml is None:
        return None
    core = _Core()
    _parse(xml, core)
    return " ".join(repair_text(core.title).split()) or None


# --- body ---------------------------------------------------------------------------------------------------


class _Paragraph(Struct, kw_only=True):
    style: str = ""
    outline: int | None = None
    list_level: int | None = None
    text: str = ""


class _Table(Struct, kw_only=True):
    header: tuple[int, int] | None = None
    cells: list[str] = field(default_factory=list)
    rows: int = 0
    is_header: bool = False


class _Body:
    """Paragraphs and rows in order. A table inside a cell becomes part of the cell's text."""

    def __init__(self, styles: _Styles) -> None:
        self.styles = styles
        self.composer = Composer()
        self.title: str | None = None
        self.hidden = False
        self.paragraphs: list[_Paragraph] = []
        self.tables: list[_Table] = []
        self.skipped = 0
        self.run_hidden = False
        self.in_text = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if self.skipped or name in ("Fallback", "w:del", "w:moveFrom"):
            self.skipped += 1
            return
        value = attributes.get("w:val", "")
        if name == "w:p":
            self.paragraphs.append(_Paragraph())
        elif name == "w:tbl":
            self.tables.append(_Table())
        elif name == "w:tc" and self.tables:
            self.tables[-1].cells.append("")
        elif name == "w:tblHeader" and self.tables:
            self.tables[-1].is_header = value not in _OFF
        elif name == "w:r":
            self.run_hidden = False
        elif name == "w:vanish":
            self.run_hidden = value not in _OFF
        elif self.paragraphs:
            self._in_paragraph(name, value)

    def _in_paragraph(self, name: str, value: str) -> None:
        paragraph = self.paragraphs[-1]
        if name == "w:pStyle":
            paragraph.style = value
        elif name == "w:outlineLvl" and value.isdigit():
            paragraph.outline = int(value) + 1
        elif name == "w:numPr":
            paragraph.list_level = paragraph.list_level or 1
        elif name == "w:ilvl" and value.isdigit():
            paragraph.list_level = min(int(value), 8) + 1
        elif name == "w:t":
            self.in_text = True
        elif name in ("w:tab", "w:br", "w:cr") and not self.run_hidden:
            paragraph.text += "\n" if name != "w:tab" else " "
        elif name == "w:noBreakHyphen":
            paragraph.text += "-"

    def data(self, text: str) -> None:
        if self.skipped or not self.in_text or not self.paragraphs:
            return
        if self.run_hidden:
            self.hidden = self.hidden or bool(text.strip())
        else:
            self.paragraphs[-1].text += text

    def end(self, name: str) -> None:
        if self.skipped:
            self.skipped -= 1
        elif name == "w:t":
            self.in_text = False
        elif name == "w:r":
            self.run_hidden = False
        elif name == "w:p" and self.paragraphs:
            self._end_paragraph(self.paragraphs.pop())
        elif name == "w:tr" and self.tables:
            self._end_row(self.tables[-1])
        elif name == "w:tbl" and self.tables:
            self.tables.pop()

    def _end_paragraph(self, paragraph: _Paragraph) -> None:
        lines = (" ".join(line.split()) for line in repair_text(paragraph.text).split("\n"))
        text = "\n".join(line for line in lines if line)
        if not text:
            return
        if self.tables:
            cells = self.tables[-1].cells
            if cells:
                cells[-1] = f"{cells[-1]} {text}".strip().replace("\n", " ")
            return
        level = self.styles.levels.get(paragraph.style, paragraph.outline)
        if level is not None and level <= 6:
            self._heading(text, level)
        elif paragraph.list_level is not None or paragraph.style in self.styles.lists:
            self.composer.put("list_item", text, level=paragraph.list_level or 1)
        else:
            self.composer.put("paragraph", text)

    def _heading(self, text: str, level: int) -> None:
        line = text.replace("\n", " ")
        if level == 0 and self.title is None:
            self.title = line
        # Headings of a document with a title stand below it.
        self.composer.put(
            "heading", line, level=1 if level == 0 else min(level + (self.title is not None), 6)
        )

    def _end_row(self, table: _Table) -> None:
        cells, table.cells = table.cells, []
        is_header, table.is_header = table.is_header, False
        if len(self.tables) > 1:
            outer = self.tables[-2].cells
            if outer:
                outer[-1] = f"{outer[-1]} {' '.join(filter(None, cells))}".strip()
            return
        if not any(cells):
            return
        table.rows += 1
        first = table.rows == 1
        span = self.composer.put("table_row", " | ".join(cells), header=table.header)
        # Word marks few headers; a first row without digits, above others, reads as one.
        if first and (is_header or not any(char.isdigit() for cell in cells for char in cell)):
            table.header = span
