"""Claims are verbatim, few, readable by themselves, and drawn from whom one may believe."""

from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from clearcite.adapters.writers.extractive import ExtractiveWriter
from clearcite.answer.cite import cite
from clearcite.domain.answer import Claim, Disagreement, Side
from clearcite.domain.retrieval import Evidence, Passage, Ranked
from clearcite.domain.thresholds import CLAIM_LIMITS
from clearcite.testing.embedder import HashedEmbedder
from tests.support.passages import ANALYZER, passages, plan_for

WRITER = ExtractiveWriter(ANALYZER)
LIMITS = (
    "Limits | Requests | Each key may send 600 requests per minute. Bursts are cut off. "
    "When the limit is reached, the gateway answers with code LMN-1042."
)
TABLE = "Prices | Shipping | | Service | Price |\n|---|---|\n| Standard | 4.90 EUR |\n| Express | 9.90 EUR |"


def evidence(*documents: Sequence[Passage]) -> tuple[Evidence, ...]:
    found = [passage for document in documents for passage in document]
    return tuple(
        Evidence(number=n, ranked=Ranked(passage=passage, score=1000 - n))
        for n, passage in enumerate(found, 1)
    )


def claims(
    question: str, *documents: Sequence[Passage], writer: ExtractiveWriter = WRITER
) -> tuple[Claim, ...]:
    return writer.compose(plan_for(question), evidence(*documents), ())


def test_the_sentence_that_answers_comes_first() -> None:
    found = claims("How many requests per minute may a key send?", passages("d", LIMITS))
    assert found[0].text == "Each key may send 600 requests per minute."


def test_every_claim_survives_the_check_of_its_quotes() -> None:
    chosen = evidence(passages("d", LIMITS), passages("t", TABLE))
    for question in ("What does code LMN-1042 mean?", "What is the price of Express?", "Are bursts allowed?"):
        made = WRITER.compose(plan_for(question), chosen, ())
        assert made
        assert cite(made, chosen) == made


def test_a_pronoun_pulls_in_the_sentence_before() -> None:
    text = "House | History | Bonner House stands in Bath. It was built about 1835."
    assert claims("When was Bonner House built?", passages("d", text))[0].text == (
        "Bonner House stands in Bath. It was built about 1835."
    )


def test_a_table_row_comes_with_its_header() -> None:
    first = claims("What is the price of Express shipping?", passages("d", TABLE))[0]
    assert [quote.text.strip() for quote in first.quotes] == ["Service | Price", "Express | 9.90 EUR"]
    assert first.text == "\n".join(quote.text for quote in first.quotes)


def test_a_code_in_the_question_must_be_the_code_in_the_claim() -> None:
    text = "Codes | All | LMN-1042 means that the rate limit was exceeded. LMN-2007 means an expired certificate."
    assert "2007" in claims("LMN-2007", passages("d", text))[0].text


def test_claims_are_at_most_three_and_at_most_a_hundred_words() -> None:
    many = " ".join(
        f"The river number {n} is {n + 10} km long and flows to the sea slowly." for n in range(30)
    )
    found = claims("How long is the river?", passages("d", f"Rivers | All | {many}"))
    assert 0 < len(found) <= CLAIM_LIMITS.most
    assert sum(len(claim.text.split()) for claim in found) <= CLAIM_LIMITS.words


def test_the_same_statement_is_made_once_but_another_value_is_another_statement() -> None:
    same = [passages(f"d{n}", "Fees | Cards | A new card costs 4 EUR at the desk.") for n in range(3)]
    assert len(claims("What does a new card cost?", *same)) == 1
    other = passages("x", "Fees | Cards | A new card costs 7 EUR at the desk.")
    assert len(claims("What does a new card cost?", *same, other)) == 2


