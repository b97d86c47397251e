"""Questions that repeat a text that is to go. A trace keeps the question in its asker's words.

Compared are words: without case, marks and line breaks. Rather a trace too many goes than one too few.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator

LEAST = 8
"""Characters that a line or sentence must have to be looked for."""

MOST = 20  # characters of one piece: of a longer line its parts are looked for
_BATCH = 200_000
_MARKS = re.compile(r"[\W_]+")
_SENTENCE = re.compile(r"(?<=[.!?;:])\s+")


def fold(text: str) -> str:
    """The words of a text, with one space between them."""
    return _MARKS.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()


def pieces_of(text: str) -> Iterator[str]:
    """Of every line and sentence: the whole, or where it is long its parts, the last up to its end."""
    for line in text.splitlines():
        sentences = _SENTENCE.split(line)
        for part in (line, *sentences) if len(sentences) > 1 else (line,):
            plain = fold(part)
            if LEAST <= len(plain) <= MOST:
                yield plain
            elif len(plain) > MOST:
                yield from (plain[at : at + MOST] for at in range(0, len(plain) - MOST, MOST))
                yield plain[-MOST:]


class Repeats:
    """Takes the texts one by one, and keeps only those pieces that a question has."""

    def __init__(self, questions: Iterable[tuple[int, str]]) -> None:
        self._questions = [(number, fold(text)) for number, text in questions]
        self._pieces: set[str] = set()
        self._found: dict[str, set[int]] = {}

    def add(self, text: str) -> bool:
        """Whether there is anything in it to look for."""
        pieces = set(pieces_of(text))
        self._pieces |= pieces
        if len(self._pieces) > _BATCH:
            self._look()
        return bool(pieces)

    def numbers(self, rightful: Iterable[bytes]) -> set[int]:
        """Of the questions that have a piece which stands in no ``rightful`` text."""
        self._look()
        for raw in rightful if self._found else ():
            text = fold(raw.decode("utf-8", "replace"))
            for piece in [piece for piece in self._found if piece in text]:
                del self._found[piece]
        return set().union(*self._found.values())

    def _look(self) -> None:
        begun: dict[str, list[str]] = {}
        for piece in self._pieces:
            begun.setdefault(piece[:LEAST], []).append(piece)
        for number, question in self._questions:
            for at in range(len(question) - LEAST + 1):
                for piece in begun.get(question[at : at + LEAST], ()):
                    if question.startswith(piece, at):
                        self._found.setdefault(piece, set()).add(number)
        self._pieces.clear()
