"""Postings that are filtered once for a scope change no page: not its hits, its scores, its counts, its cursors."""

import random
import threading
from collections.abc import Iterator

import numpy as np
import pytest

from clearcite.adapters.indexes import local_compact
from clearcite.adapters.indexes.local import LocalIndex
from clearcite.adapters.indexes.local_compact import Compactions
from clearcite.adapters.indexes.local_readable import Selection, select
from clearcite.adapters.indexes.local_view import LocalView
from clearcite.domain.digest import digest
from clearcite.domain.manifest import PipelineManifest
from clearcite.domain.retrieval import HitPage, LexicalQuery, QueryTerm
from clearcite.ports import IndexEntry, IndexView
from clearcite.testing.index_fakes import MemoryIndex, ReadableSlots
from clearcite.text.keys import packed

PIPELINE = PipelineManifest(parser="p", chunker="c", analysis="a", embedder=None)
SEED = 5
CHUNKS = 600
TERMS = [f"=w{n}" for n in range(30)]
SHARES = (0.005, 0.05, 0.2, 0.6, 1.0)


def entries(chance: random.Random) -> list[IndexEntry]:
    return [
        IndexEntry(
            chunk_id=digest("chunk", n)[:32],
            partition="t",
            slot=n,
            terms=packed({term: chance.randrange(1, 5) for term in chance.sample(TERMS, 12)}),
        )
        for n in range(CHUNKS)
    ]


@pytest.fixture(scope="module")
def views(tmp_path_factory: pytest.TempPathFactory) -> tuple[LocalView, IndexView]:
    """The same chunks in three segments, some of them in two, and in the index that is made of dictionaries."""
    chance = random.Random(SEED)
    some = entries(chance)
    local = LocalIndex(tmp_path_factory.mktemp("index"), PIPELINE)
    manifest = None
    for batch in (some[:300], some[280:500], some[500:]):
        manifest = local.commit(manifest, local.write(batch))
    memory = MemoryIndex(PIPELINE)
    return local.open(manifest), memory.open(memory.commit(None, memory.write(some)))


def scopes() -> Iterator[ReadableSlots]:
    chance = random.Random(SEED + 1)
    for share in SHARES:
        yield ReadableSlots({"t": [n for n in range(CHUNKS) if chance.random() < share]})


def question(chance: random.Random) -> LexicalQuery:
    words = [tuple(chance.sample(TERMS, chance.randrange(1, 4))) for _ in range(chance.randrange(1, 6))]
    return LexicalQuery(terms=tuple(QueryTerm(surface=forms[0], forms=forms) for forms in words))


def two_pages(view: IndexView, query: LexicalQuery, scope: ReadableSlots) -> list[HitPage]:
    first = view.search(query, scope, None, 7)
    return [first, view.search(query, scope, first.next, 7)] if first.next else [first]


def test_no_page_changes_when_a_scope_has_asked_often(views: tuple[LocalView, IndexView]) -> None:
    local, memory = views
    for scope in scopes():
        chance = random.Random(SEED + 2)
        for number in range(local_compact._PATIENCE + 20):
            query = question(chance)
            if number % 4 == 0 or number > local_compact._PATIENCE // 2 - 3:
                assert two_pages(local, query, scope) == two_pages(memory, query, scope), (SEED, number)
            else:
                local.search(query, scope, None, 7)


@pytest.mark.parametrize("patience", [1, 1 << 30])
@pytest.mark.parametrize(("cells", "room"), [(0, 0), (0, 1200), (0, 1 << 20), (300, 0), (1 << 15, 1 << 20)])
def test_going_from_list_to_list_gives_the_pages_of_a_table(
    views: tuple[LocalView, IndexView], monkeypatch: pytest.MonkeyPatch, cells: int, room: int, patience: int
) -> None:
    """With filtered lists and without, and long ones among them or not; word after word, a few words at a time or all;
    of 300 cells, some scopes take one way and some the other.
    """
    local, memory = views
    if patience == 1:
        monkeypatch.setattr("clearcite.adapters.indexes.local_match._LONG", 50)
    monkeypatch.setattr("clearcite.adapters.indexes.local_lexical._ROOM", room)
    monkeypatch.setattr("clearcite.adapters.indexes.local_lexical._kept", threading.local())
    monkeypatch.setattr("clearcite.adapters.indexes.local_match._CELLS", cells)
    monkeypatch.setattr(local, "_compactions", Compactions(patience=patience))
    for scope in scopes():
        chance = random.Random(SEED + 3)
        for _ in range(local_compact._PATIENCE // 8):
            query = question(chance)
            assert two_pages(local, query, scope) == two_pages(memory, query, scope)


def test_lists_of_another_scope_would_show(
    views: tuple[LocalView, IndexView], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: what the tests above look at moves when a scope gets the lists of another."""
    local, memory = views
    _, other, wide, *_ = scopes()
    query = question(random.Random(SEED + 4))
    foreign = {segment.name: select(segment, other.mask("t"), None) for segment in local.segments}

    def of_another(_: Compactions, key: tuple[object, ...], segment, readable):  # type: ignore[no-untyped-def]
        return local_compact.compact(segment, foreign[segment.name])

    monkeypatch.setattr(Compactions, "get", of_another)
    assert two_pages(local, query, wide) != two_pages(memory, query, wide)


def asked_until_made(
    kept: Compactions, key: tuple[object, ...], view: LocalView, selection: Selection
) -> int:
    """How many questions it took."""
    for count in range(1, 9):
        if kept.get(key, view.segments[0], selection) is not None:
            return count
    return 0


def test_lists_are_made_once_a_scope_has_asked_often_and_forgotten_when_they_are_too_many(
    views: tuple[LocalView, IndexView],
) -> None:
    local, _ = views
    first = local.segments[0]
    chosen = select(first, np.arange(first.chunks) % 10 == 0, None)
    size = local_compact._weight(local_compact.compact(first, chosen))
    kept = Compactions(limit_bytes=2 * size, patience=3)
    assert [asked_until_made(kept, (name,), local, chosen) for name in "aab"] == [3, 1, 3]
    assert asked_until_made(kept, ("a",), local, chosen) == 1
    assert (
        asked_until_made(kept, ("c",), local, chosen) == 3
    )  # the last place, and b, asked longest ago, goes
    assert [asked_until_made(kept, (name,), local, chosen) for name in "acb"] == [1, 1, 3]
    assert (
        asked_until_made(Compactions(limit_bytes=1, patience=3), ("a",), local, chosen) == 3
    )  # used, not kept


def test_who_reads_much_has_no_lists_of_his_own_and_who_reads_all_those_of_the_segment(
    views: tuple[LocalView, IndexView],
) -> None:
    first = views[0].segments[0]
    kept = Compactions(patience=1)
    half = select(first, np.arange(first.chunks) % 2 == 0, None)
    every = select(first, np.ones(first.chunks, np.bool_), None)
    assert kept.get(("half",), first, half) is None
    lists = kept.get(("all",), first, every)
    assert lists is not None
    assert lists.ordinals is first.ordinals
    assert lists.covers is first.covers
    assert local_compact.compact(first, half).covers is None  # taken over hidden chunks as well
