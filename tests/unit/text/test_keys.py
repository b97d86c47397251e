"""Keys of a document are those of its terms, however they are counted."""

import random

import pytest

from clearcite.text.analysis import Analyzer
from clearcite.text.forms import clean_text
from clearcite.text.keys import document_keys, packed
from tests.support.dice import new_seed

WORDS = [
    "The",
    "workers;",
    "running",
    "CVX-4210",
    "workers.concurrency",
    "don't",
    "24h",
    "1,000",
    "v2.6",
    "risk-based",
    "camelCase",
    "snake_case",
    "--max-age",
    "e-mail",
    "IT",
    "it",
    "os",
    "servidores",
    "中文字",
    "ไทย中",
    "Ünïcode",
    "naïve",
    "B-42,",
    "(42)",
    "…",
    "--",
    "'",
    "½",
    "x_y__z",
    "a.m.",
    "10:30",
    "ＡＢＣ",
]


@pytest.mark.parametrize("languages", [("en",), ("en", "pt"), ("pt", "en")])
@pytest.mark.parametrize("stated", [None, "en", "pt-BR", "de"])
def test_the_keys_of_a_document_are_those_of_its_terms(
    languages: tuple[str, ...], stated: str | None
) -> None:
    analyzer, chance = Analyzer(languages), random.Random(5)
    for size in (0, 1, 3, 40, 200):
        text = " ".join(chance.choice(WORDS) for _ in range(size))
        for form in (text, text.upper(), text.replace(" ", "\n\t")):
            assert document_keys(analyzer, form, stated) == packed(analyzer.analyze_document(form, stated))


def test_a_text_without_words_has_no_keys() -> None:
    assert len(document_keys(Analyzer(("en",)), " — … ")) == document_keys(Analyzer(("en",)), "").words == 0


def test_a_text_that_was_not_cleaned_has_the_terms_that_it_has_when_it_is_cleaned_whole() -> None:
    """Pieces are cleaned one by one; nothing may be composed or dropped across the white space between them."""
    seed = new_seed()
    chance, analyzer = random.Random(seed), Analyzer(("en", "pt"))
    marks = [
        chr(code) for code in (0xAD, 0xA0, 0xA8, 0x301, 0x34F, 0x3099, 0x3164, 0xFE0F, 0x1100, 0x1161, 0xFFA0)
    ]
    everything = [chr(code) for code in range(1, 0x30000) if not 0xD800 <= code < 0xE000]
    for _ in range(2_000):
        signs = ["a", "the", "B", " ", "\n", *chance.sample(marks, 4), *chance.sample(everything, 4)]
        text = "".join(chance.choice(signs) for _ in range(chance.randrange(30)))
        assert analyzer.analyze_document(text) == analyzer.analyze_document(clean_text(text)), (
            seed,
            ascii(text),
        )
    for sign in [*marks, *chance.sample(everything, 3_000)]:
        text = f"the{sign}b {sign}c of{sign} {sign}"
        assert analyzer.analyze_document(text) == analyzer.analyze_document(clean_text(text)), ascii(text)
