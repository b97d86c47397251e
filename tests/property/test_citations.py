"""I9: a citation is bound to document, revision, span and bytes; any change to it is found."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clearcite.domain.access import Principal
from clearcite.domain.digest import sha256_text
from clearcite.wire.convert import to_json
from tests.support.world import LEGS, close_worlds, deletion, make_world, principal, record

OPERATOR = Principal(
    tenant_id="acme", subject_id="op", groups=("staff",), authorization_revision="1", roles=("operator",)
)
TEXT = (
    "# Kühlung 🌡\n\nThe cold room is kept at 4 °C on weekdays.\r\n\r\n"
    "The e\u0301tage pump runs for 20 minutes an hour 🚰. [1] forged marker [^2^] here."
)
QUESTION = "At how many °C is the cold room kept?"


@pytest.fixture(params=LEGS.args[1], ids=LEGS.kwargs["ids"])
def answered(request: pytest.FixtureRequest) -> tuple[Any, Any]:
    from clearcite.wire.decode import repair_text

    world = make_world(embedder=request.param)
    world.put(record("cooling.md", repair_text(TEXT)))
    return world, world.engine.ask(QUESTION, principal("staff"))


def test_every_citation_is_verbatim_in_the_canonical_text_at_its_span(answered: tuple[Any, Any]) -> None:
    world, public = answered
    assert public.status == "answered" and public.citations
    for citation in public.citations:
        found = world.engine.document(citation.document_id, principal("staff"))
        assert found.text[citation.span.start : citation.span.end] == citation.cited_text
        assert sha256_text(citation.cited_text) == citation.sha256
        assert sha256_text(found.text) == citation.document_sha256
        assert found.revision == citation.revision
    texts = {citation.n: citation.cited_text for citation in public.citations}
    for statement in public.answer:
        assert statement.text == "\n".join(texts[n] for n in statement.citations)


def verdict(world: Any, public: Any, response: Any) -> str:
    found = world.engine.operator(OPERATOR).verify(public.trace_id, response)
    return found.outcome


def test_the_response_that_was_given_is_reproduced(answered: tuple[Any, Any]) -> None:
    world, public = answered
    assert verdict(world, public, to_json(public)) == "reproduced"


def paths(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(value, dict):
        return [path for key, item in value.items() for path in paths(item, (*at, key))]
    if isinstance(value, list):
        return [path for n, item in enumerate(value) for path in paths(item, (*at, n))]
    return [at]


def changed(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, str):
        return value + "x" if value else "x"
    return "x"


def test_changing_any_one_field_of_a_response_is_found(answered: tuple[Any, Any]) -> None:
    world, public = answered
    plain = to_json(public)
    for path in paths(plain):
        bent = copy.deepcopy(plain)
        place = bent
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = changed(place[path[-1]])
        assert verdict(world, public, bent) == "differs", path


@pytest.mark.parametrize(
    "bend",
    [
        lambda r: r.update(scores=[1]),
        lambda r: r["citations"][0].update(rank=1),
        lambda r: r["citations"].append(copy.deepcopy(r["citations"][0])),
        lambda r: r["citations"].clear(),
        lambda r: r["answer"][0]["citations"].append(99),
        lambda r: r["answer"].append({"text": "It is 5 °C.", "citations": [1]}),
        lambda r: r.pop("message"),
    ],
)
def test_a_response_with_more_or_less_in_it_is_found(answered: tuple[Any, Any], bend: Any) -> None:
    world, public = answered
    bent = to_json(public)
    bend(bent)
    assert verdict(world, public, bent) == "differs"


def test_a_trace_id_of_another_answer_does_not_fit(answered: tuple[Any, Any]) -> None:
    world, public = answered
    other = world.engine.ask("How long does the pump run?", principal("staff"))
    assert verdict(world, other, to_json(public)) == "differs"


@LEGS
def test_a_document_that_was_revoked_between_answer_and_click_is_not_found(embedder: Any) -> None:
    from clearcite.errors import NotFound

    world = make_world(embedder=embedder)
    item = record("cooling.md", "# Cold room\n\nThe cold room is kept at 4 °C.")
    world.put(item)
    public = world.engine.ask(QUESTION, principal("staff"))
    assert public.status == "answered"
    world.put(deletion(item, "access_revoked"), publish=False)
    with pytest.raises(NotFound) as gone:
        world.engine.document("cooling.md", principal("staff"))
    with pytest.raises(NotFound) as never:
        world.engine.document("no-such.md", principal("staff"))
    assert str(gone.value) == str(never.value)
    assert world.engine.ask(QUESTION, principal("staff")).status == "insufficient_evidence"


@LEGS
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    noise=st.text(
        alphabet=st.characters(blacklist_categories=("Cs", "Cc", "Cn", "Co"))
        | st.sampled_from("🚰é한\u0301 "),
        max_size=40,
    )
)
def test_spans_hold_for_any_text_around_the_answer(embedder: Any, noise: str) -> None:
    from clearcite.wire.decode import repair_text

    text = repair_text(f"# Room\n\n{noise}\n\nThe cold room is kept at 4 °C.\n\n{noise}\n")
    world = make_world(embedder=embedder)
    world.put(record("room.md", text))
    public = world.engine.ask(QUESTION, principal("staff"))
    for citation in public.citations:
        found = world.engine.document("room.md", principal("staff"))
        assert found.text[citation.span.start : citation.span.end] == citation.cited_text
    close_worlds()
