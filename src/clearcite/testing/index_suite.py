"""The contract of ``storing.Index``: subclass ``IndexSuite``, say how to make one, let pytest collect it.

What a caller gets is a function of the question and of the chunks he may read: not of other chunks, not of how
the chunks were written, in which order, or into how many segments.
"""

from collections.abc import Mapping, Sequence
from math import isqrt
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from clearcite.domain.digest import digest
from clearcite.domain.retrieval import (
    SCALE_BITS,
    Cursor,
    DenseQuery,
    Hit,
    HitPage,
    LexicalQuery,
    QueryTerm,
)
from clearcite.errors import ClearciteError, InputError, IntegrityFault
from clearcite.ports import IndexEntry, IndexView, Readable, Vector
from clearcite.storing import Index
from clearcite.testing.expect import expect, expect_equal, expect_raises
from clearcite.testing.index_fakes import Mask, ReadableSlots
from clearcite.text.keys import packed

TEXTS = (
    "retention of logs is thirty days",
    "retention of retention plans",
    "logs are kept",
    "days of rain",
    "nothing of the kind",
    "retention of logs is thirty days",
    "a long text about many things with retention at its end",
    "rain",
)


def entry(number: int, text: str, *, partition: str = "acme", vector: Sequence[int] = ()) -> IndexEntry:
    """A chunk in the slot of its number; its words are its terms."""
    terms: dict[str, int] = {}
    for word in text.split():
        terms["=" + word] = terms.get("=" + word, 0) + 1
    return IndexEntry(
        chunk_id=chunk_id(number),
        partition=partition,
        slot=number,
        terms=packed(terms),
        vector=Vector(data=signed(vector), scale=number + 1) if vector else None,
    )


def in_order(entries: Sequence[IndexEntry]) -> list[IndexEntry]:
    return sorted(entries, key=lambda entry: (entry.partition, entry.slot, entry.chunk_id))


def chunk_id(number: int) -> str:
    return digest("chunk", number)[:32]


def unit(*values: int) -> Vector:
    """The vector of this direction and of length one."""
    return Vector(
        data=signed(values), scale=(1 << SCALE_BITS) // isqrt(sum(value * value for value in values))
    )


def signed(values: Sequence[int]) -> bytes:
    return bytes(value & 255 for value in values)


def words(text: str) -> LexicalQuery:
    """Words apart by spaces, forms of one word apart by bars."""
    return LexicalQuery(
        terms=tuple(
            QueryTerm(surface=word, forms=tuple("=" + form for form in word.split("|")))
            for word in text.split()
        )
    )


def readable(*slots: int, partition: str = "acme") -> ReadableSlots:
    return ReadableSlots({partition: slots})


def found(page: HitPage) -> list[str]:
    return [hit.chunk_id for hit in page.hits]


def all_pages(view: IndexView, query: LexicalQuery | DenseQuery, scope: Readable, limit: int) -> list[Hit]:
    hits: list[Hit] = []
    after: Cursor | None = None
    for _ in range(1_000):
        page = view.search(query, scope, after, limit)
        hits += page.hits
        after = page.next
        if after is None:
            return hits
        expect_equal(len(page.hits), limit, "hits of a page that is not the last")
    raise AssertionError("the pages do not end")


def live(slots: Mapping[str, Sequence[int]], size: int = 100) -> Mapping[str, Mask]:
    masks = {partition: np.zeros(size, np.bool_) for partition in slots}
    for partition, some in slots.items():
        masks[partition][list(some)] = True
    return masks


