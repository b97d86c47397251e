"""Index terms → their keys: what the two sides, writing and asking, must make alike."""

import hashlib
import sys
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from itertools import chain

from clearcite.domain.terms import KEY_BYTES, STEM_BYTES, Terms
from clearcite.text.analysis import Analyzer, analysed_length
from clearcite.text.languages import STEMMERS
from clearcite.text.terms import WORD, Table, joined, terms_of, word_forms


def term_key(term: str) -> bytes:
    """What stands for a term in the index: 128 bits do not collide, by chance or on purpose."""
    return hashlib.blake2b(term.encode("utf-8"), digest_size=KEY_BYTES).digest()


_KNOWN = Table(term_key)
"""For writing only: a question's time must not tell which words were written lately."""


_A_WORD = b""
"""Counted beside the terms: how long a text is."""


def packed(terms: Mapping[str, int], language: str = "") -> Terms:
    """Terms with their counts, as ``Analyzer.analyze_document`` gives them for a text in this language."""
    return Terms(
        keys=b"".join(map(_hinted(language), terms)),
        counts=_packed_counts(terms.values()),
        words=analysed_length(terms),
    )


def document_keys(analyzer: Analyzer, text: str, language: str | None = None) -> Terms:
    """``packed(analyzer.analyze_document(text, language))`` at half the cost: no term is made for a piece of text that
    was seen before, its keys are counted as they are. For writing only, too."""
    pieces, language = analyzer.pieces(text, language)
    counted = Counter(chain.from_iterable(map(_keys_by_piece(language).__getitem__, pieces)))
    words = counted.pop(_A_WORD, 0)
    return Terms(
        keys=b"".join(counted),
        counts=_packed_counts(counted.values()),
        words=words,
    )


@lru_cache(maxsize=len(STEMMERS) + 1)
def _keys_by_piece(language: str) -> Table[tuple[bytes, ...]]:
    """For each piece of a document in this language: its terms as in ``Terms.keys``, and one ``_A_WORD`` a word."""
    hinted = _hinted(language)

    def keys(raw: str) -> tuple[bytes, ...]:
        terms = terms_of(raw, language)
        return (*map(hinted, terms), *[_A_WORD for term in terms if term[0] == WORD])

    by_token = Table(keys)
    return Table(lambda piece: joined(by_token, piece))


@lru_cache(maxsize=len(STEMMERS) + 1)
def _hinted(language: str) -> Callable[[str], bytes]:
    """For each term what stands for it in ``Terms.keys``. The stem is that of the folded word, so that a term has one,
    however the word was written."""

    def hint(term: str) -> bytes:
        forms = word_forms(term[1:], (language,)) if language and term[0] == WORD else []
        return _KNOWN[term] + (_KNOWN[forms[1]][:STEM_BYTES] if len(forms) > 1 else bytes(STEM_BYTES))

    return Table(hint).__getitem__


def _packed_counts(counts: Collection[int]) -> bytes:
    packed = array("I", counts)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()
