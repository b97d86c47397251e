"""Disagreement is found where sources disagree, and nowhere else: many pairs of small documents, and a few rules."""

from __future__ import annotations

import itertools
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearcite.domain.answer import Disagreement
from clearcite.domain.corpus import Fact
from tests.support.passages import found, passages
from tests.support.world import make_world, principal, record

CASES = tomllib.loads((Path(__file__).parents[2] / "data" / "conflict_cases.toml").read_text("utf-8"))
LODGING = "What is the lodging allowance per night?"
TRAVEL = "Travel | Lodging | The lodging allowance is EUR 140 per night for a hotel."
VISITS = "Visits | Lodging | The lodging allowance is EUR 165 per night for a hotel or flat."


def named(case: dict[str, Any]) -> str:
    return f"{case.get('why', '')} {case['question']}".strip()[:70]


def both_ways(case: dict[str, Any]) -> list[tuple[Disagreement, ...]]:
    left, right = passages("a", case["left"]), passages("b", case["right"])
    return [found(case["question"], left, right), found(case["question"], right, left)]


def texts(disagreements: tuple[Disagreement, ...]) -> list[str]:
    return [side.claim.text for item in disagreements for side in item.sides]


@pytest.mark.parametrize("case", CASES["disagree"], ids=named)
def test_two_documents_that_disagree_are_found_with_both_sides_whichever_ranks_first(
    case: dict[str, Any],
) -> None:
    for disagreements in both_ways(case):
        assert len(disagreements) == 1
        sides = disagreements[0].sides
        assert len({side.value for side in sides}) == len(sides) == 2
        for value, text in itertools.product(case["values"], [" / ".join(texts(disagreements))]):
            assert value in text


@pytest.mark.parametrize("case", CASES["agree"], ids=named)
def test_two_documents_that_only_look_like_a_disagreement_are_left_alone(case: dict[str, Any]) -> None:
    assert both_ways(case) == [(), ()]


@pytest.mark.parametrize("case", CASES["missed"], ids=named)
def test_what_is_known_to_be_missed_is_missed(case: dict[str, Any]) -> None:
    """A case that begins to be found moves up in the file."""
    assert both_ways(case) == [(), ()]


def test_sides_are_verbatim_quotes_and_say_their_value() -> None:
    (disagreement,) = found(LODGING, passages("a", TRAVEL), passages("b", VISITS))
    assert [side.value for side in disagreement.sides] == ["EUR 140", "EUR 165"] or [
        side.value for side in disagreement.sides
    ] == ["EUR 165", "EUR 140"]
    for side in disagreement.sides:
        assert side.claim.support == "verbatim"
        assert side.claim.text == "\n".join(quote.text for quote in side.claim.quotes)
        assert side.value in side.claim.text
    assert disagreement.kind == "value"
    assert disagreement.resolved_by is None
    assert disagreement.winner is None


def test_one_document_never_disagrees_with_itself() -> None:
    both = passages("a", f"Travel | Lodging | {TRAVEL.split(' | ')[2]} {VISITS.split(' | ')[2]}")
    assert found(LODGING, both) == ()
    assert found(LODGING, both, passages("b", VISITS)) == (), (
        "a document that gives both values contradicts neither"
    )


def test_the_kind_of_value_a_question_names_is_no_word_that_a_side_must_say() -> None:
    sides = [
        passages(name, f"Check-out | Leaving | Check-out is by {time}.")
        for name, time in (("a", "10:30"), ("b", "11:00"))
    ]
    assert len(found("Until what time must I check out?", *sides)) == 1
    assert found("Until what sauna must I check out?", *sides) == (), (
        "the control: an unknown word still counts"
    )


def test_mirrors_do_not_disagree() -> None:
    late = passages("a", TRAVEL, canonical_document_id="lodging")
    early = passages("b", VISITS, canonical_document_id="lodging")
    assert found(LODGING, late, early) == ()


def test_documents_about_two_versions_do_not_disagree() -> None:
    old = passages("a", TRAVEL, product_version="1.9")
    new = passages("b", VISITS, product_version="2.4")
    assert found(LODGING, old, new) == ()


def test_the_asked_version_brings_both_in_and_another_one_brings_neither() -> None:
    old = passages("a", TRAVEL, product_version="1.9")
    new = passages("b", VISITS, product_version="2.4")
    (disagreement,) = found(LODGING, old, new, target_version="2.4")
    assert disagreement.kind == "version"
    assert found(LODGING, old, new, target_version="3.0") == ()


def test_every_document_takes_part_with_the_value_of_its_group() -> None:
    third = passages(
        "c", "Finance | Lodging | We pay EUR 140 per night: that is the lodging allowance for a hotel."
    )
    (disagreement,) = found(LODGING, passages("a", TRAVEL), passages("b", VISITS), third)
    assert sorted(side.value for side in disagreement.sides) == ["EUR 140", "EUR 140", "EUR 165"]


