"""The demo: eight questions, and eighteen more, end as its file of questions says, with vectors and without."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from clearcite import auditor
from clearcite.domain.access import Principal
from clearcite.wire.convert import to_json
from clearcite.wiring import audit_heads, policy_as_written
from tests.support.data import ROOT
from tests.support.demo import Demo, open_demo, read_questions

QUESTIONS = read_questions(ROOT / "src/clearcite/demo/corpus/questions.toml")
pytestmark = pytest.mark.xdist_group("demo")


@pytest.fixture(scope="module", params=["auto", "off"])
def demo(request: pytest.FixtureRequest) -> Iterator[Demo]:
    with open_demo(request.param) as opened:
        yield opened


def test_the_eight_questions_are_there() -> None:
    assert [item["id"] for item in QUESTIONS if item.get("demo")] == [
        "refund",
        "duplicate",
        "phone-guest",
        "phone-oncall",
        "lodging-conflict",
        "mars",
        "untrusted-content",
        "order-live",
    ]


@pytest.mark.parametrize("item", QUESTIONS, ids=lambda item: item["id"])
def test_a_question_of_the_demo_ends_as_its_file_says(demo: Demo, item: dict[str, object]) -> None:
    assert demo.ask(item).faults() == []


def test_an_untrusted_document_is_quarantined_and_never_a_candidate(demo: Demo) -> None:
    alice = demo.principal("alice")
    found = demo.engine.search("special terms for refunds after 365 days cut-off 23:00", alice, k=100)
    assert "brightwater-special-terms.md" not in {hit.document_id for hit in found.hits}
    assert {"brightwater-haulage.md"} <= {item.document_id for item in demo.engine.documents(alice)}


def test_nobody_sees_the_other_tenant_whatever_groups_he_has(demo: Demo) -> None:
    nadia = demo.principal("nadia")
    mine = {item.document_id for item in demo.engine.documents(demo.principal("alice"), limit=1000)}
    theirs = {item.document_id for item in demo.engine.documents(nadia, limit=1000)}
    assert theirs == {"alarm-plan.md", "baybook-settings.txt", "booking-fee-refunds.md", "gate-hours.md"}
    assert not mine & theirs


OPERATOR = Principal(
    tenant_id="local",
    subject_id="local",
    groups=("local",),
    authorization_revision="local",
    roles=("operator",),
)


@pytest.mark.parametrize("item", QUESTIONS[:8], ids=lambda item: item["id"])
def test_an_answer_of_the_demo_holds_under_the_auditors_checker(demo: Demo, item: dict[str, Any]) -> None:
    """Real documents, a real policy: nothing is left unlooked at, and a changed policy is found."""
    public = demo.ask(item).public
    policy = policy_as_written(demo.settings, None)
    export = demo.engine.operator(OPERATOR).export(
        public.trace_id, response=to_json(public), policy=policy, texts=True
    )
    export = json.loads(json.dumps(export))
    head = auditor.read_head(str(audit_heads(demo.settings)))
    assert auditor.check(export, head) == ([], [])
    export["policy"]["subjects"][item["as"]]["groups"] = ["nobody"]
    assert auditor.check(export, head)[0] != []
