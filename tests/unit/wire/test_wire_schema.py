"""The published schemas are current, valid, and agree with the code that reads and writes."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import clearcite
from clearcite.domain.answer import PublicAnswer, PublicHit, PublicSearch, Span, Statement
from clearcite.errors import InputError
from clearcite.wire.convert import to_json
from clearcite.wire.records import read_record
from clearcite.wire.schema import all_schemas

FOLDER = Path(clearcite.__file__).parent / "schemas"
RECORD: dict[str, Any] = {
    "tenant_id": "t", "document_id": "d", "source_sequence": 1, "source_uri": "d", "source_version": "1",
    "allowed_groups": ["g"], "content": "text",
}  # fmt: skip
DELETE: dict[str, Any] = {
    "operation": "delete", "tenant_id": "t", "document_id": "d", "source_sequence": 2, "reason": "user_request",
}  # fmt: skip


def validator(name: str) -> Any:
    return jsonschema.Draft202012Validator(json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8")))


def test_the_files_are_current() -> None:
    found = {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in FOLDER.glob("*.json")}
    mine = {name: found.get(name) for name in all_schemas()}
    assert mine == all_schemas(), "run scripts/make_schemas.py"


@pytest.mark.parametrize("name", sorted(all_schemas()))
def test_each_is_a_valid_schema(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(all_schemas()[name])


@pytest.mark.parametrize(
    "changes",
    [
        {}, {"source_sequence": 0}, {"source_sequence": "1"}, {"allowed_groups": []}, {"allowed_groups": ["a", "a"]},
        {"tenant_id": ""}, {"tenant_id": "x" * 201}, {"authority": 101}, {"authority": 100}, {"authority": None},
        {"status": "live"}, {"trusted": 1}, {"surplus": 1}, {"content": 1}, {"content_path": "a.md"},
        {"supersedes": [{"document_id": "x"}]}, {"supersedes": [{"heading": "x"}]}, {"labels": ["a"]}, {"title": ""},
        {"facts": [{"fact_id": "f", "topic": "t", "statement": "text", "value": "v"}]}, {"facts": [{}]},
        {"operation": "delete"}, {"operation": "move"}, {"effective_from": 2026},
    ],
)  # fmt: skip
def test_schema_and_reader_agree_about_records(changes: dict[str, Any]) -> None:
    for base in (RECORD, DELETE):
        value = base | changes
        try:
            read_record(value)
            accepted = True
        except InputError as error:
            accepted = False
            # What a schema cannot say: fields a delete does not carry.
            if all("a delete does not carry" in fault for fault in error.violations):
                continue
        assert validator("source-record").is_valid(value) == accepted


def test_public_responses_fit_their_schemas_and_nothing_more_does() -> None:
    answer = PublicAnswer(
        status="answered",
        trace_id="x",
        message="m",
        confidence="low",
        answer=(Statement(text="a", citations=(1,)),),
    )
    hit = PublicHit(
        n=1, document_id="d", title="t", uri="u", revision="r", span=Span(start=0, end=1), snippet="s", heading=(),
        page=None,
    )  # fmt: skip
    search = PublicSearch(status="answered", trace_id="x", hits=(hit,))
    for name, value in (("answer", to_json(answer)), ("search", to_json(search))):
        assert validator(name).is_valid(value)
        assert not validator(name).is_valid(value | {"score": 1})
        assert not validator(name).is_valid({key: item for key, item in value.items() if key != "trace_id"})
