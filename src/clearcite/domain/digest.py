"""Hashes over length-prefixed parts, so that no two different inputs share one encoding."""

import hashlib


def digest(*parts: str | bytes | int | None) -> str:
    """SHA-256, in hex, of the parts, each preceded by its type and byte length."""
    pieces: list[bytes] = []
    for part in parts:
        if isinstance(part, str):
            raw = part.encode("utf-8")
            pieces += (b"s%d:" % len(raw), raw)
        elif part is None:
            pieces.append(b"n0:")
        elif isinstance(part, bytes):
            pieces += (b"b%d:" % len(part), part)
        else:
            raw = b"%d" % part
            pieces += (b"i%d:" % len(raw), raw)
    return hashlib.sha256(b"".join(pieces)).hexdigest()


def sha256_text(text: str) -> str:
    """SHA-256, in hex, of the UTF-8 form of a text."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def sha256_bytes(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()
