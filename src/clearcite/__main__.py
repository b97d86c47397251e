"""The ``clearcite`` command, and ``python -m clearcite``."""

import gc
import sys

INTERRUPTED = 130
OBJECTS = 50_000
"""After how many new objects cycles are looked for: loading the modules alone makes seventy times the 700 of Python,
and nothing of them can be freed."""


def main() -> None:
    """Load and run the command line. An interrupt while it is loading ends it as quietly as one later."""
    gc.set_threshold(OBJECTS)
    try:
        from clearcite.interfaces.cli.main import main as run  # noqa: PLC0415
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    run()


if __name__ == "__main__":
    main()
