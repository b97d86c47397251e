"""Run only to see it fail: under ``python -O`` a contract must still be able to refuse an adapter."""

from clearcite.testing import expect


def test_a_broken_contract_fails_even_without_asserts() -> None:
    expect.equal(1, 2, "one is not two")
