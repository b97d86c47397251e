"""The cascade: what decides a disagreement, and what must not."""

from __future__ import annotations

from typing import Any

import pytest

from clearcite.domain.answer import Disagreement
from clearcite.domain.corpus import Superseded
from tests.support.passages import decided, passages
from tests.support.world import DAY, make_world, principal, record

QUESTION = "How long are backups kept?"
OLD = "Retention | Backups | Backups are kept for 30 days."
NEW = "Operations | Backups | Backups are kept for 45 days."


def outcome(
    left: dict[str, Any], right: dict[str, Any], question: str = QUESTION, **plan: Any
) -> Disagreement:
    """The first document says 30 days, the second 45."""
    one, other = passages("old", OLD, **left), passages("new", NEW, **right)
    results = [decided(question, one, other, **plan), decided(question, other, one, **plan)]
    (disagreement,), (again,) = results
    assert shown(disagreement) == shown(again), "the order of passages decides nothing"
    return disagreement


def shown(disagreement: Disagreement) -> tuple[object, ...]:
    sides = [(side.value, side.claim.text) for side in disagreement.sides]
    return disagreement.kind, sides, disagreement.resolved_by, disagreement.winner


def winner(disagreement: Disagreement) -> str | None:
    return None if disagreement.winner is None else disagreement.sides[disagreement.winner].value


def test_nothing_decides_between_two_documents_of_one_type_in_force() -> None:
    """Neither the newer nor the one of higher authority: an older rule in force is in force."""
    left = {"source_type": "policy", "authority": 90, "published_at": 10 * DAY}
    right = {"source_type": "policy", "authority": 20, "published_at": 900 * DAY}
    disagreement = outcome(left, right)
    assert (disagreement.resolved_by, disagreement.winner) == (None, None)
    assert {side.value for side in disagreement.sides} == {"30 days", "45 days"}


def test_the_version_asked_for_decides_first() -> None:
    left = {"product_version": "2.4", "source_type": "forum", "authority": 1}
    right = {"product_version": "1.9", "source_type": "documentation", "authority": 99}
    disagreement = outcome(left, right, target_version="2.4")
    assert disagreement.resolved_by == "version_match"
    assert disagreement.kind == "version"
    assert winner(disagreement) == "30 days"


def test_versions_named_in_titles_and_sentences_do_not_hide_the_disagreement_the_version_decides() -> None:
    question = "In version 2.4, how long is a slot held by default?"
    one = passages(
        "v1",
        "Configuration 1.9 | Slots | In version 1.9 a slot is held for 10 minutes by default.",
        product_version="1.9",
    )
    other = passages(
        "v2",
        "Configuration 2.4 | Slots | In version 2.4 a slot is held for 25 minutes by default.",
        product_version="2.4",
    )
    for order in ((one, other), (other, one)):
        (disagreement,) = decided(question, *order, target_version="2.4")
        assert (disagreement.resolved_by, winner(disagreement)) == ("version_match", "25 minutes")
    assert decided("How long is a slot held by default?", one, other) == ()


def test_text_about_the_asked_version_goes_before_text_about_none() -> None:
    disagreement = outcome({"product_version": "2.4"}, {}, target_version="2.4")
    assert (disagreement.resolved_by, winner(disagreement)) == ("version_match", "30 days")


def test_a_version_asked_for_by_its_bare_number_counts() -> None:
    question = "How long are backups kept in 2.4?"
    one = passages("a", "Retention | Backups 2.4 | Backups are kept for 30 days.", product_version="2.4")
    other = passages("b", "Operations | Backups | Backups are kept for 45 days. This is as in 2.4.")
    (disagreement,) = decided(question, one, other)
    assert (disagreement.resolved_by, winner(disagreement)) == ("version_match", "30 days")


def test_two_documents_about_the_asked_version_stay_open() -> None:
    same = {"product_version": "2.4"}
    assert outcome(same, same, target_version="2.4").winner is None


def test_what_supersedes_the_other_document_wins() -> None:
    disagreement = outcome({"authority": 90}, {"supersedes": (Superseded(document_id="old"),)})
    assert (disagreement.resolved_by, winner(disagreement)) == ("deprecation", "45 days")


@pytest.mark.parametrize(("heading", "decides"), [("backups", True), ("Restore", False)])
def test_a_superseded_section_loses_and_another_section_does_not(heading: str, decides: bool) -> None:
    disagreement = outcome({}, {"supersedes": (Superseded(document_id="old", heading=heading),)})
    assert (winner(disagreement) == "45 days") is decides


