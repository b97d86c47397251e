"""Index terms → their keys: what the two sides, writing and asking, must make alike."""

import hashlib
import sys
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from itertools import chain

from clearcite.domain.terms import KEY_BYTES, STEM_BYTES, Terms
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
_A_WORD = b""
"""Counted beside the terms: how long a text is."""
_STOP_WORD = {language: language.encode("ascii") for language in STOP_WORDS}
"""Counted beside the terms: how many stop words of each language a text has, which tells its language."""


def packed(terms: Mapping[str, int], language: str = "") -> Terms:
    """Terms with their counts, as ``Analyzer.analyze_document`` gives them for a text in this language."""
    return Terms(
        keys=b"".join(map(_hinted(language), terms)),
        counts=_packed_counts(terms.values()),
        words=analysed_length(terms),
    )


def document_keys(analyzer: Analyzer, text: str, language: str | None = None) -> Terms:
    """``packed(analyzer.analyze_document(text, language))`` at a third of the cost: no term is made for a piece of text
    that was seen before, its keys are counted as they are, and its stop words with them. For writing only, too."""
    pieces, stated = analyzer.pieces(text), analyzer.stated(language)
    likely = _LIKELY.get(analyzer.languages, analyzer.languages[0]) if stated is None else stated
    counted, votes = _counted(likely, pieces)
    if stated is None:
        voted = analyzer.most_voted(votes)[0]
        if voted != likely:
            counted, votes = _counted(voted, pieces)
            _LIKELY[analyzer.languages] = voted
    words = counted.pop(_A_WORD, 0)
    return Terms(
        keys=b"".join(counted),
        counts=_packed_counts(counted.values()),
        words=words,
    )


_LIKELY: dict[tuple[str, ...], str] = {}
"""The language of the text before, for these configured ones: mostly the next one is in it too."""


def _counted(language: str, pieces: Sequence[str]) -> tuple[Counter[bytes], dict[str, int]]:
    """How often each key and ``_A_WORD`` stands in a text of this language; and its stop words by language."""
    counted = Counter(chain.from_iterable(map(_keys_by_piece(language).__getitem__, pieces)))
    return counted, {name: counted.pop(mark, 0) for name, mark in _STOP_WORD.items()}


@lru_cache(maxsize=len(STEMMERS) + 1)
def _keys_by_piece(language: str) -> Table[tuple[bytes, ...]]:
    """For each piece of a document in this language: its terms as in ``Terms.keys``, one ``_A_WORD`` a word, and what
    ``_STOP_WORD`` says of each stop word. For writing only: a question's time must not tell which words were written
    lately."""
    hinted, languages = _hinted(language), (language,)

    def keys(raw: str) -> tuple[bytes, ...]:
        is_plain = is_plain_word(raw)
        if is_plain and not raw.islower():
            return table[raw.lower()]
        stops = stop_words_of(raw)
        marks = map(_STOP_WORD.__getitem__, stops) if stops else ()
        if language in stops:
            return tuple(marks)
        if is_plain and language:  # most words, at half the cost of what follows
            word, *stems = word_forms(raw, languages)
            if not stems:
                return (*marks, term_key(word) + _NO_STEM, _A_WORD)
            stem = hinted(stems[0])
            return (*marks, term_key(word) + stem[:STEM_BYTES], stem, _A_WORD)
        if raw.isdigit() and raw.isascii():
            return (term_key(WORD + raw) + _NO_STEM, _A_WORD)
        terms = terms_of(raw, language)
        return (*marks, *map(hinted, terms), *[_A_WORD for term in terms if term[0] == WORD])

    table = by_piece(keys)
    return table


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
