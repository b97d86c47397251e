"""Small stages of the answer path, each by itself."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from clearcite.answer.deduplicate import deduplicate
from clearcite.answer.evidence import Budget, diversify, fit_budget
from clearcite.answer.publish import instant_text
from clearcite.answer.searching import decode_cursor, encode_cursor, wanted
from clearcite.answer.supersede import set_aside_superseded
from clearcite.domain.corpus import Description, DocumentKey, Superseded
from clearcite.domain.retrieval import Passage, Ranked
from clearcite.errors import InputError


def passage(document: str, text: str, *, start: int = 0, authority: int = 50, **more: object) -> Passage:
    base = Passage(
        chunk_id=f"{abs(hash((document, start))) % 16**32:032x}",
        key=DocumentKey(tenant_id="t", source_id=str(more.pop("source", "s")), document_id=document),
        revision="r",
        content_sha256="c",
        title=document,
        text=text,
        start=start,
        end=start + len(text),
        sha256="h",
        context="",
        heading=(),
        page=None,
        kind="text",
        units=(),
        description=Description(
            source_uri=document,
            source_version="1",
            authority=authority,
            canonical_document_id=more.pop("canonical", None),  # type: ignore[arg-type]
        ),
        valid_from=None,
        valid_to=None,
        normal_sha256=str(more.pop("normal", document)),
    )
    return replace(base, **more)  # type: ignore[arg-type]


def ranked(*passages: Passage) -> tuple[Ranked, ...]:
    return tuple(Ranked(passage=item, score=100 - n) for n, item in enumerate(passages))


def names(items: tuple[Ranked, ...]) -> list[str]:
    return [item.passage.key.document_id for item in items]


def test_mirrors_of_equal_text_count_once_and_the_one_of_highest_authority_stays() -> None:
    low = passage("a", "Same words.", authority=10, normal="n")
    high = passage("b", "Same words.", authority=90, normal="n", source="other")
    kept, dropped = deduplicate(ranked(low, high))
    assert names(kept) == ["b"]
    assert [item.reason for item in dropped] == ["canonical_duplicate"]


def test_mirrors_of_one_source_need_not_have_equal_text() -> None:
    first = passage("a", "Old words.", canonical="c")
    second = passage("b", "New words.", canonical="c")
    assert names(deduplicate(ranked(second, first))[0]) == ["a"]


def test_a_canonical_id_claimed_by_another_source_hides_nothing() -> None:
    mine = passage("a", "My words.", canonical="c")
    theirs = passage("b", "Their words.", canonical="c", source="other", authority=100)
    assert names(deduplicate(ranked(mine, theirs))[0]) == ["a", "b"]


def test_the_same_paragraph_in_two_documents_counts_once() -> None:
    first = passage("a", "All rights  reserved.")
    second = passage("b", "all rights reserved.")
    assert names(deduplicate(ranked(second, first))[0]) == ["a"]


WRITTEN = st.tuples(
    st.integers(0, 12),
    st.sampled_from([" ", "  ", "\n", "\u3000"]),
    st.sampled_from([str.upper, str.lower, str.title]),
)


@given(st.lists(WRITTEN, min_size=2, max_size=8), st.sampled_from(["ʼn straße ", "", "İ ﬁ "]))
def test_of_texts_that_differ_in_case_and_white_space_alone_exactly_one_stays(
    drawn: list[tuple[int, str, Any]], first: str
) -> None:
    """However long they are the same before they differ."""
    texts = [
        written(between.join(f"{first}word {n}" for n in range(count))) for count, between, written in drawn
    ]
    items = ranked(*(passage(f"{n}", text, start=n) for n, text in enumerate(texts)))
    firsts = {" ".join(text.casefold().split()): str(n) for n, text in reversed(list(enumerate(texts)))}
    assert sorted(names(deduplicate(items)[0])) == sorted(firsts.values())


def test_no_document_crowds_out_the_others() -> None:
    many = [passage("a", f"Passage {n}.", start=100 * n) for n in range(5)]
    other = passage("b", "Another.")
    assert names(diversify(ranked(*many, other))) == ["a", "a", "a", "b", "a", "a"]


def test_a_passage_that_does_not_fit_is_dropped_with_its_reason_and_smaller_ones_still_fit() -> None:
    items = ranked(passage("a", "x" * 50), passage("b", "y" * 80), passage("c", "z" * 10), passage("d", "w"))
    chosen = fit_budget(items, (), Budget(passages=2, characters=100))
    assert [item.passage.key.document_id for item in chosen.evidence] == ["a", "c"]
    assert [item.reason for item in chosen.dropped] == ["character_budget", "context_limit"]
    assert [item.number for item in chosen.evidence] == [1, 2]


def test_only_a_readable_document_s_supersession_counts_and_only_for_its_section() -> None:
    old = replace(passage("old", "Old limit."), heading=("API", "Limits"))
    other = replace(passage("old", "Other words.", start=50), heading=("API", "Order"))
    key = DocumentKey(tenant_id="t", source_id="s", document_id="new")
    description = Description(
        source_uri="new",
        source_version="1",
        supersedes=(Superseded(document_id="old", heading="Limits"),),
    )
    notice: Any = SimpleNamespace(key=key, description=description)  # all that it looks at
    kept, lost = set_aside_superseded(ranked(old, other), (notice,))
    assert [item.passage.text for item in kept] == ["Other words."]
    assert [item.reason for item in lost] == ["superseded"]
    assert set_aside_superseded(ranked(old, other), ())[1] == ()


@given(st.integers(-(2**70), 2**70), st.binary(min_size=16, max_size=16))
def test_a_cursor_holds_a_score_and_a_chunk_id_and_nothing_else(score: int, name: bytes) -> None:
    item = Ranked(passage=replace(passage("a", "x"), chunk_id=name.hex()), score=score)
    found = decode_cursor(encode_cursor(item))
    assert (found.score, found.chunk_id) == (score, name.hex())


@pytest.mark.parametrize("text", ["", "x", "!!!!", "A" * 34, "A" * 36, "é"])
def test_a_cursor_that_search_did_not_return_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        decode_cursor(text)


@pytest.mark.parametrize("k", [0, -1, 101, True])
def test_k_lies_between_one_and_a_hundred(k: int) -> None:
    with pytest.raises(InputError):
        wanted(k, "document", None)


@pytest.mark.parametrize(
    ("micros", "text"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (1_700_000_000_000_001, "2023-11-14T22:13:20.000001Z"),
        (1_500_000, "1970-01-01T00:00:01.5Z"),
        (None, None),
    ],
)
def test_instants_are_written_with_as_many_digits_as_they_need(micros: int | None, text: str | None) -> None:
    assert instant_text(micros) == text
