"""Keys of a document are those of its terms, however they are counted."""

import random
from array import array
from collections import Counter

import pytest

from clearcite.domain.terms import KEY_BYTES, STEM_BYTES, TERM_BYTES, Terms
from clearcite.text.analysis import Analyzer
from clearcite.text.forms import clean_text
from clearcite.text.keys import Vocabulary, document_keys, packed, term_key, words_of
from clearcite.text.tokens import raw_tokens
from tests.support.dice import new_seed
from tests.support.terms import counts_of

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
    vocabulary, keys = Vocabulary(analyzer), list[bytes]()
    for size in (0, 1, 3, 40, 200):
        text = " ".join(chance.choice(WORDS) for _ in range(size))
        for form in (text, text.upper(), text.replace(" ", "\n\t")):
            terms = analyzer.analyze_document(form, stated)
            language = analyzer.language_of(analyzer.pieces(form), stated)
            numbers = vocabulary.numbers(form, stated)
            before, fresh = vocabulary.tell()
            assert before == len(keys)
            keys += [fresh[at : at + TERM_BYTES] for at in range(0, len(fresh), TERM_BYTES)]
            wanted = packed(terms, language)
            assert Counter(keys[number >> 1] for number in array("I", numbers)) == counts_of(wanted)
            assert words_of(numbers) == wanted.words
            assert document_keys(analyzer, form, stated) == wanted


def test_a_key_is_told_once_however_often_its_term_is_met() -> None:
    vocabulary = Vocabulary(Analyzer(("en",)))
    first = vocabulary.numbers("Workers run; the worker runs.")
    assert vocabulary.tell() == (0, document_keys(Analyzer(("en",)), "Workers run; the worker runs.").keys)
    assert vocabulary.numbers("(Workers) run: the WORKER runs!") == first
    told, fresh = vocabulary.tell()
    assert (told, fresh) == (len(set(array("I", first))), b"")
    assert vocabulary.numbers("The")[:1] == vocabulary.numbers("…") == b""


def test_a_vocabulary_that_is_full_begins_again_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clearcite.text.keys.MOST_TERMS", 3)
    vocabulary = Vocabulary(Analyzer(("en",)))
    first = vocabulary.numbers("workers")
    keys = vocabulary.tell()
    assert keys[0] == 0
    vocabulary.numbers("workers running")
    assert vocabulary.tell()[0] == 2
    assert vocabulary.numbers("workers") == first
    assert vocabulary.tell() == keys


def test_a_word_says_what_its_stem_is_however_it_is_written() -> None:
    analyzer = Analyzer(("en", "pt"))
    for text, language, word in (
        ("Running", "en", "=running"),
        ("AÇÃO", "pt", "=acao"),
        ("Ação", "pt", "=acao"),
    ):
        stem = next(term for term in analyzer.analyze_document(text, language) if term[0] not in "=#")
        assert term_key(word) + term_key(stem)[:STEM_BYTES] in records(
            document_keys(analyzer, text, language)
        )
    assert all(
        not record[KEY_BYTES:].strip(b"\0") for record in records(document_keys(analyzer, "24h v2.6", "en"))
    )
    assert all(
        not record[KEY_BYTES:].strip(b"\0") for record in records(document_keys(analyzer, "running", "de"))
    )


def test_a_token_by_itself_is_the_token_that_it_is_in_its_text() -> None:
    """A piece that is one token is not taken apart once more, and a token of a piece is looked up as a piece."""
    seed = new_seed()
    chance = random.Random(seed)
    signs = [*"aB1 -.,'/:@+#_(", "--", "中", "ไ", "’", "\u0301", "\u00ad", "ﬁ", "½", "Ａ", "٣", *WORDS]
    for _ in range(5_000):
        text = clean_text("".join(chance.choice(signs) for _ in range(chance.randrange(12))))
        for raw in raw_tokens(text):
            assert raw_tokens(clean_text(raw)) == [raw], (seed, ascii(text))


def records(terms: Terms) -> list[bytes]:
    return [terms.keys[at : at + TERM_BYTES] for at in range(0, len(terms.keys), TERM_BYTES)]


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
