"""Evidence that only speaks of something near the question does not answer it."""

import random
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from clearcite.adapters.writers.extractive import ExtractiveWriter
from clearcite.answer import sufficiency
from clearcite.answer.sufficiency import CLEAR, LEAST_SHARED, MOST_SURE, Sufficiency, form, judge, log_odds
from clearcite.answer.sufficiency_model import MODELS, Model
from clearcite.domain.retrieval import Evidence, Passage, Plan, Ranked
from clearcite.testing.embedder import HashedEmbedder
from clearcite.text.candidates import amid, candidates, introduced, read_question
from tests.support.dice import new_seed
from tests.support.passages import ANALYZER, passages, plan_for

LIMITS = passages(
    "limits",
    "Rate limits | Default limits | Each API key may send 600 requests per minute. Bursts are cut off.",
)
VISITORS = passages(
    "visitors", "Visitors | Badges | Visitors wear a yellow badge and are accompanied at all times."
)
CODES = passages(
    "codes", "Codes | All | CVX-4210 means that the queue is full. CVX-4300 means that the disk is full."
)


def counted(question: str, documents: Sequence[Sequence[Passage]]) -> Plan:
    plan = plan_for(question)
    terms = [
        ANALYZER.analyze_document(f"{p.context}\n{p.text}", p.language) for some in documents for p in some
    ]
    found = tuple(sum(any(f in t for f in term.forms) for t in terms) for term in plan.lexical.terms)
    return replace(plan, documents=len(terms), frequencies=found)


def judged(
    question: str, *documents: Sequence[Passage], embedder: HashedEmbedder | None = None
) -> Sufficiency:
    plan = counted(question, documents)
    found = [passage for document in documents for passage in document]
    evidence = tuple(
        Evidence(number=n, ranked=Ranked(passage=p, score=100 - n)) for n, p in enumerate(found, 1)
    )
    claims = ExtractiveWriter(ANALYZER, embedder).compose(plan, evidence, ())
    return judge(plan, evidence, claims, ANALYZER, embedder)


def test_a_covered_question_is_answerable_and_an_uncovered_one_is_not() -> None:
    question = "How many requests per minute may an API key send?"
    assert judged(question, LIMITS, VISITORS).answerable
    assert not judged(question, VISITORS).answerable


class Pairing(HashedEmbedder):
    """Says of each pair what it was told to say, and keeps what it was asked."""

    def __init__(self, says: int) -> None:
        super().__init__()
        self.says = says
        self.asked: list[tuple[str, str]] = []

    def answers(self, question: str, text: str) -> int:  # type: ignore[override]
        self.asked.append((question, text))
        return self.says


def test_who_reads_pairs_has_a_say_about_the_best_unit_and_a_bounded_one() -> None:
    question = "How many requests per minute may an API key send?"
    good, bad, worse = (
        judged(question, LIMITS, VISITORS, embedder=Pairing(n)) for n in (2500, -2500, -90_000)
    )
    assert good.score > bad.score
    assert dict(worse.features)["answers"] == -MOST_SURE
    reader = Pairing(0)
    judged(question, LIMITS, VISITORS, embedder=reader)
    alone = "Rate limits\nDefault limits\nEach API key may send 600 requests per minute."
    assert reader.asked == [(question, alone), (question, f"{alone}\nBursts are cut off.")]


def test_claims_are_not_read_as_pairs_and_without_a_reader_other_weights_judge() -> None:
    reader = Pairing(2500)
    claim = judged("Each API key may send 600 requests per minute.", LIMITS, embedder=reader)
    assert not reader.asked
    plain = judged("How many requests may a key send?", LIMITS, embedder=HashedEmbedder())
    assert "answers" not in dict(claim.features) | dict(plain.features)


@pytest.mark.parametrize(("score", "expected"), [(CLEAR, True), (CLEAR - 1, False), (0, False)])
def test_an_answer_with_hardly_a_word_of_the_question_has_to_be_clear(
    monkeypatch: pytest.MonkeyPatch, score: int, expected: bool
) -> None:
    monkeypatch.setattr(sufficiency, "log_odds", lambda *_: score)
    other, same = judged("Quel temps?", VISITORS), judged("Which badge?", VISITORS)
    hardly = judged(
        "Which badge do foreign surgeons, pilots, bakers, painters, weavers and tailors need?", VISITORS
    )
    assert not dict(other.features)["around"]
    assert 0 < dict(hardly.features)["around"] < LEAST_SHARED
    assert other.answerable is hardly.answerable is expected
    assert same.answerable


