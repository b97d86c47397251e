"""Bytes of a known media type → ParsedDocument, in this process. Hostile input belongs into the child."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from msgspec.structs import replace

from clearcite.adapters.parsers.docx import parse_docx
from clearcite.adapters.parsers.frames import check_document
from clearcite.adapters.parsers.html import parse_html
from clearcite.adapters.parsers.markdown import parse_markdown
from clearcite.adapters.parsers.pdf import parse_pdf
from clearcite.adapters.parsers.text import parse_plain, parse_rst
from clearcite.adapters.parsers.thread import parse_thread
from clearcite.domain.corpus import ParsedDocument
from clearcite.errors import InputError
from clearcite.wire import media
from clearcite.wire.decode import decode_text

_TEXTUAL: Mapping[str, Callable[[str], ParsedDocument]] = MappingProxyType(
    {
        media.MARKDOWN: parse_markdown,
        media.PLAIN: parse_plain,
        media.RST: parse_rst,
        media.THREAD: parse_thread,
        media.HTML: parse_html,
    }
)
_BINARY: Mapping[str, Callable[[bytes], ParsedDocument]] = MappingProxyType(
    {media.PDF: parse_pdf, media.DOCX: parse_docx}
)


def parse_document(content: bytes, media_type: str) -> ParsedDocument:
    """Raises InputError for an unknown type, for what cannot be parsed, and for a document without text."""
    if media_type in _TEXTUAL:
        parsed = _TEXTUAL[media_type](decode_text(content))
    elif media_type in _BINARY:
        parsed = _BINARY[media_type](content)
    else:
        raise InputError("the media type is not known")
    if not parsed.elements:
        raise InputError("the document holds no text")
    check_document(parsed)
    if parsed.title is None:
        parsed = replace(parsed, flags=(*parsed.flags, "no_title"))
    return parsed


class LocalParser:
    """The parsers in this process, without limits: for tests and for text one wrote oneself."""

    def parse(self, content: bytes, media_type: str) -> ParsedDocument:
        return parse_document(content, media_type)

    def parse_many(self, documents: Sequence[tuple[bytes, str]]) -> Iterator[ParsedDocument | InputError]:
        for content, media_type in documents:
            try:
                yield parse_document(content, media_type)
            except InputError as error:
                yield error
