"""The layers before any question: golden samples and ingestion, each failed by a fault and passed without it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from clearcite.bench.evaluate import Evaluation, Subject, evaluate
from clearcite.bench.gates import Gate
from clearcite.bench.golden_sample import Golden
from clearcite.bench.ingestion import FED, NEVER, WITHHELD, health_lines, health_of
from clearcite.bench.suite import Suite
from clearcite.bench.suite_file import Names, read_suite
from clearcite.domain.corpus import DocumentKey
from clearcite.domain.sources import SourceState
from clearcite.errors import InputError
from tests.support.world import DAY, GENERATION, NOW, World, principal, record
from tests.unit.bench.test_suite_gates import suite, world

TEXT = "# Lodging\n\nThe lodging allowance is EUR 140 per night.\n\n## Form E-4211\n\nIt is paid in May."
SAMPLE = Golden(
    tenant="acme",
    document="lodging",
    contains=("EUR 140 per night",),
    title="Lodging",
    headings=("Form E-4211",),
    fields={
        "source_uri": "lodging",
        "product_version": "2.1",
        "authority": "50",
        "effective_from": "2026-01-01T00:00:00Z",
    },
    readable_by=("staff",),
    hidden_from=("public",),
)
JANUARY = 1_767_225_600_000_000


def put(made: World, text: str = TEXT, sequence: int = 2, publish: bool = True, **more: Any) -> World:
    groups = more.pop("groups", ("staff",))
    access = {"effective_from": JANUARY, **more.pop("access", {})}
    description = {"product_version": "2.1", **more}
    made.put(
        record("lodging", text, groups, sequence=sequence, access=access, **description), publish=publish
    )
    return made


def found(made: World, asked: Suite) -> tuple[Evaluation, Mapping[str, Gate]]:
    evaluation = evaluate(Subject(engine=made.engine), asked)
    return evaluation, {gate.name: gate for gate in evaluation.gates}


def golden(*samples: Golden, **limits: Any) -> Suite:
    return replace(suite(**limits), golden=samples)


def test_a_sample_whose_document_is_as_it_should_be_passes() -> None:
    evaluation, gates = found(put(world()), golden(SAMPLE))
    assert (gates["content"].state, gates["content"].value, gates["content"].n) == ("pass", "0", 10)
    assert evaluation.findings == () and evaluation.verdict == "PASS"


FAULTS: Mapping[str, tuple[str, str, Mapping[str, Any]]] = {
    "a damaged code": ("string_missing", "parsing", {"text": TEXT.replace("140", "14O")}),
    "a lost title": ("title_differs", "parsing", {"text": TEXT.replace("# Lodging\n", "")}),
    "a lost heading": ("heading_missing", "parsing", {"text": TEXT.replace("## Form E-4211\n", "")}),
    "another origin": ("source_uri_differs", "provenance", {"source_uri": "elsewhere"}),
    "another version": ("product_version_differs", "provenance", {"product_version": "2.0"}),
    "another weight": ("authority_differs", "provenance", {"authority": 51}),
    "another window": ("effective_from_differs", "access", {"access": {"effective_from": JANUARY + 1}}),
    "a missing grant": ("not_readable", "access", {"groups": ("board",)}),
    "a wide grant": ("readable", "access", {"groups": ("public", "staff")}),
    "a draft": ("not_readable", "access", {"access": {"status": "draft"}}),
}


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_of_a_document_is_named_with_its_stage_and_blocks(name: str) -> None:
    code, stage, change = FAULTS[name]
    evaluation, gates = found(put(world(), **change), golden(SAMPLE))
    assert gates["content"].state == "fail" and evaluation.verdict == "BLOCK"
    assert (code, stage) in {(item.rate, item.stage) for item in evaluation.findings}
    assert all(item.owner and item.where == "acme/lodging" for item in evaluation.findings)
    kept = repr(gates["content"])
    assert code in kept
    assert not any(text in kept for text in ("EUR 140", "E-4211", "'lodging'", "acme/lodging"))


def test_a_document_that_is_not_there_or_not_the_newest_is_a_finding_not_a_faulty_suite() -> None:
    missing = replace(SAMPLE, document="nowhere")
    evaluation, _ = found(put(world()), golden(missing))
    assert [(item.rate, item.stage) for item in evaluation.findings] == [("document_missing", "ingestion")]
    waiting = put(put(world()), TEXT + " And in June.", sequence=3, publish=False)
    evaluation, _ = found(waiting, golden(SAMPLE))
    assert [item.rate for item in evaluation.findings] == ["document_not_current"]


def test_a_string_that_no_single_passage_holds_was_cut_apart() -> None:
    text = TEXT + "".join(
        f"\n\n## Part {n}\n\nSentence {n} says this. " + "Word after word. " * 150 for n in range(4)
    )
    made = put(world(), text)
    across = replace(SAMPLE, contains=(f"Sentence 1 says this. {'Word after word. ' * 150}## Part 2",))
    evaluation, _ = found(made, golden(across))
    assert [(item.rate, item.stage) for item in evaluation.findings] == [("string_split", "chunking")]


def read(folder: Path, text: str) -> Suite:
    cases = '[[cases]]\nid="a"\nask={text="What?",tenant="acme",groups=["x"]}\nexpect={status="answered"}\n'
    (folder / "suite.toml").write_text(cases + text)
    return read_suite(folder / "suite.toml", Names(resolve=lambda name: principal(), documents=()))[0]


@pytest.mark.parametrize("value", ["nan", "-inf", '"sNaN"', "{a = 1}"])
def test_a_least_rate_that_is_no_number_is_wrong_input(tmp_path: Path, value: str) -> None:
    with pytest.raises(InputError, match="recall_at_2 must lie between 0 and 1"):
        read(tmp_path, f"[minimum]\nrecall_at_2 = {value}\n")
    read(tmp_path, "[minimum]\nrecall_at_2 = 0.5\n")


def test_what_is_no_toml_says_where(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 5, column"):
        read(tmp_path, "critical = yes\n")


def test_samples_are_read_from_a_suite_and_everything_wrong_with_them_is_said_together(
    tmp_path: Path,
) -> None:
    good = read(tmp_path, '[[golden]]\ndocument = "a"\nauthority = 9\neffective_from = 2026-01-01\n')
    assert good.golden[0].fields == {"authority": "9", "effective_from": "2026-01-01T00:00:00Z"}
    with pytest.raises(InputError) as refused:
        read(
            tmp_path,
            '[[golden]]\ncontains = ["x"]\n[[golden]]\ndocument = "a"\n'
            '[[golden]]\ndocument = "a"\ncontain = ["x"]\nauthority = true\n'
            '[[golden]]\ndocument = "b"\ncontains = [""]\n',
        )
    for text in (
        "needs a document",
        "asks for nothing",
        "contain",
        "authority must be",
        "list of texts",
        "has 2 samples",
    ):
        assert text in str(refused.value), text


def test_what_waits_or_failed_lowers_coverage_and_blocks_only_where_there_is_a_limit() -> None:
    limits = {"min_source_coverage": "1.000000", "max_failure_rate": "0.000000"}
    _, sound = found(world(), golden(**limits))
    assert (sound["source_coverage"].state, sound["failure_rate"].state) == ("pass", "pass")
    made = world()
    made.put(record("late", "# Late\n\nIt waits."), publish=False)
    evaluation, gates = found(made, golden(**limits))
    assert (gates["source_coverage"].state, gates["source_coverage"].value) == ("fail", "0.750000")
    made.services.ledger.quarantine(
        DocumentKey(tenant_id="acme", source_id="default", document_id="late"), "test"
    )
    evaluation, gates = found(made, golden(**limits))
    assert gates["failure_rate"].state == "fail" and evaluation.verdict == "BLOCK"
    assert found(made, golden())[0].verdict == "PASS"


def status(**run: Any) -> dict[str, Any]:
    place = {"tenant_id": "acme", "source_id": "docs"}
    row = {**place, "active": 4, "current": 4, "failing": 0, "quarantined": 0}
    whole = {
        "outcome": "ok",
        "cursor": "c1",
        "lag_seconds": 60,
        "covered_seconds": 90,
        "refused": 0,
        "withheld": 0,
        **run,
    }
    return {
        "sources": [{**place, "documents": 4, "runs": [whole]}],
        "slices": [row],
    }


def test_a_source_that_can_give_no_value_gives_null_with_a_reason_and_not_nought() -> None:
    (sound,) = health_of(status())
    assert (sound.coverage, sound.failures, sound.lag_seconds, sound.missing) == (1_000_000, 0, 60, {})
    (never,) = health_of(status(lag_seconds=None))
    assert (never.lag_seconds, never.missing) == (None, {"lag_seconds": NEVER})
    (waits,) = health_of(status(withheld=3))
    assert (waits.deletes_unseen_seconds, waits.missing) == (None, {"deletes_unseen_seconds": WITHHELD})
    (refused,) = health_of(status(refused=1))
    assert (refused.coverage, refused.failures) == (800_000, 200_000)
    fed = found(world(), golden())[0].sources
    assert [(one.cursor, one.lag_seconds, one.missing["cursor"]) for one in fed] == [(None, None, FED)]
    assert "null (it is fed, not listed)" in next(health_lines(fed))


def taken(made: World, *, finished: int | None, covered: int | None) -> World:
    ledger: Any = made.services.ledger
    ledger.put_source(
        SourceState(
            tenant_id="acme",
            source_id="default",
            kind="folder",
            cursor="c",
            tried_at=NOW,
            finished_at=finished,
            covered_at=covered,
            outcome="ok",
        )
    )
    return made


@pytest.mark.parametrize("name", ["source_age", "deletion_discovery"])
def test_an_old_run_and_a_listing_that_never_ended_fail_where_a_limit_is_given(name: str) -> None:
    limits = {"max_source_age_hours": 1, "max_deletes_unseen_hours": 1}
    fresh = taken(world(), finished=NOW, covered=NOW)
    assert found(fresh, golden(**limits))[1][name].state == "pass"
    old = taken(world(), finished=NOW - DAY, covered=NOW - DAY)
    gate = found(old, golden(**limits))[1][name]
    assert (gate.state, gate.value) == ("fail", None), "an age is not kept: a rerun has the same bytes"
    never = taken(world(), finished=None, covered=None)
    assert found(never, golden(**limits))[1][name].state == "fail"
    evaluation, gates = found(world(), golden(**limits))
    assert (gates[name].state, evaluation.verdict) == ("unscored", "BLOCK"), "what is fed cannot say"


def test_what_waits_for_the_index_too_long_or_was_given_up_blocks() -> None:
    asked = golden(max_index_lag_seconds=60)
    assert found(world(), asked)[1]["index_lag"].state == "pass"
    late = world()
    late.put(record("late", "# Late\n\nIt waits."), publish=False)
    late.clock.value = NOW + 30_000_000
    assert found(late, asked)[1]["index_lag"].state == "pass", "it waits no longer than it may"
    late.clock.value = NOW + DAY
    evaluation, gates = found(late, asked)
    assert (gates["index_lag"].state, evaluation.verdict) == ("fail", "BLOCK")
    late.publish()
    assert found(late, asked)[1]["index_lag"].state == "pass"
    broken = world()
    broken.put(record("broken", "# Broken\n\nIt cannot be read."), publish=False)
    (job,) = broken.services.ledger.claim(GENERATION, 1, "test")
    broken.services.ledger.fail(job, "test", final=True)
    gate = found(broken, asked)[1]["index_lag"]
    assert (gate.state, gate.value) == ("fail", "1")


def test_a_candidate_of_a_revision_that_was_replaced_blocks() -> None:
    made = world()
    assert found(made, golden())[1]["revision_currency"].state == "skipped"
    made.put(record("lodging", "# Lodging\n\nThe lodging allowance is EUR 150.", sequence=2), publish=False)
    evaluation, gates = found(made, golden())
    assert (gates["revision_currency"].state, gates["revision_currency"].value) == ("fail", "1")
    assert evaluation.verdict == "BLOCK"
    made.publish()
    assert found(made, golden())[1]["revision_currency"].state == "skipped"
