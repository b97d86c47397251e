"""Where no reranker is configured, nothing is ranked anew."""

from clearcite.adapters.rerankers.as_found import AsFound
from clearcite.answer.rerank import POOL, rerank
from clearcite.domain.retrieval import Ranked
from tests.support.passages import passages, plan_for


def test_the_order_stays_whatever_the_question_names_and_however_many_passages_there_are() -> None:
    plan = plan_for("What does CVX-4210 mean?")
    texts = [f"Codes {n} | All | Something else number {n}." for n in range(POOL + 3)]
    found = [passages(f"d{n}", text)[0] for n, text in enumerate([*texts, "E | All | CVX-4210 is a code."])]
    ranked = tuple(Ranked(passage=passage, score=1000 - n) for n, passage in enumerate(found))
    assert [item.passage for item in rerank(plan, ranked, AsFound())] == found
