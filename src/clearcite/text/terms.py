"""The index terms of one token: its words, their stems, and the token as a whole.

=word       a folded word, a part of a compound, a number, an n-gram of a script without spaces
#whole      a compound as written and without its connectors, folded: ``#cvx-4210``, ``#cvx4210``
en:stem     the stem of a word, folded, in the language of the document
"""

import threading
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import chain
from typing import Any, TypeVar

import Stemmer

from clearcite.text.forms import clean_text
from clearcite.text.languages import ACRONYMS, STEMMERS, STOP_WORDS
from clearcite.text.tokens import (
    CACHED_LENGTH,
    CACHED_WORDS,
    Token,
    fold,
    is_plain_word,
    raw_tokens,
    take_apart,
)

WORD, WHOLE = "=", "#"
_AROUND_WORDS = ".,;:!?()[]\"'"
_STEMMERS = threading.local()
V = TypeVar("V")

_KEPT_WORDS = 1 << 17
"""Pieces of 16,000 scientific abstracts with their punctuation are 80,000: with room for fewer, a table is worked out
again and again."""


class Table(dict[str, V]):
    """What a pure function says of each word, worked out when it is first asked for. When it is full, it begins again
    and keeps what it had aside until it is full once more: common words stay. A long word is rarely seen twice and is
    not kept."""

    __slots__ = ("_answer", "_before")

    def __init__(self, answer: Callable[[str], V]) -> None:
        super().__init__()
        self._answer = answer
        self._before: dict[str, V] = {}

    def __missing__(self, word: str) -> V:
        answer = self._before.get(word)
        if answer is None:
            answer = self._answer(word)
        if len(word) <= CACHED_LENGTH:
            if len(self) >= _KEPT_WORDS:
                self._before = dict(self)
                self.clear()
            self[word] = answer
        return answer


WordTable = Table[tuple[str, ...]]


@lru_cache(maxsize=len(STEMMERS) + 1)
def document_terms(language: str) -> WordTable:
    """The terms of each piece of a document in this language, in order; an empty language gives no stems.

    A piece is what stands between white space, which no token holds, so pieces need no more than one look. It need not
    be cleaned (``forms.clean_text``) before: nothing is composed across white space.
    """
    return by_piece(lambda raw: tuple(terms_of(raw, language)), _in_one)


def _in_one(parts: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(chain.from_iterable(parts))


def by_piece(of_token: Callable[[str], V], in_one: Callable[[Iterable[V]], V]) -> Table[V]:
    """For each piece what a function says of its raw tokens, ``in_one``. Of a token that is a piece by itself, as most
    are, nothing is kept twice."""

    def of_piece(piece: str) -> V:
        word = piece.strip(_AROUND_WORDS)
        if (
            word.isascii() and word.isalpha()
        ):  # most pieces are one word; what stands around it is in no token
            return of_token(word) if len(word) == len(piece) else table[word]
        raws = raw_tokens(clean_text(piece))
        if len(raws) != 1:
            return in_one(map(table.__getitem__, raws))
        return of_token(piece) if raws[0] == piece else table[raws[0]]

    table = Table(of_piece)
    return table


def terms_of(raw: str, language: str) -> list[str]:
    """The terms of one raw token; see ``token_terms``."""
    if _is_stop_word(raw, language):
        return []
    languages = (language,) if language else ()
    if is_plain_word(raw):
        return word_forms(raw, languages)
    terms: list[str] = []
    for token in take_apart(raw):
        if token.kind == "unspaced":
            terms += [WORD + gram for gram in grams(token.whole)]
            continue
        for part in token.parts:
            if not _is_stop_word(part, language):
                terms += word_forms(part, languages)
        terms += _exact_forms(token)
    return terms


def word_forms(word: str, languages: Iterable[str]) -> list[str]:
    """The folded word and its stems. What is short or no word has no stem."""
    folded = fold(word)
    if len(folded) < 3 or not folded.isalpha():
        return [WORD + folded]
    lowered = word.casefold()
    return [WORD + folded, *[f"{language}:{_stem(lowered, language)}" for language in languages]]


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


_NO_WORDS: frozenset[str] = frozenset()
_ANY_STOP_WORD = _NO_WORDS.union(*STOP_WORDS.values())


def _is_stop_word(raw: str, language: str) -> bool:
    return fold(raw) in STOP_WORDS.get(language, _NO_WORDS) and raw not in ACRONYMS


def stop_words_of(raw: str) -> tuple[str, ...]:
    """The languages in which a token is a stop word; ``stop_word_of`` remembers them."""
    word = fold(raw)
    if word not in _ANY_STOP_WORD or raw in ACRONYMS:
        return ()
    return tuple(language for language, words in STOP_WORDS.items() if word in words)


_BY_TOKEN = Table(stop_words_of)
STOP_WORDS_OF = by_piece(stop_words_of, _in_one)
"""For each piece (see ``document_terms``) and each stop word in it, the languages it is one in."""


def stop_word_of(raw: str) -> tuple[str, ...]:
    """The languages in which a token is a stop word."""
    return _BY_TOKEN[raw]


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