def test_a_code_that_no_claim_has_is_not_answered() -> None:
    known, unknown = (judged(f"What does {code} mean?", CODES) for code in ("CVX-4210", "CVX-4999"))
    assert known.answerable
    assert not unknown.answerable
    keys = passages(
        "keys", "Keys | Version 1.9 | The default of gate.open_ms is 60. The default of gate.wait_ms is 5."
    )
    assert judged("What is the default of gate.open_ms?", keys).answerable
    assert not judged("What is the default of gate.scan_ms?", keys).answerable
    assert unknown.missing == ("cvx-4999",)


def test_what_holds_for_another_version_answers_nothing() -> None:
    first, second = (
        [replace(item, description=replace(item.description, product_version=version)) for item in found]
        for version, found in (
            ("1.9", passages("old", "Keys | All | A slot is held for 10 minutes by default.")),
            ("2.4", passages("new", "Keys | All | The scanner waits for 15 seconds by default.")),
        )
    )
    question = "How long does the scanner wait by default in the {} agent?"
    assert judged(question.format("2.4"), second, first).answerable
    assert not judged(question.format("1.9"), second, first).answerable
    assert not judged("How long does the scanner wait by default in version 1.9?", second).answerable
    told = "A car of 1.9 m came. How long does the scanner wait by default?"
    assert judged(told, second).answerable


def test_what_is_said_of_a_namesake_answers_nothing() -> None:
    domes = passages(
        "domes", "Upkeep | Batteries | The battery of the East Dome is replaced every five years."
    )
    question = "How often is the battery of the {} Dome replaced?"
    assert judged(question.format("East"), domes).answerable
    assert not judged(question.format("Old"), domes).answerable


def test_a_proper_name_that_no_readable_passage_has_lowers_the_score() -> None:
    here, nowhere = (
        judged(f"Which badge do visitors wear{place}?", VISITORS) for place in ("", " in Mongolia")
    )
    assert here.score > nowhere.score
    assert nowhere.missing == ("mongolia",)


def test_what_is_told_with_a_question_is_not_wanting_but_a_code_in_it_is() -> None:
    asked = "How many requests per minute may an API key send?"
    plain, told, coded = (
        judged(f"{before}{asked}", LIMITS, VISITORS)
        for before in ("", "Our gardener planted 12 roses. ", "Our CVX-4999 is broken. ")
    )
    assert plain.answerable
    assert told.answerable
    assert told.missing == ()
    assert coded.score < told.score - 2000


def test_nothing_is_answered_without_claims_evidence_or_anything_to_cover() -> None:
    plan = counted("How many requests?", [LIMITS])
    evidence = (Evidence(number=1, ranked=Ranked(passage=LIMITS[0], score=1)),)
    assert not judge(plan, evidence, (), ANALYZER, None).answerable
    assert not judge(plan, (), (), ANALYZER, None).answerable
    assert not judged("What is it?", LIMITS).answerable


@pytest.mark.parametrize("embedder", [None, HashedEmbedder()], ids=["words", "vectors"])
def test_everything_recorded_is_an_integer_and_the_same_every_time(embedder: HashedEmbedder | None) -> None:
    runs = {
        judged("How many requests per minute may a key send?", LIMITS, VISITORS, embedder=embedder)
        for _ in range(3)
    }
    assert len(runs) == 1
    (only,) = runs
    assert all(type(value) is int for _, value in only.features)
    assert type(only.score) is int
    assert only.answerable == (only.score >= 0)
    assert only.clear == (only.score >= CLEAR)


def test_unreadable_statistics_can_not_enter() -> None:
    """The score is a function of plan, evidence and claims alone; shuffled evidence below the best changes nothing."""
    seed = new_seed()
    more = [
        passages(f"x{n}", f"Other {n} | Things | Nothing of interest stands here, number {n}.")
        for n in range(4)
    ]
    scores = set()
    for _ in range(4):
        random.Random(seed).shuffle(more)
        scores.add(judged("How many requests per minute may an API key send?", LIMITS, *more[:2]).features[0])
    assert len(scores) == 1, f"seed {seed}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("How long are jobs kept?", "question"),
        ("minimum password length", "question"),
        ("price of a lost locker key", "question"),
        ("Tell me the price of a key.", "question"),
        ("Vitamin B12 does not slow chronic kidney disease.", "claim"),
        ("Quanto custa uma chave?", "question"),
    ],
)
def test_a_claim_is_told_from_a_question(text: str, expected: str) -> None:
    assert form(text) == expected


