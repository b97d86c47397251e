"""Bytes → text as everything after it sees it: strict UTF-8, NFC, ``\\n``. And what a name may look like."""

import re
import unicodedata

from clearcite.errors import InputError

# Invisible or blank beyond Unicode's categories for control and format: grapheme joiner, Hangul and Braille
# blanks, Khmer inherent vowels, variation selectors, reserved default-ignorable code points.
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u2800\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8"
    "\U000e0000-\U000e0fff]"
)
MAX_LEVELS, MAX_PATH = 32, 1_000
_REFUSED_CATEGORIES = frozenset(("Cc", "Cf", "Cs", "Co", "Zl", "Zp", "Zs"))


def decode_text(raw: bytes) -> str:
    """Decode a textual document. Raises InputError for what is not UTF-8. A byte order mark is dropped."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"the content is not valid UTF-8 at byte {error.start}") from None
    return repair_text(text)


def repair_text(text: str) -> str:
    """NFC and ``\\n``. Raises InputError for NUL (a binary file) and lone surrogates."""
    if "\0" in text:
        raise InputError("the content holds a NUL character: it is not text")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise InputError("the content holds a lone surrogate") from None
    return unicodedata.normalize("NFC", text)


def fault_of_path(path: str) -> str | None:
    """Why a text cannot be the path of a collection, or None."""
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts):
        return "must be a path of names separated by single slashes"
    if len(parts) > MAX_LEVELS or len(path) > MAX_PATH:
        return f"must be at most {MAX_LEVELS} levels deep and {MAX_PATH} characters long"
    return next((fault for part in parts if (fault := fault_of_name(part)) is not None), None)


def fault_of_name(text: str) -> str | None:
    """Why a string cannot be an identifier, or None. Nothing is repaired: names are compared exactly."""
    if text.isascii() and text.isprintable():
        return "must not begin or end with a space" if text != text.strip() else None
    if text != text.strip():
        return "must not begin or end with white space"
    if any(unicodedata.category(char) in _REFUSED_CATEGORIES and char != " " for char in text):
        return "must not hold control or invisible characters"
    if _BLANK.search(text):
        return "must not hold control or invisible characters"
    if not unicodedata.is_normalized("NFC", text):
        return "must be in Unicode form NFC"
    return None
