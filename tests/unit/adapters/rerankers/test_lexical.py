"""Without a code in the question the order stays; with one, the passages that hold it rise."""

from clearcite.adapters.rerankers.lexical import LexicalReranker
from tests.support.passages import passages, plan_for

TEXTS = [f"Codes {n} | All | Something else number {n}." for n in range(12)]
ALL = [passages(f"d{n}", text)[0] for n, text in enumerate(TEXTS)]
HOLDS = passages("code", "Codes | All | CVX-4210 means that the queue is full.")[0]


def order(question: str) -> list[str]:
    found = [*ALL, HOLDS]
    scores = dict(LexicalReranker().rerank(plan_for(question), found))
    assert len(scores) == len(found)
    names = {passage.chunk_id: passage.key.document_id for passage in found}
    return [names[name] for name, _ in sorted(scores.items(), key=lambda item: -item[1])]


def test_the_order_given_is_kept_without_identifiers() -> None:
    assert order("What happens when the queue is full?") == [f"d{n}" for n in range(12)] + ["code"]


def test_a_passage_with_the_code_of_the_question_rises_and_the_others_keep_their_order() -> None:
    found = order("What does CVX-4210 mean?")
    assert found.index("code") < len(found) - 1
    assert [name for name in found if name != "code"] == [f"d{n}" for n in range(12)]


def test_a_code_is_found_whatever_its_case_and_in_the_heading_too() -> None:
    heading = passages("h", "Errors | cvx-4210 | The queue is full.")[0]
    plan = plan_for("What does CVX-4210 mean?")
    assert dict(LexicalReranker().rerank(plan, [heading]))[heading.chunk_id] > 1
