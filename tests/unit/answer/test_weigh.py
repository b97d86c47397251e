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


def test_what_holds_the_code_of_the_question_goes_before_what_is_hardly_better_alone() -> None:
    named = Ranked(
        passage=passages("n", "T | Errors | CVX-4210 means that the queue is full.")[0], score=1000
    )
    asked = plan_for("What does CVX-4210 mean?")
    for other, expected in ((1099, ["n", "o"]), (1101, ["o", "n"])):
        found = weigh(asked, (ranked("o", other), named))
        assert [item.passage.key.document_id for item in found] == expected
    assert order(ranked("o", 1001), named) == ["o", "n"], "the question names nothing"


def test_a_code_is_found_whatever_its_case_and_in_the_heading_too_and_one_of_several_is_enough() -> None:
    texts = "E | cvx-4210 | The queue is full.", "E | CVX-4210 | Not *b.max*.", "E | All | Something else."
    items = tuple(Ranked(passage=passages(f"d{n}", text)[0], score=1000) for n, text in enumerate(texts))
    found = weigh(plan_for("Does CVX-4210 depend on b.max?"), items)
    assert [dict(item.factors)["named"] for item in found] == [1100, 1100, 1000]


def test_the_factors_and_only_integers_are_recorded() -> None:
    item = weigh(plan_for("What?"), (ranked("d", 999),))[0]
    assert [name for name, _ in item.factors] == ["authority", "source_type", "version"]
    assert type(item.score) is int


def test_scores_that_weigh_the_same_once_they_are_rounded_are_looked_at() -> None:
    plan = plan_for("What?", enough=50)
    deep = {n: depth_needed(plan, recalled(n)) for n in (1, 2, 3)}
    assert deep == {1: 100, 2: 100, 3: 50}


def test_where_a_code_is_named_the_tenth_must_be_further_ahead() -> None:
    deep = {
        name: [depth_needed(plan_for(f"What is {name}?", enough=50), recalled(n, 1000)) for n in (1250, 1350)]
        for name in ("it", "CVX-4210")
    }
    assert deep == {"it": [50, 50], "CVX-4210": [100, 50]}


def recalled(tenth: int, others: int = 1) -> Recall:
    """Ten hits that score so much, and fifty others."""
    hits = tuple(Hit(chunk_id=f"{n:032x}", score=tenth if n < 10 else others) for n in range(60))
    return Recall(pages=(("lexical", HitPage(hits=hits)),))
