"""The contract of ``ports.Embedder``: subclass ``EmbedderSuite``, say how to make one, let pytest collect it.

A text's vector is a function of the text alone: not of what was embedded before it, beside it, or by whom.
"""

from array import array
from concurrent.futures import ThreadPoolExecutor
from math import isqrt

from clearcite.domain.retrieval import SCALE_BITS
from clearcite.ports import Embedder, Vector
from clearcite.testing.expect import expect, expect_equal

TEXTS = (
    "Completed jobs are kept for 24 hours.",
    "The password must have at least 14 characters.",
    "O prazo de reembolso é de sete dias.",
    "退款的期限是七天。",
    "x",
    "",
    " \n\t ",
    "\u200b\U000e0041\u202e",
    "a" * 5_000,
    "\x00\ud7ff\U0010ffff",
)
LONG = " ".join(f"word{i}" for i in range(3_000))


class EmbedderSuite:
    """``make_embedder()`` returns a new embedder each time; all of them are the same model."""

    def make_embedder(self) -> Embedder:
        raise NotImplementedError

    def test_the_vector_space_has_a_name_and_a_size(self) -> None:
        first, second = self.make_embedder(), self.make_embedder()
        expect(first.fingerprint and first.dims > 0, "fingerprint and dims are stated")
        expect_equal(first.fingerprint, second.fingerprint, "the fingerprint of the same model")

    def test_a_vector_has_one_signed_byte_a_dimension_and_a_positive_scale(self) -> None:
        embedder = self.make_embedder()
        for text in TEXTS:
            vector, query = embedder.embed_passage(text), embedder.embed_query(text)
            expect_equal(len(vector.data), embedder.dims, "bytes of a passage")
            expect_equal(len(query.vector), embedder.dims, "bytes of a query")
            expect(0 < vector.scale < 2**31 and 0 < query.scale < 2**31, "scales fit 31 bits")
            length = isqrt(sum(value * value for value in array("b", vector.data))) * vector.scale
            expect(abs(length - 2**SCALE_BITS) < 2**SCALE_BITS // 20, "data times scale is of length one")
            expect(-128 not in array("b", vector.data), "the range is symmetric")

    def test_the_same_text_gives_the_same_bytes_whatever_came_before(self) -> None:
        embedder = self.make_embedder()
        there = [embedder.embed_passage(text) for text in TEXTS]
        back = [embedder.embed_passage(text) for text in reversed(TEXTS)][::-1]
        alone = [self.make_embedder().embed_passage(text) for text in TEXTS[:3]]
        expect_equal(back, there, "vectors in another order")
        expect_equal(alone, there[:3], "vectors of an embedder that saw nothing else")

    def test_words_come_with_the_vector_of_the_whole_and_a_row_each(self) -> None:
        embedder = self.make_embedder()
        for text in TEXTS:
            worded = embedder.embed_words(text)
            expect_equal(worded.vector, embedder.embed_passage(text), "the vector that comes with the words")
            expect_equal(
                len(worded.rows), embedder.dims * len(worded.words), "bytes of the rows of the words"
            )
            expect(-128 not in array("b", worded.rows), "the range of a row is symmetric")
            expect(
                all(any(map(str.isalnum, word)) for word in worded.words), "a word holds a letter or digit"
            )
        there = [embedder.embed_words(text) for text in (*TEXTS, LONG)]
        back = [embedder.embed_words(text) for text in (LONG, *TEXTS[::-1])][::-1]
        expect_equal(back, there, "words in another order")
        expect_equal(there[0].words[:3], ("completed", "jobs", "are"), "the words, folded, in order")

    def test_a_pair_is_read_to_the_same_number_whatever_came_before_or_not_at_all(self) -> None:
        embedder, pairs = self.make_embedder(), [(ask, text) for ask in TEXTS for text in (*TEXTS[:3], LONG)]
        there = [embedder.answers(*pair) for pair in pairs]
        back = [embedder.answers(*pair) for pair in reversed(pairs)][::-1]
        alone = self.make_embedder().answers(*pairs[0])
        expect_equal(back, there, "what pairs read in another order say")
        expect_equal(alone, there[0], "what an embedder says that read nothing else")
        expect(len({said is None for said in there}) == 1, "all pairs are read, or none")

    def test_threads_change_nothing(self) -> None:
        embedder = self.make_embedder()
        alone = [embedder.embed_passage(text) for text in TEXTS]
        with ThreadPoolExecutor(4) as pool:
            expect_equal(list(pool.map(embedder.embed_passage, TEXTS * 2)), alone * 2, "vectors made at once")

    def test_what_is_cut_is_reported_and_changes_nothing(self) -> None:
        embedder = self.make_embedder()
        vector = embedder.embed_passage(LONG)
        expect(vector.truncated, "a text over the limit is reported as cut")
        expect(not embedder.embed_passage(TEXTS[0]).truncated, "a short text is not")
        expect_equal(
            embedder.embed_passage(LONG + " and more").data, vector.data, "the vector beyond the limit"
        )

    def test_a_text_is_nearest_to_itself(self) -> None:
        embedder = self.make_embedder()
        passages = [embedder.embed_passage(text) for text in TEXTS[:4]]
        for i, text in enumerate(TEXTS[:4]):
            query = embedder.embed_query(text).vector
            scores = [score(query, passage) for passage in passages]
            expect_equal(max(range(4), key=scores.__getitem__), i, f"the passage nearest to {text!r}")


def score(query: bytes, passage: Vector) -> int:
    """The integer a passage is ranked by for one question."""
    return (
        sum(a * b for a, b in zip(array("b", query), array("b", passage.data), strict=True)) * passage.scale
    )
