"""Two guards that others stand in front of, each by itself: access is judged again from the ledger, and quotes are read
again in the canonical text. In a whole engine the mask, and the chunk's hash, would catch most of it first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from clearcite.answer.check import bind
from clearcite.answer.confirm import Judge, ReadTampered
from clearcite.domain.access import Access, Acl
from clearcite.domain.answer import Claim, Quote
from clearcite.domain.corpus import DocumentKey
from clearcite.domain.retrieval import Passage, Scope
from clearcite.ports import StoredChunk, StoredDocument
from tests.support.world import DAY, NOW, World, close_worlds, make_world, principal, record

OPEN = Access(allow=("staff",))
KEY = DocumentKey(tenant_id="acme", source_id="default", document_id="leave.md")
TEXT = "# Leave\n\nEvery employee has 25 days of leave. No more, no less.\n\nLeave is asked for in May."
LISTS = {"open": Acl(allow=None), "closed": Acl(allow=("board",)), "nobody": Acl(allow=())}


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    world = make_world(keep=True)
    world.put(record("leave.md", TEXT))
    yield world
    close_worlds()


@pytest.fixture(scope="module")
def stored(world: World) -> StoredDocument:
    with world.services.ledger.snapshot() as snapshot:
        found = snapshot.document(KEY)
    assert found is not None
    return found


def judge(*groups: str, **scope: Any) -> Judge:
    """With no mask in front of it."""
    where: dict[str, Any] = {"as_of": NOW, "partitions": ("acme",), **scope}
    asker = replace(principal(*groups), groups=groups)
    return Judge(scope=Scope(principal=asker, **where), collections={"acme": LISTS}, verdicts={})


CLOSED = {
    "another group": replace(OPEN, allow=("board",)),
    "a group that is denied": replace(OPEN, deny=("staff",)),
    "a person who is denied": replace(OPEN, deny=("user:alice",)),
    "a draft": replace(OPEN, status="draft"),
    "an archived one": replace(OPEN, status="archived"),
    "an untrusted one": replace(OPEN, trusted=False),
    "one to come": replace(OPEN, effective_from=NOW + 1),
    "one that has ended": replace(OPEN, effective_from=NOW - DAY, effective_to=NOW),
    "a closed collection": replace(OPEN, parent="closed"),
    "a collection of nobody": replace(OPEN, parent="nobody"),
    "a collection that is not there": replace(OPEN, parent="open/gone"),
}
SIDES = pytest.mark.parametrize("side", ["served_access", "head_access"])


@SIDES
@pytest.mark.parametrize("what", CLOSED)
def test_either_side_of_a_document_alone_keeps_it_closed(
    stored: StoredDocument, side: str, what: str
) -> None:
    assert judge("staff").admits(stored)
    assert not judge("staff").admits(replace(stored, **{side: CLOSED[what]}))


@SIDES
def test_control_what_differs_and_admits_on_both_sides_is_read(stored: StoredDocument, side: str) -> None:
    for access in (replace(OPEN, allow=("board", "staff")), replace(OPEN, parent="open")):
        assert judge("staff").admits(replace(stored, **{side: access}))


def test_nobody_no_tenant_no_source_and_nothing_that_is_gone_is_admitted(stored: StoredDocument) -> None:
    assert not judge().admits(stored)
    assert not judge("guest").admits(stored)
    assert not judge("staff", partitions=()).admits(stored)
    assert not judge("staff", sources=("wiki",)).admits(stored)
    assert not judge("staff").admits(replace(stored, present=False))
    assert not judge("staff").admits(replace(stored, key=replace(KEY, tenant_id="rival")))


class OneDocument:
    """A snapshot that holds one document."""

    def __init__(self, stored: StoredDocument | StoredChunk | None) -> None:
        self._stored = stored

    def document(self, key: DocumentKey) -> Any:
        return self._stored if key == KEY else None


def quote(at: int, until: int, **passage: Any) -> Claim:
    """A quote from the passage that begins at 9 of the canonical text."""
    whole = TEXT[9:71]
    base: dict[str, Any] = {
        **dict.fromkeys(("chunk_id", "revision", "content_sha256", "title", "sha256", "context", "kind"), ""),
        **dict.fromkeys(("page", "valid_from", "valid_to", "description", "normal_sha256"), None),
        "key": KEY,
        "text": whole,
        "start": 9,
        "end": 9 + len(whole),
        "heading": (),
        "units": (),
    }
    return Claim(text="", quotes=(Quote(passage=Passage(**base | passage), start=at, end=until),))


def test_a_quote_that_stands_at_its_place_is_bound_to_the_hash_of_its_document(
    stored: StoredDocument,
) -> None:
    assert TEXT[9:45] == "Every employee has 25 days of leave."
    found = bind([quote(9, 45)], OneDocument(stored))  # type: ignore[arg-type]
    assert found == {KEY: stored.text_sha256}


MOVED: dict[str, Claim] = {
    "a passage one further on": quote(10, 46, start=10, end=10 + 62),
    "a passage one before": quote(8, 44, start=8, end=8 + 62),
    "a passage that says more days": quote(9, 45, text=TEXT[9:71].replace("25", "52")),
    "a passage that ends early": quote(9, 45, end=70),
    "an empty quote": quote(9, 9),
    "a quote beyond its passage": quote(60, 80),
    "a quote before its passage": quote(2, 45),
}


@pytest.mark.parametrize("what", MOVED)
def test_a_quote_that_does_not_stand_at_its_place_fails_the_question(
    stored: StoredDocument, what: str
) -> None:
    with pytest.raises(ReadTampered):
        bind([MOVED[what]], OneDocument(stored))  # type: ignore[arg-type]


def test_a_document_that_is_gone_or_has_another_text_fails_the_question(stored: StoredDocument) -> None:
    claim = quote(9, 45)
    for changed in (None, replace(stored, text=TEXT.replace("25", "52"))):
        with pytest.raises(ReadTampered):
            bind([claim], OneDocument(changed))  # type: ignore[arg-type]
