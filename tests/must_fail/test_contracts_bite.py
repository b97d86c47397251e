"""Run only to see every test here fail, by ``make test-optimized``: a contract can refuse an adapter under -O too.

pytest does not collect this folder by itself. ``scripts/must_fail.py`` says what must come out.
"""

from clearcite.ports import Embedder, Vector
from clearcite.testing.embedder import HashedEmbedder
from clearcite.testing.embedder_suite import EmbedderSuite
from clearcite.testing.expect import expect, expect_equal, expect_raises


class Silent(HashedEmbedder):
    """Cuts a text without saying so, which the contract forbids."""

    def embed_passage(self, text: str) -> Vector:
        vector = super().embed_passage(text)
        return Vector(data=vector.data, scale=vector.scale)


class Suite(EmbedderSuite):
    __test__ = False

    def make_embedder(self) -> Embedder:
        return Silent()


def test_what_does_not_hold_is_not_expected() -> None:
    expect(False, "this holds")


def test_unequal_values_are_not_equal() -> None:
    expect_equal(1, 2, "one and two")


def test_a_call_that_raises_nothing_is_noticed() -> None:
    expect_raises(ValueError, int, "1")


def test_a_shipped_contract_refuses_an_adapter_that_breaks_it() -> None:
    Suite().test_what_is_cut_is_reported_and_changes_nothing()