def test_a_source_that_stands_higher_is_cited_however_many_say_otherwise() -> None:
    question = "How many episodes does season four of the series have?"
    crowd = [
        passages(
            f"f{n}",
            f"Forum {n} | Post | Season four of the series has 24 episodes, says user {n}.",
            source_type="forum",
        )
        for n in range(5)
    ]
    manual = passages(
        "m",
        "Guide | Overview | The fourth season consists of 23 episodes in all.",
        source_type="documentation",
    )
    assert any("23" in claim.text for claim in claims(question, *crowd, manual))
    control = passages(
        "m", "Guide | Overview | The fourth season consists of 23 episodes in all.", source_type="forum"
    )
    assert not any("23" in claim.text for claim in claims(question, *crowd, control)), "the control must fail"


def test_what_lost_a_disagreement_is_not_claimed_and_what_won_comes_first() -> None:
    old = passages(
        "old", "Slots (1.9) | Hold | An unconfirmed slot is held for 10 minutes.", product_version="1.9"
    )
    new = passages(
        "new", "Slots (2.4) | Hold | An unconfirmed slot is held for 25 minutes.", product_version="2.4"
    )
    made = {name: claims("slot held", found)[0] for name, found in (("old", old), ("new", new))}
    sides = tuple(Side(claim=made[name], value=value) for name, value in (("old", "10"), ("new", "25")))
    dispute = Disagreement(topic="hold", kind="version", sides=sides, resolved_by="version_match", winner=1)
    found = WRITER.compose(plan_for("How long is an unconfirmed slot held?"), evidence(old, new), (dispute,))
    assert [claim.text for claim in found] == ["An unconfirmed slot is held for 25 minutes."]


def test_a_question_that_needs_nothing_or_no_evidence_gives_no_error() -> None:
    assert claims("What?", passages("d", LIMITS)) is not None
    assert claims("How long?") == ()


def test_the_same_input_gives_the_same_claims_with_and_without_vectors() -> None:
    for writer in (WRITER, ExtractiveWriter(ANALYZER, HashedEmbedder())):
        runs = {
            claims("How many requests per minute?", passages("d", LIMITS), writer=writer) for _ in range(3)
        }
        assert len(runs) == 1


def test_the_order_of_equal_evidence_is_the_only_thing_that_decides_between_equals() -> None:
    twins: list[Any] = [passages(name, "A | B | The fee is 3 EUR today.") for name in ("one", "two")]
    first = claims("What is the fee?", *twins)[0].quotes[0].passage.key.document_id
    second = claims("What is the fee?", *reversed(twins))[0].quotes[0].passage.key.document_id
    assert (first, second) == ("one", "two")


def test_the_fingerprint_names_the_vectors_it_used() -> None:
    assert WRITER.fingerprint != ExtractiveWriter(ANALYZER, HashedEmbedder()).fingerprint


SENTENCES = st.sampled_from(
    (
        "The key of the hall costs 4 EUR.",
        "It is handed out at the desk.",
        "They cost 4 EUR on Sundays.",
        "The hall costs 30 EUR a day.",
        "However, the key of the hall must be returned.",
        "A lost key costs 9 EUR.",
        "These are kept at the desk:\n\n- key of the hall\n- key of the desk\n",
        "\n\n| Key | Price |\n|---|---|\n| hall | 4 EUR |\n| desk | 5 EUR |\n\n",
    )
)


def said_twice(found: Sequence[Claim], document: Sequence[Passage]) -> list[str]:
    """Sentences that stand in two claims. What leads into a list may: each of its items needs it."""
    leads = {unit.lead for passage in document for unit in passage.units}
    return [
        passage.text[unit.start - passage.start : unit.end - passage.start]
        for passage in document
        for unit in passage.units
        if unit.kind == "sentence" and (unit.start, unit.end) not in leads
        if sum(any(q.start < unit.end and unit.start < q.end for q in claim.quotes) for claim in found) > 1
    ]


@settings(max_examples=40, deadline=None)
@given(st.lists(SENTENCES, min_size=2, max_size=8))
def test_no_sentence_is_said_in_two_claims(sentences: list[str]) -> None:
    document = passages("d", f"Hall | Keys | {' '.join(sentences)}")
    made = claims("What does the key of the hall cost?", document)
    assert said_twice(made, document) == []


