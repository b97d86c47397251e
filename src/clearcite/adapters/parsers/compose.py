"""Writing a canonical text block by block, for formats whose own source is not what a person reads."""

from clearcite.adapters.parsers.lines import Outline
from clearcite.domain.corpus import Element, ElementKind

_TIGHT = ("list_item", "table_row")


class Composer:
    """Appends blocks: an empty line between them, a line break between items of a list and rows of a table."""

    def __init__(self) -> None:
        self.outline = Outline()
        self._pieces: list[str] = []
        self._at = 0

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    @property
    def elements(self) -> tuple[Element, ...]:
        return tuple(self.outline.elements)

    def put(
        self,
        kind: ElementKind,
        text: str,
        *,
        level: int = 0,
        header: tuple[int, int] | None = None,
        page: int | None = None,
    ) -> tuple[int, int]:
        """Append a block that is not blank; returns its span. ``text`` is NFC and begins and ends with text."""
        elements = self.outline.elements
        if elements:
            gap = "\n" if kind in _TIGHT and elements[-1].kind == kind else "\n\n"
            self._pieces.append(gap)
            self._at += len(gap)
        span = (self._at, self._at + len(text))
        self._pieces.append(text)
        self._at = span[1]
        if kind == "heading":
            self.outline.heading(span, level, " ".join(text.split()), page)
        else:
            self.outline.add(kind, span, level=level, header=header, page=page)
        return span
