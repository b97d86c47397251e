import random
from fractions import Fraction
from math import floor, log2

import numpy as np
import pytest

from clearcite.adapters.indexes.local_scoring import HIGHEST_WEIGHT, Bm25, idf


def exact_idf(documents: int, frequency: int) -> int:
    above, below = (2 * documents + 2) ** 1024, (2 * frequency + 1) ** 1024
    return max(1, (above // below).bit_length() - 1)


def test_idf_is_the_exact_integer_for_all_small_counts() -> None:
    for documents in range(1, 60):
        for frequency in range(documents + 1):
            assert idf(documents, frequency) == exact_idf(documents, frequency)


def test_idf_is_the_exact_integer_for_large_counts_and_powers_of_two() -> None:
    draw = random.Random(11)
    pairs = [(draw.randrange(1, 10**7), 0) for _ in range(300)]
    pairs = [(n, draw.randrange(0, n + 1)) for n, _ in pairs] + [(2**k - 1, 0) for k in range(1, 30)]
    for documents, frequency in pairs:
        assert idf(documents, frequency) == exact_idf(documents, frequency), "seed 11"


def test_a_word_in_every_chunk_still_weighs_something_and_a_rarer_word_never_weighs_less() -> None:
    assert idf(10**6, 10**6) == 1
    values = [idf(1000, frequency) for frequency in range(1001)]
    assert values == sorted(values, reverse=True)
    assert values[1] == floor(1024 * log2(2002 / 3))


@pytest.mark.parametrize(("k1", "b", "average"), [(120, 75, 100), (0, 0, 1), (300, 100, 7), (90, 40, 250)])
def test_weights_are_the_formula_rounded_down(k1: int, b: int, average: int) -> None:
    bm25 = Bm25(k1=k1, b=b, average_length=average)
    for count in (1, 2, 7, 1000):
        for length in (0, 1, 99, 100, 5000):
            norm = Fraction(k1, 100) * (1 - Fraction(b, 100) + Fraction(b, 100) * Fraction(length, average))
            wanted = max(1, floor(1023 * Fraction(count) / (count + norm)))
            assert bm25.weights(np.array([count]), np.array([length])).tolist() == [wanted]


def test_weights_stay_in_their_bits_for_absurd_counts() -> None:
    weights = Bm25(k1=120, b=30, average_length=100).weights(
        np.array([1, 2**40, 10**15]), np.array([2**40, 0, 1])
    )
    assert weights.min() == 1
    assert weights.max() == HIGHEST_WEIGHT - 1
