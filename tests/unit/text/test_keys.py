"""Keys of a document are those of its terms, however they are counted."""

import random

import pytest

from clearcite.text.analysis import Analyzer
from clearcite.text.keys import document_keys, packed

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
