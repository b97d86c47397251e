"""The ``clearcite`` command, and ``python -m clearcite``."""

import gc
import os
import sys

INTERRUPTED = 130
OBJECTS = 100_000
"""After how many new objects cycles are looked for. A question makes some 60,000 with the modules it loads, and none of
them can be freed; looking after each 700, as Python does, or once at its end takes the same time."""


def main() -> None:
    """Load and run the command line. An interrupt while it is loading ends it as quietly as one later."""
    gc.set_threshold(OBJECTS)
    # Else numpy's library starts a thread for each further processor when it is loaded, which waits in a loop for large
    # products of floats that never come: a tenth of the processor time of a question.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        from clearcite.interfaces.cli.main import main as run  # noqa: PLC0415
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    run()


if __name__ == "__main__":
    main()
