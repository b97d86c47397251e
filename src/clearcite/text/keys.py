"""Index terms → their keys: what the two sides, writing and asking, must make alike."""

import hashlib
import sys
from array import array
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TypeVar

from clearcite.domain.terms import KEY_BYTES, NUMBER_BYTES, STEM_BYTES, Terms
from clearcite.text.analysis import Analyzer, analysed_length
from clearcite.text.languages import STEMMERS, STOP_WORDS
from clearcite.text.terms import WORD, Table, by_piece, stop_words_of, terms_of, word_forms
from clearcite.text.tokens import is_plain_word


def term_key(term: str) -> bytes:
    """What stands for a term in the index: 128 bits do not collide, by chance or on purpose."""
    hashed = _NOTHING.copy()
    hashed.update(term.encode())
    return hashed.digest()


_NOTHING = hashlib.blake2b(digest_size=KEY_BYTES)
"""Copied for each term, for a question makes dozens of keys and reading these arguments is half the work."""


_NO_STEM = bytes(STEM_BYTES)
_EVEN = bytes(range(0, 256, 2))
_MARKS = {language: bytes([number]) for number, language in enumerate(STOP_WORDS)}
V = TypeVar("V")

MOST_TERMS = 1 << 18
"""That a vocabulary holds before it begins again, one document more or less."""


def packed(terms: Mapping[str, int], language: str = "") -> Terms:
    """Terms with their counts, as ``Analyzer.analyze_document`` gives them for a text in this language."""
    return Terms(
        keys=b"".join(map(_hinted(language), terms)),
        counts=_packed_counts(terms.values()),
        words=analysed_length(terms),
    )


def document_keys(analyzer: Analyzer, text: str, language: str | None = None) -> Terms:
    """The terms of a text by itself; see ``Analyzer.analyze_document``."""
    terms = analyzer.analyze_document(text, language)
    return packed(terms, analyzer.language_of(analyzer.pieces(text), language))


class Vocabulary:
    """The terms met so far, by number: of each document only numbers are told, and of each term its key only once.
    Not thread-safe. For writing only: a question's time must not tell which words were written lately."""

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer
        self._likely = analyzer.languages[0]
        self._begin()

    def _begin(self) -> None:
        self._fresh: list[bytes] = []
        self._told = 0
        self._plain: dict[str, Table[bytes]] = {}
        self._voting: dict[str, Table[tuple[bytes, bytes]]] = {}
        self._known: dict[str, dict[str, bytes]] = {}

    def numbers(self, text: str, language: str | None = None) -> bytes:
        """For each term of a text (see ``Analyzer.analyze_document``), as often as it stands there, twice the number of
        its key, and one more for a word, in NUMBER_BYTES. No term is made for a piece of text that was seen before."""
        pieces, stated = self._analyzer.pieces(text), self._analyzer.stated(language)
        if stated is None:
            return self._voted(pieces)
        table = self._plain.get(stated)
        if table is None:
            numbers = self._numbers_of(stated)
            table = self._plain[stated] = _by_piece(
                lambda raw: b"" if stated in stop_words_of(raw) else numbers(raw), b"".join
            )
        return b"".join(map(table.__getitem__, pieces))

    def tell(self) -> tuple[int, bytes]:
        """How many keys were told before, and those that have come since, as in ``Terms.keys``. After 0 whoever
        listens forgets what he was told."""
        told, fresh = self._told, b"".join(self._fresh)
        self._told += len(self._fresh)
        self._fresh.clear()
        if self._told > MOST_TERMS:
            self._begin()
        return told, fresh

    def _voted(self, pieces: Sequence[str]) -> bytes:
        """In the language of the text before, for mostly the next one is in it too, unless the stop words say that
        it is in another."""
        found = self._with_votes(pieces, self._likely)
        votes = b"".join([marks for _, marks in found])
        count = {language: votes.count(mark) for language, mark in _MARKS.items()}
        voted = self._analyzer.most_voted(count)[0]
        if voted != self._likely:
            self._likely = voted
            found = self._with_votes(pieces, voted)
        return b"".join([numbers for numbers, _ in found])

    def _with_votes(self, pieces: Sequence[str], language: str) -> list[tuple[bytes, bytes]]:
        """For each piece the numbers of its terms, and a mark for each language that its stop words are in."""
        table = self._voting.get(language)
        if table is None:
            numbers = self._numbers_of(language)

            def both(raw: str) -> tuple[bytes, bytes]:
                stops = stop_words_of(raw)
                marks = b"".join([_MARKS[name] for name in stops]) if stops else b""
                return b"" if language in stops else numbers(raw), marks

            table = self._voting[language] = _by_piece(both, _both_in_one)
        return list(map(table.__getitem__, pieces))

    def _numbers_of(self, language: str) -> Callable[[str], bytes]:
        """The numbers of the terms of one raw token that is no stop word."""
        known = self._known.setdefault(language, {})
        languages = (language,) if language else ()

        def number(term: str, stem: str = "") -> bytes:
            place = self._told + len(self._fresh)
            self._fresh.append(term_key(term) + (term_key(stem)[:STEM_BYTES] if stem else _NO_STEM))
            told = known[term] = (2 * place + (term[0] == WORD)).to_bytes(NUMBER_BYTES, "little")
            return told

        def numbers(raw: str) -> bytes:
            if is_plain_word(raw):  # most words, at half the cost of what follows
                word, *stems = word_forms(raw, languages)
                if not stems:
                    return known.get(word) or number(word)
                stem = stems[0]
                return (known.get(word) or number(word, stem)) + (known.get(stem) or number(stem))
            found = []
            for term in terms_of(raw, language):
                forms = word_forms(term[1:], languages) if term[0] == WORD else []
                found.append(known.get(term) or number(term, *forms[1:]))
            return b"".join(found)

        return numbers


def _by_piece(of_token: Callable[[str], V], in_one: Callable[[Iterable[V]], V]) -> Table[V]:
    """``by_piece``, where a plain word is the same however it is written."""

    def of_raw(raw: str) -> V:
        return table[raw.lower()] if is_plain_word(raw) and not raw.islower() else of_token(raw)

    table = by_piece(of_raw, in_one)
    return table


def _both_in_one(parts: Iterable[tuple[bytes, bytes]]) -> tuple[bytes, bytes]:
    some = list(parts)
    return b"".join([numbers for numbers, _ in some]), b"".join([marks for _, marks in some])


def words_of(numbers: bytes) -> int:
    """How many of the terms that ``Vocabulary.numbers`` gives are words."""
    return len(numbers[::NUMBER_BYTES].translate(None, _EVEN))


@lru_cache(maxsize=len(STEMMERS) + 1)
def _hinted(language: str) -> Callable[[str], bytes]:
    """For each term what stands for it in ``Terms.keys``. The stem is that of the folded word, so that a term has one,
    however the word was written."""

    def hint(term: str) -> bytes:
        forms = word_forms(term[1:], (language,)) if language and term[0] == WORD else []
        return term_key(term) + (table[forms[1]][:STEM_BYTES] if len(forms) > 1 else _NO_STEM)

    table = Table(hint)
    return table.__getitem__


def _packed_counts(counts: Collection[int]) -> bytes:
    packed = array("I", counts)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()
