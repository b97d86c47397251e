"""Seeds of tests that draw at random: the same in every run, other ones in a soak."""

from __future__ import annotations

import os
import random
import zlib


def new_seed() -> int:
    """A seed to print with each failure. `CLEARCITE_SEED` sets it; a soak draws it.

    Why not drawn in each run: a change must not be refused for a fault that was there before it. The long random
    runs look for those.
    """
    given = os.environ.get("CLEARCITE_SEED")
    if given:
        return int(given)
    if os.environ.get("CLEARCITE_SOAK"):
        return random.SystemRandom().randrange(1 << 30)
    test = os.environ.get("PYTEST_CURRENT_TEST", "").partition(" ")[0]
    return zlib.crc32(test.encode())
