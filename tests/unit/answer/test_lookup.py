"""``show`` by id alone: the source is asked for only where the caller could mean several documents."""

import pytest

from clearcite.errors import InputError, NotFound
from tests.support.world import World, make_world, principal, record

STAFF, BOARD = principal("staff"), principal("board")


def filled() -> World:
    world = make_world()
    world.put(
        record("plan.md", "# Plan\n\nThe open one.", source="handbook"),
        record("plan.md", "# Plan\n\nThe closed one.", ("board",), source="board"),
        record("leave.md", "# Leave\n\nTwenty days.", ("board", "staff"), source="handbook"),
        record("leave.md", "# Leave\n\nThirty days.", ("board", "staff"), source="wiki"),
    )
    return world


def test_the_one_readable_document_with_an_id_is_found_without_its_source() -> None:
    engine = filled().engine
    assert engine.document("plan.md", STAFF).source_id == "handbook"
    assert engine.document("plan.md", BOARD).text == "# Plan\n\nThe closed one."
    assert engine.document("plan.md", STAFF, source_id="handbook").source_id == "handbook"


def test_where_several_readable_ones_have_it_the_sources_are_named() -> None:
    engine = filled().engine
    with pytest.raises(InputError, match=r"handbook, wiki\. Choose one with --source") as caught:
        engine.document("leave.md", STAFF)
    assert not isinstance(caught.value, NotFound)
    assert engine.document("leave.md", STAFF, source_id="wiki").text == "# Leave\n\nThirty days."


def test_a_source_the_caller_may_not_read_is_no_source_and_no_message() -> None:
    engine = filled().engine
    said = []
    for name, source in (("plan.md", "board"), ("none.md", "board"), ("none.md", None)):
        with pytest.raises(NotFound) as caught:
            engine.document(name, STAFF, source_id=source)
        said.append(caught.value.message)
    assert len(set(said)) == 1
    with pytest.raises(NotFound):
        engine.document("plan.md", principal("guest"))
