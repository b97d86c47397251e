"""Sets of phrases, found as whole words in a row. Never regular expressions: users write them."""

import re
import unicodedata

from clearcite.text.forms import search_text

_COMBINING = re.compile("[\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u064b-\u065f\u20d0-\u20f0]+")
_WORD = re.compile(r"[^\W_]+")
_NO_WORD = {code: " " for code in range(128) if not chr(code).isalnum()}


class PhraseSet:
    """Phrases compared word by word in search form: case, accents and punctuation do not count."""

    def __init__(self, phrases: tuple[str, ...]) -> None:
        self._phrases = tuple(words for phrase in phrases if (words := folded_words(phrase)))

    def found_in(self, text: str) -> bool:
        words = folded_words(text)
        return any(_contains(words, phrase) for phrase in self._phrases)


def folded_words(text: str) -> tuple[str, ...]:
    """The words of a text in search form without accents, letters and digits only."""
    plain = search_text(text)
    if plain.isascii():
        return tuple(plain.translate(_NO_WORD).split())
    return tuple(_WORD.findall(_COMBINING.sub("", unicodedata.normalize("NFD", plain))))


def _contains(words: tuple[str, ...], phrase: tuple[str, ...]) -> bool:
    size = len(phrase)
    return any(words[i : i + size] == phrase for i in range(len(words) - size + 1))
