"""``search``: the path of a question down to ranked passages, in pages, without scores.

What a passage scores depends on how many others were recalled beside it, so pages cannot be cut from one ranking
that grows. Instead the sequence of all hits is fixed beforehand: first everything that so many hits a leg bring, in
its order (see ``weigh.depth_needed``); then what twice as many bring besides, in theirs; and so on until the legs are
exhausted. A page is a stretch of this sequence, wherever the pages before it were cut.
"""

import base64
import binascii
from collections.abc import Iterator
from itertools import count
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from clearcite.answer.fuse import by_score
from clearcite.answer.pipeline import Parts, Retrieved, Sight, retrieve
from clearcite.answer.plan import plan_query
from clearcite.answer.rerank import POOL
from clearcite.domain.retrieval import Cursor, Plan, Question, Ranked
from clearcite.errors import InputError
from clearcite.step import Run
from clearcite.text.memory import remembering

MAX_K = 100
CURSOR_BYTES = 26
STRATUM = 1 << 62
"""Above every score, so that none of a deeper stratum reaches one before it."""


class Wanted(Struct, frozen=True, kw_only=True):
    """How many, one line per document or per passage, and after which hit."""

    k: int
    collapse: Literal["document", "passage"]
    after: Cursor | None


def wanted(k: Any, collapse: Any, after: Any) -> Wanted:
    """Validate what a caller asks for."""
    if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= MAX_K:
        raise InputError(f"k must lie between 1 and {MAX_K}.")
    if collapse not in ("document", "passage"):
        raise InputError("collapse is document or passage.")
    if after is not None and not isinstance(after, str):
        raise InputError("after must be a text.")
    kind: Literal["document", "passage"] = "document" if collapse == "document" else "passage"
    return Wanted(k=k, collapse=kind, after=None if after is None else decode_cursor(after))


def search(
    asked: Question, want: Wanted, sight: Sight, parts: Parts, run: Run
) -> tuple[list[Ranked], str | None]:
    """The page wanted and the cursor after it; recall deepens until the page is full or nothing is left."""
    plan = run.step(plan_query, asked, parts.analyzer, parts.live, parts.depth)
    plan = replace(plan, enough=POOL)
    parts = replace(parts, by_document=want.collapse == "document")
    after = None if want.after is None else (-want.after.score, want.after.chunk_id)
    lines: list[Ranked] = []
    seen: set[object] = set()
    with remembering():
        for item in _sequence(plan, sight, parts, run):
            name = item.passage.key if want.collapse == "document" else item.passage.chunk_id
            if name not in seen and (after is None or by_score(item) > after):
                lines.append(item)
            seen.add(name)
            if len(lines) > want.k:
                return lines[: want.k], encode_cursor(lines[want.k - 1])
    return lines, None


def _sequence(plan: Plan, sight: Sight, parts: Parts, run: Run) -> Iterator[Ranked]:
    """Every passage once, stratum by stratum; scores fall from one to the next, so that they order all of it.

    A passage a stratum brought and did not keep, as a copy or as superseded, does not come back in a later one.
    """
    recalled: set[str] = set()
    shown: frozenset[str] = frozenset()
    for stratum in count():
        found = retrieve(plan, sight, parts, run, shown)
        fresh = [item for item in found.ranked if item.passage.chunk_id not in recalled]
        if stratum:
            fresh = [replace(item, score=item.score - stratum * STRATUM) for item in fresh]
        yield from sorted(fresh, key=by_score)
        if _exhausted(found):
            return
        recalled.update(passage.chunk_id for leg in found.confirmed.legs for passage, _ in leg.hits)
        shown |= {item.passage.chunk_id for item in fresh}
        plan = replace(plan, depth=found.plan.depth * 2, enough=None)


def _exhausted(found: Retrieved) -> bool:
    return all(len(leg.hits) < found.plan.depth for leg in found.confirmed.legs)


def encode_cursor(item: Ranked) -> str:
    """(integer score, chunk id) and nothing else, as URL-safe base64."""
    raw = item.score.to_bytes(10, "big", signed=True) + bytes.fromhex(item.passage.chunk_id)
    return base64.urlsafe_b64encode(raw).decode("ascii").rstrip("=")


def decode_cursor(text: str) -> Cursor:
    try:
        raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError) as error:
        raise InputError("The cursor is not one that search returned.") from error
    if len(raw) != CURSOR_BYTES:
        raise InputError("The cursor is not one that search returned.")
    return Cursor(score=int.from_bytes(raw[:10], "big", signed=True), chunk_id=raw[10:].hex())
