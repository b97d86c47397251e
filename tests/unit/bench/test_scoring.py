"""Every number of a case equals what it is by hand, and is None where there is nothing to count."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from clearcite.bench.answering import CaseRun
from clearcite.bench.scoring import Grounds, scores_of
from clearcite.bench.suite import Asked, Oracle, SuiteCase
from clearcite.domain.answer import Citation, PublicAnswer, PublicConflict, Span, Statement
from clearcite.domain.corpus import DocumentKey, Place
from tests.support.world import principal


def key(name: str, source: str = "docs") -> DocumentKey:
    return DocumentKey(tenant_id="acme", source_id=source, document_id=name)


def place(name: str, start: int = 0, source: str = "docs") -> Place:
    return Place(document=key(name, source), start=start, end=start + 10)


def citation(n: int, name: str) -> Citation:
    return Citation(
        n=n,
        document_id=name,
        title="",
        uri="",
        revision="",
        cited_text="x",
        fact_id=None,
        span=Span(start=0, end=1),
        page=None,
        heading=(),
        sha256="",
        document_sha256="",
        valid_from=None,
        valid_to=None,
        product_version=None,
        support="verbatim",
    )


def public(**changes: object) -> PublicAnswer:
    plain = PublicAnswer(status="answered", trace_id="", message="", confidence="high")
    return replace(plain, **changes)  # type: ignore[arg-type]


RUN = CaseRun(
    case_id="one",
    public=public(
        answer=(
            Statement(text="It costs EUR 40\u00a0a month.", citations=(1, 2)),
            Statement(text="Ask at the desk.", citations=(3,)),
        ),
        citations=(citation(1, "a"), citation(2, "x"), citation(3, "b")),
    ),
    candidates=(key("x"), key("a"), key("b"), key("thread", "forum")),
    retrieved=(place("x"), place("a"), place("a", 20), place("b"), place("thread", source="forum")),
    selected=(place("a"), place("x"), place("a", 20)),
    cited=(place("a"), place("x"), place("b")),
    dropped=(),
    degraded=False,
    cause=None,
    milliseconds={},
)
CASE = SuiteCase(
    id="one",
    slice="all",
    cohort="staff",
    critical=False,
    asked=Asked(text="", principal=principal("staff")),
    oracle=Oracle(
        status="answered",
        relevant=(key("a"), key("b"), key("hidden"), key("thread", "forum"), key("c", "blog")),
        grades={key("a"): 2},
        nuggets=("eur 40 a month", "at the desk", "on Sundays"),
    ),
)
GROUNDS = Grounds(
    statements={},
    readable=frozenset([key("a"), key("b"), key("x"), key("y"), key("thread", "forum"), key("c", "blog")]),
    stale=frozenset([key("x")]),
    held=(True, True, False),
    k=3,
    text=lambda found: {"b": "On Sundays, at the desk.", "thread": "on Sundays"}.get(
        found.document_id, "nothing of it"
    ),
)


def test_each_number_of_a_case_by_hand() -> None:
    """Four relevant documents are readable: a (grade 2), b, thread, c. Ranked: x, a, b, thread."""
    assert scores_of(CASE, RUN, GROUNDS) == {
        "ndcg@3": "0.562727",  # (2/log2 3 + 1/log2 4) / (2/log2 2 + 1/log2 3 + 1/log2 4) = 1.761859 / 3.130930
        "rr": "0.500000",
        "recall@3": "0.500000",
        "recall@3:docs": "1.000000",
        "recall@3:forum": "0.000000",
        "recall@3:blog": "0.000000",
        "zero_result": "0.000000",
        "underfill": "0.000000",
        "candidate_underfill": "0.000000",
        "ranker_underfill": "0.000000",
        "stale_candidates": "0.250000",
        "context_precision": "0.500000",
        "context_recall": "0.250000",
        "citation_precision": "0.666667",
        "citation_recall": "0.500000",
        "supported_claims": "0.500000",
        "nugget_retrieved": "0.333333",
        "nugget_in_context": "0.000000",
        "nugget_cited": "0.333333",
        "nugget_recall": "0.666667",
        "status": "1.000000",
        "expected_empty": None,
        "over_refusal": "0.000000",
    }


def test_what_must_be_said_is_followed_through_the_stages_and_a_hidden_text_counts_at_none() -> None:
    stages = ("nugget_retrieved", "nugget_in_context", "nugget_cited")
    fourth = replace(GROUNDS, k=4, text=lambda found: "on Sundays" if found == key("thread", "forum") else "")
    assert [scores_of(CASE, RUN, fourth)[name] for name in stages] == ["0.333333", "0.000000", "0.000000"]
    third = replace(fourth, k=3)
    assert scores_of(CASE, RUN, third)["nugget_retrieved"] == "0.000000", (
        "the control: it is the fourth document"
    )
    hidden = replace(fourth, readable=GROUNDS.readable - {key("thread", "forum")})
    assert scores_of(CASE, RUN, hidden)["nugget_retrieved"] == "0.000000"


def test_what_has_nothing_to_count_is_none() -> None:
    nothing = replace(
        RUN,
        public=public(status="insufficient_evidence"),
        candidates=(),
        retrieved=(),
        selected=(),
        cited=(),
    )
    empty = replace(CASE, oracle=Oracle(status="insufficient_evidence"))
    grounds = replace(GROUNDS, readable=frozenset(), held=(), stale=frozenset())
    found = scores_of(empty, nothing, grounds)
    assert {name for name, value in found.items() if value is not None} == {"status", "expected_empty"}
    assert found["expected_empty"] == "1.000000"
    assert scores_of(CASE, nothing, grounds)["over_refusal"] == "1.000000"
    unavailable = replace(nothing, public=public(status="generation_unavailable"))
    assert scores_of(CASE, unavailable, grounds)["over_refusal"] is None
    unreadable = scores_of(CASE, nothing, grounds)
    assert (
        unreadable["recall@3"] is None and unreadable["ndcg@3"] is None and unreadable["zero_result"] is None
    )
    missed = scores_of(CASE, nothing, replace(GROUNDS, held=()))
    assert (missed["recall@3"], missed["zero_result"], missed["context_precision"]) == (
        "0.000000",
        "1.000000",
        None,
    )


@pytest.mark.parametrize(
    ("candidates", "ranked", "expected"),
    [(3, 3, "000"), (2, 2, "110"), (3, 2, "101"), (6, 6, "000")],
)
def test_underfill_is_laid_to_the_step_that_lost_documents(
    candidates: int, ranked: int, expected: str
) -> None:
    names = ("a", "b", "x", "y", "p", "q")
    run = replace(
        RUN,
        candidates=tuple(key(name) for name in names[:candidates]),
        retrieved=tuple(place(name) for name in names[:ranked]),
    )
    found = scores_of(CASE, run, GROUNDS)
    flags = (found[name] for name in ("underfill", "candidate_underfill", "ranker_underfill"))
    assert "".join(str(flag)[0] for flag in flags) == expected


def test_both_sides_of_a_conflict_are_said_and_must_be_supported() -> None:
    sides = (Statement(text="EUR 40 a month", citations=(1,)), Statement(text="on Sundays", citations=(3,)))
    conflict = PublicConflict(topic="", kind="value", resolved_by=None, sides=sides)
    run = replace(RUN, public=public(status="conflict", conflicts=(conflict,), citations=RUN.citations))
    found = scores_of(CASE, run, GROUNDS)
    assert (found["nugget_recall"], found["supported_claims"], found["status"]) == (
        "0.666667",
        "0.500000",
        "0.000000",
    )