def test_log_odds_are_exact_sums() -> None:
    model = Model(bias=-100, weights=(("a", 2000), ("b", -500)))
    assert log_odds(model, {"a": 300, "b": 1000, "c": 7}) == -100 + (600_000 - 500_000) // 1000


def test_every_model_has_at_most_fifteen_features() -> None:
    tiers = {(kind, tier) for kind in ("claim", "question") for tier in ("vectors", "words")}
    assert set(MODELS) == tiers | {("question", "pairs")}
    assert all(0 < len(model.weights) <= 15 for model in MODELS.values())


def test_a_text_without_the_thing_or_the_class_that_was_asked_for_is_marked() -> None:
    seen = {
        question: dict(judged(question, LIMITS, VISITORS).features)
        for question in (
            "Which badge do visitors wear?",
            "Which country do visitors wear a badge of?",
            "How many weeks do visitors wear a badge?",
            "How many requests may an API key send?",
        )
    }
    named, other, weeks, requests = seen.values()
    assert (named["unnamed"], other["unnamed"]) == (0, 1000)
    assert (weeks["untyped"], requests["untyped"]) == (1000, 0)
    plenty, some = (
        dict(judged(f"How many {what} may an API key send?", LIMITS, VISITORS).features)
        for what in ("requests", "visitors")
    )
    assert (plenty["untyped"], some["untyped"]) == (0, 0)
    free = passages("parking", "Parking | Bikes | A bike space is free.")
    assert dict(judged("How much is a bike space?", free, LIMITS).features)["untyped"] == 0
    badges = dict(judged("How many badges do visitors wear in a day?", VISITORS).features)
    assert badges["untyped"] == 1000


def test_a_text_that_says_the_opposite_of_a_word_of_the_question_is_marked() -> None:
    gates = passages("gates", "Gates | North | The north gate opens at 04:30.")
    seen = {
        side: dict(judged(f"When does the {side} gate open?", gates, LIMITS).features)["opposed"]
        for side in ("north", "east", "iron")
    }
    assert seen == {"north": 0, "east": 1000, "iron": 0}
    fares = passages("fares", "Fares | Bikes | A bike is paid at 20 cents per mile.")
    assert dict(judged("How much is a car per mile?", fares, LIMITS).features)["opposed"] == 1000
    assert dict(judged("How much is a bicycle per mile?", fares, LIMITS).features)["opposed"] == 0


def test_a_rule_for_a_range_covers_the_amount_of_the_asker() -> None:
    rows = "| Amount | Who approves |\n|---|---|\n| up to EUR 300 | the desk |\n| EUR 300 to EUR 2,000 | the board |"
    limits = passages("approval", f"Approval | Limits | Purchases need approval.\n\n{rows}")
    question = "Who approves a purchase for EUR 700?"
    found = candidates(read_question(counted(question, [limits]), ANALYZER), limits)
    assert found[0].text.endswith("the board")
    within, without = (any(form in item.terms for form in ("#700", "=700")) for item in (found[0], found[-1]))
    assert (within, without) == (True, False)


def test_a_row_is_read_with_what_introduces_its_table_which_may_name_what_is_asked_for() -> None:
    rows = "| Country | Dinner |\n|---|---|\n| Spain | 24 EUR |\n| Malta | 21 EUR |"
    with_it = passages("meals", f"Travel | Meals | Meals are paid as a per diem.\n\n{rows}")
    without = passages("meals", f"Travel | Meals | Guests dine at six.\n\n{rows}")
    question = "What is the per diem for dinner in Malta?"
    named = dict(judged(question, with_it, embedder=Pairing(0)).features)["unnamed"]
    assert named < dict(judged(question, without).features)["unnamed"]
    found = candidates(read_question(counted(question, [with_it]), ANALYZER), with_it)
    row = next(item for item in found if "Malta" in item.text)
    assert introduced(row).endswith("Meals are paid as a per diem.\nCountry: Malta, Dinner: 21 EUR")
    assert amid(row) == introduced(row)
