"""Shared by all tests: worlds are closed after a test, and examples are the same in every run but a soak."""

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, Phase, settings

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # a test may load onnxruntime before clearcite does
settings.register_profile("soak", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# A change is not refused for a fault that was there before it, nor for a slow neighbour.
settings.register_profile("repeatable", settings.get_profile("soak"), derandomize=True, database=None)
# A guard that was taken out need only be found missing: looking for the smallest example takes minutes.
phases = (Phase.explicit, Phase.generate)
settings.register_profile("mutant", settings.get_profile("repeatable"), phases=phases)
if os.environ.get("CLEARCITE_TEST_MUTANT"):
    settings.load_profile("mutant")
else:
    settings.load_profile("soak" if os.environ.get("CLEARCITE_SOAK") else "repeatable")


@pytest.fixture(autouse=True)
def _close_worlds() -> Iterator[None]:
    yield
    try:
        from tests.support.world import close_worlds
    except ImportError:  # a test of a part that builds no world
        return
    close_worlds()
