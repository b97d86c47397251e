"""Derived forms of canonical text, each with a map back to its code points.

- The *search form* is what words are compared in: invisible characters dropped, NFKC, casefolded, NFKC.
- The *model form* is what an encoder or a chat model reads: the text as written, without the characters that
  only a machine sees (tags, bidirectional controls, zero-width characters), except joiners and variation
  selectors where a script or a symbol needs them.

Spans are half-open in code points. What the model form drops is *hidden text*: ``Form.hidden`` lists it, and
``Form.removed`` counts it, so that ingestion can raise a risk flag.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

# Format characters (Cf) of Unicode 14, and the other characters without a glyph that a word could hide
# behind: combining grapheme joiner, Hangul fillers, variation selectors, tags, reserved ignorable ones.
_INVISIBLE = (
    "\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)
_INVISIBLE_RUN = re.compile(f"[{_INVISIBLE}]+")
_ASCII = bytes(range(128))

# Hidden from a reader, seen by a model. Fillers count: nobody writes modern text with them.
_SUSPECT = (
    "\u034f\u061c\u115f\u1160\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff"
    "\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff"
)
_SUSPECT_CHAR = re.compile(f"[{_SUSPECT}]")
_FLAG_SEQUENCE = re.compile(  # England, Scotland, Wales: the only tag sequences in general use
    "\U0001f3f4\U000e0067\U000e0062"
    "(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074|\U000e0077\U000e006c\U000e0073)"
    "\U000e007f"
)
_JOINER_SCRIPT = re.compile(
    "[\u0600-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u18af\ua840-\ua87f\ufb50-\ufdff]"
)
_VARIATION = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_KEYCAPS = frozenset("#*0123456789")

# Second characters of canonical compositions with combining class 0: they may join the character before.
_JOINS_BACK = frozenset(
    "\u09be\u09d7\u0b3e\u0b56\u0b57\u0bbe\u0bd7\u0cc2\u0cd5\u0cd6\u0d3e\u0d57\u0dcf\u0ddf\u102e\u1b35"
    "\U00011127\U0001133e\U00011357\U000114b0\U000114ba\U000114bd\U000115af\U00011930"
) | frozenset(map(chr, [*range(0x1161, 0x1176), *range(0x11A8, 0x11C3)]))


class Form(Struct, frozen=True, kw_only=True):
    """A derived text. Its code point ``i`` comes from ``[starts[i], ends[i])`` of the source.

    ``removed`` counts dropped code points; ``hidden`` are the maximal runs of dropped ones in the source.
    """

    text: str
    starts: Sequence[int]
    ends: Sequence[int]
    removed: int = 0
    hidden: tuple[tuple[int, int], ...] = ()

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The source span of ``[start, end)`` of this form. An empty span maps to an empty one."""
        if not 0 <= start <= end <= len(self.text):
            raise IndexError(f"span [{start}, {end}) outside a text of {len(self.text)} code points")
        if start == end:
            edge = self.starts[start] if start < len(self.text) else (self.ends[-1] if self.text else 0)
            return edge, edge
        return self.starts[start], self.ends[end - 1]


