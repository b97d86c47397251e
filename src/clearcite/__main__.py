"""The ``clearcite`` command, and ``python -m clearcite``."""

import sys

INTERRUPTED = 130


def main() -> None:
    """Load and run the command line. An interrupt while it is loading ends it as quietly as one later."""
    try:
        from clearcite.interfaces.cli.main import main as run  # noqa: PLC0415
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    run()


if __name__ == "__main__":
    main()