def test_the_search_for_what_is_said_twice_finds_it() -> None:
    document = passages("d", "Hall | Keys | The hall costs 30 EUR. It is closed. They cost 4 EUR.")
    first = next(item for item in claims("What does the hall cost?", document) if "30" in item.text)
    assert said_twice([first, first], document), "the control must fail"


def test_a_longer_claim_takes_the_place_of_the_part_of_it_that_was_made_first() -> None:
    text = "Hall | Keys | The key of the hall costs 4 EUR. It costs 6 EUR on Sundays, the key."
    assert [claim.text for claim in claims("What does the key of the hall cost?", passages("d", text))] == [
        text.split(" | ")[2]
    ]


def test_a_humbler_source_adds_no_other_value_beside_a_higher_one() -> None:
    question = "Who repairs the boiler of the north wing?"
    manual = passages("m", "House | Boiler | The boiler of the north wing is repaired by Ada Quill.")
    texts = {
        "forum": "Thread | Boiler | I hear the boiler of the north wing is repaired by Bo Trent these days.",
        "documentation": "Site | Boiler | For the boiler of the north wing all repairs go to Bo Trent.",
    }
    said = {
        kind: [item.text for item in claims(question, passages("f", text, source_type=kind), manual)]
        for kind, text in texts.items()
    }
    assert "Quill" in said["forum"][0] and not any("Trent" in text for text in said["forum"])
    assert any("Trent" in text for text in said["documentation"]), "the control must fail"


def test_what_people_saw_is_no_matter_of_rank() -> None:
    manual = passages("m", "Agent | Storage | The agent keeps its queue on the internal disk.")
    seen = passages("f", "Thread | Storage | The agent kept its queue on a slow disk.", source_type="forum")
    asked = {
        question: [item.quotes[0].passage.key.document_id for item in claims(question, seen, manual)]
        for question in (
            "Where does the agent keep its queue?",
            "Where do people on the forum report that the agent keeps its queue?",
        )
    }
    first, observed = asked.values()
    assert first == ["m"]
    assert "f" in observed, "the control must fail"


def test_beside_the_version_that_was_asked_for_no_other_one_is_quoted() -> None:
    pages = [
        passages(f"v{n}", f"Agent {n} | Timing | The agent asks every {seconds} seconds.", product_version=n)
        for n, seconds in (("1.9", 60), ("2.4", 20))
    ]
    asked = "How often does the 1.9 agent ask?"
    assert [item.text for item in claims(asked, *pages)] == ["The agent asks every 60 seconds."]
    for both in ("How often does the agent ask?", "How often does the agent ask in 1.9 and in 2.4?"):
        assert len(claims(both, *pages)) == 2, "the control must fail"


ROOMS = (
    "Rooms | Prices | | Room | Night |\n|---|---|\n| Lark | 24 EUR |\n| Heron | 19 EUR |\n| Kite | 68 EUR |"
)


def test_beside_the_row_that_the_question_names_no_other_one_is_quoted() -> None:
    texts = [claim.text for claim in claims("What does a night in the Lark room cost?", passages("r", ROOMS))]
    assert [text.splitlines()[-1] for text in texts] == ["Lark | 24 EUR"]
    all_rows = claims("Which rooms are there for a night?", passages("r", ROOMS))
    assert len(all_rows) == 3, "where the question names none of them, each row is as good as another"


def test_a_question_and_what_only_leads_in_are_no_claims() -> None:
    forum = "Tablets | Cats | How do you give a cat a tablet? Crush it into some cream."
    assert [claim.text for claim in claims("How do I give a tablet to a cat?", passages("f", forum))] == [
        "How do you give a cat a tablet? Crush it into some cream."
    ]
    listed = "Keys | Rules | Call the desk about keys if:\n\n- a key is lost\n- a key is bent"
    found = [claim.text for claim in claims("When do I call the desk about keys?", passages("k", listed))]
    assert found
    assert all(text.startswith("Call the desk") and "\n" in text for text in found)
