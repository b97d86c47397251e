"""Two legs become one ranking, exactly and always the same."""

import random

import pytest
from msgspec.structs import replace

from clearcite.answer.fuse import SCALE, counted, fuse
from clearcite.domain.retrieval import Confirmed, ConfirmedLeg, Passage
from tests.support.dice import new_seed
from tests.support.passages import passages, plan_for

DEPTH = 100
ALL = [passages(f"d{n}", f"Title {n} | Part | Sentence number {n}.")[0] for n in range(6)]


def leg(name: str, *scores: int, whole: int = 1000) -> ConfirmedLeg:
    """What was not returned has a score of -1."""
    hits = tuple((passage, score) for passage, score in zip(ALL, scores, strict=False) if score >= 0)
    return ConfirmedLeg(leg=name, hits=hits, documents=6, frequencies=(1, 2), whole=whole)  # type: ignore[arg-type]


def order(*legs: ConfirmedLeg, depth: int = DEPTH) -> list[tuple[str, int]]:
    return [(item.passage.key.document_id, item.score) for item in fuse(Confirmed(legs=legs), depth)]


def test_one_leg_alone_keeps_its_scores() -> None:
    assert order(leg("lexical", 7, 30, 9)) == [("d1", 30), ("d2", 9), ("d0", 7)]


def test_an_empty_leg_counts_as_absent() -> None:
    assert order(leg("lexical", 7, 30), leg("dense")) == [("d1", 30), ("d0", 7)]


def test_what_meets_all_of_the_question_in_both_legs_scores_the_whole_scale() -> None:
    assert dict(order(leg("lexical", 1000, 0), leg("dense", 1000, 0))) == {"d0": SCALE, "d1": 0}


def test_a_leg_counts_by_its_share_of_the_whole_and_words_half_as_much_again() -> None:
    found = dict(order(leg("lexical", 100, 0), leg("dense", 0, 400, whole=4000)))
    assert found == {"d0": SCALE * 3 // 50, "d1": SCALE * 2 // 50}


def test_a_leg_in_which_nothing_meets_much_decides_little() -> None:
    weak, strong = (40, 10, 21), (300, 700, 600)
    assert [name for name, _ in order(leg("lexical", *weak), leg("dense", *strong))] == ["d1", "d2", "d0"]


def test_what_a_full_leg_did_not_return_counts_like_its_last_and_what_one_that_ended_did_not_like_nothing() -> (
    None
):
    legs = leg("lexical", 500, 400, -1), leg("dense", 0, 0, 0)
    assert dict(order(*legs, depth=2)) == {"d0": SCALE * 3 // 50, "d1": 0, "d2": 0}
    assert dict(order(*legs, depth=3)) == {"d0": SCALE * 3 // 10, "d1": SCALE * 6 // 25, "d2": 0}


def test_the_only_passage_with_a_word_keeps_what_the_word_is_worth() -> None:
    assert order(leg("lexical", 600), leg("dense", 300, 500))[0][0] == "d0"


def test_an_index_that_understates_the_whole_is_taken_by_its_best_hit() -> None:
    assert dict(order(leg("lexical", 9, 0, whole=0), leg("dense", 5, 0, whole=1))) == {"d0": SCALE, "d1": 0}


def test_a_passage_that_points_away_from_the_question_counts_nothing() -> None:
    away = ConfirmedLeg(leg="dense", hits=((ALL[0], -50), (ALL[1], -900)), whole=1000)
    assert dict(order(leg("lexical", 100, 200), away)) == {"d0": SCALE * 3 // 50, "d1": SCALE * 6 // 50}
    assert dict(order(leg("lexical", 100, 200), away, depth=2)) == {"d0": 0, "d1": SCALE * 3 // 50}


def test_ties_are_ordered_by_chunk_id_whatever_the_order_of_the_hits() -> None:
    seed = new_seed()
    shuffled = [(passage, 5) for passage in ALL]
    random.Random(seed).shuffle(shuffled)
    found = fuse(Confirmed(legs=(ConfirmedLeg(leg="lexical", hits=tuple(shuffled)),)), DEPTH)
    ids = [item.passage.chunk_id for item in found]
    assert ids == sorted(ids), f"seed {seed}"


def test_each_leg_leaves_its_own_score_as_a_factor() -> None:
    best = fuse(Confirmed(legs=(leg("lexical", 10, 5), leg("dense", 900, 100))), DEPTH)[0]
    assert best.factors == (("lexical", 10), ("dense", 900))


def test_scores_are_integers_even_where_they_do_not_divide() -> None:
    assert all(type(score) is int for _, score in order(leg("lexical", 3, 2, 0), leg("dense", 7, 3, 0)))


def test_the_plan_takes_the_counts_of_the_lexical_leg() -> None:
    plan = counted(plan_for("How long?"), Confirmed(legs=(leg("lexical", 1),)))
    assert (plan.documents, plan.frequencies) == (6, (1, 2))


@pytest.mark.parametrize("worse", ["lexical", "dense"])
def test_raising_a_score_never_lowers_a_rank(worse: str) -> None:
    def rank(score: int) -> int:
        low = {"lexical": (9, 5, 1), "dense": (80, 50, 10)}
        legs = [
            leg(name, *((score, *scores[1:]) if name == worse else scores)) for name, scores in low.items()
        ]
        return [name for name, _ in order(*legs)].index("d0")

    ranks = [rank(score) for score in (1, 20, 60, 100)]
    assert ranks == sorted(ranks, reverse=True)


def test_a_passage_is_listed_once() -> None:
    legs = Confirmed(legs=(leg("lexical", 1, 2, 3), leg("dense", 3, 2, 1)))
    found: list[Passage] = [item.passage for item in fuse(legs, DEPTH)]
    assert len(found) == len({passage.chunk_id for passage in found}) == 3


def test_where_documents_are_ranked_each_leg_counts_with_the_best_passage_it_found_of_one() -> None:
    words, meaning, rival, last = ALL[0], replace(ALL[1], key=ALL[0].key), ALL[2], ALL[3]
    legs = (
        ConfirmedLeg(leg="lexical", hits=((words, 10), (rival, 8), (last, 0)), whole=10),
        ConfirmedLeg(leg="dense", hits=((meaning, 9), (rival, 7), (words, 1), (last, 0)), whole=9),
    )
    confirmed = Confirmed(legs=legs)
    ranked = {flag: [item.passage for item in fuse(confirmed, DEPTH, flag)] for flag in (False, True)}
    assert ranked[False] == [rival, words, meaning, last]
    assert ranked[True] == [words, meaning, rival, last]
