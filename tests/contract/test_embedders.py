import importlib.util

import pytest
from msgspec.structs import replace

from clearcite.adapters.embedders.minilm import INSTALL_MODEL, PACKAGE, MiniLM
from clearcite.adapters.embedders.minilm_rows import MiniLMRows
from clearcite.domain.retrieval import DenseQuery
from clearcite.ports import Embedder, Vector, Worded
from clearcite.testing.embedder import HashedEmbedder
from clearcite.testing.embedder_suite import EmbedderSuite
from clearcite.testing.expect import Unmet

needs_model = pytest.mark.skipif(
    importlib.util.find_spec(PACKAGE) is None, reason=f"the model is not installed: {INSTALL_MODEL}"
)


class TestHashedEmbedder(EmbedderSuite):
    def make_embedder(self) -> Embedder:
        return HashedEmbedder()


@needs_model
class TestMiniLM(EmbedderSuite):
    def make_embedder(self) -> Embedder:
        return MiniLM()


@needs_model
class TestMiniLMRows(EmbedderSuite):
    def make_embedder(self) -> Embedder:
        return MiniLMRows()


class Remembering(HashedEmbedder):
    """The control: what was embedded before leaks into the next vector, as in a batch."""

    def __init__(self) -> None:
        super().__init__()
        self.before = ""

    def embed_passage(self, text: str) -> Vector:
        vector = super().embed_passage(f"{text} {self.before}")
        self.before = text
        return vector


class Silent(HashedEmbedder):
    """The control: cuts without saying so."""

    def embed_passage(self, text: str) -> Vector:
        vector = super().embed_passage(text)
        return Vector(data=vector.data, scale=vector.scale)


class Drifting(HashedEmbedder):
    """The control: a word's row depends on what was read before."""

    def __init__(self) -> None:
        super().__init__()
        self.turn = 0

    def embed_words(self, text: str) -> Worded:
        self.turn += 1
        worded = super().embed_words(text)
        at = self.turn % 7 * self.dims
        return replace(worded, rows=worded.rows[at:] + worded.rows[:at])


class Tiring(HashedEmbedder):
    """The control: what a pair says depends on how many were read before."""

    def __init__(self) -> None:
        super().__init__()
        self.turn = 0

    def answers(self, question: str, text: str) -> int:  # type: ignore[override]
        self.turn += 1
        return self.turn


class Choosy(HashedEmbedder):
    """The control: it reads some pairs only."""

    def answers(self, question: str, text: str) -> int | None:  # type: ignore[override]
        return 5 if question else None


class Constant(HashedEmbedder):
    """The control: every text is the same."""

    def embed_query(self, text: str) -> DenseQuery:
        return super().embed_query("same")


@pytest.mark.parametrize(
    ("broken", "check"),
    [
        (Remembering, "test_the_same_text_gives_the_same_bytes_whatever_came_before"),
        (Silent, "test_what_is_cut_is_reported_and_changes_nothing"),
        (Drifting, "test_words_come_with_the_vector_of_the_whole_and_a_row_each"),
        (Tiring, "test_a_pair_is_read_to_the_same_number_whatever_came_before_or_not_at_all"),
        (Choosy, "test_a_pair_is_read_to_the_same_number_whatever_came_before_or_not_at_all"),
        (Constant, "test_a_text_is_nearest_to_itself"),
    ],
)
def test_the_suite_refuses_an_embedder_that_breaks_the_contract(
    broken: type[HashedEmbedder], check: str
) -> None:
    class Suite(EmbedderSuite):
        __test__ = False

        def make_embedder(self) -> Embedder:
            return broken()

    with pytest.raises(Unmet):
        getattr(Suite(), check)()
