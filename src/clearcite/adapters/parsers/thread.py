"""A forum thread (JSON) as one text: the question under the title, then accepted answers and replies."""

from msgspec.structs import replace

from clearcite.adapters.parsers.lines import Outline
from clearcite.adapters.parsers.markdown import read_blocks
from clearcite.domain.corpus import Element, ParsedDocument
from clearcite.wire.decode import repair_text
from clearcite.wire.threads import read_thread, sections

# A level that opens no chunk of its own, so that a question and its answer stay together.
_ANSWER_LEVEL = 5
_REPLY_LEVEL = 3


def parse_thread(source: str) -> ParsedDocument:
    """The canonical text is written here: title, then each part under its heading, bodies as they were."""
    thread = read_thread(source)
    title = " ".join(repair_text(thread.title).split())
    outline = Outline()
    outline.heading((0, len(title)), 1, title)
    text = title
    flags: set[str] = set()
    for section in sections(thread):
        text += "\n\n"
        if section.heading:
            start = len(text)
            text += section.heading
            level = _ANSWER_LEVEL if section.is_answer else _REPLY_LEVEL
            outline.heading((start, len(text)), level, section.heading)
            text += "\n\n"
        body = repair_text(section.body).strip()
        elements, has_hidden = read_blocks(body)
        outline.elements += [_moved(element, len(text), outline.path) for element in elements]
        if has_hidden:
            flags.add("hidden_text")
        text += body
    return ParsedDocument(
        text=text,
        elements=tuple(outline.elements),
        title=title,
        flags=tuple(sorted(flags)),
        notes=(("parser", "thread"),),
    )


def _moved(element: Element, by: int, path: tuple[str, ...]) -> Element:
    """An element of a body at its place in the whole. A heading that a poster wrote opens no section."""
    header = element.header and (element.header[0] + by, element.header[1] + by)
    kind = "paragraph" if element.kind == "heading" else element.kind
    return replace(
        element, kind=kind, start=element.start + by, end=element.end + by, heading=path, header=header
    )
