"""The contract of ``storing.Parser``: subclass ``ParserSuite``, say how to open one, and let pytest collect it.

Every check raises through ``expect``, so the suite also holds under ``python -O``.
"""

from contextlib import AbstractContextManager

from clearcite.domain.corpus import ParsedDocument
from clearcite.errors import InputError
from clearcite.storing import Parser
from clearcite.testing.expect import expect, expect_equal, expect_raises

MARKDOWN = "text/markdown"

SAMPLES: tuple[tuple[str, bytes], ...] = (
    (
        MARKDOWN,
        b"---\ntitle: T\n---\n# Head\n\nOne sentence. Two.\n\n- a\n- b\n\n| x | y |\n|---|---|\n| 1 | 2 |\n",
    ),
    (MARKDOWN, "Ünïcode \U0001f600 e\u0301 text\r\nwith \u200bzero width.".encode()),
    ("text/plain", b"Title\n=====\n\nA paragraph.\n\n1. one\n2. two\n"),
    ("text/x-rst", b"Title\n=====\n\nA paragraph::\n\n    code here\n\nMore.\n"),
    ("text/html", b"<title>T</title><h1>H</h1><p>One.<ul><li>a<li>b</ul><table><tr><th>x<tr><td>1</table>"),
)


class ParserSuite:
    """``open_parser`` yields a parser and closes it."""

    def open_parser(self) -> AbstractContextManager[Parser]:
        raise NotImplementedError

    def test_elements_lie_inside_the_text_in_order_and_do_not_overlap(self) -> None:
        with self.open_parser() as parser:
            for media_type, content in SAMPLES:
                check_spans(parser.parse(content, media_type))

    def test_the_same_bytes_give_the_same_document(self) -> None:
        with self.open_parser() as parser:
            for media_type, content in SAMPLES:
                first = parser.parse(content, media_type)
                expect_equal(parser.parse(content, media_type), first, "a second parse")

    def test_text_comes_out_in_nfc_with_line_feeds(self) -> None:
        with self.open_parser() as parser:
            text = parser.parse("e\u0301\r\na\rb".encode(), MARKDOWN).text
        expect_equal(text, "\u00e9\na\nb", "canonical text")

    def test_a_refusal_is_an_input_error_and_spoils_nothing(self) -> None:
        with self.open_parser() as parser:
            for content, media_type in ((b"\xff\xfe", MARKDOWN), (b"x", "image/png"), (b" \n", MARKDOWN)):
                error = expect_raises(InputError, parser.parse, content, media_type)
                expect("/" not in error.message.replace("media/", ""), "a message names no path")
            expect_equal(parser.parse(b"fine", MARKDOWN).text, "fine", "the next document")

    def test_many_documents_come_back_in_their_order_refusals_among_them(self) -> None:
        documents = [(f"document {i}".encode() if i % 7 else b"\xff", MARKDOWN) for i in range(50)]
        with self.open_parser() as parser:
            results = list(parser.parse_many(documents))
        expect_equal(len(results), len(documents), "the number of results")
        for i, result in enumerate(results):
            if i % 7:
                expect(isinstance(result, ParsedDocument), f"document {i} was parsed")
                expect_equal(getattr(result, "text", ""), f"document {i}", "its text")
            else:
                expect(isinstance(result, InputError), f"document {i} was refused")


def check_spans(parsed: ParsedDocument) -> None:
    """Spans of elements and headers are inside the text, in order, not empty, and trimmed."""
    at = 0
    for element in parsed.elements:
        expect(
            at <= element.start < element.end <= len(parsed.text), "spans are in order and inside the text"
        )
        piece = parsed.text[element.start : element.end]
        if element.kind != "code":
            expect_equal(piece, piece.strip(), "an element without white space around it")
        if element.header is not None:
            expect(
                0 <= element.header[0] < element.header[1] <= element.start, "a header stands above its row"
            )
        at = element.end
