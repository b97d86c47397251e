"""Ids in ``reference_ids.json`` were recorded from the reference tokenizer (tokenizers 0.23, limit 256)."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearcite.adapters.embedders.minilm import INSTALL_MODEL, PACKAGE
from clearcite.adapters.wordpiece import WordPiece, read_vocabulary, split_words

RECORDED = json.loads((Path(__file__).parent / "reference_ids.json").read_text(encoding="utf-8"))
SMALL = WordPiece(
    {
        "[CLS]": 0,
        "[SEP]": 1,
        "[UNK]": 2,
        "un": 3,
        "##aff": 4,
        "##able": 5,
        "a": 6,
        ".": 7,
        "cls": 8,
        "[": 9,
        "]": 10,
    }
)


@pytest.fixture(scope="module")
def real() -> WordPiece:
    model = pytest.importorskip(PACKAGE, reason=f"the model is not installed: {INSTALL_MODEL}")
    return WordPiece(read_vocabulary(Path(model.__file__).parent / "model" / "vocab.txt"))


@pytest.mark.parametrize("row", RECORDED, ids=lambda row: ascii(row["text"])[:30])
def test_ids_are_those_of_the_reference(real: WordPiece, row: dict[str, Any]) -> None:
    encoded = real.encode(row["text"], 256)
    assert list(encoded.ids) == row["ids"]
    assert encoded.truncated == row["truncated"]


def test_the_longest_piece_goes_first_and_a_gap_makes_the_word_unknown() -> None:
    assert SMALL.encode("Unaffable a.", 20).ids == (0, 3, 4, 5, 6, 7, 1)
    assert SMALL.encode("unaffx", 20).ids == (0, 2, 1)


def test_a_marker_written_in_a_text_is_text() -> None:
    assert SMALL.encode("[CLS]", 20).ids == (0, 9, 8, 10, 1)


def test_the_limit_counts_the_marks_of_begin_and_end() -> None:
    assert SMALL.encode("a a a", 5) == SMALL.encode("a a a", 500)
    cut = SMALL.encode("a a unaffable", 5)
    assert (cut.ids, cut.truncated) == ((0, 6, 6, 3, 1), True)


def test_words_are_lower_case_without_accents_and_without_what_is_invisible() -> None:
    assert split_words("Ação, e\u0301!") == ["acao", ",", "e", "!"]
    assert split_words("pa\u200bss\x07word") == ["password"]
    assert split_words("漢字x") == ["漢", "字", "x"]


@given(st.text(st.characters(max_codepoint=127)))
def test_the_short_way_for_ascii_gives_the_same_words(text: str) -> None:
    assert split_words(text) == split_words(text + " ção")[:-1]


def test_a_pair_says_which_text_each_id_is_of_and_the_second_is_cut_first() -> None:
    pieces = {name: n for n, name in enumerate(["[UNK]", "[CLS]", "[SEP]", "pump", "valve", "opens"])}
    wordpiece = WordPiece(pieces)
    ids, types = wordpiece.pair("pump", "valve opens", 20)
    assert ids == (1, 3, 2, 4, 5, 2)
    assert types == (0, 0, 0, 1, 1, 1)
    ids, types = wordpiece.pair("pump " * 50, "valve " * 50, 20)
    assert (len(ids), len(types), ids[-1], types.count(0)) == (20, 20, 2, 10)
    ids, _ = wordpiece.pair("pump", "valve " * 50, 20)
    assert (len(ids), ids[:3]) == (20, (1, 3, 2)), "what the first leaves is the second's"
