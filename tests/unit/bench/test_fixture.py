"""The cited-qa fixture: what its contract refuses, all faults at once, before anything runs (0.58 to 0.75)."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from clearcite.bench.fixture import RUNTIME, FixtureQuery, parse_fixture, read_fixture
from clearcite.bench.suite import Asked, suite_of_fixture
from clearcite.errors import InputError

SHIPPED = files("clearcite.demo") / "fixture.json"
SOUND: dict[str, Any] = json.loads(SHIPPED.read_text(encoding="utf-8"))
Edit = Callable[[dict[str, Any]], object]


def raw(value: Any) -> bytes:
    return json.dumps(value).encode("utf-8")


def edited(edit: Edit) -> bytes:
    value = copy.deepcopy(SOUND)
    edit(value)
    return raw(value)


def put(path: str, value: Any) -> Edit:
    """``documents.0.title`` → that place set to a value."""
    *above, last = path.split(".")

    def edit(root: Any) -> None:
        for part in above:
            root = root[int(part)] if part.isdigit() else root[part]
        root[int(last) if last.isdigit() else last] = value

    return edit


FAULTS: dict[str, tuple[Edit, str]] = {
    "another version": (put("schema_version", "1.0"), "schema_version"),
    "an unknown root field": (put("extra", 1), "unknown field"),
    "no document": (put("documents", []), "documents"),
    "257 documents": (put("documents", SOUND["documents"][:1] * 257), "documents"),
    "513 queries": (put("queries", SOUND["queries"][:1] * 513), "queries"),
    "129 facts": (put("documents.0.facts", SOUND["documents"][0]["facts"] * 129), "facts"),
    "no fact": (put("documents.0.facts", []), "facts"),
    "a document id twice": (put("documents.1.id", "S1"), "stands twice"),
    "a fact id twice": (put("documents.1.facts.0.id", "F-refund-21"), "stands twice"),
    "a query id twice": (put("queries.1.id", "Q-refund"), "stands twice"),
    "a statement that is not there": (put("documents.0.facts.0.statement", "Never said."), "verbatim"),
    "a value that is a number": (put("documents.0.facts.0.value", 21), "value"),
    "a fact topic in words": (put("documents.0.facts.0.topic", "Refund window"), "snake_case"),
    "an empty list of readers": (put("documents.0.acl", []), "acl"),
    "readers out of order": (put("documents.0.acl", ["b", "a"]), "sorted"),
    "a reader twice": (put("documents.0.acl", ["a", "a"]), "sorted"),
    "groups out of order": (put("queries.0.subject_groups", ["z", "a"]), "sorted"),
    "no group": (put("queries.0.subject_groups", []), "subject_groups"),
    "no start": (put("documents.0.effective_from", None), "effective_from"),
    "a start that is no day": (put("documents.0.effective_from", "2026-02-30"), "effective_from"),
    "an end before the start": (put("documents.0.effective_to", "2020-01-01"), "later"),
    "an end on the start": (put("documents.0.effective_to", "2026-03-01"), "later"),
    "an instant for a day": (put("queries.0.as_of", "2026-07-01T00:00:00Z"), "as_of"),
    "an unknown status": (put("documents.0.status", "secret"), "status"),
    "authority of 101": (put("documents.0.authority", 101), "authority"),
    "authority of true": (put("documents.0.authority", True), "authority"),
    "a slice in words": (put("queries.0.slice", "No Answer"), "snake_case"),
    "an unknown route": (put("queries.0.route", "web"), "route"),
    "a live route that expects an answer": (put("queries.7.expected_status", "answered"), "tool_required"),
    "an unknown expected status": (put("queries.0.expected_status", "maybe"), "expected_status"),
    "an unknown fact": (put("queries.0.expected_fact_ids", ["F-none"]), "unknown fact"),
    "an unknown document": (put("queries.0.forbidden_document_ids", ["S99"]), "unknown document"),
    "a short canary": (put("queries.2.forbidden_output_substrings", ["055"]), "at least 4"),
    "a canary of no document": (put("queries.2.forbidden_output_substrings", ["nowhere"]), "no field"),
    "no critical query": (lambda root: [put("critical", False)(one) for one in root["queries"]], "critical"),
    "no expected fact": (
        lambda root: [put("expected_fact_ids", [])(one) for one in root["queries"]],
        "expect a fact",
    ),
    "a limit above one": (put("evaluation_policy.min_status_accuracy", 1.5), "between 0 and 1"),
    "a limit below nought": (put("evaluation_policy.min_case_pass_rate", -0.1), "between 0 and 1"),
    "a limit in words": (put("evaluation_policy.min_case_pass_rate", "1"), "min_case_pass_rate"),
    "negative disclosures": (put("evaluation_policy.max_non_disclosure_violations", -1), "at least 0"),
    "a context of nought": (put("pipeline.context_limit", 0), "context_limit"),
    "a context too large": (put("pipeline.max_context_chars", 1_000_001), "max_context_chars"),
    "a retrieval of 1001": (put("pipeline.retrieval_limit", 1001), "retrieval_limit"),
    "a string too long": (put("documents.0.text", "x" * 100_001), "characters"),
    "a list too long": (put("documents.0.acl", [f"g{n:04}" for n in range(513)]), "at most 512"),
    "a missing field": (lambda root: root["queries"][0].pop("topic"), "missing field topic"),
}


@pytest.mark.parametrize("kind", FAULTS)
def test_a_fixture_that_breaks_its_contract_is_refused_with_the_place(kind: str) -> None:
    edit, said = FAULTS[kind]
    with pytest.raises(InputError, match=said):
        parse_fixture(edited(edit))


def test_the_shipped_fixture_keeps_its_contract() -> None:
    """The control of every refusal here."""
    fixture = parse_fixture(raw(SOUND))
    assert (len(fixture.documents), len(fixture.queries)) == (10, 8)


RAW: dict[str, bytes] = {
    "a lone surrogate": raw(SOUND).replace(b'"Refunds"', b'"\\ud800"', 1),
    "an oversized integer as a limit": raw(SOUND).replace(
        b'"min_case_pass_rate": 1.0', b'"min_case_pass_rate": 1' + b"0" * 400
    ),
    "NaN": raw(SOUND).replace(b'"min_case_pass_rate": 1.0', b'"min_case_pass_rate": NaN'),
    "a key twice": raw(SOUND).replace(b'"schema_version"', b'"schema_version": "2.0", "schema_version"', 1),
    "too many bytes": raw(SOUND) + b" " * 2_000_000,
    "too deep": b'{"schema_version": ' + b"[" * 70 + b"]" * 70 + b"}",
    "no JSON": b"documents:",
    "a list": b"[]",
    "no UTF-8": b"\xff\xfe",
}  # fmt: skip


@pytest.mark.parametrize("kind", RAW)
def test_bytes_that_are_no_strict_json_are_refused(kind: str) -> None:
    with pytest.raises(InputError):
        parse_fixture(RAW[kind])


def test_all_faults_are_said_at_once() -> None:
    def edit(root: dict[str, Any]) -> None:
        for fault in ("readers out of order", "a slice in words", "a limit above one", "an unknown fact"):
            FAULTS[fault][0](root)

    with pytest.raises(InputError) as refused:
        parse_fixture(edited(edit))
    assert len(refused.value.violations) == 4


def test_a_file_that_cannot_be_read_is_said_by_its_kind_and_not_by_its_path(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file") as refused:
        read_fixture(tmp_path / "secret-place.json")
    assert "secret-place" not in str(refused.value)


def test_a_canary_may_stand_in_any_field_of_a_forbidden_document() -> None:
    for canary in ("F-phone", "Night desk contacts", "contacts-7", "oncall", "0555-0142-77"):
        parse_fixture(edited(put("queries.2.forbidden_output_substrings", [canary])))


def test_an_archived_document_keeps_the_contract() -> None:
    parse_fixture(edited(put("documents.9.status", "archived")))


def test_the_answerer_gets_the_runtime_fields_and_cannot_reach_the_oracle() -> None:
    """Every oracle field is poisoned; what is asked is the same object either way."""
    oracle = {"slice", "critical", "expected_status", "expected_fact_ids"}
    oracle |= {"forbidden_document_ids", "forbidden_output_substrings"}
    assert oracle | set(RUNTIME) == set(FixtureQuery.__struct_fields__)
    assert not oracle & set(RUNTIME)

    def poison(root: dict[str, Any]) -> None:
        for query in root["queries"][1:]:
            query |= {"slice": "poison", "critical": True, "expected_fact_ids": ["F-parcels"]}
            query |= {"forbidden_document_ids": ["S8"], "forbidden_output_substrings": ["Parcels"]}

    before = suite_of_fixture(parse_fixture(raw(SOUND)), "x")
    after = suite_of_fixture(parse_fixture(edited(poison)), "x")
    assert [one.asked for one in before.cases] == [one.asked for one in after.cases]
    assert before.cases[1].oracle != after.cases[1].oracle
    assert not {"expected", "oracle", "slice", "critical"} & set(Asked.__struct_fields__)
