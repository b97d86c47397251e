"""The integers of BM25: a weight stored with each posting, and an idf made when the question is asked.

    weight = floor(1023 · tf / (tf + k1 · (1 − b + b · length / average)))      at least 1
    idf    = floor(1024 · log2((2N + 2) / (2df + 1)))                           at least 1
    score  = Σ over the words of the question: idf · the best weight among the word's forms

The weight needs nothing but its own chunk, because the average length is a number of the pipeline
manifest; N and df are counted from the readable chunks of one question. The constant factor k1 + 1 of the
usual formula changes no order and is left out. No float takes part, so that every machine ranks alike.
"""

import math

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

WEIGHT_BITS = 10
HIGHEST_WEIGHT = (1 << WEIGHT_BITS) - 1
HIGHEST_COUNT = 1 << 20  # of one term in one chunk; beyond it the weight no longer moves

_STEPS = 1024  # of an idf between two powers of two


class Bm25(Struct, frozen=True, kw_only=True):
    """``k1`` and ``b`` in hundredths, ``average_length`` in analysed words: see ``PipelineManifest``."""

    k1: int
    b: int
    average_length: int

    def weights(self, counts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
        """Weights of postings from the term's count in the chunk and the chunk's length, element by
        element.
        """
        scaled = np.minimum(counts, HIGHEST_COUNT) * (10_000 * self.average_length)
        norm = self.k1 * ((100 - self.b) * self.average_length + self.b * lengths)
        return np.maximum(HIGHEST_WEIGHT * scaled // (scaled + norm), 1)


def idf(documents: int, frequency: int) -> int:
    """How much a word tells, from N and df: the formula above, exactly.

    The float only proposes. Where it comes within a millionth of an integer, far more than it can be
    wrong by, integers decide: log2(a / b) ≥ n / 1024 means a^1024 ≥ b^1024 · 2^n.
    """
    above, below = 2 * documents + 2, 2 * frequency + 1
    rough = _STEPS * math.log2(above / below)
    result, near = math.floor(rough), round(rough)
    if abs(rough - near) < 1e-6:
        result = near if above**_STEPS >= below**_STEPS << max(near, 0) else near - 1
    return max(result, 1)
