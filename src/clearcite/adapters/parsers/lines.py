"""Building elements over lines of text: spans, headings above, and nothing that overlaps."""

from bisect import bisect_right
from collections.abc import Iterable

from msgspec import Struct, field

from clearcite.domain.corpus import Element, ElementKind


class Lines:
    """The lines of a text by number, with their spans; a line ends at ``\\n`` only."""

    def __init__(self, text: str, base: int = 0) -> None:
        self.text = text
        self.starts = [base]
        at = text.find("\n", base)
        while at >= 0:
            self.starts.append(at + 1)
            at = text.find("\n", at + 1)
        self.starts.append(len(text) + 1)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def line(self, number: int) -> str:
        return self.text[self.starts[number] : self.starts[number + 1] - 1]

    def number_at(self, offset: int) -> int:
        return bisect_right(self.starts, offset) - 1

    def span(self, first: int, after: int) -> tuple[int, int]:
        """Lines ``first`` to ``after`` (exclusive) without the white space around them."""
        return trimmed(self.text, self.starts[first], self.starts[after] - 1)


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without white space at its ends; an empty one collapses to its start."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


class Outline(Struct, kw_only=True):
    """Collects elements in order and knows the path of headings above each."""

    elements: list[Element] = field(default_factory=list)
    stack: list[tuple[int, str]] = field(default_factory=list)

    @property
    def path(self) -> tuple[str, ...]:
        return tuple(title for _, title in self.stack)

    def heading(self, span: tuple[int, int], level: int, title: str, page: int | None = None) -> None:
        while self.stack and self.stack[-1][0] >= level:
            self.stack.pop()
        if span[0] < span[1]:
            self.elements.append(
                Element(kind="heading", start=span[0], end=span[1], heading=self.path, level=level, page=page)
            )
            self.stack.append((level, title))

    def add(
        self,
        kind: ElementKind,
        span: tuple[int, int],
        *,
        level: int = 0,
        header: tuple[int, int] | None = None,
        page: int | None = None,
    ) -> None:
        if span[0] < span[1]:
            start, end = span
            self.elements.append(
                Element(
                    kind=kind, start=start, end=end, heading=self.path, level=level, header=header, page=page
                )
            )


def first_heading(elements: Iterable[Element], text: str) -> str | None:
    """The text of the first heading, on one line."""
    for element in elements:
        if element.kind == "heading":
            return " ".join(text[element.start : element.end].split())
    return None
