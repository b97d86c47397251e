"""Three real policy PDFs, ingested and asked: the right value, in whole words, from the right page."""

from __future__ import annotations

import pytest

from clearcite.adapters.parsers.child import ChildParser
from clearcite.domain.answer import PublicAnswer
from tests.support.data import data_folder
from tests.support.world import World, make_world, pdf_record, principal

pytestmark = [pytest.mark.data, pytest.mark.xdist_group("policies")]

QUESTIONS = [
    # Rows of tables.
    ("What is the per diem limit for metro cities?", "1500", 2),
    ("What per diem do Tier 2/3 cities get?", "1000", 2),
    ("How many days of casual leave are there per leave year?", "12 days per leave year", 6),
    ("Which class may be booked for train travel?", "AC Tier 2 or AC Chair Car", 2),
    ("How many days in advance must international travel be approved?", "21 days in advance", 1),
    # Sentences and list items.
    ("How often must high-privilege accounts change their passwords?", "every 30 days", 3),
    ("How soon must a lost or stolen card be reported?", "within 24 hours", 4),
    ("At what share of the per diem are meals without receipts capped?", "75% of per diem", 2),
    ("Is SMS-based MFA allowed?", "SMS-based MFA is discouraged", 4),
    ("When is a travel advance disbursed?", "within 5 days of approval", 4),
]


@pytest.fixture(scope="module")
def policies() -> World:
    folder = data_folder("policies_pdf")
    world = make_world(keep=True)
    with ChildParser() as parser:
        world.builder = world.builder_with(parser)
        world.put(*(pdf_record(file.name, file.read_bytes()) for file in sorted(folder.glob("*.pdf"))))
    return world


def everything(public: PublicAnswer) -> str:
    return "\n".join(statement.text for statement in public.answer)


@pytest.mark.parametrize(("question", "value", "page"), QUESTIONS)
def test_a_question_on_a_policy_is_answered_from_the_right_page(
    policies: World, question: str, value: str, page: int
) -> None:
    public = policies.engine.ask(question, principal("staff"))
    assert public.status == "answered"
    assert value.lower() in everything(public).lower()
    cited = [c for c in public.citations if value.lower() in c.cited_text.lower()]
    assert cited and cited[0].page == page
    assert "Tr av el" not in everything(public)


@pytest.mark.parametrize(
    "question",
    [
        "What is the per diem limit in Antarctica?",
        "How many days of casual leave do contractors in Brazil get?",
        "Which brand of laptop is issued to new employees?",
    ],
)
def test_what_the_policies_do_not_say_is_not_answered(policies: World, question: str) -> None:
    assert policies.engine.ask(question, principal("staff")).status == "insufficient_evidence"
