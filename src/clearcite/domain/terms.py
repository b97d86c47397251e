"""The index terms of a text as an index keeps them: by their keys, not by their words."""

from msgspec import Struct

KEY_BYTES = 16
STEM_BYTES = 8
TERM_BYTES = KEY_BYTES + STEM_BYTES
COUNT_BYTES = 4
NUMBER_BYTES = 4


class Terms(Struct, frozen=True, kw_only=True):
    """``keys``: TERM_BYTES for each term, each term once, in any order: its key, and the first STEM_BYTES of the key of
    its stem in the language of the text, or zeros where it has none. The stem is a hint that makes searches fast: an
    index looks whether it holds. ``counts``: how often each stands in the text, from 1 on, as unsigned little-endian
    integers of COUNT_BYTES. ``words``: how many analysed words the text has, the length that BM25 divides by; stems and
    wholes are terms and do not count.

    Bytes, because they are made in one process, checked in another and written by the thousand.
    """

    keys: bytes = b""
    counts: bytes = b""
    words: int = 0

    def __len__(self) -> int:
        return len(self.keys) // TERM_BYTES
