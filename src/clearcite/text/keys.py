"""Index terms → their keys: what the two sides, writing and asking, must make alike."""

import hashlib
import struct
from collections.abc import Mapping

from clearcite.domain.terms import KEY_BYTES, Terms
from clearcite.text.analysis import analysed_length
from clearcite.text.terms import Table


def term_key(term: str) -> bytes:
    """What stands for a term in the index: 128 bits do not collide, by chance or on purpose."""
    return hashlib.blake2b(term.encode("utf-8"), digest_size=KEY_BYTES).digest()


_KNOWN = Table(term_key)
"""For writing only: a question's time must not tell which words were written lately."""


def packed(terms: Mapping[str, int]) -> Terms:
    """Terms with their counts, as ``Analyzer.analyze_document`` gives them."""
    return Terms(
        keys=b"".join(map(_KNOWN.__getitem__, terms)),
        counts=struct.pack(f"<{len(terms)}I", *terms.values()),
        words=analysed_length(terms),
    )
