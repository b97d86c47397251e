"""Hashes over length-prefixed parts, so that no two different inputs share one encoding."""

import hashlib


def digest(*parts: str | bytes | int | None) -> str:
    """SHA-256, in hex, of the parts, each preceded by its type and byte length."""
    # Most are ASCII all over: then lengths in characters are lengths in bytes, and one text is encoded at once.
    whole = "".join(
        [
            f"s{len(part)}:{part}" if isinstance(part, str) else "n0:" if part is None else _plain(part)
            for part in parts
        ]
    )
    raw = whole.encode() if whole.isascii() else b"".join(map(_encoded, parts))
    return hashlib.sha256(raw).hexdigest()


def digest_written(whole: str) -> str | None:
    """``digest`` of parts that somebody who knows their types wrote out as ``part_of`` does; None unless they are ASCII
    all over. For what a question recomputes a hundred times.
    """
    return hashlib.sha256(whole.encode()).hexdigest() if whole.isascii() else None


def part_of(part: str | int | None) -> str:
    """A part as it stands in a digest if it is ASCII."""
    if part is None:
        return "n0:"
    if isinstance(part, str):
        return f"s{len(part)}:{part}"
    digits = f"{part:d}"
    return f"i{len(digits)}:{digits}"


def _encoded(part: str | bytes | int | None) -> bytes:
    if isinstance(part, str):
        raw = part.encode("utf-8")
        return b"s%d:%b" % (len(raw), raw)
    if isinstance(part, bytes):
        return b"b%d:%b" % (len(part), part)
    return b"n0:" if part is None else _plain(part).encode("ascii")


def _plain(part: bytes | int) -> str:
    """The form of a number; for bytes a sign that is not ASCII."""
    if isinstance(part, bytes):
        return "\x80"
    digits = f"{part:d}"
    return f"i{len(digits)}:{digits}"


def sha256_text(text: str) -> str:
    """SHA-256, in hex, of the UTF-8 form of a text."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def sha256_bytes(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()
