"""Pages of any size are stretches of one sequence: nothing is lost between them and nothing comes twice."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import count, pairwise
from typing import Any

import pytest

from clearcite.answer import searching
from clearcite.answer.rerank import POOL
from clearcite.domain.retrieval import Ranked
from clearcite.engine import Engine
from clearcite.testing.embedder import HashedEmbedder
from tests.support.world import World, close_worlds, make_world, principal, record

WORDS = (
    "retention",
    "logs",
    "days",
    "months",
    "backup",
    "invoice",
    "refund",
    "window",
    "region",
    "key",
    "node",
    "snow",
)
QUESTION = "How many days are logs kept before the backup?"
SEEDS = (11, 12)
DEPTH = 5


def library(seed: int, *, vectors: bool = True) -> World:
    """Forty-eight documents of one to three paragraphs: some are mirrors, some copy a paragraph, authority varies."""
    world = make_world(embedder=HashedEmbedder() if vectors else None).with_parts(depth=DEPTH)
    random_ = random.Random(seed)
    paragraphs = [" ".join(random_.choices(WORDS, k=random_.randint(4, 30))) + "." for _ in range(60)]
    records = []
    for number in range(48):
        if number % 9 == 8:
            text = records[number - 5].text or ""
        else:
            text = "\n\n".join(
                f"# Part {i}\n\n{random_.choice(paragraphs)}" for i in range(random_.randint(1, 3))
            )
        authority, groups = (
            random_.choice((10, 50, 100)),
            random_.choice((("staff",), ("staff", "other"), ("other",))),
        )
        records.append(record(f"d{number:02}", text, groups, authority=authority))
    world.put(*records)
    return world


def walk(engine: Engine, k: int, collapse: str) -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []
    after = None
    for _ in count():
        page = engine.search(QUESTION, principal("staff"), k=k, collapse=collapse, after=after)
        assert len(page.hits) == k or page.next is None
        found += [(hit.document_id, hit.span.start) for hit in page.hits]
        after = page.next
        if after is None:
            return found
    raise AssertionError


@pytest.mark.parametrize("collapse", ["passage", "document"])
@pytest.mark.parametrize("vectors", [True, False], ids=["vectors", "words"])
@pytest.mark.parametrize("seed", SEEDS[:1])
def test_pages_of_one_seven_and_a_hundred_give_the_same_hits_in_the_same_order(
    seed: int, vectors: bool, collapse: str
) -> None:
    engine = library(seed, vectors=vectors).engine
    single, seven, hundred = (walk(engine, k, collapse) for k in (1, 7, 100))
    assert single == seven == hundred
    assert len(set(hundred)) == len(hundred) > 4 * DEPTH


@pytest.mark.parametrize("seed", SEEDS)
def test_with_vectors_the_walk_ends_when_every_readable_text_was_shown_once(seed: int) -> None:
    world = library(seed)
    walked = walk(world.engine, 7, "passage")
    texts = {" ".join(world_text.casefold().split()) for world_text in _readable_texts(world)}
    assert len(walked) == len(texts)


def _readable_texts(world: World) -> Iterator[str]:
    """The texts of the readable chunks; mirrors in this library share all of theirs."""
    with world.services.ledger.snapshot() as snapshot:
        keys = [
            item.key
            for item in snapshot.documents_at(
                "acme", [slot for _, slot in snapshot.inventory("acme") if slot is not None]
            )
            if "staff" in item.served_access.allow
        ]
        from_ledger = [snapshot.document(key) for key in keys]
        for document in from_ledger:
            assert document is not None
            for part in document.text.split("# Part ")[1:]:
                yield part.split("\n\n", 1)[1]


def test_a_shallow_page_begins_every_deeper_one() -> None:
    engine = library(SEEDS[0]).engine
    pages = [
        [hit.document_id for hit in engine.search(QUESTION, principal("staff"), k=k).hits]
        for k in (1, 3, 10, 25)
    ]
    for shorter, longer in pairwise(pages):
        assert longer[: len(shorter)] == shorter


def many(embedder: HashedEmbedder | None = None) -> World:
    """A hundred and thirty documents that all match, the first thirty far better than those after them."""
    world = make_world(embedder=embedder)
    better = [f"Logs of node {n} are kept {n} days before the backup." for n in range(30)]
    others = [f"Region {n} has a key, {'snow ' * (n % 7)}a window and many days." for n in range(100)]
    records = [
        record(f"m{n:03}", text, ("staff",), authority=n % 101) for n, text in enumerate(better + others)
    ]
    world.put(*records)
    return world


def looked_at(world: World, question: str = QUESTION, **options: Any) -> list[int]:
    """How many passages of each leg were confirmed first, of 100 hits."""
    world.engine.search(question, principal("staff"), **options)
    (trace,) = world.services.traces.newest(1)
    stages = {stage.stage: stage.detail for stage in trace.stages}
    assert {len(leg["hits"]) for leg in stages["recall"]["legs"]} == {100}
    return [len(names) for names in stages["confirm"]["confirmed"].values()]


def test_fewer_hits_are_confirmed_where_no_weight_could_bring_another_before_the_first_ten() -> None:
    words = many()
    assert looked_at(words) == [POOL]
    assert looked_at(many(HashedEmbedder())) == [100, 100], "two legs are compared with each other"
    assert looked_at(words, "How many days has a region?") == [100], "the others score nearly the same"


@pytest.mark.parametrize("question", [QUESTION, "How many days has a region?"])
def test_what_is_not_looked_at_does_not_change_what_a_page_shows(
    question: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = many()
    shown = [world.engine.search(question, principal("staff")).hits]
    pages = [walk(world.engine, k, "passage") for k in (7, 100)]
    assert pages[0] == pages[1] and len(pages[0]) == 130
    monkeypatch.setattr(searching, "POOL", None)
    shown.append(world.engine.search(question, principal("staff")).hits)
    assert shown[0] == shown[1]


def test_what_holds_the_identifier_of_a_question_is_looked_at_however_little_it_scores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The fifty-first hit by words, first of all by its authority, its kind and the name in it."""
    world = make_world()
    question = "Which backup region has a window for QG-12?"
    texts = ["A window. " * 2 + "Snow " * (10 + n % 7) + f"n{n}." for n in range(50)]
    texts += ["A window " + "snow " * 60 + f"n{n}." for n in range(60)]
    named = "A window " + "snow " * 5 + "PQG-121."
    world.put(
        *[record(f"d{n:03}", text, authority=0, source_type="forum") for n, text in enumerate(texts)],
        record("named", named, authority=100),
    )
    shown = [world.engine.search(question, principal("staff")).hits]
    monkeypatch.setattr(searching, "POOL", None)
    shown.append(world.engine.search(question, principal("staff")).hits)
    assert shown[0] == shown[1]
    assert shown[0][0].document_id == "named"


def test_control_pages_cut_from_a_ranking_that_grows_lose_hits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mistake: deepen until the page is full, and cut it after the cursor's score."""

    def growing(plan: Any, sight: Any, parts: Any, run: Any) -> Iterator[Ranked]:
        found = searching.retrieve(plan, sight, parts, run)
        while len(found.ranked) <= wanted[0] and not searching._exhausted(found):
            plan = searching.replace(plan, depth=plan.depth * 2)
            found = searching.retrieve(plan, sight, parts, run)
        yield from sorted(found.ranked, key=searching.by_score)

    monkeypatch.setattr(searching, "_sequence", growing)
    differing = 0
    for seed in SEEDS:
        engine = library(seed).engine
        walks = []
        for k in (7, 100):
            wanted = [k]
            walks.append(walk(engine, k, "passage"))
        differing += walks[0] != walks[1]
        close_worlds()
    assert differing == len(SEEDS)
