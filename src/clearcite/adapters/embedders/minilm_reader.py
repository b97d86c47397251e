"""What all-MiniLM-L6-v2 needs to read a question and a text together and to say whether the text answers it.

The weights (``minilm_reader.safetensors``, 1.3 MB) are fitted by ``bench/fit_reader.py`` on pairs that were written
for it: thin matrices that are added to those of the upper layers while a pair is read, and a last row that gives log
odds.
"""

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from clearcite.adapters.embedders.safetensors import map_float32
from clearcite.adapters.wordpiece import WordPiece
from clearcite.errors import DependencyUnavailable, IntegrityFault

if TYPE_CHECKING:
    from numpy.typing import NDArray

PAIR_TOKENS = 160
"""As many as the pairs had at most by which the weights were fitted."""
FILE = Path(__file__).parent / "minilm_reader.safetensors"
SHA256 = "ba11c99d099b0f30f96098b9a282ff54b63c79ac32eaffabeda0629624b3e92c"
_STEP = 50
"""Thousandths to which log odds are rounded: processors differ in the last bits of a float."""


class Reader:
    """``arrays``: the thin matrices by the names the graph has for them. Raises IntegrityFault for other weights."""

    def __init__(self) -> None:
        if hashlib.sha256(FILE.read_bytes()).hexdigest() != SHA256:
            raise IntegrityFault("The weights that read pairs are not those that were shipped.")
        arrays = map_float32(FILE)
        self._row, self._bias = arrays.pop("head.weight"), arrays.pop("head.bias")
        self.arrays = arrays

    def log_odds(self, states: "NDArray[np.float32]", mean: "NDArray[np.float32]") -> int:
        """Thousandths, in steps, from the states of the tokens (tokens × 384) and their mean."""
        found = float(np.concatenate([states[0], mean], dtype=np.float64) @ self._row[0] + self._bias[0])
        if not abs(found) < 1000:  # not a number is not below it either
            raise DependencyUnavailable("The embedding model gave no log odds.")
        return _STEP * round(1000 * found / _STEP)


def pair_of(wordpiece: WordPiece, question: str, text: str) -> "tuple[NDArray[np.int64], NDArray[np.int64]]":
    """Ids of both, and which of the two each is of (0, 1)."""
    ids, kinds = wordpiece.pair(question, text, PAIR_TOKENS)
    return np.array(ids), np.array(kinds)
