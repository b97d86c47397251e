"""Cosines in integers, and vectors that are remembered for one question only."""

from typing import Any

import pytest
from msgspec.structs import replace

from clearcite.domain.retrieval import DenseQuery
from clearcite.errors import DependencyUnavailable
from clearcite.ports import Vector, Worded
from clearcite.testing.embedder import HashedEmbedder
from clearcite.text.memory import memory_of, remembering
from clearcite.text.similarity import Similarity, cosine, query_vector


class Counting(HashedEmbedder):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.asked: list[str] = []

    def embed_query(self, text: str) -> DenseQuery:
        self.asked.append(text)
        return super().embed_query(text)

    def embed_passage(self, text: str) -> Vector:
        self.seen.append(text)
        return super().embed_passage(text)


def view(*values: int) -> memoryview:
    return memoryview(bytes(value & 0xFF for value in values)).cast("b")


def test_cosines_are_thousandths() -> None:
    assert cosine(view(3, 4), view(6, 8)) == 1000
    assert cosine(view(1, 0), view(0, 1)) == 0
    assert cosine(view(5, 0), view(-5, 0)) == -1000
    assert cosine(view(0, 0), view(1, 1)) == 0


def test_a_text_is_nearest_to_itself() -> None:
    similarity = Similarity(HashedEmbedder(), "jobs are kept")
    assert similarity.to_question("jobs are kept") == similarity.between("a b", "a b") == 1000
    assert similarity.between("jobs are kept", "a yellow badge") < 900


def test_within_one_question_a_text_is_embedded_once_and_afterwards_forgotten() -> None:
    embedder = Counting()
    with remembering():
        for _ in range(2):
            Similarity(embedder, "q").between("a", "b")
            query_vector(embedder, "q")
    assert [text for text in embedder.seen if text != "q"] == ["a", "b"]
    assert embedder.asked == ["q"]
    Similarity(embedder, "q").between("a", "b")
    assert [text for text in embedder.seen if text != "q"] == ["a", "b", "a", "b"], (
        "what one caller asked must not speed up another"
    )
    assert embedder.asked == ["q", "q"]


def test_texts_are_prepared_once_each_and_compare_as_they_do_alone() -> None:
    embedder = Counting()
    texts = [f"text {number}" for number in range(40)]
    with remembering():
        prepared = Similarity(embedder, "q")
        prepared.prepare([*texts, *texts])
        assert sorted(text for text in embedder.seen if text != "q") == sorted(texts)
        assert [prepared.to_question(text) for text in texts] == [
            Similarity(HashedEmbedder(), "q").to_question(text) for text in texts
        ]
        prepared.prepare(texts)
    assert len(embedder.seen) == len(texts) + 1, "with the question"


def test_the_words_of_a_question_are_met_by_their_nearest_words_of_a_text() -> None:
    embedder = Counting()
    with remembering():
        similarity = Similarity(embedder, "Which badge do visitors wear?")
        similarity.prepare(["other"], by_words=["Visitors wear a yellow BADGE.", "other"])
        met = similarity.met_by("Visitors wear a yellow BADGE.")
        assert set(met) == {"which", "badge", "do", "visitors", "wear"}
        assert met["badge"] == met["visitors"] == met["wear"] == 1000
        assert met["which"] < 600
        assert similarity.met_by("?!") == {}
    texts = [text for text in embedder.seen if text not in embedder.asked]
    assert sorted(texts) == ["?!", "Visitors wear a yellow BADGE.", "other"], "each once, with its words"


def test_rows_that_do_not_fit_the_words_are_refused() -> None:
    class Short(HashedEmbedder):
        def embed_words(self, text: str) -> Worded:
            return replace(super().embed_words(text), rows=b"\1" * 10)

    with pytest.raises(DependencyUnavailable):
        Similarity(Short(), "q").met_by("some text")


def test_a_fault_while_preparing_is_raised_where_the_question_is_asked() -> None:
    class Failing(HashedEmbedder):
        def embed_passage(self, text: str) -> Any:
            raise DependencyUnavailable("injected")

    with pytest.raises(DependencyUnavailable):
        Similarity(Failing(), "q").prepare(["a", "b", "c"])


class Remembering(HashedEmbedder):
    def embed_passage(self, text: str) -> Vector:
        memory_of("here")[text] = True
        return super().embed_passage(text)


def test_texts_that_are_embedded_side_by_side_are_remembered_as_by_one() -> None:
    texts = [f"text {number}" for number in range(50)]
    with remembering():
        Similarity(Remembering(), "question").prepare(texts)
        assert memory_of("here").keys() == {"question", *texts}
    assert memory_of("here") == {}