def search_text(text: str) -> str:
    """The search form without its map: what to use where only words matter."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", clean_text(text).casefold())


def clean_text(text: str) -> str:
    """The search form before casefolding: nothing invisible, NFKC; case still tells ``camelCase``."""
    if text.isascii():
        return text
    if _INVISIBLE_RUN.search(beyond_ascii(text)):
        text = _INVISIBLE_RUN.sub("", text)
    return unicodedata.normalize("NFKC", text)


def beyond_ascii(text: str) -> str:
    """The characters of a text that are not ASCII, in order: few of most texts, and quicker to look through."""
    return text.encode("utf-8", "surrogatepass").translate(None, _ASCII).decode("utf-8", "surrogatepass")


def search_form(text: str) -> Form:
    """The search form with its map. ``search_form(t).text == search_text(t)``."""
    return _mapped(text, search_text)


def clean_form(text: str) -> Form:
    """The cleaned text with its map: what tokens, dates and units are found in."""
    return _mapped(text, clean_text)


def _mapped(text: str, derive: Callable[[str], str]) -> Form:
    derived = derive(text)
    if text.isascii() or derived == text:
        return _identity(derived)
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    kept = [i for i, char in enumerate(text) if not _INVISIBLE_RUN.match(char)]
    for cluster in _clusters(text, kept):
        piece = derive("".join(text[i] for i in cluster))
        pieces.append(piece)
        starts += [cluster[0]] * len(piece)
        ends += [cluster[-1] + 1] * len(piece)
    dropped = tuple(match.span() for match in _INVISIBLE_RUN.finditer(text))
    return Form(text="".join(pieces), starts=starts, ends=ends, removed=len(text) - len(kept), hidden=dropped)


def model_form(text: str) -> Form:
    """The model form with its map; ``hidden`` is what a reader of the rendered text would not have seen."""
    if text.isascii() or not _SUSPECT_CHAR.search(beyond_ascii(text)):
        return _identity(text)
    drop = [match.start() for match in _SUSPECT_CHAR.finditer(text) if not _is_needed(text, match.start())]
    for match in _FLAG_SEQUENCE.finditer(text):
        drop = [i for i in drop if not match.start() <= i < match.end()]
    gone = frozenset(drop)
    kept = [i for i in range(len(text)) if i not in gone]
    return Form(
        text="".join(text[i] for i in kept),
        starts=kept,
        ends=[i + 1 for i in kept],
        removed=len(drop),
        hidden=_runs(drop),
    )


def hidden_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Spans of text that a model would read and a person would not see: the ``hidden`` of the model form."""
    return () if text.isascii() else model_form(text).hidden


def _identity(text: str) -> Form:
    size = len(text)
    return Form(text=text, starts=range(size), ends=range(1, size + 1))


def _clusters(text: str, kept: list[int]) -> Iterator[list[int]]:
    """Groups of positions that NFKC maps together: no composition crosses the border of a group."""
    group: list[int] = []
    for i in kept:
        if group and _starts_cluster(text[i]):
            yield group
            group = []
        group.append(i)
    if group:
        yield group


def _starts_cluster(char: str) -> bool:
    if char.isascii():
        return True
    first = unicodedata.normalize("NFKC", char)[0]
    return unicodedata.combining(first) == 0 and first not in _JOINS_BACK


def _is_needed(text: str, i: int) -> bool:
    """Whether the invisible character at ``i`` changes how a script or a symbol is drawn."""
    before = text[i - 1] if i else ""
    after = text[i + 1] if i + 1 < len(text) else ""
    if text[i] in "\u200c\u200d":
        if _JOINER_SCRIPT.match(before) and (not after or _JOINER_SCRIPT.match(after)):
            return True
        return text[i] == "\u200d" and _is_pictograph(before) and _is_pictograph(after)
    if _VARIATION.match(text[i]):
        return _is_pictograph(before) or before in _KEYCAPS or _is_ideograph(before)
    return text[i] in "\u180b\u180c\u180d\u180e" and bool(_JOINER_SCRIPT.match(before))


def _is_ideograph(char: str) -> bool:
    """Of none or one character. A pattern would take a millisecond to compile at every start."""
    return (
        "\u3400" <= char <= "\u9fff" or "\uf900" <= char <= "\ufaff" or "\U00020000" <= char <= "\U0003ffff"
    )


def _is_pictograph(char: str) -> bool:
    if not char:
        return False
    return (
        unicodedata.category(char) in ("So", "Sm")
        or char in "\ufe0f\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
    )


def _runs(positions: Sequence[int]) -> tuple[tuple[int, int], ...]:
    runs: list[tuple[int, int]] = []
    for i in positions:
        if runs and runs[-1][1] == i:
            runs[-1] = (runs[-1][0], i + 1)
        else:
            runs.append((i, i + 1))
    return tuple(runs)
