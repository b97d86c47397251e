"""The index terms of one token: its words, their stems, and the token as a whole.

=word       a folded word, a part of a compound, a number, an n-gram of a script without spaces
#whole      a compound as written and without its connectors, folded: ``#cvx-4210``, ``#cvx4210``
en:stem     the stem of a word, folded, in the language of the document
"""

import threading
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import Stemmer

from clearcite.text.languages import ACRONYMS, STEMMERS, STOP_WORDS
from clearcite.text.tokens import CACHED_LENGTH, CACHED_WORDS, Token, fold, take_apart

WORD, WHOLE = "=", "#"
_STEMMERS = threading.local()


@lru_cache(maxsize=CACHED_WORDS)
def _cached(raw: str, language: str) -> tuple[str, ...]:
    return tuple(_terms_of(raw, language))


def document_terms(raw: str, language: str) -> Iterable[str]:
    """Terms of a raw token in a document of this language; an empty language gives words without stems."""
    return _cached(raw, language) if len(raw) <= CACHED_LENGTH else _terms_of(raw, language)


def _terms_of(raw: str, language: str) -> list[str]:
    terms: list[str] = []
    if language in stop_word_of(raw):
        return terms
    for token in take_apart(raw):
        if token.kind == "unspaced":
            terms += [WORD + gram for gram in grams(token.whole)]
            continue
        for part in token.parts:
            if language not in stop_word_of(part):
                terms += word_forms(part, (language,) if language else ())
        terms += _exact_forms(token)
    return terms


def word_forms(word: str, languages: Iterable[str]) -> list[str]:
    """The folded word and its stems. What is short or no word has no stem."""
    folded = fold(word)
    stems = [f"{language}:{_stem(word.casefold(), language)}" for language in languages]
    if len(folded) < 3 or not folded.isalpha():
        stems = []
    return [WORD + folded, *stems]


def _exact_forms(token: Token) -> list[str]:
    """The forms of a compound as a whole. A token without parts is also a word of its own."""
    if _is_plain(token):
        return []
    words = [] if token.parts else [WORD + token.joined]
    wholes = [token.whole, token.joined] if token.parts else [token.whole]
    return [*words, *dict.fromkeys(WHOLE + form for form in wholes if form and WORD + form not in words)]


def asked_forms(token: Token) -> tuple[str, ...]:
    """What a question adds to the words of a token: ``e-mail`` finds ``email``, and the other way round."""
    if not token.joined:
        return ()
    return tuple(dict.fromkeys((WHOLE + token.whole, WHOLE + token.joined, WORD + token.joined)))


def _is_plain(token: Token) -> bool:
    return len(token.parts) == 1 and token.joined == fold(token.parts[0])


@lru_cache(maxsize=CACHED_WORDS)
def stop_word_of(raw: str) -> tuple[str, ...]:
    """The languages in which a token is a stop word."""
    if raw in ACRONYMS:
        return ()
    word = fold(raw)
    return tuple(language for language, words in STOP_WORDS.items() if word in words)


@lru_cache(maxsize=CACHED_WORDS)
def _stem(word: str, language: str) -> str:
    if language == "pt" and word.isascii():
        word = _restore_portuguese(word)
    return fold(_stemmer(language).stemWord(word))


def _stemmer(language: str) -> Any:
    # A stemmer keeps its word in itself while it works, so threads cannot share one.
    stemmer = getattr(_STEMMERS, language, None)
    if stemmer is None:
        stemmer = Stemmer.Stemmer(STEMMERS[language], 0)
        setattr(_STEMMERS, language, stemmer)
    return stemmer


# Typed without accents, these endings are unknown to the stemmer.
_PORTUGUESE_ENDINGS = (
    ("cao", "ção"),
    ("coes", "ções"),
    ("avel", "ável"),
    ("ivel", "ível"),
    ("aveis", "áveis"),
    ("iveis", "íveis"),
    ("encia", "ência"),
    ("ancia", "ância"),
    ("orio", "ório"),
)


def _restore_portuguese(word: str) -> str:
    for plain, accented in _PORTUGUESE_ENDINGS:
        if word.endswith(plain) and len(word) > len(plain) + 2:
            return word.removesuffix(plain) + accented
    return word


def grams(run: str) -> list[str]:
    """Unigrams and bigrams of a run written without spaces."""
    return [*run, *(run[i : i + 2] for i in range(len(run) - 1))]
