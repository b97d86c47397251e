"""Shared by all tests: whatever worlds a test made are closed after it."""

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _close_worlds() -> Iterator[None]:
    yield
    try:
        from tests.support.world import close_worlds
    except ImportError:  # a test of a part that builds no world
        return
    close_worlds()
