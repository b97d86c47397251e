"""WordPiece as all-MiniLM-L6-v2 and other models of the BERT family were trained with: lower case, no accents,
greedy longest pieces.

Follows BertNormalizer, BertPreTokenizer and WordPiece of the reference tokenizer; tests compare recorded ids.
Format characters (zero width, tags, bidirectional controls) are dropped by the normaliser itself. The two
differ only on some 500 marks and signs that were added to Unicode after the reference's tables.
"""

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

_LONGEST_WORD = 100
_CACHED_WORDS = 1 << 16
_ASCII_PIECE = re.compile(r"[a-z0-9]+|[^a-z0-9\s]")
_ASCII_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_IDEOGRAPHS = (
    *(("\u3400", "\u4dbf"), ("\u4e00", "\u9fff"), ("\uf900", "\ufaff"), ("\U00020000", "\U0002a6df")),
    *(("\U0002a700", "\U0002b81f"), ("\U0002b920", "\U0002ceaf"), ("\U0002f800", "\U0002fa1f")),
)
"""First and last of each range. A pattern of them would take a millisecond to compile at every start."""


class Encoded(Struct, frozen=True, kw_only=True):
    """Token ids with the marks of begin and end; ``truncated`` says that not all of the text is in them.

    ``words``: each word that is whole in them, with the place of its first id and the one after its last."""

    ids: tuple[int, ...]
    truncated: bool
    words: tuple[tuple[str, int, int], ...] = ()


class WordPiece:
    """``vocabulary``: piece → id; pieces that continue a word begin with ``##``. Thread-safe."""

    __slots__ = ("_begin", "_cached_pieces", "_end", "_unknown", "_vocabulary")

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self._vocabulary = vocabulary
        self._begin, self._end = vocabulary["[CLS]"], vocabulary["[SEP]"]
        self._unknown = (vocabulary["[UNK]"],)
        self._cached_pieces = lru_cache(maxsize=_CACHED_WORDS)(self._pieces)

    def encode(self, text: str, limit: int) -> Encoded:
        """At most ``limit`` ids, begin and end included."""
        room = limit - 2
        ids = [self._begin]
        words: list[tuple[str, int, int]] = []
        for word in split_words(text):
            first = len(ids)
            ids += self._cached_pieces(word)
            if len(ids) > room + 1:
                return Encoded(ids=(*ids[: room + 1], self._end), truncated=True, words=tuple(words))
            words.append((word, first, len(ids)))
        return Encoded(ids=(*ids, self._end), truncated=False, words=tuple(words))

    def pair(self, first: str, second: str, limit: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Ids of two texts read together, and which text each is of (0, 1). The first gets at most half of the room;
        what is cut is cut at the end."""
        left = self.encode(first, limit // 2).ids
        right = self.encode(second, limit - len(left) + 1).ids[1:]
        return (*left, *right), (*(0 for _ in left), *(1 for _ in right))

    def _pieces(self, word: str) -> tuple[int, ...]:
        """The longest piece first, then the longest that continues it; a word with a gap is unknown."""
        if len(word) > _LONGEST_WORD:
            return self._unknown
        ids: list[int] = []
        start = 0
        while start < len(word):
            prefix = "##" if start else ""
            for end in range(len(word), start, -1):
                found = self._vocabulary.get(prefix + word[start:end])
                if found is not None:
                    break
            else:
                return self._unknown
            ids.append(found)
            start = end
        return tuple(ids)


def split_words(text: str) -> list[str]:
    """Lower-case words without accents; every punctuation mark and ideograph is a word of its own."""
    if text.isascii():
        return _ASCII_PIECE.findall(_ASCII_CONTROL.sub("", text).lower())
    kept = "".join(" " if char.isspace() else char for char in text if not _is_dropped(char))
    spaced = "".join(f" {char} " if _is_ideograph(char) else char for char in kept)
    plain = unicodedata.normalize("NFD", spaced)
    # One character at a time: the reference knows no final sigma.
    lowered = "".join(char.lower() for char in plain if unicodedata.category(char) != "Mn")
    return "".join(f" {char} " if _is_punctuation(char) else char for char in lowered).split()


def read_vocabulary(path: Path) -> dict[str, int]:
    pieces = path.read_text(encoding="utf-8").splitlines()
    return dict(zip(pieces, range(len(pieces)), strict=True))


@lru_cache(maxsize=4096)
def _is_dropped(char: str) -> bool:
    if char in "\t\n\r":
        return False
    return char == "\ufffd" or unicodedata.category(char) in ("Cc", "Cf", "Co")


@lru_cache(maxsize=4096)
def _is_ideograph(char: str) -> bool:
    return any(first <= char <= last for first, last in _IDEOGRAPHS)


@lru_cache(maxsize=4096)
def _is_punctuation(char: str) -> bool:
    if char.isascii():
        return char.isprintable() and not char.isalnum() and char != " "
    return unicodedata.category(char)[0] == "P"