class IndexSuite:
    """``make_index(folder)``: two indexes made on one folder share what is stored."""

    def make_index(self, folder: Path) -> Index:
        raise NotImplementedError

    def stored(self, folder: Path, entries: Sequence[IndexEntry], batch: int = 100) -> tuple[Index, str]:
        """An index with these entries, ``batch`` at a time, and its manifest."""
        index = self.make_index(folder)
        manifest: str | None = None
        for first in range(0, max(len(entries), 1), batch):
            manifest = index.commit(manifest, index.write(entries[first : first + batch]))
        expect(manifest, "a commit names its manifest")
        return index, str(manifest)

    def view(self, folder: Path, batch: int = 100) -> IndexView:
        index, manifest = self.stored(folder, [entry(i, text) for i, text in enumerate(TEXTS)], batch)
        return index.open(manifest)

    # --- counting and scoring

    def test_without_a_manifest_there_is_nothing(self, tmp_path: Path) -> None:
        page = self.make_index(tmp_path).open(None).search(words("rain"), readable(0), None, 10)
        expect_equal((page.hits, page.next, page.documents, page.frequencies), ((), None, 0, (0,)))

    def test_n_and_df_count_readable_chunks_only(self, tmp_path: Path) -> None:
        page = self.view(tmp_path).search(words("retention logs snow"), readable(0, 2, 3), None, 10)
        expect_equal((page.documents, page.frequencies), (3, (1, 2, 0)), "N and df")
        expect_equal(set(found(page)), {chunk_id(0), chunk_id(2)}, "chunks found")

    def test_the_whole_is_what_a_chunk_scores_that_meets_all_of_the_query(self, tmp_path: Path) -> None:
        everything = replace(entry(0, "rain " * 100_000), vector=unit(3, 0, -4))
        index, manifest = self.stored(tmp_path, [everything])
        view = index.open(manifest)
        for query in (words("rain"), DenseQuery(vector=signed((3, 0, -4)))):
            page = view.search(query, readable(0), None, 1)
            share = page.hits[0].score * 1000 // max(page.whole, 1)
            expect(990 <= share <= 1000, f"it has nearly all of the whole, not {share} of 1000")
        none = view.search(words("rain snow"), readable(0), None, 1)
        expect(none.whole > 2 * none.hits[0].score, "a word that stands nowhere belongs to the whole, too")

    def test_a_hidden_chunk_changes_no_byte_of_the_page(self, tmp_path: Path) -> None:
        mine = [entry(i, text) for i, text in enumerate(TEXTS)]
        hidden = [entry(50 + i, "retention retention logs") for i in range(30)]
        without, plain = self.stored(tmp_path / "without", mine)
        having, mixed = self.stored(tmp_path / "with", [*hidden[:20], *mine, *hidden[20:]], batch=7)
        scope = readable(*range(8))
        for text in ("retention", "logs retention", "rain days of", "snow"):
            pages = [
                i.open(m).search(words(text), scope, None, 3) for i, m in ((without, plain), (having, mixed))
            ]
            expect_equal(pages[0], pages[1], f"the page for {text!r}")

    # --- comparing

    def test_what_was_written_differs_in_nothing_whatever_the_segments(self, tmp_path: Path) -> None:
        entries = [entry(i, text, vector=(i, -i - 1)) for i, text in enumerate(TEXTS)]
        entries += [entry(i, text, partition="globex") for i, text in enumerate(TEXTS)]
        for batch in (1, 3, 100):
            index, manifest = self.stored(tmp_path / str(batch), entries, batch)
            expect_equal(list(index.open(manifest).differences(in_order(entries))), [], "differences")

    def test_what_is_missing_extra_or_different_is_named(self, tmp_path: Path) -> None:
        entries = [entry(i, text, vector=(i, 1)) for i, text in enumerate(TEXTS)]
        index, manifest = self.stored(tmp_path, [entries[0], *entries[2:]])
        wanted = [
            *entries[:3],
            entry(3, "days of rain and more", vector=(3, 1)),
            entry(4, TEXTS[4], vector=(9, 1)),
        ]
        found = [
            (d.what, d.slot) for d in index.open(manifest).differences(in_order([*wanted, *entries[5:7]]))
        ]
        expect_equal(found, [("missing", 1), ("differs", 3), ("differs", 4), ("extra", 7)], "differences")

    def test_an_entry_without_a_vector_is_compared_by_its_terms(self, tmp_path: Path) -> None:
        index, manifest = self.stored(
            tmp_path, [entry(0, "rain", vector=(1, 2)), entry(1, "rain", vector=(1, 2))]
        )
        wanted = [entry(0, "rain"), entry(1, "snow")]
        found = [(d.what, d.slot) for d in index.open(manifest).differences(wanted)]
        expect_equal(found, [("differs", 1)], "differences")

    def test_equal_scores_are_ordered_by_chunk_id(self, tmp_path: Path) -> None:
        entries = [entry(i, "rain") for i in range(40)]
        index, manifest = self.stored(tmp_path, entries[::-1], batch=9)
        page = index.open(manifest).search(words("rain"), readable(*range(40)), None, 10)
        expect_equal(found(page), sorted(e.chunk_id for e in entries)[:10], "the first ten of equals")

    def test_better_matches_come_first(self, tmp_path: Path) -> None:
        hits = self.view(tmp_path).search(words("retention logs"), readable(*range(8)), None, 10).hits
        expect_equal([(-h.score, h.chunk_id) for h in hits], sorted((-h.score, h.chunk_id) for h in hits))
        expect(hits[0].chunk_id in {chunk_id(0), chunk_id(5)}, "a chunk with both words is the best")
        expect_equal(hits[0].score, hits[1].score, "equal texts score alike")

    def test_a_word_counts_once_by_its_best_form(self, tmp_path: Path) -> None:
        view, scope = self.view(tmp_path), readable(*range(8))
        one = view.search(words("retention"), scope, None, 10)
        same = view.search(words("retention|snow"), scope, None, 10)
        expect_equal((same.hits, same.frequencies), (one.hits, one.frequencies), "a form that stands nowhere")
        both = view.search(words("retention|logs"), scope, None, 10)
        expect_equal(both.frequencies, (5,), "chunks with any form")
        expect_equal(len(found(both)), 5, "chunks found by any form")
        swapped = view.search(words("logs|retention|logs"), scope, None, 10)
        expect_equal(swapped, both, "the order and repetition of forms")

    def test_the_order_of_words_does_not_matter_and_a_repeated_word_counts_again(
        self, tmp_path: Path
    ) -> None:
        view, scope = self.view(tmp_path), readable(*range(8))
        there = view.search(words("retention logs days of"), scope, None, 10)
        back = view.search(words("of days logs retention"), scope, None, 10)
        expect_equal(
            (back.hits, back.frequencies), (there.hits, there.frequencies[::-1]), "words turned round"
        )
        once, twice = (view.search(words(text), scope, None, 10) for text in ("logs", "logs logs"))
        expect_equal([2 * hit.score for hit in once.hits], [hit.score for hit in twice.hits], "scores")
        expect_equal(twice.frequencies, (3, 3), "df of each term of the query")

    def test_a_chunk_without_any_word_is_no_hit(self, tmp_path: Path) -> None:
        view = self.view(tmp_path)
        for text in ("snow", ""):
            page = view.search(words(text), readable(*range(8)), None, 10)
            expect_equal((page.hits, page.next, page.documents), ((), None, 8), f"the page for {text!r}")

    def test_a_word_in_every_chunk_still_finds_them(self, tmp_path: Path) -> None:
        index, manifest = self.stored(tmp_path, [entry(i, "rain") for i in range(5_000)], batch=5_000)
        page = index.open(manifest).search(words("rain"), readable(*range(5_000)), None, 10)
        expect_equal(len(page.hits), 10, "hits")
        expect(page.hits[0].score > 0, "a match scores more than nothing")

    def test_a_very_long_question_does_not_overflow(self, tmp_path: Path) -> None:
        index, manifest = self.stored(
            tmp_path, [entry(0, "rain " * 1_000), *(entry(i, "x") for i in range(1, 99))]
        )
        view, scope = index.open(manifest), readable(*range(99))
        one = view.search(words("rain"), scope, None, 1).hits[0].score
        page = view.search(words("rain " * 4_000), scope, None, 1)
        expect_equal(page.hits[0].score, 4_000 * one, "the score of a word asked 4,000 times")

    # --- dense

    def test_dense_scores_are_exact_and_ordered(self, tmp_path: Path) -> None:
        rows = [(127, -128, 1), (-128, -128, 0), (0, 0, 0), (1, 2, 3), (-1, -2, -3)]
        index, manifest = self.stored(
            tmp_path, [entry(i, "x", vector=row) for i, row in enumerate(rows)], batch=2
        )
        query = DenseQuery(vector=signed((-128, 127, 5)))
        page = index.open(manifest).search(query, readable(*range(5)), None, 10)
        wanted = [((i + 1) * (-128 * a + 127 * b + 5 * c), chunk_id(i)) for i, (a, b, c) in enumerate(rows)]
        wanted.sort(key=lambda pair: (-pair[0], pair[1]))
        expect_equal([(hit.score, hit.chunk_id) for hit in page.hits], wanted, "scores and order")
        expect_equal(page.documents, 5, "N")

    def test_chunks_without_a_vector_or_not_readable_take_no_part_in_a_dense_question(
        self, tmp_path: Path
    ) -> None:
        entries = [entry(0, "x", vector=(1, 1)), entry(1, "x"), entry(2, "x", vector=(2, 2)), entry(3, "x")]
        query = DenseQuery(vector=signed((1, 1)))
        for batch in (1, 4):
            index, manifest = self.stored(tmp_path / str(batch), entries, batch)
            page = index.open(manifest).search(query, readable(0, 1, 3), None, 10)
            expect_equal((found(page), page.documents), ([chunk_id(0)], 1), "chunks and N")

    def test_vectors_of_two_lengths_do_not_mix(self, tmp_path: Path) -> None:
        index, manifest = self.stored(tmp_path, [entry(0, "x", vector=(1, 1))])
        query = DenseQuery(vector=signed((1, 1, 1)))
        expect_raises(InputError, index.open(manifest).search, query, readable(0), None, 10)
        expect_raises(InputError, index.write, [entry(1, "x", vector=(1,)), entry(2, "x", vector=(1, 1))])

    # --- pages

    def test_pages_put_together_are_the_whole_list(self, tmp_path: Path) -> None:
        entries = [entry(i, TEXTS[i % 8], vector=(i % 5, 1)) for i in range(60)]
        index, manifest = self.stored(tmp_path, entries, batch=13)
        view, scope = index.open(manifest), readable(*range(0, 60, 2), 7)
        for query in (words("retention days"), words("of"), DenseQuery(vector=signed((1, -1)))):
            whole = all_pages(view, query, scope, 1_000)
            for limit in (1, 2, 7, len(whole)):
                expect_equal(all_pages(view, query, scope, limit), whole, f"pages of {limit}")

    def test_a_cursor_needs_no_chunk_behind_it(self, tmp_path: Path) -> None:
        view, scope = self.view(tmp_path), readable(*range(8))
        first, second = view.search(words("logs"), scope, None, 10).hits[:2]
        between = Cursor(score=first.score, chunk_id=f"{int(first.chunk_id, 16) + 1:032x}")
        expect_equal(view.search(words("logs"), scope, between, 10).hits[0], second, "the hit after a gap")
        far = Cursor(score=10**30, chunk_id="0" * 32)
        expect_equal(len(view.search(words("logs"), scope, far, 10).hits), 3, "hits after a cursor above all")
        low = Cursor(score=-(10**30), chunk_id="0" * 32)
        expect_equal(view.search(words("logs"), scope, low, 10).hits, (), "hits after a cursor below all")

    def test_a_malformed_limit_or_cursor_is_refused(self, tmp_path: Path) -> None:
        view, scope = self.view(tmp_path), readable(0)
        for limit in (0, -1):
            expect_raises(InputError, view.search, words("logs"), scope, None, limit)
        for bad in ("", "zz"):
            cursor = Cursor(score=1, chunk_id=bad)
            expect_raises(InputError, view.search, words("logs"), scope, cursor, 10)

    # --- readable

    def test_scopes_asked_in_turn_do_not_mix(self, tmp_path: Path) -> None:
        view = self.view(tmp_path)
        scopes = [readable(0, 1), readable(2, 3, 4), readable(), readable(5)]
        first = [view.search(words("retention logs"), scope, None, 10) for scope in scopes]
        again = [view.search(words("retention logs"), scope, None, 10) for scope in scopes * 2]
        expect_equal(again, first * 2, "pages of scopes asked again")
        expect_equal([page.documents for page in first], [2, 3, 0, 1], "N of each scope")

    def test_slots_the_mask_does_not_reach_are_not_readable(self, tmp_path: Path) -> None:
        page = self.view(tmp_path).search(words("retention logs rain"), readable(1), None, 10)
        expect_equal((found(page), page.documents), ([chunk_id(1)], 1))

    def test_partitions_out_of_scope_do_not_exist_and_those_in_scope_count_together(
        self, tmp_path: Path
    ) -> None:
        entries = [
            entry(0, "rain"),
            entry(1, "rain sun", partition="shared"),
            entry(2, "rain", partition="other"),
        ]
        index, manifest = self.stored(tmp_path, entries)
        view, slots = index.open(manifest), (0, 1, 2)
        both = view.search(words("rain"), ReadableSlots({"acme": slots, "shared": slots}), None, 10)
        expect_equal((both.documents, both.frequencies), (2, (2,)), "N and df of two partitions")
        turned = view.search(words("rain"), ReadableSlots({"shared": slots, "acme": slots}), None, 10)
        expect_equal(turned, both, "the order of partitions")
        none = view.search(words("rain"), ReadableSlots({}), None, 10)
        expect_equal((none.hits, none.documents), ((), 0), "without a partition")
        unknown = view.search(words("rain"), ReadableSlots({"nobody": slots}), None, 10)
        expect_equal((unknown.hits, unknown.documents), ((), 0), "a partition that holds nothing")

    # --- segments and manifests

    def test_how_chunks_were_written_does_not_show(self, tmp_path: Path) -> None:
        wanted = self.view(tmp_path / "100").search(words("retention logs of"), readable(*range(7)), None, 3)
        for batch in (1, 2, 3, 5):
            view = self.view(tmp_path / str(batch), batch)
            page = view.search(words("retention logs of"), readable(*range(7)), None, 3)
            expect_equal(page, wanted, f"the page after writing {batch} at a time")

    def test_only_what_a_manifest_names_is_there(self, tmp_path: Path) -> None:
        index, first = self.stored(tmp_path, [entry(0, "rain")])
        more = index.write([entry(1, "rain")])
        expect_equal(
            index.open(first).search(words("rain"), readable(0, 1), None, 10).documents, 1, "N before"
        )
        second = index.commit(first, more)
        expect_equal(
            index.open(second).search(words("rain"), readable(0, 1), None, 10).documents, 2, "N after"
        )
        expect_equal(
            index.open(first).search(words("rain"), readable(0, 1), None, 10).documents, 1, "N at first"
        )
        third = index.commit(second, index.write([entry(2, "sun")]), more)
        page = index.open(third).search(words("rain"), readable(0, 1, 2), None, 10)
        expect_equal((found(page), page.documents), ([chunk_id(0)], 2), "after a segment was replaced")

    def test_a_commit_of_nothing_holds_nothing(self, tmp_path: Path) -> None:
        index, manifest = self.stored(tmp_path, [])
        expect_equal(index.write([]), (), "segments of no entries")
        expect_equal(index.open(manifest).search(words("rain"), readable(0), None, 1).documents, 0, "N")

    def test_the_same_chunk_written_twice_counts_once(self, tmp_path: Path) -> None:
        entries = [entry(i, text, vector=(1, i)) for i, text in enumerate(TEXTS)]
        index, manifest = self.stored(tmp_path, entries)
        wanted = index.open(manifest).search(words("retention"), readable(*range(8)), None, 10)
        manifest = index.commit(manifest, index.write([entries[1], entries[0], entries[1]]))
        view = index.open(manifest)
        expect_equal(view.search(words("retention"), readable(*range(8)), None, 10), wanted, "the page")
        dense = view.search(DenseQuery(vector=signed((1, 1))), readable(*range(8)), None, 10)
        expect_equal(len(set(found(dense))), len(dense.hits), "different chunks")

    def test_what_does_not_exist_is_refused(self, tmp_path: Path) -> None:
        index, manifest = self.stored(tmp_path, [entry(0, "rain")])
        expect_raises(ClearciteError, index.open, "f" * 32)
        expect_raises(ClearciteError, index.commit, manifest, ("0" * 16 + "-" + "0" * 24,))
        expect_raises(ClearciteError, index.commit, "f" * 32, ())
        expect_raises(IntegrityFault, index.commit, manifest, (), ("0" * 16 + "-" + "0" * 24,))

    def test_another_instance_sees_what_was_committed(self, tmp_path: Path) -> None:
        _, manifest = self.stored(tmp_path, [entry(0, "rain")])
        page = self.make_index(tmp_path).open(manifest).search(words("rain"), readable(0), None, 1)
        expect_equal(found(page), [chunk_id(0)], "the chunk")

    # --- merging and sweeping

    def test_merging_changes_no_answer(self, tmp_path: Path) -> None:
        entries = [entry(i, TEXTS[i % 8], vector=(i, -i) if i % 3 else ()) for i in range(40)]
        index, manifest = self.stored(tmp_path, entries, batch=3)
        scope, masks = readable(*range(0, 40, 3), 1), live({"acme": range(40)})
        queries = (words("retention logs of rain|days"), DenseQuery(vector=signed((3, 1))))
        before = [all_pages(index.open(manifest), query, scope, 100) for query in queries]
        asked: list[str] = []

        def live_slots(partition: str) -> Mask:
            asked.append(partition)
            return masks[partition]

        merged = index.merge(manifest, live_slots)
        expect(merged, "many small segments are merged")
        expect_equal(asked, ["acme"], "partitions whose live slots were read")
        made, replaced = merged or ((), ())
        expect(len(made) < len(replaced), "there are fewer segments afterwards")
        manifest = index.commit(manifest, made, replaced)
        after = [all_pages(index.open(manifest), query, scope, 100) for query in queries]
        expect_equal(after, before, "the answers")

    def test_erasing_leaves_only_live_chunks(self, tmp_path: Path) -> None:
        entries = [entry(i, f"{TEXTS[i % 8]} w{i}", partition=f"p{i % 2}", vector=(i, 1)) for i in range(40)]
        index, manifest = self.stored(tmp_path, entries, batch=20)
        masks = live({"p0": range(0, 40, 4), "p1": []})
        merged = index.merge(manifest, masks.__getitem__, erase=True)
        expect(merged, "what is dead is erased")
        manifest = index.commit(manifest, *(merged or ((), ())))
        scope = ReadableSlots({"p0": range(40), "p1": range(40)})
        page = index.open(manifest).search(DenseQuery(vector=signed((1, 1))), scope, None, 100)
        expect_equal(set(found(page)), {chunk_id(i) for i in range(0, 40, 4)}, "chunks that are left")
        gone = index.open(manifest).search(words("w1 w2 w4"), scope, None, 100)
        expect_equal(
            gone.frequencies, (0, 0, 1), "df of words of chunks that are gone and of one that is not"
        )
        expect_equal(index.merge(manifest, masks.__getitem__, erase=True), None, "a second merge")

    def test_sweeping_leaves_what_is_kept_and_what_is_open(self, tmp_path: Path) -> None:
        index, first = self.stored(tmp_path, [entry(0, "rain"), entry(1, "sun")])
        view = index.open(first)
        names = index.merge(first, live({"acme": [1]}).__getitem__, erase=True) or ((), ())
        second = index.commit(first, *names)
        waiting = index.write([entry(2, "rain")])
        self.make_index(tmp_path).sweep([second])
        expect_equal(found(view.search(words("rain"), readable(0), None, 1)), [chunk_id(0)], "the open view")
        expect_raises(ClearciteError, self.make_index(tmp_path).open, first)
        third = index.commit(second, waiting)
        page = self.make_index(tmp_path).open(third).search(words("rain sun"), readable(0, 1, 2), None, 10)
        expect_equal(page.documents, 2, "N of what was kept and what was written meanwhile")
