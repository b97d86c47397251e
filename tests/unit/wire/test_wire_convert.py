"""Struct ↔ JSON: strict, and all faults of one value together."""

from typing import Annotated, Any, Literal

import pytest
from msgspec import Struct, field

from clearcite.domain.answer import Citation, PublicAnswer, Span, Statement
from clearcite.errors import InputError
from clearcite.wire import canonical, loads
from clearcite.wire.convert import Limits, from_json, to_json


class Point(Struct, frozen=True, kw_only=True):
    x: int
    y: int = 0


class Sample(Struct, frozen=True, kw_only=True):
    name: Annotated[str, Limits(least=1, most=5)]
    points: tuple[Point, ...] = ()
    pair: tuple[int, str] | None = None
    kind: Literal["a", "b"] = "a"
    ok: bool = True
    ratio: float = 0.5
    more: dict[str, int] = field(default_factory=dict)
    anything: Any = None
    choice: int | str = 0
    tags: Annotated[tuple[str, ...], Limits(most=2, unique=True)] = ()


def test_a_value_survives_the_way_out_and_back() -> None:
    sample = Sample(name="é", points=(Point(x=1), Point(x=2, y=3)), pair=(1, "a"), more={"k": 1}, choice="s")
    assert from_json(Sample, loads(canonical({**to_json(sample), "ratio": 1}))) == Sample(
        name="é", points=(Point(x=1), Point(x=2, y=3)), pair=(1, "a"), more={"k": 1}, choice="s", ratio=1
    )


def test_public_answers_survive_the_way_out_and_back() -> None:
    citation = Citation(
        n=1, document_id="d", title="t", uri="u", revision="r", cited_text="c", fact_id=None,
        span=Span(start=0, end=1), page=None, heading=("h",), sha256="s", document_sha256="ds",
        valid_from=None, valid_to=None, product_version=None, support="verbatim",
    )  # fmt: skip
    answer = PublicAnswer(
        status="answered", trace_id="t", message="m", confidence="high",
        answer=(Statement(text="c", citations=(1,)),), citations=(citation,),
    )  # fmt: skip
    assert from_json(PublicAnswer, loads(canonical(to_json(answer)))) == answer


def test_all_faults_are_reported_together_with_their_paths() -> None:
    bad = {"points": [{"x": True}, {"x": 1, "z": 2}, 3], "pair": [1], "kind": "c", "ok": 1, "surplus": 0}
    with pytest.raises(InputError) as caught:
        from_json(Sample, bad)
    assert caught.value.violations == (
        '$: unknown field "surplus"',
        "$: missing field name",
        "$.points[0].x: must be an integer, not true or false",
        '$.points[1]: unknown field "z"',
        "$.points[2]: must be an object, not an integer",
        "$.pair: must have exactly 2 items",
        "$.kind: must be one of a, b",
        "$.ok: must be true or false, not an integer",
    )


@pytest.mark.parametrize(
    ("field_name", "value"),
    [
        ("name", ""), ("name", "toolong"), ("name", None), ("ratio", True), ("more", {"k": "v"}),
        ("more", []), ("choice", None), ("choice", []), ("tags", ["a", "a"]), ("tags", ["a", "b", "c"]),
        ("tags", "ab"),
        ("points", {}), ("kind", True),
    ],
)  # fmt: skip
def test_each_wrong_value_is_refused_at_its_field(field_name: str, value: object) -> None:
    with pytest.raises(InputError) as caught:
        from_json(Sample, {"name": "n", field_name: value})
    assert all(fault.startswith(f"$.{field_name}") for fault in caught.value.violations)


def test_a_refusal_never_echoes_the_value() -> None:
    with pytest.raises(InputError) as caught:
        from_json(Sample, {"name": "n", "kind": "CANARY-VALUE", "choice": ["CANARY-VALUE"]})
    assert "CANARY" not in str(caught.value)


def test_a_flood_of_faults_is_cut() -> None:
    with pytest.raises(InputError) as caught:
        from_json(Sample, {"name": "n", "points": [0] * 5000})
    assert len(caught.value.violations) == 100
    assert "(and 4900 more)" in str(caught.value)


def test_bytes_have_no_json_form() -> None:
    with pytest.raises(InputError):
        to_json({"a": b"raw"})
