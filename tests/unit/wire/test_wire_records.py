"""Source records: every rule of the contract, and all faults of a record together."""

from datetime import timedelta, timezone
from typing import Any

import pytest
from msgspec.structs import replace

from clearcite.domain.corpus import Superseded
from clearcite.errors import InputError
from clearcite.wire.records import RecordRules, read_record

BASE: dict[str, Any] = {
    "tenant_id": "acme",
    "document_id": "policies/travel.md",
    "source_sequence": 3,
    "source_uri": "policies/travel.md",
    "source_version": "v3",
    "allowed_groups": ["staff", "audit"],
    "content": "Hotels cost at most EUR 120 a night.",
}
DELETE: dict[str, Any] = {
    "operation": "delete", "tenant_id": "acme", "document_id": "d", "source_sequence": 4, "reason": "access_revoked",
}  # fmt: skip
DAY = 86_400_000_000


def faults(value: Any, rules: RecordRules | None = None) -> tuple[str, ...]:
    with pytest.raises(InputError) as caught:
        read_record(value, rules or RecordRules())
    return caught.value.violations


def test_the_smallest_record_gets_the_defaults_of_the_contract() -> None:
    record = read_record(BASE)
    assert record.key.source_id == "default"
    assert record.access is not None
    assert record.access.allow == ("audit", "staff")
    assert record.access.trusted
    assert record.access.status == "published"
    assert record.description is not None
    assert (record.description.media_type, record.description.authority) == ("text/markdown", 50)


def test_order_of_groups_newlines_and_unicode_form_make_no_other_state() -> None:
    left = read_record(BASE | {"content": "caf\u00e9\nx", "labels": ["b", "a"]})
    right = read_record(
        BASE | {"content": "cafe\u0301\r\nx", "allowed_groups": ["audit", "staff"], "labels": ["a", "b"]}
    )
    assert left.source_state_hash() == right.source_state_hash()
    assert left.content != right.content


@pytest.mark.parametrize(
    "name", ["tenant_id", "document_id", "source_sequence", "source_uri", "source_version"]
)
def test_a_required_field_is_required(name: str) -> None:
    value = {key: item for key, item in BASE.items() if key != name}
    assert faults(value) == (f"$: missing field {name}",)


@pytest.mark.parametrize(
    "identifier",
    [" a", "a ", "a\u00a0", "cafe\u0301", "a\u200bb", "a\nb", "a\u2028b", "a\ue000b", "a\U000e0041b", "a\ufe0f",
     "a\u3164", "", "x" * 201, "a\u202eb", "\ufeffa", "a\x7fb", "a\u3000b"],
)  # fmt: skip
def test_an_identifier_is_refused_not_repaired(identifier: str) -> None:
    for name in ("tenant_id", "document_id", "source_id", "source_version", "canonical_document_id"):
        assert any(fault.startswith(f"$.{name}:") for fault in faults(BASE | {name: identifier}))
    assert faults(BASE | {"allowed_groups": [identifier]})


@pytest.mark.parametrize("identifier", ["a b", "Größe", "文档-1", "a/b/c.md", "नमस्ते", "x" * 200])
def test_an_identifier_may_be_any_visible_text(identifier: str) -> None:
    assert read_record(BASE | {"document_id": identifier}).key.document_id == identifier


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"allowed_groups": []}, "$.allowed_groups"),
        ({"allowed_groups": None}, "$"),
        ({"allowed_groups": ["a", "a"]}, "$.allowed_groups"),
        ({"allowed_groups": [f"g{i}" for i in range(129)]}, "$.allowed_groups"),
        ({"denied_groups": ["a", "a"]}, "$.denied_groups"),
        ({"parent": "a//b"}, "$.parent"),
        ({"parent": "/a"}, "$.parent"),
        ({"parent": "a/../b"}, "$.parent"),
        ({"parent": "a/ b"}, "$.parent"),
        ({"status": "deleted"}, "$.status"),
        ({"authority": 101}, "$.authority"),
        ({"authority": -1}, "$.authority"),
        ({"authority": True}, "$.authority"),
        ({"authority": 1.0}, "$.authority"),
        ({"source_sequence": 0}, "$.source_sequence"),
        ({"source_sequence": True}, "$.source_sequence"),
        ({"source_sequence": "1"}, "$.source_sequence"),
        ({"trusted": 1}, "$.trusted"),
        ({"content": " \n\t "}, "$.content"),
        ({"content": "a\x00b"}, "$.content"),
        ({"content": None}, "$"),
        ({"content_path": "a.md"}, "$"),
        ({"media_type": "application/pdf"}, "$.content"),
        ({"title": "  "}, "$.title"),
        ({"language": "english please"}, "$.language"),
        ({"reason": "user_request"}, "$.reason"),
        ({"source_uri": "/home/me/doc.md"}, "$.source_uri"),
        ({"source_uri": "C:\\doc.md"}, "$.source_uri"),
        ({"source_uri": "file:///etc/passwd"}, "$.source_uri"),
        ({"source_uri": "javascript:alert(1)"}, "$.source_uri"),
        ({"source_time": "2026-07-22"}, "$.source_time"),
        ({"published_at": "2026-07-22T09:00:00"}, "$.published_at"),
        ({"surplus": 1}, "$"),
        ({"supersedes": [{"document_id": "policies/travel.md"}]}, "$.supersedes[0]"),
        ({"supersedes": [{"heading": "x"}]}, "$.supersedes[0]"),
    ],
)
def test_each_rule_refuses_what_breaks_it(changes: dict[str, Any], path: str) -> None:
    found = faults(BASE | changes)
    assert len(found) == 1
    assert found[0].startswith(f"{path}:")


