"""What a source is worth moves a passage a little; another version moves it much."""

from typing import Any

from clearcite.answer.weigh import depth_needed, weigh
from clearcite.domain.retrieval import Hit, HitPage, Ranked, Recall
from tests.support.passages import passages, plan_for


def ranked(name: str, score: int, **more: Any) -> Ranked:
    return Ranked(passage=passages(name, "T | H | Some text stands here.", **more)[0], score=score)


def order(*items: Ranked, **changes: Any) -> list[str]:
    return [item.passage.key.document_id for item in weigh(plan_for("What?", **changes), items)]


def test_of_two_equals_the_documentation_goes_before_the_forum() -> None:
    assert order(ranked("f", 1000, source_type="forum"), ranked("d", 1000)) == ["d", "f"]


def test_of_two_equals_the_one_with_more_authority_goes_first() -> None:
    assert order(ranked("low", 1000, authority=10), ranked("high", 1000, authority=90)) == ["high", "low"]


def test_a_clearly_better_passage_of_a_humble_source_stays_ahead() -> None:
    assert order(ranked("f", 1300, source_type="forum", authority=0), ranked("d", 1000, authority=100)) == [
        "f",
        "d",
    ]


def test_text_about_another_version_falls_behind_and_silence_about_versions_costs_nothing() -> None:
    old, new, none = (
        ranked(name, 1000, product_version=v) for name, v in (("o", "1.9"), ("n", "2.4"), ("z", None))
    )
    assert order(old, none, new, target_version="2.4") == ["n", "z", "o"]
    assert len({item.score for item in weigh(plan_for("What?"), (old, none, new))}) == 1


def test_the_factors_and_only_integers_are_recorded() -> None:
    item = weigh(plan_for("What?"), (ranked("d", 999),))[0]
    assert [name for name, _ in item.factors] == ["authority", "source_type", "version"]
    assert type(item.score) is int


def test_scores_that_weigh_the_same_once_they_are_rounded_are_looked_at() -> None:
    plan = plan_for("What?", enough=50)
    deep = {n: depth_needed(plan, recalled(n)) for n in (1, 2, 3)}
    assert deep == {1: 100, 2: 100, 3: 50}


def recalled(tenth: int) -> Recall:
    """Ten hits that score so much, and fifty that score 1."""
    hits = tuple(Hit(chunk_id=f"{n:032x}", score=tenth if n < 10 else 1) for n in range(60))
    return Recall(pages=(("lexical", HitPage(hits=hits)),))
