"""Hashes over length-prefixed parts, so that no two different inputs share one encoding."""

import hashlib
from collections.abc import Iterable


def digest(*parts: str | bytes | int | None) -> str:
    """SHA-256, in hex, of the parts, each preceded by its type and byte length."""
    pieces: list[bytes] = []
    for part in parts:
        raw, kind = _encode(part)
        pieces += (b"%c%d:" % (kind, len(raw)), raw)
    return hashlib.sha256(b"".join(pieces)).hexdigest()


def digest_of_many(parts: Iterable[str]) -> str:
    """The digest of a sequence; the order counts."""
    return digest(*parts)


def sha256_text(text: str) -> str:
    """SHA-256, in hex, of the UTF-8 form of a text."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def sha256_bytes(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def _encode(part: str | bytes | int | None) -> tuple[bytes, int]:
    if isinstance(part, str):
        return part.encode("utf-8"), ord("s")
    if part is None:
        return b"", ord("n")
    if isinstance(part, bytes):
        return part, ord("b")
    return b"%d" % part, ord("i")
