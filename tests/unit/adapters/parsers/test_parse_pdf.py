"""PDF without a structure tree: blocks by place; what nobody sees; what cannot be opened."""

import pytest

from clearcite.adapters.parsers.formats import parse_document
from clearcite.adapters.parsers.pdf import parse_pdf
from clearcite.domain.corpus import ParsedDocument
from clearcite.errors import InputError
from clearcite.wire.media import PDF
from tests.support.pdf import build_pdf, text


def rows(parsed: ParsedDocument) -> list[tuple[str, int | None, str]]:
    return [(e.kind, e.page, parsed.text[e.start : e.end]) for e in parsed.elements]


def frame(number: int) -> str:
    return text(72, 770, "ACME internal", size=9) + text(72, 30, f"Page {number} of 3", size=9)


def test_untagged_pages_give_headings_paragraphs_items_and_rows() -> None:
    page = (
        text(72, 720, "Travel rules", size=20, bold=True)
        + text(72, 690, "1. Hotels", size=14, bold=True)
        + text(72, 670, "Hotels cost at most EUR 120 a night and must be booked by the")
        + text(72, 656, "travel desk. Ask first.")
        + text(72, 615, "Steps:")
        + text(72, 600, "\x95 Ask the desk.".encode("latin-1").decode("latin-1"))
        + text(72, 586, "\x95 Wait for the answer, which can take up to")
        + text(80, 572, "two days.")
        + text(72, 540, "City", bold=True)
        + text(200, 540, "Limit", bold=True)
        + text(300, 540, "Note", bold=True)
        + text(72, 526, "Porto")
        + text(200, 526, "90")
        + text(300, 526, "with breakfast")
        + text(72, 512, "Lisbon")
        + text(200, 512, "120")
        + text(300, 512, "without")
        + text(300, 498, "breakfast")
    )
    parsed = parse_pdf(build_pdf([page]))
    assert rows(parsed) == [
        ("heading", 1, "Travel rules"),
        ("heading", 1, "1. Hotels"),
        (
            "paragraph",
            1,
            "Hotels cost at most EUR 120 a night and must be booked by the travel desk. Ask first.",
        ),
        ("paragraph", 1, "Steps:"),
        ("list_item", 1, "Ask the desk."),
        ("list_item", 1, "Wait for the answer, which can take up to two days."),
        ("table_row", 1, "City | Limit | Note"),
        ("table_row", 1, "Porto | 90 | with breakfast"),
        ("table_row", 1, "Lisbon | 120 | without breakfast"),
    ]
    header = parsed.elements[-1].header
    assert header is not None
    assert parsed.text[slice(*header)] == "City | Limit | Note"
    assert parsed.title == "Travel rules"


def test_running_headers_and_page_numbers_are_left_out_and_pages_count_from_1() -> None:
    pages = [
        text(72, 700, f"Body number {word}.") + frame(i + 1) for i, word in enumerate(("one", "two", "three"))
    ]
    parsed = parse_pdf(build_pdf(pages))
    assert rows(parsed) == [
        ("paragraph", 1, "Body number one."),
        ("paragraph", 2, "Body number two."),
        ("paragraph", 3, "Body number three."),
    ]


@pytest.mark.parametrize(
    "hidden",
    [
        text(72, 650, "SECRET", mode=3),
        text(72, 650, "SECRET", size=1),
        text(-900, 650, "SECRET"),
        text(72, 2000, "SECRET"),
    ],
)
def test_text_nobody_sees_is_left_out_and_raises_a_flag(hidden: str) -> None:
    parsed = parse_pdf(build_pdf([text(72, 700, "Visible words.") + hidden]))
    assert "SECRET" not in parsed.text
    assert parsed.flags == ("hidden_text",)


def test_the_control_visible_text_raises_no_flag() -> None:
    parsed = parse_pdf(build_pdf([text(72, 700, "Visible words.") + text(72, 650, "SECRET")]))
    assert "SECRET" in parsed.text
    assert parsed.flags == ()


def test_the_invisible_text_of_a_scanned_page_is_its_text() -> None:
    parsed = parse_pdf(build_pdf([text(72, 700, "Recognised words.", mode=3)]))
    assert parsed.text == "Recognised words."
    assert parsed.flags == ()


def test_a_hyphen_at_the_end_of_a_line_goes_when_the_word_stands_elsewhere_without_it() -> None:
    page = (
        text(72, 700, "The reimburse-")
        + text(72, 686, "ment of costs. A full-")
        + text(72, 672, "time post.")
    )
    parsed = parse_pdf(build_pdf([page + text(72, 600, "Every reimbursement counts.")]))
    assert parsed.text.startswith("The reimbursement of costs. A full-time post.")


def test_a_sentence_cut_by_a_page_is_one_paragraph_of_the_page_it_begins_on() -> None:
    parsed = parse_pdf(
        build_pdf([text(72, 100, "The report is due within"), text(72, 700, "five days of return.")])
    )
    assert rows(parsed) == [("paragraph", 1, "The report is due within five days of return.")]


def test_the_title_of_the_file_is_used_unless_it_is_a_file_name() -> None:
    page = text(72, 700, "Some words.")
    assert parse_pdf(build_pdf([page], title="Travel handbook")).title == "Travel handbook"
    for junk in ("Microsoft Word - x.docx", "untitled", "report.pdf"):
        assert parse_pdf(build_pdf([page], title=junk)).title is None


@pytest.mark.parametrize(
    "content",
    [b"", b"%PDF-1.7\n", b"not a pdf", build_pdf([text(1, 1, "x")])[:200]],
    ids=["empty", "magic only", "text", "cut off"],
)
def test_a_broken_file_is_an_input_error(content: bytes) -> None:
    with pytest.raises(InputError):
        parse_document(content, PDF)


def test_a_page_without_text_is_an_input_error() -> None:
    with pytest.raises(InputError, match="no text"):
        parse_document(build_pdf(["0 0 100 100 re f"]), PDF)


def test_an_encrypted_file_is_said_to_be_encrypted() -> None:
    import io

    pypdf = pytest.importorskip("pypdf")
    writer = pypdf.PdfWriter()
    writer.append(io.BytesIO(build_pdf([text(72, 700, "Secret words.")])))
    writer.encrypt("password", algorithm="RC4-128")
    target = io.BytesIO()
    writer.write(target)
    with pytest.raises(InputError, match="encrypted"):
        parse_pdf(target.getvalue())
