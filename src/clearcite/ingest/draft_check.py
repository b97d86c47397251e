"""What the process that reads documents says of one, checked: it is not trusted, and nothing later doubts a draft.

A frame has only the keys that no frame of its process had before, so frames are read in their order.

A module of its own, because that process needs none of it. See ``draft_frames`` for how a frame is made.
"""

import re
import struct
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise

import numpy as np
import numpy.typing as npt
from msgspec import MsgspecError
from msgspec.json import Decoder
from msgspec.structs import replace

from clearcite.domain.corpus import Unit
from clearcite.domain.terms import COUNT_BYTES, KEY_BYTES, NUMBER_BYTES, STEM_BYTES, TERM_BYTES, Terms
from clearcite.errors import InputError, ReadingFailed
from clearcite.ingest.chunk import Cut
from clearcite.ingest.draft import Draft
from clearcite.ingest.draft_frames import CHUNK_KINDS, UNIT_KINDS, Line, Refusal
from clearcite.text.keys import MOST_TERMS

_UNSAFE = "the document could not be parsed safely"
_SHA256 = re.compile(r"[0-9a-f]{64}")
_KEY = struct.Struct(f"{KEY_BYTES}s{STEM_BYTES}x")
_ROW = struct.Struct("<7i")
_AT_ONCE = 1_000_000
"""Bytes of numbers that are counted at once, which takes ten times as many."""
_APART = np.uint64(0x9E37_79B9_7F4A_7C15)
"""Times the number of a text, and added to its keys: those of different texts are then hardly ever the same."""
_KEY_TYPE = np.dtype(f"V{TERM_BYTES}")

_decode = Decoder(Line).decode
_decode_refusal = Decoder(Refusal).decode

Span = tuple[int, int]
Size = tuple[int, int, int]
"""Of a cut: how many terms it has, each as often as it stands there, how many words, and how many keys were told by
then."""
_Uncounted = tuple[int, Draft, list[Size], bytes]
"""The place of a draft among all, the draft without terms, and what ``TermTable.count`` needs of it."""
Names = tuple[str, tuple[str, ...], tuple[str, ...]]
"""Context, heading and flags of a cut."""


