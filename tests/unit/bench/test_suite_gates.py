"""Each gate of a suite of one's own fails by a fault of its own and passes without it, on a real engine."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from clearcite.bench.answering import OPERATOR, run_suite
from clearcite.bench.artifact import summary
from clearcite.bench.evaluate import Evaluation, Subject, evaluate
from clearcite.bench.gates import Gate, verdict_of
from clearcite.bench.limits import GateLimits
from clearcite.bench.readers import readers_of
from clearcite.bench.suite import Asked, Oracle, Suite, SuiteCase
from clearcite.domain.access import Acl
from clearcite.domain.corpus import DocumentKey
from clearcite.domain.retrieval import Scope
from clearcite.engine import Engine, Reply
from clearcite.errors import DependencyUnavailable, InputError
from clearcite.ports import Snapshot
from clearcite.visibility import ReadableNow, Visibility
from tests.support.world import DAY, NOW, World, deletion, make_world, principal, record

HOUR = DAY // 24
LODGING = "The lodging allowance is EUR 140 per night."
BOARD = "The lodging allowance of the board is EUR 999 per night."


class Judging(Visibility):
    """Takes every asker for a member of these groups: a mask that is too wide or too narrow."""

    def __init__(self, *groups: str) -> None:
        super().__init__()
        self.groups = groups

    def readable(self, snapshot: Snapshot, scope: Scope) -> ReadableNow:
        return super().readable(
            snapshot, replace(scope, principal=replace(scope.principal, groups=self.groups))
        )


class Drifting(Engine):
    """Cites one character beside what it quotes."""

    def reply(self, question: str, principal: Any, **options: Any) -> Reply:
        reply = super().reply(question, principal, **options)
        moved = tuple(replace(item, cited_text=item.cited_text[1:]) for item in reply.public.citations)
        return replace(reply, public=replace(reply.public, citations=moved))


def key(name: str) -> DocumentKey:
    return DocumentKey(tenant_id="acme", source_id="default", document_id=name)


def case(name: str, text: str, oracle: Oracle, group: str = "staff", **more: Any) -> SuiteCase:
    asked = Asked(text=text, principal=principal(group))
    return SuiteCase(
        id=name,
        cohort=group,
        asked=asked,
        oracle=oracle,
        **{"slice": "all", "critical": False, **more},
    )


def suite(*more: SuiteCase, **limits: Any) -> Suite:
    lodging = Oracle(
        status="answered",
        relevant=(key("lodging"),),
        nuggets=("EUR 140",),
        forbidden=(key("board"),),
        canaries=("EUR 999",),
    )
    cases = (
        case("lodging", "What is the lodging allowance?", lodging),
        case("mars", "What is the weather on Mars?", Oracle(status="insufficient_evidence")),
        *more,
    )
    return Suite(name="suite", cases=cases, sha256="0" * 64, limits=GateLimits(**limits))


def world() -> World:
    made = make_world()
    made.put(
        record("lodging", f"# Lodging\n\n{LODGING}"),
        record("board", f"# Lodging of the board\n\n{BOARD}", groups=("board",)),
        record("rooms", "# Rooms\n\nRoom 5 has three beds.", groups=("public",)),
    )
    return made


def judged(made: World, asked: Suite, engine: Callable[..., Engine] = Engine) -> Evaluation:
    return evaluate(Subject(engine=engine(made.services)), asked)


def gates(found: Evaluation) -> Mapping[str, Gate]:
    return {gate.name: gate for gate in found.gates}


def test_without_a_fault_and_without_limits_what_always_counts_passes() -> None:
    found = judged(world(), suite())
    states = {gate.name: gate.state for gate in found.gates if gate.state != "skipped"}
    assert states == {"leak": "pass", "citation": "pass", "degraded": "pass"}
    assert found.verdict == "PASS"
    assert all(gate.reason for gate in found.gates if gate.state == "skipped"), "each says why"


def test_a_candidate_that_the_asker_may_not_read_is_a_leak_although_nothing_of_it_was_shown() -> None:
    made = world().with_services(visibility=Judging("staff", "board"))
    found = judged(made, suite())
    gate = gates(found)["leak"]
    assert (gate.state, found.verdict) == ("fail", "BLOCK")
    codes = {code for one in found.results for code in one.codes}
    assert {"unauthorized_candidate", "forbidden_candidate"} <= codes and "forbidden_text" not in codes
    assert gate.reason and gate.reason.startswith("1 of 2 cases leak")


def test_a_string_that_may_be_shown_nowhere_is_a_leak() -> None:
    made = world()
    assert judged(made, suite()).verdict == "PASS"
    made.put(record("lodging", "# Lodging\n\nThe lodging allowance is EUR 999 per night.", sequence=2))
    found = judged(made, suite())
    assert gates(found)["leak"].state == "fail"
    assert "forbidden_text" in found.results[0].codes


def test_the_leak_gate_says_what_no_leak_in_sixty_cases_proves() -> None:
    many = [
        case(f"m{n}", "What is the weather on Mars?", Oracle(status="insufficient_evidence"))
        for n in range(58)
    ]
    gate = gates(judged(world(), suite(*many)))["leak"]
    assert (gate.state, gate.n, gate.n_scored) == ("pass", 60, 60)
    assert (
        gate.reason
        == "0 of 60 cases leak: at most 4.9 % with 95 % confidence; authorized recall 1.000000 of 1 case"
    )


def test_a_citation_that_does_not_resolve_again_fails_its_gate() -> None:
    assert gates(judged(world(), suite()))["citation"].state == "pass"
    found = judged(world(), suite(), Drifting)
    gate = gates(found)["citation"]
    assert (gate.state, gate.value, gate.n_scored) == ("fail", "1", 1)
    assert found.results[0].codes == ("citation_does_not_hold",)
    assert found.results[0].scores["supported_claims"] == "0.000000"


def test_a_suite_that_expects_no_answer_needs_no_citation_and_one_that_gets_none_is_not_passed() -> None:
    empty = replace(suite(), cases=suite().cases[1:])
    assert gates(judged(world(), empty))["citation"].state == "skipped"
    found = judged(world().with_services(visibility=Judging("nobody")), suite())
    assert (gates(found)["citation"].state, found.verdict) == ("unscored", "BLOCK")


LIMITS: Mapping[str, Mapping[str, Any]] = {
    "case_pass_rate": {"min_case_pass_rate": "0.900000"},
    "status": {"min_status_accuracy": "0.900000"},
    "authorized_recall": {"min_authorized_recall": "0.900000"},
    "underfill": {"max_underfill_rate": "0.500000", "k": 1},
    "ndcg": {"min_ndcg": "0.900000"},
    "context_recall": {"min_context_recall": "0.900000"},
    "citation_recall": {"min_citation_recall": "0.900000"},
    "nugget_recall": {"min_nugget_recall": "0.900000"},
}


@pytest.mark.parametrize("name", LIMITS)
def test_a_grant_that_the_mask_misses_fails_each_gate_that_has_a_limit(name: str) -> None:
    asked = suite(**LIMITS[name])
    if name == "underfill":
        asked = replace(asked, cases=asked.cases[:1])
    sound = gates(judged(world(), asked))[name]
    assert (sound.state, sound.limit) == (
        "pass",
        next(v for v in LIMITS[name].values() if isinstance(v, str)),
    )
    assert sound.interval is not None and sound.n_scored
    missed = judged(world().with_services(visibility=Judging("public")), asked)
    assert gates(missed)[name].state == "fail" and missed.verdict == "BLOCK"


def test_precision_of_citations_and_empty_answers_have_gates_that_fail() -> None:
    wrong = Oracle(status="answered", relevant=(key("rooms"),))
    open_world = world()
    open_world.put(record("rooms", "# Rooms\n\nRoom 5 has three beds.", sequence=2))
    beside = case("beside", "What is the lodging allowance?", wrong)
    limits = {"min_citation_precision": "0.900000", "min_expected_empty_rate": "1.000000"}
    assert gates(judged(open_world, suite(beside, **limits)))["citation_precision"].state == "fail"
    sound = gates(judged(world(), suite(**limits)))
    assert (sound["citation_precision"].state, sound["expected_empty_rate"].state) == ("pass", "pass")
    answers = world()
    answers.put(record("mars", "# Mars\n\nThe weather on Mars is cold and dry."))
    assert gates(judged(answers, suite(**limits)))["expected_empty_rate"].state == "fail"


def test_who_refuses_everything_leaks_nothing_and_fails_by_what_stands_beside_it() -> None:
    limits = {"min_expected_empty_rate": "1.000000", "max_over_refusal_rate": "0.000000"}
    sound = gates(judged(world(), suite(**limits)))
    assert (sound["over_refusal_rate"].state, sound["over_refusal_rate"].n_scored) == ("pass", 1)
    assert (
        sound["expected_empty_rate"].reason == "questions with an answer that were refused 0.000000 of 1 case"
    )
    blind = judged(world().with_services(visibility=Judging("public")), suite(**limits))
    mute = gates(blind)
    assert (mute["leak"].state, mute["expected_empty_rate"].state) == ("pass", "pass")
    assert (mute["over_refusal_rate"].state, blind.verdict) == ("fail", "BLOCK")
    assert str(mute["leak"].reason).endswith("authorized recall 0.000000 of 1 case")
    assert str(mute["expected_empty_rate"].reason).endswith("refused 1.000000 of 1 case")


def test_a_critical_case_that_fails_blocks_without_any_limit() -> None:
    wrong = case("critical", "What is the lodging allowance?", Oracle(status="conflict"), critical=True)
    right = case("critical", "What is the lodging allowance?", Oracle(status="answered"), critical=True)
    assert gates(judged(world(), suite(right)))["critical"].state == "pass"
    found = judged(world(), suite(wrong))
    assert (gates(found)["critical"].state, found.verdict) == ("fail", "BLOCK")
    assert found.confusion["conflict"] == {"answered": 1}


def test_recall_stands_for_each_cohort_of_each_tenant_and_the_worst_fails_it() -> None:
    hidden = case(
        "guest", "How many beds has room 5?", Oracle(status="answered", relevant=(key("rooms"),)), "public"
    )
    limit = {"min_authorized_recall": "0.900000"}
    gate = gates(judged(world(), suite(hidden, **limit)))["authorized_recall"]
    assert [(row.tenant, row.part, row.state) for row in gate.rows] == [
        ("acme", "public", "pass"),
        ("acme", "staff", "pass"),
    ]
    gate = gates(judged(world().with_services(visibility=Judging("staff")), suite(hidden, **limit)))[
        "authorized_recall"
    ]
    assert [(row.part, row.state, row.value) for row in gate.rows] == [
        ("public", "fail", "0.000000"),
        ("staff", "pass", "1.000000"),
    ]
    assert (
        gate.state == "fail"
        and gate.value == "0.500000"
        and gate.reason == "acme/public: 0.000000 of 1 cases"
    )


def test_groups_of_cases_stand_worst_first_and_a_status_that_differs_is_shown() -> None:
    oracle = Oracle(status="answered", relevant=(key("rooms"),))
    guest = case("guest", "How many beds has room 5?", oracle, "public", slice="rooms")
    found = judged(world().with_services(visibility=Judging("staff")), suite(guest))
    assert list(found.cohorts) == [("acme", "public"), ("acme", "staff")]
    assert list(found.slice_scores) == ["rooms", "all"]
    assert found.confusion["answered"] == {"answered": 1, "insufficient_evidence": 1}
    assert "| answered | 1 | 1 |" in summary(found)
    sound = judged(world(), suite(guest))
    assert "expected, came back" not in summary(sound)


def test_a_cohort_that_may_read_nothing_of_what_is_expected_fails_recall_and_is_no_empty_measure() -> None:
    blind = case(
        "guest",
        "What is the lodging allowance?",
        Oracle(status="answered", relevant=(key("lodging"),)),
        "public",
    )
    found = judged(world(), suite(blind, min_authorized_recall="0.500000"))
    gate = gates(found)["authorized_recall"]
    assert (gate.state, gate.rows[0].part, gate.rows[0].n_scored) == ("fail", "public", 0)
    assert "relevant_documents_not_readable" in found.results[2].codes
    assert found.results[2].scores["recall@10"] is None, "who may read nothing relevant is not scored"


def test_underfill_is_split_in_what_was_not_found_and_what_ranking_lost() -> None:
    narrow = judged(world().with_services(visibility=Judging("nobody")), suite(k=1)).results[0].scores
    assert (narrow["underfill"], narrow["candidate_underfill"], narrow["ranker_underfill"]) == (
        "1.000000",
        "1.000000",
        "0.000000",
    )
    failing = world().with_services(faults={"fuse": DependencyUnavailable("down")})
    ranked = judged(failing, suite(k=1)).results[0].scores
    assert (ranked["underfill"], ranked["candidate_underfill"], ranked["ranker_underfill"]) == (
        "1.000000",
        "0.000000",
        "1.000000",
    )


def test_an_old_policy_an_unknown_one_and_one_without_a_date_fail_the_gate_of_its_age() -> None:
    limit = suite(max_policy_age_hours=24)
    now = time.time_ns() // 1_000
    states = {}
    for name, issued in {"young": now - HOUR, "old": now - 25 * HOUR, "undated": None}.items():
        made = world()
        made.clock.value = now
        made.engine.operator(OPERATOR).announce_policy(1, issued)
        states[name] = gates(judged(made, limit))["policy_age"].state
    states["none"] = gates(judged(world(), limit))["policy_age"].state
    assert states == {"young": "pass", "old": "fail", "undated": "fail", "none": "fail"}


def test_an_answer_on_a_fallback_blocks_unless_the_suite_allows_it() -> None:
    made = world().with_services(faults={"rerank": DependencyUnavailable("down")})
    found = judged(made, suite())
    assert gates(found)["degraded"].state == "fail" and found.verdict == "BLOCK"
    assert all(one.passes for one in found.results), "the answers are kept"
    allowed = judged(made, suite(allow_degraded=True))
    assert gates(allowed)["degraded"].state == "skipped" and allowed.verdict == "PASS"


def test_a_limit_that_must_be_shown_is_not_passed_by_a_few_cases_and_says_how_many_it_takes() -> None:
    seen = gates(judged(world(), suite(min_status_accuracy="0.900000")))["status"]
    shown = judged(world(), suite(min_status_accuracy="0.900000", shown=True))
    gate = gates(shown)["status"]
    assert (seen.state, gate.state, shown.verdict) == ("pass", "inconclusive", "BLOCK")
    assert gate.reason and "about" in gate.reason and "cases would show it" in gate.reason
    many = [
        case(f"m{n}", "What is the weather on Mars?", Oracle(status="insufficient_evidence"))
        for n in range(58)
    ]
    enough = gates(judged(world(), suite(*many, min_status_accuracy="0.900000", shown=True)))["status"]
    assert enough.state == "pass", "the control: sixty cases show it"


def test_what_is_served_and_no_longer_newest_counts_as_stale() -> None:
    made = world()
    assert judged(made, suite()).results[0].scores["stale_candidates"] == "0.000000"
    made.put(
        record("lodging", "# Lodging\n\nThe lodging allowance is EUR 150 per night.", sequence=2),
        publish=False,
    )
    assert judged(made, suite()).results[0].scores["stale_candidates"] == "1.000000"


def test_nothing_that_proves_nothing_passes() -> None:
    with pytest.raises(InputError, match="no case"):
        judged(world(), replace(suite(), cases=()))
    with pytest.raises(InputError, match="no document"):
        judged(make_world(), suite())
    assert verdict_of(()) == "BLOCK"
    skipped = Gate(name="any", state="skipped", value=None, limit=None, n=0)
    assert verdict_of([skipped]) == "BLOCK", "what was only left out proves nothing"
    for state in ("fail", "unscored", "inconclusive", "error"):
        assert verdict_of([replace(skipped, state="pass"), replace(skipped, state=state)]) == "BLOCK", state


def searched(name: str, text: str, oracle: Oracle, group: str = "staff") -> SuiteCase:
    made = case(name, text, oracle, group)
    return replace(made, asked=replace(made.asked, search=True))


def test_a_search_is_judged_by_what_it_finds_and_needs_no_answer() -> None:
    lodging = searched("lodging", "lodging allowance", Oracle(status="answered", relevant=(key("lodging"),)))
    limits = {"min_authorized_recall": "0.900000", "min_ndcg": "0.900000"}
    only = replace(suite(**limits), cases=(lodging,))
    found = judged(world(), only)
    states = {gate.name: gate.state for gate in found.gates if gate.state != "skipped"}
    assert (
        states["authorized_recall"] == states["ndcg"] == states["leak"] == "pass" and "citation" not in states
    )
    assert found.verdict == "PASS" and "citation_recall" not in found.results[0].scores
    missed = judged(world().with_services(visibility=Judging("public")), only)
    assert gates(missed)["authorized_recall"].state == "fail"
    wide = judged(world().with_services(visibility=Judging("staff", "board")), only)
    assert gates(wide)["leak"].state == "fail" and "unauthorized_candidate" in wide.results[0].codes
    down = judged(world().with_services(faults={"recall": DependencyUnavailable("down")}), only)
    assert (down.results[0].status, down.verdict) == ("dependency_unavailable", "BLOCK")
    assert gates(down)["degraded"].state == "fail"


def test_a_critical_search_that_finds_nothing_of_what_is_relevant_blocks_without_any_limit() -> None:
    rooms = Oracle(status="answered", relevant=(key("rooms"),))
    lost = replace(searched("lost", "zebra crossing", rooms, group="public"), critical=True)
    found = judged(world(), suite(lost))
    assert found.results[-1].codes == ("no_relevant_document_found",)
    assert (gates(found)["critical"].state, found.verdict) == ("fail", "BLOCK")
    control = replace(searched("found", "three beds", rooms, group="public"), critical=True)
    assert judged(world(), suite(control)).verdict == "PASS"


def test_a_suite_whose_askers_may_read_nothing_proves_nothing() -> None:
    nobody = case("typo", "What is the weather on Mars?", Oracle(status="insufficient_evidence"), "stafff")
    found = judged(world(), replace(suite(), cases=(nobody,)))
    assert (gates(found)["leak"].state, found.verdict) == ("unscored", "BLOCK")
    assert judged(world(), suite(nobody)).verdict == "PASS", "beside somebody who may read it is a question"


def test_the_summary_says_how_many_cases_pass_and_how_far_evidence_gets_where_no_fact_is_expected() -> None:
    text = summary(judged(world(), suite()))
    assert "| slice | cases passed | status | found | in the context | cited | said |" in text
    assert "| all | 1.000000 | 1.000000 | 1.000000 | 1.000000 | 1.000000 | 1.000000 |" in text
    assert "2 of 2 cases pass." in text


def test_a_search_and_an_answer_rank_the_same() -> None:
    oracle = Oracle(status="answered", relevant=(key("lodging"),))
    both = (case("asked", "lodging allowance", oracle), searched("searched", "lodging allowance", oracle))
    asked, found = judged(world(), replace(suite(), cases=both)).runs
    assert found.retrieved == asked.retrieved and found.candidates == asked.candidates != ()


def test_a_limit_on_what_no_case_can_measure_is_not_met() -> None:
    nothing = replace(suite(min_ndcg="0.000000", min_nugget_recall="0.000000"), cases=suite().cases[1:])
    found = judged(world(), nothing)
    assert (gates(found)["ndcg"].state, gates(found)["nugget_recall"].state) == ("unscored", "unscored")
    assert found.scores["ndcg@10"].value is None and found.scores["ndcg@10"].reason
    assert found.verdict == "BLOCK"
    assert judged(world(), replace(nothing, limits=GateLimits())).verdict == "PASS", "the control"


def test_a_case_that_cannot_be_asked_is_named() -> None:
    with pytest.raises(InputError, match="case endless: "):
        judged(world(), suite(case("endless", "a" * 1_000_000, Oracle(status="answered"))))


class Poisoned(Exception):
    pass


class Poison:
    """Raises wherever it is looked at."""

    def __getattribute__(self, name: str) -> Any:
        raise Poisoned


def test_whoever_answers_never_looks_at_the_oracle() -> None:
    made, asked = world(), suite()
    poisoned = replace(asked, cases=tuple(replace(one, oracle=Poison()) for one in asked.cases))  # type: ignore[arg-type]
    runs = list(run_suite(made.engine, poisoned))
    assert [run.public.status for run in runs] == ["answered", "insufficient_evidence"]
    with pytest.raises(Poisoned):
        judged(made, poisoned)


def test_what_the_bench_derives_of_who_may_read_what_is_what_each_reader_can_list() -> None:
    made = world()
    made.services.ledger.put_collection("acme", "hr", Acl(allow=("staff",), deny=("temp",)))
    made.put(
        record("denied", "# Denied\n\nNot for guests.", access={"deny": ("public",)}),
        record("draft", "# Draft\n\nNot yet.", access={"status": "draft"}),
        record("foreign", "# Foreign\n\nOf another tenant.", tenant="zeta"),
        record("late", "# Late\n\nOnly later.", access={"effective_from": NOW + DAY}),
        record("gone", "# Gone\n\nNo longer.", access={"effective_to": NOW}),
        record("below", "# Below\n\nIn a collection.", access={"parent": "hr"}),
        record("nowhere", "# Nowhere\n\nIn no collection.", access={"parent": "it"}),
        record("bad", "# Bad\n\nSet aside."),
        record("dead", "# Dead\n\nDeleted."),
    )
    made.put(deletion(record("dead", "# Dead\n\nDeleted.")))
    made.services.ledger.quarantine(key("bad"), "test")
    readers = readers_of(made.engine.operator(OPERATOR), NOW)
    everybody = [
        (),
        ("staff",),
        ("public",),
        ("board",),
        ("staff", "public"),
        ("staff", "temp"),
        ("board", "staff"),
    ]
    sizes = set()
    for groups in everybody:
        who = principal(*groups)
        mine = {one.document_id for one in readers.readable(Asked(text="", principal=who))}
        listed = {item.document_id for item in made.engine.documents(who)} if groups else set()
        assert mine == listed, groups
        sizes.add(len(mine))
    assert len(sizes) > 3, "the control: they do not all read the same"
    later = readers.readable(Asked(text="", principal=principal("staff"), as_of=NOW + DAY))
    assert key("late") in later and key("gone") not in later


def test_what_is_sent_to_a_tool_is_no_case_that_leaked_nothing() -> None:
    live = case("live", "Where is my order?", Oracle(status="tool_required"))
    live = replace(live, asked=replace(live.asked, route="tool_required"))
    beside = gates(judged(world(), suite(live)))["leak"]
    assert (beside.state, beside.n, beside.n_scored) == ("pass", 3, 2)
    alone = judged(world(), replace(suite(), cases=(live,)))
    assert alone.results[0].passes
    assert (gates(alone)["leak"].state, alone.verdict) == ("unscored", "BLOCK")


def test_a_suite_of_which_not_one_case_passes_blocks_without_any_limit() -> None:
    wrong = case("wrong", "What is the lodging allowance?", Oracle(status="conflict"))
    found = judged(world(), replace(suite(), cases=(wrong,)))
    assert (gates(found)["case_pass_rate"].state, found.verdict) == ("fail", "BLOCK")
    assert judged(world(), suite(wrong)).verdict == "PASS", "beside cases that pass it is one that does not"
