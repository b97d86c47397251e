"""Parsing in a child process, so that no document can take this one down."""

from collections.abc import Iterable, Iterator

from clearcite.adapters.parsers.frames import decode_answer
from clearcite.adapters.parsers.process import DEFAULT_LIMITS, ChildLimits, ChildProcess
from clearcite.domain.corpus import ParsedDocument
from clearcite.errors import InputError

_WORKER = "clearcite.adapters.parsers.worker"

Document = tuple[bytes, str]
"""Content and media type."""


class ChildParser:
    """Thread-safe; documents are parsed one after the other."""

    def __init__(self, limits: ChildLimits = DEFAULT_LIMITS) -> None:
        self._process = ChildProcess(_WORKER, limits)

    @property
    def pid(self) -> int | None:
        """Of the child, once there is one."""
        return self._process.pid

    def parse(self, content: bytes, media_type: str) -> ParsedDocument:
        """Raises InputError for a document that cannot be parsed, or not within the limits."""
        for result in self.parse_many([(content, media_type)]):
            if isinstance(result, ParsedDocument):
                return result
            raise result
        raise InputError("the document could not be parsed safely")

    def parse_many(self, documents: Iterable[Document]) -> Iterator[ParsedDocument | InputError]:
        """Results in the order of the documents. The child works ahead while the caller uses a result; other
        threads wait until the results are taken or closed."""
        requests = ((media_type.encode("utf-8"), content) for content, media_type in documents)
        for answer in self._process.answers(requests):
            yield answer if isinstance(answer, InputError) else _decoded(answer)

    def close(self) -> None:
        self._process.close()

    def __enter__(self) -> "ChildParser":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _decoded(answer: bytes | None) -> ParsedDocument | InputError:
    try:
        return decode_answer(answer or b"")
    except InputError as error:
        return error
