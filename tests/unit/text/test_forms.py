import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearcite.text import forms
from clearcite.text.forms import clean_text, hidden_spans, model_form, search_form, search_text

# Random text rarely holds what matters: invisible characters, marks that compose, compatibility forms.
TRICKY = st.sampled_from(
    "aZé e\u0301\u0323\u200b\u200d\u200c\u00ad\ufe0f\u202e\ufeff\u034fﬁ㎏Ⅷ①ßİſ½가각ᄀ\u1161\u11a8"
    "ｶﾞか\u3099\U000e0041👩💻न\u093f\u094d\u0345\u0f73\u0f75\u0344"
)
TEXT = st.text(st.one_of(TRICKY, st.characters(exclude_categories=["Cs"])), max_size=40)


def span_of(text: str, found: str) -> tuple[int, int]:
    form = search_form(text)
    at = form.text.index(found)
    return form.span(at, at + len(found))


@given(TEXT)
@settings(max_examples=400)
def test_every_character_of_the_search_form_maps_to_the_source_that_gives_it(text: str) -> None:
    form = search_form(text)
    assert form.text == search_text(text)
    for i, char in enumerate(form.text):
        start, end = form.span(i, i + 1)
        assert 0 <= start < end <= len(text)
        assert char in search_text(text[start:end])


@given(TEXT)
@settings(max_examples=400)
def test_spans_of_the_search_form_are_ordered_and_cover_all_that_is_not_hidden(text: str) -> None:
    form = search_form(text)
    assert list(form.starts) == sorted(form.starts)
    assert list(form.ends) == sorted(form.ends)
    covered = {i for start, end in zip(form.starts, form.ends, strict=True) for i in range(start, end)}
    covered |= {i for start, end in form.hidden for i in range(start, end)}
    assert covered == set(range(len(text)))


@given(TEXT)
def test_cutting_at_cluster_borders_gives_back_the_same_search_form(text: str) -> None:
    form = search_form(text)
    borders = [i for i in range(1, len(form.text)) if form.starts[i] >= form.ends[i - 1]]
    for i in borders:
        start, end = form.span(0, i)
        assert search_text(text[start:end]) == form.text[:i]


@given(TEXT)
@settings(max_examples=400)
def test_the_model_form_is_the_source_without_the_hidden_runs(text: str) -> None:
    form = model_form(text)
    assert "".join(text[start:end] for start, end in zip(form.starts, form.ends, strict=True)) == form.text
    assert form.removed == sum(end - start for start, end in form.hidden) == len(text) - len(form.text)


@given(TEXT)
def test_the_search_form_of_the_search_form_is_itself(text: str) -> None:
    assert search_text(search_text(text)) == search_text(text)


@pytest.mark.parametrize(
    ("text", "found", "expected"),
    [
        ("Ａ ﬁne day", "fine", (2, 5)),
        ("pass\u200bword", "password", (0, 9)),
        ("e\u0301te", "éte", (0, 4)),
        ("Straße", "strasse", (0, 6)),
        ("ｶﾞｽ", "ガ", (0, 2)),
        ("x\U000e0041y", "xy", (0, 3)),
    ],
)
def test_a_word_found_in_the_search_form_points_at_what_was_written(
    text: str, found: str, expected: tuple[int, int]
) -> None:
    assert span_of(text, found) == expected


def test_an_empty_span_stays_empty_and_a_span_outside_is_refused() -> None:
    form = search_form("a\u200bé")
    assert form.span(1, 1) == (2, 2)
    assert form.span(2, 2) == (3, 3)
    assert search_form("").span(0, 0) == (0, 0)
    with pytest.raises(IndexError):
        form.span(0, 3)


def test_no_format_character_survives_in_the_search_form() -> None:
    every = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x110000)]))
    assert not [char for char in clean_text(every) if unicodedata.category(char) == "Cf"]


def test_the_table_of_characters_that_join_back_is_that_of_unicode() -> None:
    seconds = set()
    for code in range(0x110000):
        parts = unicodedata.decomposition(chr(code)).split()
        if len(parts) == 2 and parts[0][0] != "<" and unicodedata.normalize("NFC", chr(code)) == chr(code):
            second = chr(int(parts[1], 16))
            if unicodedata.combining(second) == 0:
                seconds.add(second)
    assert seconds <= forms._JOINS_BACK


@pytest.mark.parametrize(
    ("text", "shown", "hidden"),
    [
        ("pay\u200b now", "pay now", ((3, 4),)),
        ("ok\U000e0041\U000e0042!", "ok!", ((2, 4),)),
        ("a\u202ecba\u202c", "acba", ((1, 2), (5, 6))),
        ("x\ufe00\ufe01\ufe02", "x", ((1, 4),)),
        ("نامه\u200cای", "نامه\u200cای", ()),
        ("क्\u200dष", "क्\u200dष", ()),
        ("👩\u200d💻", "👩\u200d💻", ()),
        ("❤\ufe0f", "❤\ufe0f", ()),
        ("1\ufe0f\u20e3", "1\ufe0f\u20e3", ()),
        ("\ufe0f", "", ((0, 1),)),
        ("ab\u200dcd", "abcd", ((2, 3),)),
        (
            "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
            "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
            (),
        ),
    ],
)
def test_the_model_form_drops_what_only_a_machine_sees(
    text: str, shown: str, hidden: tuple[tuple[int, int], ...]
) -> None:
    form = model_form(text)
    assert (form.text, form.hidden) == (shown, hidden)
    assert hidden_spans(text) == hidden


def test_plain_text_is_not_copied_character_by_character() -> None:
    form = search_form("Plain ASCII")
    assert isinstance(form.starts, range)
    assert form.span(6, 11) == (6, 11)
