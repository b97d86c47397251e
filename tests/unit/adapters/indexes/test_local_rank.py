import random

import numpy as np
import pytest

from clearcite.adapters.indexes.local_rank import best_by_value


@pytest.mark.parametrize("size", [0, 1, 63, 64, 1000, 25_601, 40_000])
@pytest.mark.parametrize("kinds", [1, 2, 50, 10**6])
def test_all_that_reach_the_kth_value_are_kept_and_no_others(size: int, kinds: int) -> None:
    draw = np.random.default_rng(size + kinds)
    for kind in (np.int32, np.int64):
        scores = draw.integers(0, kinds, size).astype(kind)
        for wanted in (1, 7, 100, 39_999):
            ordered = sorted((score for score in scores.tolist() if score >= 1), reverse=True)
            last = ordered[min(wanted, len(ordered)) - 1] if ordered else 1
            found = sorted(best_by_value(scores, wanted, 1).tolist())
            assert found == [i for i, score in enumerate(scores.tolist()) if score >= last]


def test_negative_scores_are_ranked_when_they_are_allowed() -> None:
    scores = np.array([-5, -1, -9, -1], np.int64)
    assert sorted(best_by_value(scores, 2, -100).tolist()) == [1, 3]
    assert best_by_value(scores, 2, 0).tolist() == []


def test_the_place_of_a_score_does_not_decide() -> None:
    draw = random.Random(4)
    values = [draw.randrange(300) for _ in range(30_000)]
    kept = {}
    for turn in range(3):
        order = list(range(30_000))
        random.Random(turn).shuffle(order)
        scores = np.array([values[i] for i in order], np.int32)
        kept[turn] = sorted(order[i] for i in best_by_value(scores, 100, 1).tolist())
    assert kept[0] == kept[1] == kept[2]
