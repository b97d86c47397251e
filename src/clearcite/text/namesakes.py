"""Things that share a word of their name: the *Old Dome* and the *East Dome*, the *Torre Norte* and the *Torre Sul*."""

from collections.abc import Iterator
from itertools import pairwise

from clearcite.text.forms import clean_text
from clearcite.text.phrases import folded_words
from clearcite.text.terms import stop_word_of
from clearcite.text.tokens import fold, token_spans

_BEGINS_AFTER = ".!?:\n|"


def names_another(question: str, text: str) -> bool:
    """Whether the question names a thing by two words, and the text only another one that shares one of them.

    A text that has the other word anywhere may well speak of the thing asked about.
    """
    said = frozenset(folded_words(text))
    names = tuple(_names(text))
    firsts, seconds = {first for first, _ in names}, {second for _, second in names}
    return any(
        (second in seconds and first not in said) or (first in firsts and second not in said)
        for first, second in _names(question)
    )


def _names(text: str) -> Iterator[tuple[str, str]]:
    """Each two capitalised words in a row, folded. The first word of a sentence is capitalised anyhow."""
    cleaned = clean_text(text)
    for (first, start, end), (second, at, _) in pairwise(token_spans(cleaned)):
        begins = cleaned[:start].rstrip(" \t")[-1:] in _BEGINS_AFTER
        if begins or cleaned[end:at] != " " or stop_word_of(first):
            continue
        if _is_capitalised(first) and _is_capitalised(second):
            yield fold(first), fold(second)


def _is_capitalised(word: str) -> bool:
    return len(word) > 1 and word[0].isupper() and word[1:].islower()
