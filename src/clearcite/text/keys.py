"""Index terms → their keys: what the two sides, writing and asking, must make alike."""

import hashlib
import struct
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from itertools import chain

from clearcite.domain.terms import KEY_BYTES, Terms
from clearcite.text.analysis import Analyzer, analysed_length
from clearcite.text.languages import STEMMERS
from clearcite.text.terms import WORD, Table, token_terms
from clearcite.text.tokens import raw_tokens


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
        counts=struct.pack(f"<{len(terms)}I", *terms.values()),
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
        counts=struct.pack(f"<{len(counted)}I", *counted.values()),
        words=words,
    )


@lru_cache(maxsize=len(STEMMERS) + 1)
def _keys_by_piece(language: str) -> Table[tuple[bytes, ...]]:
    """For each piece of a document in this language: the keys of its terms, and one ``_A_WORD`` for each word."""
    by_token = token_terms(language)

    def keys(piece: str) -> tuple[bytes, ...]:
        terms = [term for raw in raw_tokens(piece) for term in by_token[raw]]
        words = sum(term[0] == WORD for term in terms)
        return (*map(_KNOWN.__getitem__, terms), *[_A_WORD] * words)

    return Table(keys)
