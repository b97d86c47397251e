"""The parser process: reads documents from its input, answers on its output, under limits it sets itself.

Run by ``child.py`` as ``python -m clearcite.adapters.parsers.worker MEMORY SECONDS``.
"""

import os
import sys
from typing import BinaryIO

from clearcite.adapters.parsers import limits
from clearcite.adapters.parsers.formats import parse_document
from clearcite.adapters.parsers.frames import encode_document, encode_error, read_frame, write_frame
from clearcite.errors import InputError

UNSAFE = InputError("the document could not be parsed safely")


def main() -> int:
    memory, seconds = int(sys.argv[1]), int(sys.argv[2])
    # Whatever a library prints must not end up between the frames.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.stdout = sys.stderr
    limits.limit_process(memory)
    return serve(sys.stdin.buffer, answers, seconds)


def serve(requests: BinaryIO, answers: BinaryIO, seconds: int) -> int:
    """Answer until the input ends: ``+`` and the document or error, or ``-`` and an error after a fault of a
    parser; then it stops, for its state is not trusted any more."""
    while (media_type := read_frame(requests)) is not None:
        content = read_frame(requests)
        if content is None:
            return 0
        limits.limit_cpu(seconds)
        answer, is_sound = _answer(content, media_type.decode("ascii", "replace"))
        write_frame(answers, (b"+" if is_sound else b"-") + answer)
        answers.flush()
        if not is_sound:
            return 3
    return 0


def _answer(content: bytes, media_type: str) -> tuple[bytes, bool]:
    try:
        return encode_document(parse_document(content, media_type)), True
    except InputError as error:
        return encode_error(error), True
    except Exception:  # noqa: BLE001 - a parser may fail in any way; the parent learns only that it did
        return encode_error(UNSAFE), False


if __name__ == "__main__":
    sys.exit(main())
