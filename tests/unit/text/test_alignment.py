"""Which words of a question have no counterpart in what comes nearest to it."""

from clearcite.domain.retrieval import Passage
from clearcite.testing.embedder import HashedEmbedder
from clearcite.text.alignment import NEAR_ENOUGH, OTHER_NAME, UNREAD, Aligned, align
from clearcite.text.candidates import candidates, read_question
from clearcite.text.memory import remembering
from clearcite.text.similarity import Similarity
from tests.support.passages import ANALYZER, passages, plan_for

BADGES = passages("b", "Visitors | Badges | Visitors wear a yellow badge. Dogs stay outside.")
LIMITS = passages("l", "Limits | Keys | A key may send 600 requests.")


def aligned(question: str, *documents: list[Passage]) -> Aligned:
    with remembering():
        similarity = Similarity(HashedEmbedder(dims=512), question)
        asked = read_question(plan_for(question), ANALYZER, similarity)
        found = candidates(asked, [passage for document in documents for passage in document])
        return align(asked, similarity, found)


def test_the_unit_that_least_is_wanting_of_is_the_nearest() -> None:
    found = aligned("Which badge do visitors wear?", LIMITS, BADGES)
    assert found.nearest.text == "Visitors wear a yellow badge."
    assert found.adrift == 0
    assert found.ahead > 100


def test_a_word_without_counterpart_is_adrift_by_what_it_weighs() -> None:
    all_said, one_not = (
        aligned(question, BADGES).adrift
        for question in ("Which badge do visitors wear?", "Which badge do divers wear?")
    )
    assert all_said == 0
    assert NEAR_ENOUGH // 4 < one_not < NEAR_ENOUGH


def test_a_word_the_embedder_does_not_give_falls_short_by_a_fixed_amount() -> None:
    long = "visitor " * 300 + "wears what"
    found = aligned(long, LIMITS)
    assert 0 < found.adrift <= NEAR_ENOUGH + 200
    assert UNREAD < NEAR_ENOUGH


def test_one_candidate_is_ahead_of_nothing() -> None:
    assert aligned("How many requests may a key send?", LIMITS).ahead == 0


def test_a_neighbour_that_holds_the_kind_of_thing_asked_for_is_the_nearest() -> None:
    lessons = "Puppy lessons of the northern kennel club last some time."
    lasting = f"{lessons} A puppy lesson of the northern kennel club takes 45 minutes."
    found = aligned(
        "How long does a puppy lesson of the northern kennel club last?",
        passages("f", f"Club | Lessons | {lasting}"),
    )
    assert "45 minutes" in found.nearest.text
    which = aligned(
        "Do puppy lessons of the northern kennel club last?",
        passages("f", f"Club | Lessons | {lasting}"),
    )
    assert which.nearest.text == lessons


def test_another_code_in_the_place_of_the_one_asked_for_is_as_far_as_none() -> None:
    other = passages("c", "Codes | Gate | QX-41 means that the gate is stuck.")
    asked = aligned("What does QX-42 mean?", other)
    assert asked.adrift > aligned("What does QX-41 mean?", other).adrift
    assert asked.adrift >= (NEAR_ENOUGH - OTHER_NAME) // 2
