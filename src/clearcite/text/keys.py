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
from clearcite.text.terms import WHOLE, WORD, Table, by_piece, stop_words_of, terms_of, word_forms
from clearcite.text.tokens import is_plain_word


def term_key(term: str) -> bytes:
    """What stands for a term in the index: 128 bits do not collide, by chance or on purpose."""
    hashed = _NOTHING.copy()
    hashed.update(term.encode())
    return hashed.digest()


_NOTHING = hashlib.blake2b(digest_size=KEY_BYTES)
"""Copied for each term, for a question makes dozens of keys and reading these arguments is half the work."""


_NO_STEM = bytes(STEM_BYTES)
_UNSTEMMED, _UNPAIRED = b"=", b"#"
"""Counted beside the terms: words that have no stem, and terms that are neither a word nor the stem of one."""
_STOP_WORD = {language: language.encode("ascii") for language in STOP_WORDS}
"""Counted beside the terms where a language is voted for: how many stop words of each a text has."""


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
    if stated is not None:
        return _terms(_counted(_keys_by_piece(stated), pieces))
    likely = _LIKELY.get(analyzer.languages, analyzer.languages[0])
    counted = _counted(_keys_by_piece(likely, votes=True), pieces)
    voted = analyzer.most_voted({name: counted.pop(mark, 0) for name, mark in _STOP_WORD.items()})[0]
    if voted != likely:
        _LIKELY[analyzer.languages] = voted
        counted = _counted(_keys_by_piece(voted), pieces)
    return _terms(counted)


_LIKELY: dict[tuple[str, ...], str] = {}
"""The language of the text before, for these configured ones: mostly the next one is in it too."""


def _counted(keys: Table[tuple[bytes, ...]], pieces: Sequence[str]) -> Counter[bytes]:
    return Counter(chain.from_iterable(map(keys.__getitem__, pieces)))


def _terms(counted: Counter[bytes]) -> Terms:
    """From what ``_keys_by_piece`` says, without votes: beside each word stands its stem or ``_UNSTEMMED``, beside
    everything else ``_UNPAIRED``, so there are half as many words as there are pairs without the latter."""
    words = sum(counted.values()) // 2 - counted.pop(_UNPAIRED, 0)
    counted.pop(_UNSTEMMED, 0)
    return Terms(keys=b"".join(counted), counts=_packed_counts(counted.values()), words=words)


@lru_cache(maxsize=2 * len(STEMMERS) + 2)
def _keys_by_piece(language: str, *, votes: bool = False) -> Table[tuple[bytes, ...]]:
    """For each piece of a document in this language: its terms as in ``Terms.keys``, and what is counted beside them;
    with ``votes`` also what ``_STOP_WORD`` says of each stop word. For writing only: a question's time must not tell
    which words were written lately."""
    hinted, languages = _hinted(language), (language,)

    def keys(raw: str) -> tuple[bytes, ...]:
        is_plain = is_plain_word(raw)
        if is_plain and not raw.islower():
            return table[raw.lower()]
        stops = stop_words_of(raw)
        marks = map(_STOP_WORD.__getitem__, stops) if stops and votes else ()
        if language in stops:
            return tuple(marks)
        if is_plain and language:  # most words, at half the cost of what follows
            word, *stems = word_forms(raw, languages)
            stem = hinted(stems[0]) if stems else b""
            return (*marks, term_key(word) + (stem[:STEM_BYTES] or _NO_STEM), stem or _UNSTEMMED)
        if raw.isdigit() and raw.isascii():
            return (term_key(WORD + raw) + _NO_STEM, _UNSTEMMED)
        terms = terms_of(raw, language)
        kinds = [term[0] for term in terms]
        words, wholes = kinds.count(WORD), kinds.count(WHOLE)
        stemmed = len(terms) - words - wholes
        unpaired = [_UNPAIRED] * wholes
        return (*marks, *map(hinted, terms), *[_UNSTEMMED] * (words - stemmed), *unpaired)

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
