"""A worker that answers with the content, and dies when it is asked to."""

import os
import sys

from clearcite.adapters.parsers.worker import run


def answer(asked: bytes, content: bytes) -> bytes:
    if asked == b"die":
        os._exit(9)
    return content


if __name__ == "__main__":
    sys.exit(run(answer))