def test_a_third_value_is_a_third_side() -> None:
    third = passages("c", "Board | Lodging | The lodging allowance is EUR 120 per night for a hotel.")
    (disagreement,) = found(LODGING, passages("a", TRAVEL), passages("b", VISITS), third)
    assert {side.value for side in disagreement.sides} == {"EUR 120", "EUR 140", "EUR 165"}


def test_fact_topics_decide_what_is_one_thing() -> None:
    def stated(document: str, text: str, topic: str, value: str) -> Any:
        fact = Fact(fact_id=document, topic=topic, statement=text, value=value, unit="days")
        return passages(document, f"Rules | Time | {text}", facts=(fact,))

    question = "How many days does a customer have to return goods?"
    first = "Goods may be returned within 14 days."
    second = "For goods, the return window of a customer is 30 days."
    same = found(question, stated("a", first, "returns", "14"), stated("b", second, "returns", "30"))
    assert len(same) == 1
    assert same[0].topic == "returns"
    assert found(question, stated("a", first, "returns", "14"), stated("b", second, "recalls", "30")) == ()


def test_the_topic_of_the_host_names_the_disagreement() -> None:
    (disagreement,) = found(LODGING, passages("a", TRAVEL), passages("b", VISITS), topic="lodging")
    assert disagreement.topic == "lodging"


@pytest.mark.parametrize(
    "question",
    [
        "Who owns the travel policy?",
        "What is the lodging allowance per night in 2019?",
        "How long may a trip last?",
        "Weather on Mars",
    ],
)
def test_a_disagreement_about_something_else_than_the_question_is_none(question: str) -> None:
    assert found(question, passages("a", TRAVEL), passages("b", VISITS)) == ()


def test_nothing_is_found_in_nothing() -> None:
    assert found(LODGING) == ()
    assert found("what is it?", passages("a", TRAVEL)) == ()


@pytest.mark.parametrize(("kind", "at"), [("date", 4), ("polarity", 5), ("code", 14)])
def test_the_kind_says_what_differs(kind: str, at: int) -> None:
    assert both_ways(CASES["disagree"][at])[0][0].kind == kind


FILLERS = [
    passages("d", "Meals | Rates | A dinner in Germany is paid with EUR 27. Breakfast is paid with EUR 9."),
    passages("e", "Travel abroad | Lodging | In Switzerland the lodging allowance is EUR 220 per night."),
    passages("f", "Trains | Before you book | Trains come first for journeys of up to five hours."),
    passages("g", "Parking | Prices | Parking costs £8.00 per day and £2.00 per hour."),
]
SIDES = [passages("a", TRAVEL), passages("b", VISITS)]


@settings(max_examples=60, deadline=None)
@given(st.permutations([*SIDES, *FILLERS]))
def test_the_order_of_passages_does_not_change_what_is_found(documents: list[Any]) -> None:
    (disagreement,) = found(LODGING, *documents)
    (expected,) = found(LODGING, *SIDES, *FILLERS)
    assert [(side.value, side.claim.text) for side in disagreement.sides] == [
        (side.value, side.claim.text) for side in expected.sides
    ]


@settings(max_examples=30, deadline=None)
@given(st.permutations([SIDES[0], *FILLERS]))
def test_no_order_of_passages_makes_a_disagreement(documents: list[Any]) -> None:
    assert found(LODGING, *documents) == ()


def test_an_open_disagreement_ends_as_conflict_with_both_sides_cited() -> None:
    world = make_world()
    world.put(
        record(
            "travel.md", "# Travel\n\n## Lodging\n\n" + TRAVEL.split(" | ")[2] + "\n", source_type="policy"
        ),
        record(
            "visits.md", "# Visits\n\n## Lodging\n\n" + VISITS.split(" | ")[2] + "\n", source_type="policy"
        ),
    )
    public = world.engine.ask(LODGING, principal("staff"))
    assert public.status == "conflict"
    assert public.answer == ()
    (conflict,) = public.conflicts
    assert len(conflict.sides) == 2
    assert {citation.document_id for citation in public.citations} == {"travel.md", "visits.md"}


def test_a_side_the_caller_may_not_read_is_no_side() -> None:
    world = make_world()
    world.put(
        record("travel.md", "# Travel\n\n## Lodging\n\n" + TRAVEL.split(" | ")[2] + "\n"),
        record("visits.md", "# Visits\n\n## Lodging\n\n" + VISITS.split(" | ")[2] + "\n", groups=("board",)),
    )
    public = world.engine.ask(LODGING, principal("staff"))
    assert public.status == "answered"
    assert "EUR 140" in public.answer[0].text
    assert "165" not in repr(public)
