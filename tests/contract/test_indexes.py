from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from clearcite.adapters.indexes.local import LocalIndex
from clearcite.domain.manifest import PipelineManifest
from clearcite.domain.retrieval import Cursor, DenseQuery, HitPage
from clearcite.ports import IndexEntry
from clearcite.storing import Index
from clearcite.testing.expect import Unmet
from clearcite.testing.index_fakes import (
    FaultyIndex,
    FaultyView,
    MemoryIndex,
    duplicated,
    emptied,
    reordered,
    stale,
)
from clearcite.testing.index_suite import TEXTS, IndexSuite, all_pages, entry, readable, signed, words

PIPELINE = PipelineManifest(parser="p", chunker="c", analysis="a", embedder="e")


class TestLocalIndex(IndexSuite):
    def make_index(self, folder: Path) -> Index:
        return LocalIndex(folder, PIPELINE)


class TestMemoryIndex(IndexSuite):
    def setup_method(self) -> None:
        self.stores: dict[Path, MemoryIndex] = {}

    def make_index(self, folder: Path) -> Index:
        return self.stores.setdefault(folder, MemoryIndex(PIPELINE))


def test_the_fake_and_the_real_index_give_the_same_scores(tmp_path: Path) -> None:
    entries = [entry(i, TEXTS[i % 8] + " of" * (i % 5), vector=(i - 20, 3, -128)) for i in range(40)]
    pages = []
    for index in (LocalIndex(tmp_path, PIPELINE), MemoryIndex(PIPELINE)):
        view = index.open(index.commit(None, index.write(entries)))
        for query in (
            words("retention|logs of rain"),
            words("of of"),
            DenseQuery(vector=signed((5, -7, 127))),
        ):
            pages.append([all_pages(view, query, readable(*range(0, 40, k)), 7) for k in (1, 2, 7)])
    assert pages[:3] == pages[3:]


class Counting(MemoryIndex):
    """The control: N counts every chunk, as an ordinary engine does."""

    def open(self, manifest: str | None) -> FaultyView:
        view = super().open(manifest)

        def fault(page: HitPage, after: Cursor | None) -> HitPage:
            return replace(page, documents=len(view.entries))

        return FaultyView(view, fault)


def test_the_suite_refuses_an_index_that_counts_hidden_chunks(tmp_path: Path) -> None:
    class Suite(IndexSuite):
        def make_index(self, folder: Path) -> Index:
            return Counting(PIPELINE)

    with pytest.raises(Unmet):
        Suite().test_n_and_df_count_readable_chunks_only(tmp_path)
    with pytest.raises(Unmet):
        Suite().test_a_hidden_chunk_changes_no_byte_of_the_page(tmp_path)


@pytest.mark.parametrize(
    ("fault", "test"),
    [
        (duplicated, "test_pages_put_together_are_the_whole_list"),
        (reordered, "test_better_matches_come_first"),
        (emptied, "test_a_word_in_every_chunk_still_finds_them"),
        (stale(["f" * 32]), "test_n_and_df_count_readable_chunks_only"),
    ],
)
def test_the_suite_refuses_each_fault_of_the_faulty_index(tmp_path: Path, fault: object, test: str) -> None:
    class Suite(IndexSuite):
        def make_index(self, folder: Path) -> Index:
            return FaultyIndex(MemoryIndex(PIPELINE), fault)

    with pytest.raises(Unmet):
        getattr(Suite(), test)(tmp_path)


def test_a_faulty_index_still_stores(tmp_path: Path) -> None:
    index = FaultyIndex(MemoryIndex(PIPELINE), stale(["f" * 32]))
    entries: Sequence[IndexEntry] = [entry(0, "rain"), entry(1, "rain")]
    view = index.open(index.commit(None, index.write(entries)))
    page = view.search(words("rain"), readable(0, 1), None, 1)
    assert [hit.chunk_id for hit in page.hits] == ["f" * 32, min(e.chunk_id for e in entries)]
    assert len(view.search(words("rain"), readable(0, 1), page.next, 1).hits) == 1