def test_a_source_deprecates_its_own_documents_only() -> None:
    right = {"source": "elsewhere", "supersedes": (Superseded(document_id="old"),)}
    assert outcome({}, right).winner is None


def test_documents_that_supersede_each_other_decide_nothing() -> None:
    left = {"supersedes": (Superseded(document_id="new"),)}
    right = {"supersedes": (Superseded(document_id="old"),)}
    assert outcome(left, right).winner is None


@pytest.mark.parametrize("field", ["published_at", "source_time", "valid_from"])
def test_between_types_of_one_rank_the_newer_wins(field: str) -> None:
    left = {"source_type": "policy", field: 10 * DAY}
    right = {"source_type": "documentation", field: 20 * DAY}
    disagreement = outcome(left, right)
    assert (disagreement.resolved_by, winner(disagreement)) == ("recency", "45 days")


def test_without_a_date_on_both_sides_nothing_is_newer() -> None:
    assert (
        outcome({"source_type": "policy"}, {"source_type": "documentation", "published_at": DAY}).winner
        is None
    )


def test_a_newer_post_does_not_overrule_the_documentation() -> None:
    left = {"source_type": "documentation", "authority": 80, "published_at": 10 * DAY}
    right = {"source_type": "forum", "authority": 20, "published_at": 900 * DAY}
    disagreement = outcome(left, right)
    assert (disagreement.resolved_by, winner(disagreement)) == ("authority", "30 days")


@pytest.mark.parametrize(
    ("high", "low"),
    [("documentation", "blog"), ("documentation", "forum"), ("policy", "forum"), ("blog", "forum")],
)
def test_authority_acts_across_source_types(high: str, low: str) -> None:
    disagreement = outcome({"source_type": low}, {"source_type": high})
    assert (disagreement.resolved_by, winner(disagreement)) == ("authority", "45 days")


def test_a_rank_that_the_given_authority_denies_decides_nothing() -> None:
    left = {"source_type": "documentation", "authority": 10}
    right = {"source_type": "forum", "authority": 90}
    assert outcome(left, right).winner is None


@pytest.mark.parametrize(("gap", "decides"), [(19, False), (20, True)])
def test_other_types_stand_by_their_authority_with_a_clear_gap(gap: int, decides: bool) -> None:
    left = {"source_type": "partner", "authority": 40}
    right = {"source_type": "runbook", "authority": 40 + gap}
    assert (winner(outcome(left, right)) == "45 days") is decides


def test_what_was_observed_is_no_question_of_rank() -> None:
    left = {"source_type": "documentation", "authority": 80}
    right = {"source_type": "forum", "authority": 20}
    question = "How long are backups kept as observed in the forum?"
    assert outcome(left, right, question).winner is None
    assert outcome(left, right).winner is not None, "the control: the same pair is decided otherwise"


def test_a_crowd_of_posts_does_not_outvote_the_documentation_and_loses_as_a_whole() -> None:
    crowd = [
        passages(
            f"post{n}", f"Thread {n} | Answer | Backups are kept for 45 days, as far as I can tell.", **FORUM
        )
        for n in range(5)
    ]
    (disagreement,) = decided(QUESTION, *crowd, passages("doc", OLD, source_type="documentation"))
    assert (disagreement.resolved_by, winner(disagreement)) == ("authority", "30 days")
    assert len(disagreement.sides) == 6, "every post that lost is named, so that none of them is claimed"


FORUM = {"source_type": "forum", "authority": 20}


def test_documentation_that_disagrees_with_itself_stays_open_whatever_the_forum_says() -> None:
    (disagreement,) = decided(
        QUESTION,
        passages("one", OLD, source_type="documentation"),
        passages("two", NEW, source_type="documentation"),
        passages("post", "Thread | Answer | Backups are kept for 45 days.", **FORUM),
    )
    assert disagreement.winner is None
    assert sorted(side.value for side in disagreement.sides) == ["30 days", "45 days"]


def test_the_answer_claims_the_winner_and_not_what_lost() -> None:
    world = make_world()
    world.put(
        record("doc.md", "# Retention\n\n## Backups\n\nBackups are kept for 30 days.\n", authority=80),
        *[
            record(
                f"post{n}.md",
                f"# Thread {n}\n\nBackups are kept for 45 days, says number {n}.\n",
                source_type="forum",
                authority=20,
                published_at=n * DAY,
            )
            for n in range(4)
        ],
    )
    public = world.engine.ask(QUESTION, principal("staff"))
    assert public.status == "answered"
    assert "30 days" in public.answer[0].text
    assert not any("45 days" in statement.text for statement in public.answer)
    assert public.conflicts[0].resolved_by == "authority"