class TermTable:
    """The keys of terms that a process told in its frames so far, by number. Not thread-safe."""

    __slots__ = ("_keys", "_told")

    def __init__(self) -> None:
        self._keys = np.empty(0, _KEY_TYPE)
        self._told = 0

    @property
    def told(self) -> int:
        """How many keys."""
        return self._told

    def learn(self, told: int, keys: bytes) -> None:
        """More keys, after so many that were told before. After 0 it begins anew: a process that was renewed knows
        nothing of the one before. One that goes on without ever doing so is refused, and fills no memory. Raises
        ReadingFailed, for this says nothing of the document: it is tried again."""
        if told not in (0, self._told) or told > MOST_TERMS:
            raise ReadingFailed(_UNSAFE)
        if not keys and told:
            return
        fresh = np.frombuffer(keys, _KEY_TYPE)
        self._told = told + fresh.size
        if not told or self._told > self._keys.size:
            before = self._keys[:told]
            self._keys = np.empty(2 * self._told, _KEY_TYPE)
            self._keys[:told] = before
        self._keys[told : self._told] = fresh

    def count(self, sizes: Sequence[Size], data: bytes) -> list[Terms]:
        """The terms of texts, each as often as its number stands among those of the text. All at once: most of what it
        costs is paid once a call. Raises ValueError."""
        if len(data) > _AT_ONCE and len(sizes) > 1:
            half = len(sizes) // 2
            cut = NUMBER_BYTES * sum([terms for terms, *_ in sizes[:half]])
            return self.count(sizes[:half], data[:cut]) + self.count(sizes[half:], data[cut:])
        numbers = np.frombuffer(data, "<u4")
        texts = np.repeat(np.arange(len(sizes), dtype=np.uint64), [terms for terms, *_ in sizes])
        placed = (texts << np.uint64(32)) | (numbers >> 1)
        placed.sort()
        is_last = np.ones(placed.size, np.bool_)
        np.not_equal(placed[1:], placed[:-1], out=is_last[:-1])
        last = is_last.nonzero()[0]
        found = placed.take(last)
        places = (found & np.uint64(0xFFFFFFFF)).astype(np.intp)
        limits = np.array([told for *_, told in sizes], np.intp)
        owners = found >> np.uint64(32)
        _need(bool((places < limits.take(owners.view(np.intp))).all()))
        ends = owners.searchsorted(np.arange(len(sizes), dtype=np.uint64), side="right").tolist()
        spans = list(zip([0, *ends], ends, strict=False))
        keys = self._keys.take(places)
        if not _are_different(keys.view("<u8")[:: TERM_BYTES // 8] + owners * _APART):
            _need(all(len(set(_KEY.iter_unpack(keys[a:b].tobytes()))) == b - a for a, b in spans))
        counts = np.diff(last, prepend=-1).astype("<u4").tobytes()
        whole = keys.tobytes()
        return [
            Terms(
                keys=whole[start * TERM_BYTES : end * TERM_BYTES],
                counts=counts[start * COUNT_BYTES : end * COUNT_BYTES],
                words=words,
            )
            for (start, end), (_, words, _) in zip(spans, sizes, strict=True)
        ]


def decode_drafts(answers: Iterable[bytes], table: TermTable) -> list[Draft | InputError]:
    """A draft for each answer, or the reader's own message, or that the answer is not well formed. ``table``: what the
    answers before them told."""
    found: list[Draft | InputError] = []
    waiting: list[_Uncounted] = []
    for data in answers:
        try:
            line, _, rest = data.partition(b"\n")
            if line.startswith(b'{"error"'):
                raise InputError(_decode_refusal(line).error)
            said = _decode(line)
            if not said.told:
                _count(waiting, table, found)
            draft, sizes, numbers = _draft(said, rest, table)
            waiting.append((len(found), draft, sizes, numbers))
            found.append(draft)
        except InputError as error:
            found.append(error)
        except (MsgspecError, ValueError, IndexError, RecursionError, struct.error):
            found.append(InputError(_UNSAFE))
    _count(waiting, table, found)
    return found


def _count(waiting: list[_Uncounted], table: TermTable, found: list[Draft | InputError]) -> None:
    """Put the drafts that wait for their terms into their places, with them; if some are wrong, one by one."""
    if not waiting:
        return
    try:
        terms = iter(
            table.count(
                [size for _, _, sizes, _ in waiting for size in sizes],
                b"".join([numbers for *_, numbers in waiting]),
            )
        )
    except ValueError:
        if len(waiting) == 1:
            found[waiting[0][0]] = InputError(_UNSAFE)
        else:
            for one in waiting:
                _count([one], table, found)
    else:
        for at, draft, sizes, _ in waiting:
            found[at] = replace(draft, terms=tuple(islice(terms, len(sizes))))
    waiting.clear()


def _draft(said: Line, rest: bytes, table: TermTable) -> tuple[Draft, list[Size], bytes]:
    """A draft without terms, how many each of its cuts has, and their numbers."""
    size = NUMBER_BYTES * said.numbers
    end = size + TERM_BYTES * said.keys
    _need(0 <= size <= end <= len(rest))
    table.learn(said.told, rest[size:end])
    _need(_SHA256.fullmatch(said.normal) is not None)
    rows = _ROW.iter_unpack(rest[:size])
    cuts = [_cut(names, rows, len(said.text)) for names in said.cuts]
    _need(bool(cuts) and next(rows, None) is None)
    _need(all(one.end <= following.start for (one, *_), (following, *_) in pairwise(cuts)))
    sizes = [(terms, words, table.told) for _, terms, words in cuts]
    _need(len(rest) - end == NUMBER_BYTES * sum([terms for terms, *_ in sizes]))
    draft = Draft(
        text=said.text,
        title=said.title,
        normal_sha256=said.normal,
        cuts=tuple([cut for cut, _, _ in cuts]),
        flags=said.flags,
        notes=said.notes,
    )
    return draft, sizes, rest[end:]


def _are_different(halves: npt.NDArray[np.uint64]) -> bool:
    """Whether keys are told apart by their first halves, as nearly always: sorting numbers is quick."""
    ordered = halves.copy()
    ordered.sort()
    return bool(np.count_nonzero(ordered[1:] == ordered[:-1]) == 0)


def _cut(names: Names, rows: Iterator[tuple[int, ...]], size: int) -> tuple[Cut, int, int]:
    """A cut, and how many terms and words it has. ``size``: of the whole text, in which all spans lie."""
    context, heading, flags = names
    start, end, page, kind, units, terms, words = next(rows, ())
    _need(0 <= start < end <= size and page >= -1 and kind >= 0 and units >= 0 and terms >= 0 and words >= 0)
    made = tuple([_unit(row, start, end, size) for row in islice(rows, units)])
    _need(len(made) == units)
    cut = Cut(
        start=start,
        end=end,
        context=context,
        heading=heading,
        page=None if page < 0 else page,
        kind=CHUNK_KINDS[kind],
        units=made,
        flags=flags,
    )
    return cut, terms, words


def _unit(row: tuple[int, ...], first: int, last: int, size: int) -> Unit:
    """``first``, ``last``: the span of its cut, in which it lies."""
    kind, start, end, header, header_end, lead, lead_end = row
    if not (first <= start < end <= last and kind >= 0):
        raise ValueError
    return Unit(
        UNIT_KINDS[kind],
        start,
        end,
        None if header == header_end == -1 else _outer(header, header_end, size),
        None if lead == lead_end == -1 else _outer(lead, lead_end, size),
    )


def _outer(start: int, end: int, size: int) -> Span:
    """A span elsewhere in the text."""
    _need(0 <= start <= end <= size)
    return start, end


def _need(holds: bool) -> None:
    if not holds:
        raise ValueError
