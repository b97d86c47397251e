"""Shared by all tests: worlds are closed after a test, and examples are the same in every run but a soak."""

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("soak", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# A change is not refused for a fault that was there before it, nor for a slow neighbour.
settings.register_profile("repeatable", settings.get_profile("soak"), derandomize=True, database=None)
settings.load_profile("soak" if os.environ.get("CLEARCITE_SOAK") else "repeatable")


@pytest.fixture(autouse=True)
def _close_worlds() -> Iterator[None]:
    yield
    try:
        from tests.support.world import close_worlds
    except ImportError:  # a test of a part that builds no world
        return
    close_worlds()
