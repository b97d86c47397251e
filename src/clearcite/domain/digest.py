"""Hashes over length-prefixed parts, so that no two different inputs share one encoding."""

import hashlib


def digest(*parts: str | bytes | int | None) -> str:
    """SHA-256, in hex, of the parts, each preceded by its type and byte length."""
    pieces: list[bytes] = []
    for part in parts:
        if isinstance(part, str):
            raw = part.encode("utf-8")
            pieces.append(b"s%d:%b" % (len(raw), raw))
        else:
            pieces.append(_encode(part))
    return hashlib.sha256(b"".join(pieces)).hexdigest()


def sha256_text(text: str) -> str:
    """SHA-256, in hex, of the UTF-8 form of a text."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def sha256_bytes(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def _encode(part: bytes | int | None) -> bytes:
    if part is None:
        return b"n0:"
    if isinstance(part, bytes):
        return b"b%d:%b" % (len(part), part)
    raw = b"%d" % part
    return b"i%d:%b" % (len(raw), raw)
