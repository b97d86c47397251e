"""HTML: what a reader sees, and nothing a reader does not see."""

import pytest

from clearcite.adapters.parsers.html import MAX_DEPTH, parse_html
from clearcite.domain.corpus import ParsedDocument
from clearcite.errors import TooLarge


def rows(parsed: ParsedDocument) -> list[tuple[str, str]]:
    return [(element.kind, parsed.text[element.start : element.end]) for element in parsed.elements]


def test_blocks_of_every_kind_come_out_in_order() -> None:
    parsed = parse_html(
        "<title>The  title</title><h1>Head <b>line</b></h1>loose<p>One\n two<br>three</p><ul><li>a<li><p>b</p><p>c</p>"
        "<ol><li>d</ol></ul><pre>x = 1\n\n  y</pre><div>in a div</div>"
    )
    assert parsed.title == "The title"
    assert rows(parsed) == [
        ("heading", "Head line"),
        ("paragraph", "loose"),
        ("paragraph", "One two\nthree"),
        ("list_item", "a"),
        ("list_item", "b"),
        ("paragraph", "c"),
        ("list_item", "d"),
        ("code", "x = 1\n\n  y"),
        ("paragraph", "in a div"),
    ]


def test_a_term_leads_in_what_it_means() -> None:
    parsed = parse_html("<dl><dt>Oven<dd>Out of order.<dt>Pans<dd><p>Dry them.</p></dl><ul><li>End</ul>")
    assert [
        (element.level, text) for element, (_, text) in zip(parsed.elements, rows(parsed), strict=True)
    ] == [
        (1, "Oven"),
        (2, "Out of order."),
        (1, "Pans"),
        (2, "Dry them."),
        (1, "End"),
    ]


def test_table_rows_carry_their_header_and_cells_that_reach_down() -> None:
    parsed = parse_html(
        "<table><caption>Limits</caption><tr><th>City<th>Class<th>Max</tr><tr><td rowspan=2>Porto<td>A<td>90 <i>EUR</i>"
        "<tr><td>B<td><p>80</p></table>"
    )
    assert rows(parsed) == [
        ("paragraph", "Limits"),
        ("table_row", "City | Class | Max"),
        ("table_row", "Porto | A | 90 EUR"),
        ("table_row", "Porto | B | 80"),
    ]
    assert [e.header and parsed.text[slice(*e.header)] for e in parsed.elements[2:]] == [
        "City | Class | Max"
    ] * 2


def test_a_table_used_for_layout_is_read_as_blocks() -> None:
    parsed = parse_html("<table><tr><td><h2>H</h2><p>text</p><td><ul><li>i</ul></table>")
    assert [kind for kind, _ in rows(parsed)] == ["heading", "paragraph", "list_item"]


@pytest.mark.parametrize(
    "hidden",
    [
        '<p style="display:none">SECRET</p>', '<p style="color:red; display : NONE !important">SECRET</p>',
        "<p hidden>SECRET</p>", '<span style="visibility:hidden">SECRET</span>', '<p style="font-size:0">SECRET</p>',
        '<p style="font-size:0px;">SECRET</p>', '<p style="opacity:0">SECRET</p>', '<p style="color:#FFF">SECRET</p>',
        '<p style="text-indent:-9999px">SECRET</p>', '<div style="display:none"><p>a<p>SECRET</div>',
        '<style>.x, #y {display:none}</style><p class="a x">SECRET</p>',
        '<style>#y{visibility:hidden}</style><b id=y>SECRET</b>',
        '<table><tr><td>seen<span style="display:none">SECRET</span></table>', '<table><tr hidden><td>SECRET</table>',
    ],
)  # fmt: skip
def test_hidden_text_is_left_out_and_raises_a_flag(hidden: str) -> None:
    parsed = parse_html(f"<p>before</p>{hidden}<p>after</p>")
    assert "SECRET" not in parsed.text
    assert parsed.flags == ("hidden_text",)
    assert parsed.text.startswith("before")
    assert parsed.text.endswith("after")


@pytest.mark.parametrize(
    "visible",
    ['<p style="display:block">WORD</p>', '<p style="font-size:0.8em">WORD</p>', '<p style="opacity:0.9">WORD</p>',
     '<p style="color:#fff;background:#000">WORD</p>', '<p style="color:#ff0000">WORD</p>', "<details>WORD</details>"],
)  # fmt: skip
def test_the_control_visible_text_stays_without_a_flag(visible: str) -> None:
    parsed = parse_html(visible)
    assert parsed.text == "WORD"
    assert parsed.flags == ()


def test_scripts_styles_navigation_and_comments_are_no_text() -> None:
    parsed = parse_html(
        "<head><meta name=x content=NO></head><body><script>NO</script><style>NO</style><nav>NO</nav><!-- NO -->"
        "<noscript>NO</noscript><template>NO</template><button>NO</button><footer>NO</footer><p>yes</p>"
    )
    assert parsed.text == "yes"
    assert parsed.flags == ()


def test_the_main_part_is_enough_where_there_is_one() -> None:
    assert parse_html("<div>menu</div><main><p>content</p></main><div>more</div>").text == "content"


def test_nesting_is_bounded_before_the_tree_is_built() -> None:
    assert parse_html("<div>" * MAX_DEPTH + "x").text == "x"
    with pytest.raises(TooLarge):
        parse_html("<div>" * (MAX_DEPTH + 1) + "x")
    assert parse_html("<p>x" * 5000)


def test_entities_and_broken_markup_do_not_matter() -> None:
    assert parse_html("<p>a &amp; b &lt;c&gt; &#233;&nbsp;d<p>e</i></div>f").text == "a & b <c> é d\n\nef"
