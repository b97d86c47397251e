"""Plain text, reStructuredText and forum threads."""

import json

from clearcite.adapters.parsers.text import parse_plain, parse_rst
from clearcite.adapters.parsers.thread import parse_thread
from clearcite.domain.corpus import ParsedDocument


def rows(parsed: ParsedDocument) -> list[tuple[str, str]]:
    return [(element.kind, parsed.text[element.start : element.end]) for element in parsed.elements]


def test_plain_text_has_paragraphs_items_and_underlined_headings() -> None:
    parsed = parse_plain(
        "Title\n=====\n\nA line\nwraps.\n\nPart\n----\nSteps:\n- one\n- two\n  goes on\n\n2. three\n***\nend"
    )
    assert rows(parsed) == [
        ("heading", "Title"),
        ("paragraph", "A line\nwraps."),
        ("heading", "Part"),
        ("paragraph", "Steps:"),
        ("list_item", "one"),
        ("list_item", "two\n  goes on"),
        ("list_item", "three\n***\nend"),
    ]
    assert parsed.title == "Title"
    assert parsed.elements[-1].heading == ("Title", "Part")


def test_a_first_line_that_stands_alone_and_ends_as_no_sentence_does_is_the_title() -> None:
    parsed = parse_plain("Feeding senior cats\n\nA cat counts as senior at eleven.\n")
    assert (parsed.title, [item.kind for item in parsed.elements]) == (
        "Feeding senior cats",
        ["heading", "paragraph"],
    )
    for first in ("A cat eats twice.", "Gate code 4471", "Opening hours:", "Cats eat\nDogs eat", "Cats eat"):
        text = first if first == "Cats eat" else f"{first}\n\nMore follows.\n"
        assert parse_plain(text).title is None, first


def test_rst_levels_follow_the_order_of_styles_and_directives_are_read_by_kind() -> None:
    parsed = parse_rst(
        "=====\nTitle\n=====\n\n.. _label:\n\n.. comment\n   hidden\n\nPart\n----\n\nText::\n\n    code\n    more\n\n"
        ".. code-block:: python\n   :linenos:\n\n   x = 1\n\n.. note:: Mind this.\n\n   And that.\n\nSub\n~~~\n\nend\n"
    )
    assert rows(parsed) == [
        ("heading", "Title"),
        ("heading", "Part"),
        ("paragraph", "Text::"),
        ("code", "    code\n    more"),
        ("code", "   x = 1"),
        ("paragraph", "Mind this."),
        ("paragraph", "And that."),
        ("heading", "Sub"),
        ("paragraph", "end"),
    ]
    assert [element.level for element in parsed.elements if element.kind == "heading"] == [1, 2, 3]


def test_text_in_front_matter_is_not_part_of_the_text() -> None:
    assert parse_plain("---\ntitle: T\n---\nbody").text == "body"


def thread(*bodies: tuple[str, bool]) -> str:
    posts = [
        {
            "author": "a",
            "author_role": "staff",
            "created_at": "2026-01-02T03:04:05Z",
            "body": body,
            "is_accepted": ok,
        }
        for body, ok in bodies
    ]
    return json.dumps({"thread_id": "1", "title": "How to  restart?", "posts": posts})


def test_a_thread_reads_title_question_answer_replies() -> None:
    parsed = parse_thread(
        thread(
            ("It hangs.\n\n# Not a section", False),
            ("Use `restart`.", True),
            ("I would rather not do that.", False),
        )
    )
    assert rows(parsed) == [
        ("heading", "How to restart?"),
        ("paragraph", "It hangs."),
        ("paragraph", "Not a section"),
        ("heading", "Accepted answer (staff, 2026-01-02)"),
        ("paragraph", "Use `restart`."),
        ("heading", "Reply (staff, 2026-01-02)"),
        ("paragraph", "I would rather not do that."),
    ]
    assert parsed.elements[4].heading == ("How to restart?", "Accepted answer (staff, 2026-01-02)")
    assert parsed.elements[-1].heading == ("How to restart?", "Reply (staff, 2026-01-02)")


def test_a_table_in_a_post_keeps_its_header() -> None:
    parsed = parse_thread(thread(("| a |\n|---|\n| 1 |\n", False)))
    row = parsed.elements[-1]
    assert row.header is not None
    assert parsed.text[slice(*row.header)] == "a"
