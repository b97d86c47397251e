"""Index terms → their keys: what the two sides, writing and asking, must make alike."""

import hashlib
import sys
from array import array
from collections import Counter
from collections.abc import Collection, Mapping
from functools import lru_cache
from itertools import chain

from clearcite.domain.terms import KEY_BYTES, Terms
from clearcite.text.analysis import Analyzer, analysed_length
from clearcite.text.languages import STEMMERS
from clearcite.text.terms import WORD, Table, joined, terms_of


def term_key(term: str) -> bytes:
    """What stands for a term in the index: 128 bits do not collide, by chance or on purpose."""
    return hashlib.blake2b(term.encode("utf-8"), digest_size=KEY_BYTES).digest()


_KNOWN = Table(term_key)
"""For writing only: a question's time must not tell which words were written lately."""


_A_WORD = b""
"""Counted beside the keys: how long a text is."""


def packed(terms: Mapping[str, int]) -> Terms:
    """Terms with their counts, as ``Analyzer.analyze_document`` gives them."""
    return Terms(
        keys=b"".join(map(_KNOWN.__getitem__, terms)),
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
    """For each piece of a document in this language: the keys of its terms, and one ``_A_WORD`` for each word."""

    def keys(raw: str) -> tuple[bytes, ...]:
        terms = terms_of(raw, language)
        return (*map(_KNOWN.__getitem__, terms), *[_A_WORD for term in terms if term[0] == WORD])

    by_token = Table(keys)
    return Table(lambda piece: joined(by_token, piece))


def _packed_counts(counts: Collection[int]) -> bytes:
    packed = array("I", counts)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()
