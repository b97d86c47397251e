"""DOCX: headings by style, lists, tables; deleted and hidden text; archives that are not sound."""

import io
import zipfile

import pytest

from clearcite.adapters.parsers.docx import MAX_DEPTH, parse_docx
from clearcite.domain.corpus import ParsedDocument
from clearcite.errors import InputError, TooLarge
from tests.support.docx import build_docx, document, paragraph, table

STYLES = (
    '<w:style w:styleId="Ttl"><w:name w:val="Title"/></w:style>'
    '<w:style w:styleId="H1"><w:name w:val="heading 1"/></w:style>'
    '<w:style w:styleId="Own"><w:basedOn w:val="H1"/><w:name w:val="My heading"/></w:style>'
    '<w:style w:styleId="Out"><w:name w:val="x"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>'
    '<w:style w:styleId="Lst"><w:name w:val="List Bullet"/><w:pPr><w:numPr/></w:pPr></w:style>'
    '<w:style w:styleId="Loop"><w:basedOn w:val="Loop2"/></w:style>'
    '<w:style w:styleId="Loop2"><w:basedOn w:val="Loop"/></w:style>'
)


def rows(parsed: ParsedDocument) -> list[tuple[str, str]]:
    return [(element.kind, parsed.text[element.start : element.end]) for element in parsed.elements]


def test_styles_make_headings_and_lists_and_cells_make_rows() -> None:
    parsed = parse_docx(
        build_docx(
            paragraph("The title", style="Ttl") + paragraph("One", style="H1") + paragraph("Plain.")
            + paragraph("a", style="Lst") + paragraph("b", extra='<w:numPr><w:ilvl w:val="1"/></w:numPr>')
            + paragraph("Two", style="Own")
            + table(("City", "Limit"), ("Porto", "90")) + paragraph("Three", style="Out"),
            styles=STYLES,
        )
    )  # fmt: skip
    assert rows(parsed) == [
        ("heading", "The title"), ("heading", "One"), ("paragraph", "Plain."), ("list_item", "a"), ("list_item", "b"),
        ("heading", "Two"), ("table_row", "City | Limit"), ("table_row", "Porto | 90"), ("heading", "Three"),
    ]  # fmt: skip
    assert parsed.title == "The title"
    assert [e.level for e in parsed.elements if e.kind == "heading"] == [1, 2, 2, 3]
    assert parsed.elements[7].header is not None


def test_deleted_hidden_and_doubled_text_is_left_out() -> None:
    body = (
        "<w:p><w:del><w:r><w:t>GONE</w:t></w:r></w:del><w:r><w:t>kept</w:t></w:r>"
        "<w:r><w:rPr><w:vanish/></w:rPr><w:t>SECRET</w:t></w:r><w:r><w:t> too</w:t><w:tab/><w:t>end</w:t></w:r>"
        "<w:r><w:instrText>FIELD</w:instrText></w:r></w:p>"
    )
    parsed = parse_docx(build_docx(body))
    assert parsed.text == "kept too end"
    assert parsed.flags == ("hidden_text",)


def test_the_title_of_the_file_is_used_when_no_style_gives_one() -> None:
    assert parse_docx(build_docx(paragraph("x"), core="Core title")).title == "Core title"
    assert parse_docx(build_docx(paragraph("x"))).title is None


def test_a_table_inside_a_cell_becomes_text_of_the_cell() -> None:
    inner = "<w:tbl><w:tr><w:tc>" + paragraph("deep") + "</w:tc></w:tr></w:tbl>"
    outer = (
        "<w:tbl><w:tr><w:tc>"
        + paragraph("a")
        + inner
        + "</w:tc><w:tc>"
        + paragraph("b")
        + "</w:tc></w:tr></w:tbl>"
    )
    assert rows(parse_docx(build_docx(outer))) == [("table_row", "a deep | b")]


@pytest.mark.parametrize(
    "content",
    [b"", b"PK\x03\x04", b"\xd0\xcf\x11\xe0" + b"\0" * 600, build_docx("x")[:100]],
    ids=["empty", "magic only", "another format", "cut off"],
)
def test_what_is_no_archive_is_an_input_error(content: bytes) -> None:
    with pytest.raises(InputError):
        parse_docx(content)


def test_an_archive_without_a_document_is_an_input_error() -> None:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("other.xml", "<a/>")
    with pytest.raises(InputError):
        parse_docx(target.getvalue())


def test_a_member_named_twice_is_refused() -> None:
    with pytest.warns(UserWarning, match="Duplicate name"):
        content = build_docx(paragraph("x"), more={"word/document.xml": document(paragraph("y")).encode()})
    with pytest.raises(InputError, match="twice"):
        parse_docx(content)


def test_too_many_members_are_refused() -> None:
    with pytest.raises(TooLarge):
        parse_docx(build_docx(paragraph("x"), more={f"m{i}": b"" for i in range(5001)}))


def test_a_part_that_unpacks_to_far_more_than_it_weighs_is_refused() -> None:
    with pytest.raises(TooLarge):
        parse_docx(build_docx(paragraph(" " * 30_000_000)))


def test_entities_and_types_are_refused() -> None:
    laughs = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10 if i else "lol"}">' for i in range(10))
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("word/document.xml", f"<!DOCTYPE x [{laughs}]><x>&l9;</x>")
    with pytest.raises(InputError, match="entities"):
        parse_docx(target.getvalue())


def test_depth_of_the_xml_is_bounded() -> None:
    with pytest.raises(TooLarge):
        parse_docx(build_docx("<a>" * MAX_DEPTH + "</a>" * MAX_DEPTH))


def test_broken_xml_is_an_input_error() -> None:
    with pytest.raises(InputError):
        parse_docx(build_docx("<w:p>"))
