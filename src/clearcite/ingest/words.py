"""Counting words, so that sizes do not depend on a model that may not be installed."""

import re

from clearcite.text.forms import beyond_ascii

# One for each character of a script written without spaces, one for each 24 characters of anything else: a
# key or an address of 1,000 characters is not one word to an encoder.
_LONGEST = 24
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff\u0e00-\u0e7f\U00020000-\U0003ffff"
_UNSPACED_SIGN = re.compile(f"[{_UNSPACED}]")
_WORD = re.compile(f"[{_UNSPACED}]|[^\\s{_UNSPACED}]{{1,{_LONGEST}}}")


def count_words(text: str) -> int:
    if not text.isascii() and _UNSPACED_SIGN.search(beyond_ascii(text)):
        return sum(1 for _ in _WORD.finditer(text))
    words = text.split()
    if max(map(len, words), default=0) <= _LONGEST:
        return len(words)
    return sum([-(-len(word) // _LONGEST) for word in words])


def word_ends(text: str, start: int, end: int, every: int) -> list[int]:
    """Offsets after each ``every``-th word of the span, its end excluded: where to cut what does not end."""
    ends = [match.end() for match in _WORD.finditer(text, start, end)]
    return [ends[i] for i in range(every - 1, len(ends) - 1, every)]
