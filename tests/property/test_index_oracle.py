"""Every ranked list equals an oracle that sees only the readable chunks; nothing hidden shows in it."""

import gzip
import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from clearcite.adapters.indexes.local import LocalIndex
from clearcite.domain.digest import digest
from clearcite.domain.manifest import PipelineManifest
from clearcite.domain.retrieval import DenseQuery, LexicalQuery, QueryTerm
from clearcite.ports import IndexEntry, IndexView, Vector
from clearcite.testing.index_fakes import ReadableSlots
from clearcite.testing.index_suite import all_pages
from clearcite.text.analysis import Analyzer
from clearcite.text.keys import packed
from tests.property.oracle import Oracle
from tests.support.data import data_folder

PIPELINE = PipelineManifest(parser="p", chunker="c", analysis="a", embedder="e")
TERMS = ("=a", "=b", "=c", "=d", "en:a", "en:b", "pt:a", "#c-d")

counts = st.dictionaries(st.sampled_from(TERMS), st.integers(1, 40), max_size=6)
vectors = st.none() | st.tuples(st.lists(st.integers(-128, 127), min_size=3, max_size=3), st.integers(1, 9))
chunks = st.lists(st.tuples(counts, vectors, st.booleans(), st.sampled_from("xy")), max_size=40)
questions = st.lists(st.lists(st.sampled_from(TERMS), max_size=4), max_size=6)
pipelines = st.builds(
    lambda k1, b, average: replace(PIPELINE, bm25_k1=k1, bm25_b=b, average_length=average),
    st.integers(0, 300),
    st.integers(0, 100),
    st.integers(1, 500),
)


def make_entries(world: Sequence[tuple]) -> list[IndexEntry]:
    return [
        IndexEntry(
            chunk_id=digest("chunk", number)[:32],
            partition=partition,
            slot=number // 2,
            terms=packed(terms),
            vector=Vector(data=bytes(v & 255 for v in vector[0]), scale=vector[1]) if vector else None,
        )
        for number, (terms, vector, _, partition) in enumerate(world)
    ]