def test_dates_are_read_in_the_zone_of_the_source_and_windows_are_half_open() -> None:
    east = RecordRules(zone=timezone(timedelta(hours=2)))
    access = read_record(BASE | {"effective_from": "2026-01-01", "effective_to": "2026-01-02"}, east).access
    assert access is not None
    assert (
        access.effective_from
        == read_record(BASE | {"effective_from": "2025-12-31T22:00:00Z"}).access.effective_from
    )  # type: ignore[union-attr]
    assert access.effective_to == access.effective_from + DAY  # type: ignore[operator]


def test_an_inclusive_end_becomes_the_start_of_the_next_day() -> None:
    through = read_record(BASE | {"effective_through": "2026-12-31"}).access
    assert through == read_record(BASE | {"effective_to": "2027-01-01"}).access


@pytest.mark.parametrize(
    "window",
    [
        {"effective_from": "2026-02-01", "effective_to": "2026-01-01"},
        {"effective_from": "2026-01-01", "effective_to": "2026-01-01"},
        {"effective_to": "2026-01-01", "effective_through": "2026-01-01"},
        {"effective_through": "2026-01-01T00:00:00Z"},
        {"effective_from": "2026-01-02", "effective_through": "2026-01-01"},
    ],
)
def test_reversed_empty_and_doubled_windows_are_refused(window: dict[str, str]) -> None:
    assert len(faults(BASE | window)) == 1


def test_facts_stand_verbatim_in_the_text_and_have_ids_of_their_own() -> None:
    fact = {"fact_id": "f1", "topic": "hotel", "statement": "at most EUR 120 a night", "value": "120"}
    assert read_record(BASE | {"facts": [fact]}).description.facts[0].unit is None  # type: ignore[union-attr]
    found = faults(BASE | {"facts": [fact, fact | {"statement": "at most EUR 130 a night"}]})
    assert found == (
        "$.facts[1].fact_id: stands twice",
        "$.facts[1].statement: does not stand verbatim in the text",
    )


def test_a_feed_that_is_not_trusted_cannot_trust_itself() -> None:
    rules = RecordRules(trusted=False)
    assert read_record(BASE | {"trusted": True}, rules).access.trusted is False  # type: ignore[union-attr]
    assert read_record(BASE | {"trusted": False}).access.trusted is False  # type: ignore[union-attr]


def test_a_writer_bound_to_a_tenant_and_source_writes_for_no_other() -> None:
    rules = RecordRules(tenant_id="other", only_source="wiki")
    assert faults(BASE, rules) == (
        "$.tenant_id: is not the tenant of this source",
        "$.source_id: is not this source",
    )


def test_content_is_bounded_in_bytes() -> None:
    rules = replace(RecordRules(), max_bytes=10)
    assert read_record(BASE | {"content": "é" * 5}, rules)
    assert faults(BASE | {"content": "é" * 6}, rules) == ("$.content: the content is larger than 10 bytes",)


def test_a_content_path_needs_a_reader() -> None:
    value = {key: item for key, item in BASE.items() if key != "content"} | {"content_path": "a.md"}
    assert faults(value) == ("$.content_path: is not accepted here; send the content itself",)
    record = read_record(value, RecordRules(read_content=lambda _: b"\xef\xbb\xbfhi\r\n"))
    assert (record.text, record.content) == ("hi\n", b"\xef\xbb\xbfhi\r\n")


def test_supersedes_is_a_set() -> None:
    items = [{"document_id": "b", "heading": "H"}, {"document_id": "a"}, {"document_id": "a"}]
    record = read_record(BASE | {"supersedes": items})
    assert record.description is not None
    assert record.description.supersedes == (
        Superseded(document_id="a"),
        Superseded(document_id="b", heading="H"),
    )


def test_a_delete_carries_a_reason_and_nothing_of_a_document() -> None:
    record = read_record(DELETE)
    assert (record.operation, record.delete_reason, record.access) == ("delete", "access_revoked", None)
    assert faults({key: item for key, item in DELETE.items() if key != "reason"})[0].startswith(
        "$: missing field reason"
    )
    assert faults(DELETE | {"reason": "whim"})
    assert faults(DELETE | {"content": "x", "allowed_groups": ["a"]}) == (
        "$.content: a delete does not carry this field",
        "$.allowed_groups: a delete does not carry this field",
    )


def test_all_faults_of_a_record_are_reported_together() -> None:
    bad = {
        "tenant_id": " a", "document_id": "b\u200b", "source_sequence": True, "source_uri": "/x",
        "allowed_groups": [], "content": " ", "authority": 200, "effective_to": "2026-01-01T00:00:00", "zzz": 1,
    }  # fmt: skip
    found = faults(bad)
    for path in (
        "tenant_id",
        "document_id",
        "source_sequence",
        "source_uri",
        "allowed_groups",
        "content",
        "authority",
    ):
        assert any(fault.startswith(f"$.{path}:") for fault in found), path
    assert '$: unknown field "zzz"' in found
    assert "$: missing field source_version" in found


@pytest.mark.parametrize("value", [None, [], "x", 1, True])
def test_what_is_no_object_is_refused(value: Any) -> None:
    assert faults(value)
