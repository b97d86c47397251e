"""Whatever a caller hands over, the answer is a question, an identity or an InputError."""

from __future__ import annotations

from typing import Any

import pytest

from clearcite.answer.asked import check_identity, question_of
from clearcite.domain.access import Principal
from clearcite.errors import InputError
from tests.support.world import make_world, principal, record

BAD_OPTIONS: list[dict[str, Any]] = [
    {"as_of": "2026-01-01"}, {"as_of": 1.5}, {"as_of": True}, {"as_of": 2**70}, {"route": "somewhere"}, {"route": 1},
    {"sources": "default"}, {"sources": [1]}, {"sources": [None]}, {"sources": 7}, {"sources": ["x"] * 200},
    {"target_version": 2.0}, {"target_version": ""}, {"topic": "x" * 201}, {"topic": "\ud800"}, {"nonsense": 1},
]  # fmt: skip
GOOD = {"tenant_id": "acme", "subject_id": "alice", "groups": ("staff",), "authorization_revision": "1"}
BAD_IDENTITIES: list[dict[str, Any]] = [
    {"tenant_id": ""}, {"tenant_id": None}, {"tenant_id": 7}, {"tenant_id": "ac\u200bme"}, {"subject_id": " alice"},
    {"subject_id": "ali\u202ece"}, {"groups": ()}, {"groups": "staff"}, {"groups": ["staff"]}, {"groups": (1,)},
    {"groups": ("",)}, {"groups": ("staff\n",)}, {"groups": ("cafe\u0301",)}, {"groups": ("g",) * 129},
    {"authorization_revision": None}, {"authorization_revision": "1\x00"},
]  # fmt: skip


@pytest.mark.parametrize("options", BAD_OPTIONS, ids=repr)
def test_an_option_of_the_wrong_type_or_value_is_an_input_error(options: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        question_of("Why?", options)


@pytest.mark.parametrize("text", [None, 7, b"bytes", "", " \n", "\ud800", "x" * 4001])
def test_a_question_is_text_that_says_something(text: Any) -> None:
    with pytest.raises(InputError):
        question_of(text, {})


def test_control_good_options_are_taken() -> None:
    asked = question_of(
        "Why?", {"as_of": 5, "sources": ["a"], "route": "knowledge", "topic": "t", "target_version": "2"}
    )
    assert (asked.as_of, asked.sources, asked.route, asked.topic) == (5, ("a",), "knowledge", "t")


@pytest.mark.parametrize("changes", BAD_IDENTITIES, ids=ascii)
def test_an_identity_that_cannot_be_compared_exactly_is_refused_before_anything_is_read(
    changes: dict[str, Any],
) -> None:
    with pytest.raises(InputError):
        check_identity(Principal(**{**GOOD, **changes}))
    check_identity(Principal(**GOOD))


def test_every_entrance_refuses_what_is_no_identity_and_no_number() -> None:
    world = make_world()
    world.put(record("a", "# A\n\nText of a."))
    engine, staff = world.engine, principal("staff")
    calls: list[Any] = [
        lambda: engine.ask("Why?", None),  # type: ignore[arg-type]
        lambda: engine.search("Why?", "alice"),  # type: ignore[arg-type]
        lambda: engine.documents({"groups": ["staff"]}),  # type: ignore[arg-type]
        lambda: engine.operator(None),  # type: ignore[arg-type]
        lambda: engine.document(None, staff),  # type: ignore[arg-type]
        lambda: engine.documents(staff, limit="ten"),  # type: ignore[arg-type]
        lambda: engine.documents(staff, after=3),  # type: ignore[arg-type]
        lambda: engine.search("Why?", staff, k="ten"),  # type: ignore[arg-type]
        lambda: engine.search("Why?", staff, k=1.5),  # type: ignore[arg-type]
        lambda: engine.search("Why?", staff, collapse=None),  # type: ignore[arg-type]
        lambda: engine.search("Why?", staff, after=7),
    ]
    for call in calls:
        with pytest.raises(InputError):
            call()