def is_readable(world: Sequence[tuple], number: int) -> bool:
    """Two chunks share a slot, that of the first decides."""
    return bool(world[number // 2 * 2][2])


def scope_of(world: Sequence[tuple]) -> ReadableSlots:
    slots = {n // 2 for n in range(len(world)) if is_readable(world, n)}
    return ReadableSlots({"x": slots, "y": slots})


def oracle_of(world: Sequence[tuple], pipeline: PipelineManifest) -> Oracle:
    seen = {
        digest("chunk", n)[:32]: (terms, vector)
        for n, (terms, vector, _, _) in enumerate(world)
        if is_readable(world, n)
    }
    return oracle_over(seen, pipeline)


def oracle_over(seen: Mapping[str, tuple], pipeline: PipelineManifest = PIPELINE) -> Oracle:
    return Oracle(seen, pipeline.bm25_k1, pipeline.bm25_b, pipeline.average_length)


def built(
    folder: str, entries: list[IndexEntry], pipeline: PipelineManifest, draw: random.Random
) -> IndexView:
    """The entries in any order, in any segments, some twice, some merged, opened by another instance."""
    index = LocalIndex(Path(folder), pipeline)
    entries = draw.sample(entries, len(entries))
    manifest = index.commit(None, ())
    while entries:
        size = draw.randint(1, 8)
        batch, entries = entries[:size], entries[size:]
        manifest = index.commit(manifest, index.write(batch))
        if draw.random() < 0.2:  # another worker has projected some of it too
            manifest = index.commit(manifest, index.write(batch[: draw.randint(0, size)]))
        if draw.random() < 0.3 and (merged := index.merge(manifest, lambda _: np.ones(100, np.bool_))):
            manifest = index.commit(manifest, *merged)
            index.sweep([manifest])
    return LocalIndex(Path(folder), pipeline).open(manifest)


def query_of(forms: Sequence[Sequence[str]]) -> LexicalQuery:
    return LexicalQuery(terms=tuple(QueryTerm(surface="w", forms=tuple(some)) for some in forms))


@settings(deadline=None, max_examples=150)
@given(chunks, questions, pipelines, st.lists(st.integers(-128, 127), min_size=3, max_size=3), st.randoms())
@example([({"=a": 1}, None, True, "x")] * 9, [["=a"], ["=a"], []], PIPELINE, [0, 0, 0], random.Random(1))
def test_every_list_equals_the_oracle(
    world: list, question: list, pipeline: PipelineManifest, vector: list, draw: random.Random
) -> None:
    with TemporaryDirectory() as folder:
        view, scope = built(folder, make_entries(world), pipeline, draw), scope_of(world)
        oracle = oracle_of(world, pipeline)
        limit = draw.randint(1, 50)
        page = view.search(query_of(question), scope, None, limit)
        ranked, documents, frequencies = oracle.lexical(question)
        assert [(hit.score, hit.chunk_id) for hit in page.hits] == ranked[:limit]
        assert (page.documents, page.frequencies) == (documents, frequencies)
        assert all(hit.score <= page.whole for hit in page.hits)
        paged = all_pages(view, query_of(question), scope, limit)
        assert [(hit.score, hit.chunk_id) for hit in paged] == ranked
        dense = DenseQuery(vector=bytes(v & 255 for v in vector))
        if any(row for _, row, _, _ in world):
            paged = all_pages(view, dense, scope, limit)
            assert ([(hit.score, hit.chunk_id) for hit in paged], len(paged)) == oracle.dense(vector)


@settings(deadline=None, max_examples=60)
@given(chunks, chunks, questions, st.randoms())
def test_hidden_additions_and_the_order_of_words_change_no_byte(
    mine: list, others: list, question: list, draw: random.Random
) -> None:
    mine = mine[: len(mine) // 2 * 2]
    hidden = [(terms, vector, False, partition) for terms, vector, _, partition in others]
    turned = draw.sample(question, len(question))
    with TemporaryDirectory() as one, TemporaryDirectory() as two:
        small, large = (
            built(folder, make_entries(world), PIPELINE, draw)
            for folder, world in ((one, mine), (two, mine + hidden))
        )
        for query in (query_of(question), DenseQuery(vector=bytes((1, 2, 255)))):
            pages = [view.search(query, scope_of(mine), None, 10) for view in (small, large)]
            assert pages[0] == pages[1]
        again = large.search(query_of(turned), scope_of(mine), None, 10)
        assert again.hits == small.search(query_of(question), scope_of(mine), None, 10).hits


def test_a_large_segment_takes_every_way_through_the_code(tmp_path: Path) -> None:
    """30,000 chunks: many equal scores, long and short lists, all and few readable, one segment and several."""
    draw = random.Random(5)
    world = [
        (
            {"=a": 1 + n % 3, "en:a": 1 + n % 2, f"=n{n % 700}": 1, **({"=b": 2} if n % 9 else {})},
            None,
            True,
            "x",
        )
        for n in range(30_000)
    ]
    index = LocalIndex(tmp_path, PIPELINE)
    entries = make_entries(world)
    whole = index.open(index.commit(None, index.write(entries)))
    names = [name for n in range(0, 30_000, 9_000) for name in index.write(entries[n : n + 9_000])]
    several = index.open(index.commit(None, names))
    questions = [[["=a", "en:a"], ["=n5"]], [["=b"], ["=a"], ["=n3", "=n4"]], [["=n699"]]]
    for share in (1.0, 0.3, 0.02, 0.0005):
        slots = {slot for slot in range(15_000) if draw.random() < share}
        seen = {
            entry.chunk_id: (terms, None)
            for entry, (terms, *_) in zip(entries, world, strict=True)
            if entry.slot in slots
        }
        oracle = oracle_over(seen)
        for question in questions:
            ranked, documents, frequencies = oracle.lexical(question)
            for view in (whole, several):
                for limit in (1, 100, 5_000):
                    page = view.search(query_of(question), ReadableSlots({"x": slots}), None, limit)
                    assert [(hit.score, hit.chunk_id) for hit in page.hits] == ranked[:limit]
                    assert (page.documents, page.frequencies) == (documents, frequencies)


def test_the_oracle_refuses_lists_that_were_filtered_after_scoring(tmp_path: Path) -> None:
    """The control: a correct filter behind statistics that count hidden chunks."""
    world = [({f"={'ab'[n % 2]}": 1 + n % 4, "=c": 1}, None, n % 5 < 3, "x") for n in range(0, 60, 1)]
    view = built(str(tmp_path), make_entries(world), PIPELINE, random.Random(3))
    seen, oracle = scope_of(world), oracle_of(world, PIPELINE)
    question = [["=a"], ["=b"], ["=c"]]
    ranked, _, _ = oracle.lexical(question)
    right = view.search(query_of(question), seen, None, 100)
    assert [(hit.score, hit.chunk_id) for hit in right.hits] == ranked
    everything = ReadableSlots({"x": range(60)})
    filtered = [
        hit
        for hit in view.search(query_of(question), everything, None, 100).hits
        if hit.chunk_id in oracle.chunks
    ]
    assert {hit.chunk_id for hit in filtered} == {chunk for _, chunk in ranked}
    assert [(hit.score, hit.chunk_id) for hit in filtered] != ranked


# --- SciFact: 300 questions × 3 readable shares × 3 seeds


@pytest.mark.data
def test_on_scifact_every_list_equals_the_oracle(tmp_path: Path) -> None:
    folder = data_folder("scifact")
    analyzer = Analyzer()
    with gzip.open(folder / "corpus.jsonl.gz", "rt", encoding="utf-8") as file:
        documents = [json.loads(line) for line in file]
    terms = [analyzer.analyze_document(f"{d['title']}\n{d['text']}", "en") for d in documents]
    ids = [digest("scifact", d["_id"])[:32] for d in documents]
    entries = [
        IndexEntry(chunk_id=chunk, partition="t", slot=slot, terms=packed(some))
        for slot, (chunk, some) in enumerate(zip(ids, terms, strict=True))
    ]
    with (folder / "queries.test.jsonl").open(encoding="utf-8") as file:
        asked = [analyzer.analyze_question(json.loads(line)["text"]) for line in file]
    assert (len(documents), len(asked)) == (5183, 300)
    index = LocalIndex(tmp_path, PIPELINE)
    random.Random(0).shuffle(entries)
    manifest = None
    for first in range(0, len(entries), 1500):
        manifest = index.commit(manifest, index.write(entries[first : first + 1500]))
    view = index.open(manifest)
    compared = 0
    for share in (60, 10, 1):
        for seed in (1, 2, 3):
            draw = random.Random(f"{share} {seed}")
            slots = [slot for slot in range(len(ids)) if draw.random() * 100 < share]
            oracle = oracle_over({ids[slot]: (terms[slot], None) for slot in slots})
            scope = ReadableSlots({"t": slots})
            for question in asked:
                page = view.search(LexicalQuery(terms=question), scope, None, 100)
                ranked, documents_seen, frequencies = oracle.lexical([term.forms for term in question])
                assert [(hit.score, hit.chunk_id) for hit in page.hits] == ranked[:100], (share, seed)
                assert (page.documents, page.frequencies) == (documents_seen, frequencies), (share, seed)
                compared += 1
    assert compared == 2700
