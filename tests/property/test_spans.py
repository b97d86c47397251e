"""Whatever is parsed and cut: spans inside the text, in order, apart, and the same every time."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearcite.adapters.parsers.formats import parse_document
from clearcite.domain.corpus import DocumentKey, ParsedDocument
from clearcite.domain.digest import sha256_text
from clearcite.errors import InputError
from clearcite.ingest.chunk import HARD_LIMIT_WORDS, chunk_document
from clearcite.ingest.words import count_words
from clearcite.testing.expect import Unmet
from clearcite.testing.parser_suite import check_spans
from clearcite.wire import media

KEY = DocumentKey(tenant_id="t", source_id="s", document_id="d")
TYPES = (media.MARKDOWN, media.PLAIN, media.RST, media.HTML)

WORDS = st.text(alphabet="abcäé漢字e\u0301\u200b😀 .!?:", min_size=1, max_size=30)
BLOCKS = st.one_of(
    WORDS,
    WORDS.map(lambda text: "# " + text),
    WORDS.map(lambda text: "- " + text),
    WORDS.map(lambda text: "  - " + text),
    WORDS.map(lambda text: "> " + text),
    WORDS.map(lambda text: f"| {text} | b |\n|---|---|\n| 1 | {text} |"),
    WORDS.map(lambda text: f"```\n{text}\n```"),
    WORDS.map(lambda text: f"{text}\n===="),
    WORDS.map(lambda text: f"{text}::\n\n    {text}"),
    WORDS.map(lambda text: f".. note:: {text}"),
    WORDS.map(lambda text: f"<!-- {text} -->"),
    WORDS.map(lambda text: f"<h2>{text}</h2><ul><li>{text}</ul><table><tr><th>{text}<tr><td>x</table>"),
    WORDS.map(lambda text: f"<p hidden>{text}</p><pre>{text}</pre>"),
    st.sampled_from(
        ["\r\n", "\t", "---", "***", "<div>", "</div>", "```", "\u2028", "\x0b", "    ", "\\", "[a]: b"]
    ),
)
SOURCES = st.lists(BLOCKS, max_size=12).map("\n\n".join) | st.lists(BLOCKS, max_size=12).map("\n".join)


def check_chunks(parsed: ParsedDocument) -> None:
    chunks = chunk_document(parsed, KEY, "content")
    assert chunks == chunk_document(parsed, KEY, "content")
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    assert len({chunk.chunk_id for chunk in chunks}) == len(chunks)
    at = 0
    for chunk in chunks:
        assert at <= chunk.start < chunk.end <= len(parsed.text)
        assert chunk.text == parsed.text[chunk.start : chunk.end]
        assert chunk.sha256 == sha256_text(chunk.text)
        at = chunk.start
        for unit in chunk.units:
            assert at <= unit.start < unit.end <= chunk.end
            at = unit.end
            for span in (unit.header, unit.lead):
                assert span is None or 0 <= span[0] < span[1] <= unit.start
        assert (chunk.units[0].start, chunk.units[-1].end) == (chunk.start, chunk.end)
        assert (
            sum(count_words(parsed.text[unit.start : unit.end]) for unit in chunk.units) <= HARD_LIMIT_WORDS
        )
        at = chunk.end


@settings(max_examples=150, deadline=None)
@given(SOURCES, st.sampled_from(TYPES))
def test_spans_hold_for_any_document(source: str, media_type: str) -> None:
    try:
        parsed = parse_document(source.encode(), media_type)
    except InputError:
        return
    check_spans(parsed)
    check_chunks(parsed)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode), st.sampled_from(sorted(media.KNOWN)))
def test_any_bytes_give_a_document_or_an_input_error(content: bytes, media_type: str) -> None:
    try:
        parsed = parse_document(content, media_type)
    except InputError:
        return
    check_spans(parsed)
    check_chunks(parsed)


@pytest.mark.parametrize("seed", range(5))
def test_mutated_documents_never_raise_anything_else(seed: int) -> None:
    """The seed is the name of the case."""
    rng = random.Random(seed)
    sound = (
        b"---\ntitle: T\n---\n# H\n\n- a\n  - b\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\n```\ncode\n```\n<p hidden>x</p>"
        b"<table><tr><td rowspan=3>a<td>b</table>\n\nTitle\n=====\n\n.. note:: x\n\nText::\n\n    code\n"
    )
    for _ in range(150):
        broken = bytearray(sound)
        for _ in range(rng.randint(1, 8)):
            where = rng.randrange(len(broken))
            broken[where : where + rng.randint(0, 3)] = bytes(
                rng.randrange(256) for _ in range(rng.randint(0, 3))
            )
        for media_type in TYPES:
            try:
                check_chunks(parse_document(bytes(broken), media_type))
            except InputError:
                continue


def test_the_control_a_document_with_crossed_spans_is_caught() -> None:
    parsed = parse_document(b"# A\n\none\n\ntwo\n", media.MARKDOWN)
    crossed = ParsedDocument(text=parsed.text, elements=tuple(reversed(parsed.elements)))
    with pytest.raises(Unmet):
        check_spans(crossed)
