"""What the parser process and its parent say to each other: length-prefixed frames of JSON and bytes.

Nothing executable crosses in either direction. A frame is a four-byte length and that many bytes. A request
is two frames (media type, content); an answer is one frame of JSON with the parsed document or an error.
"""

import json
import struct
from typing import Any, BinaryIO, get_args

from clearcite.domain.corpus import Element, ElementKind, ParsedDocument
from clearcite.errors import InputError, TooLarge
from clearcite.wire.strict import loads

MAX_FRAME = 200_000_000
MAX_TEXT = 20_000_000
MAX_ELEMENTS = 400_000
_LENGTH = struct.Struct(">I")
_ROW_TYPES = frozenset((int, type(None)))
_KINDS: tuple[ElementKind, ...] = get_args(ElementKind)


def write_frame(stream: BinaryIO, data: bytes) -> None:
    stream.write(frame(data))


def frame(data: bytes) -> bytes:
    return _LENGTH.pack(len(data)) + data


def read_frame(stream: BinaryIO) -> bytes | None:
    """One frame, or None when the stream ends before it is complete. Raises TooLarge."""
    head = _read_exactly(stream, _LENGTH.size)
    if head is None:
        return None
    size = _LENGTH.unpack(head)[0]
    if size > MAX_FRAME:
        raise TooLarge("the parsed document is too large")
    return _read_exactly(stream, size)


def _read_exactly(stream: BinaryIO, size: int) -> bytes | None:
    whole = stream.read(size)
    if len(whole) == size:
        return whole
    parts = [whole]
    while parts[-1] and (size := size - len(parts[-1])):
        parts.append(stream.read(size))
    return b"".join(parts) if parts[-1] else None


def encode_document(parsed: ParsedDocument) -> bytes:
    """Compact JSON: heading paths stand once, elements are rows of integers that refer to them."""
    if len(parsed.text) > MAX_TEXT or len(parsed.elements) > MAX_ELEMENTS:
        raise TooLarge("the parsed document is too large")
    paths: dict[tuple[str, ...], int] = {}
    rows: list[list[int | None]] = []
    for element in parsed.elements:
        path = paths.setdefault(element.heading, len(paths))
        header = element.header or (None, None)
        kind = _KINDS.index(element.kind)
        rows.append([kind, element.start, element.end, path, element.level, element.page, *header])
    value = {
        "text": parsed.text,
        "paths": list(paths),
        "elements": rows,
        "title": parsed.title,
        "flags": parsed.flags,
        "notes": parsed.notes,
    }
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8")


def encode_error(error: InputError) -> bytes:
    return json.dumps({"error": error.message[:500]}).encode("utf-8")


def decode_answer(data: bytes) -> ParsedDocument:
    """Raises InputError with the parser's own message, or for an answer that is not well formed."""
    value = loads(data, max_bytes=MAX_FRAME)
    try:
        if "error" in value:
            raise InputError(str(value["error"]))
        text = value["text"]
        paths = [tuple(map(str, path)) for path in value["paths"]]
        elements = tuple(_element(row, paths) for row in value["elements"])
        parsed = ParsedDocument(
            text=text,
            elements=elements,
            title=value["title"],
            flags=tuple(map(str, value["flags"])),
            notes=tuple((str(name), str(note)) for name, note in value["notes"]),
        )
    except (KeyError, TypeError, ValueError, IndexError):
        raise InputError("the document could not be parsed safely") from None
    check_document(parsed)
    return parsed


def check_document(parsed: ParsedDocument) -> None:
    """Spans lie inside the text, in order, without overlap: nothing later doubts it. Raises InputError."""
    if not isinstance(parsed.text, str) or not (parsed.title is None or isinstance(parsed.title, str)):
        raise InputError("the document could not be parsed safely")
    at, size = 0, len(parsed.text)
    for element in parsed.elements:
        header = element.header or (0, 0)
        if not (at <= element.start < element.end <= size and 0 <= header[0] <= header[1] <= size):
            raise InputError("the document could not be parsed safely")
        at = element.end


def _element(row: list[Any], paths: list[tuple[str, ...]]) -> Element:
    kind, start, end, path, level, page, left, right = row
    if not _ROW_TYPES.issuperset(map(type, row)) or kind < 0 or path < 0:
        raise ValueError(row)
    return Element(
        kind=_KINDS[kind],
        start=start,
        end=end,
        heading=paths[path],
        level=level,
        page=page,
        header=None if left is None else (left, right),
    )
