"""The parser process: reads documents from its input, answers on its output, under limits it sets itself.

Run by ``process.py`` as ``python -m clearcite.adapters.parsers.worker MEMORY SECONDS``.
"""

import os
import sys
from collections.abc import Callable
from typing import BinaryIO

from clearcite.adapters.parsers import limits
from clearcite.adapters.parsers.formats import parse_document
from clearcite.adapters.parsers.frames import encode_document, encode_error, read_frame, write_frame
from clearcite.errors import InputError

UNSAFE = InputError("the document could not be parsed safely")
_BUFFER = 1 << 20

Answer = Callable[[bytes, bytes], bytes]
"""What was asked and the content → the answer. May raise anything; InputError is a refusal."""


def main() -> int:
    return run(answer_parse)


def answer_parse(media_type: bytes, content: bytes) -> bytes:
    return encode_document(parse_document(content, media_type.decode("ascii", "replace")))


def run(answer: Answer) -> int:
    """Answer the requests of the parent, in a process whose first arguments are MEMORY and SECONDS."""
    memory, seconds = int(sys.argv[1]), int(sys.argv[2])
    # Whatever a library prints must not end up between the frames.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.stdout = sys.stderr
    limits.limit_process(memory)
    return serve(os.fdopen(os.dup(0), "rb", _BUFFER), answers, seconds, answer)


def serve(requests: BinaryIO, answers: BinaryIO, seconds: int, answer: Answer) -> int:
    """Answer until the input ends: ``+`` and the document or error, or ``-`` and an error after a fault of a
    parser; then it stops, for its state is not trusted any more."""
    while (asked := read_frame(requests)) is not None:
        content = read_frame(requests)
        if content is None:
            return 0
        limits.limit_cpu(seconds)
        body, is_sound = _answered(answer, asked, content)
        write_frame(answers, (b"+" if is_sound else b"-") + body)
        answers.flush()
        if not is_sound:
            return 3
    return 0


def _answered(answer: Answer, asked: bytes, content: bytes) -> tuple[bytes, bool]:
    try:
        return answer(asked, content), True
    except InputError as error:
        return encode_error(error), True
    except Exception:  # noqa: BLE001 - a parser may fail in any way; the parent learns only that it did
        return encode_error(UNSAFE), False


if __name__ == "__main__":
    sys.exit(main())
