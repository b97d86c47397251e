"""Sets of phrases, found as whole words in a row. Never regular expressions: users write them."""

import unicodedata

from clearcite.text.forms import search_text


class PhraseSet:
    """Phrases compared word by word in search form: case, accents and punctuation do not count."""

    def __init__(self, phrases: tuple[str, ...]) -> None:
        self._phrases = tuple(words for phrase in phrases if (words := folded_words(phrase)))

    def found_in(self, text: str) -> bool:
        words = folded_words(text)
        return any(_contains(words, phrase) for phrase in self._phrases)


def folded_words(text: str) -> tuple[str, ...]:
    """The words of a text in search form without accents, letters and digits only."""
    plain = unicodedata.normalize("NFD", search_text(text))
    bare = "".join(char for char in plain if not unicodedata.combining(char))
    return tuple("".join(char if char.isalnum() else " " for char in bare).split())


def _contains(words: tuple[str, ...], phrase: tuple[str, ...]) -> bool:
    size = len(phrase)
    return any(words[i : i + size] == phrase for i in range(len(words) - size + 1))
