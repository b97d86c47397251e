import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearcite.text.sentences import split_sentences
from clearcite.text.tokens import token_spans


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It works. It stays.", ["It works.", "It stays."]),
        ("Costs 3.14 in v2.6. See a.b.c.", ["Costs 3.14 in v2.6.", "See a.b.c."]),
        ("Dr. Smith met J. R. R. Tolkien, e.g. Monday.", ["Dr. Smith met J. R. R. Tolkien, e.g. Monday."]),
        ("See fig. 3 and p. 5. Then no. 7 of it.", ["See fig. 3 and p. 5.", "Then no. 7 of it."]),
        ("Open to 7 pm.\nOne wash costs 4.", ["Open to 7 pm.", "One wash costs 4."]),
        ("At 7 p.m. Monday it opens.", ["At 7 p.m. Monday it opens."]),
        ("He said no. The end.", ["He said no.", "The end."]),
        ("In the U.S. The rule holds.", ["In the U.S.", "The rule holds."]),
        ("Acme Inc. sells. Acme Inc. The next.", ["Acme Inc. sells.", "Acme Inc.", "The next."]),
        ("Really? Yes! “No.” (See it.) Done", ["Really?", "Yes!", "“No.”", "(See it.)", "Done"]),
        ("“What?” he asked.", ["“What?” he asked."]),
        ("Set it. workers.concurrency is 4.", ["Set it.", "workers.concurrency is 4."]),
        ("Go to https://a.b/c?x=1. Next", ["Go to https://a.b/c?x=1.", "Next"]),
        ("Wait... what. And so... The end", ["Wait... what.", "And so...", "The end"]),
        ("one line\nsame sentence.\n\nNew one", ["one line\nsame sentence.", "New one"]),
        ("Steps:\n1. First thing\n2. Second. More", ["Steps:", "1. First thing", "2. Second.", "More"]),
        ("- a. B\n- c", ["- a. B", "- c"]),
        ("これは文です。次の文！「はい。」終わり", ["これは文です。", "次の文！", "「はい。」", "終わり"]),
        (
            "O art. 5 vale. O prazo é de 7 dias. Não há outro.",
            ["O art. 5 vale.", "O prazo é de 7 dias.", "Não há outro."],
        ),
        ("", []),
        (" \n\n ", []),
        (". . .", [". . ."]),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


PIECES = st.sampled_from(
    [
        "a",
        "The",
        " ",
        ". ",
        "!",
        "?\n",
        "\n\n",
        "3.14",
        "v2.6",
        "Dr.",
        "CVX-4210",
        "。",
        "」",
        "- ",
        "1. ",
        "e.g.",
        "…",
        "\n",
        "\u2028",
    ]
)
TEXT = st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=30).map("".join))


@given(TEXT)
def test_every_visible_character_is_in_exactly_one_sentence(text: str) -> None:
    spans = split_sentences(text)
    covered = [i for start, end in spans for i in range(start, end)]
    assert covered == sorted(set(covered))
    assert not "".join(char for i, char in enumerate(text) if i not in set(covered)).strip()
    assert all(text[start:end] == text[start:end].strip() != "" for start, end in spans)


@given(TEXT)
def test_no_sentence_cuts_a_token(text: str) -> None:
    borders = {start for start, _ in split_sentences(text)}
    assert not [
        raw for raw, start, end in token_spans(text) if any(start < border < end for border in borders)
    ]


def test_long_hostile_texts_take_linear_time() -> None:
    started = time.process_time()
    for text in (
        ". " * 50_000,
        "A. " * 50_000,
        "\n" * 100_000,
        ")" * 100_000,
        " \n" * 50_000,
        "1. " * 50_000,
        "e.g. " * 50_000,
        "." * 100_000 + "x",
        "!?" * 50_000 + "x",
    ):
        split_sentences(text)
    # A bound on kind, not on speed: a quadratic pass over these takes many minutes.
    assert time.process_time() - started < 60
