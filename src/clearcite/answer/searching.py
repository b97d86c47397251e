"""``search``: the path of a question down to ranked passages, in pages, without scores."""

import base64
import binascii
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from clearcite.answer.pipeline import Parts, Retrieved, Sight, retrieve
from clearcite.answer.plan import plan_query
from clearcite.domain.retrieval import Cursor, Plan, Question, Ranked
from clearcite.errors import InputError
from clearcite.step import Run

MAX_K = 100
CURSOR_BYTES = 26


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """How many, one line per document or per passage, and after which hit."""

    k: int
    collapse: Literal["document", "passage"]
    after: Cursor | None


def wanted(k: int, collapse: str, after: str | None) -> Wanted:
    """Validate what a caller asks for."""
    if isinstance(k, bool) or not 1 <= k <= MAX_K:
        raise InputError(f"k must lie between 1 and {MAX_K}.")
    if collapse not in ("document", "passage"):
        raise InputError("collapse is document or passage.")
    kind: Literal["document", "passage"] = "document" if collapse == "document" else "passage"
    return Wanted(k=k, collapse=kind, after=None if after is None else decode_cursor(after))


def search(
    asked: Question, want: Wanted, sight: Sight, parts: Parts, run: Run
) -> tuple[list[Ranked], str | None]:
    """The page wanted and the cursor after it; recall deepens until the page is full or nothing is left."""
    plan = run.step(plan_query, asked, parts.analyzer, parts.live, parts.depth)
    while True:
        found = retrieve(plan, sight, parts, run)
        lines = list(_lines(found.ranked, want))
        if len(lines) > want.k or _exhausted(plan, found):
            break
        plan = replace(plan, depth=plan.depth * 2)
    page = lines[: want.k]
    following = encode_cursor(page[-1]) if len(lines) > want.k else None
    return page, following


def _lines(ranked: Iterable[Ranked], want: Wanted) -> Iterable[Ranked]:
    """The order is (−score, chunk id); a document stands where its best passage stands."""
    ordered = sorted(ranked, key=lambda item: (-item.score, item.passage.chunk_id))
    seen: set[object] = set()
    for item in ordered:
        name = item.passage.key if want.collapse == "document" else item.passage.chunk_id
        if name in seen:
            continue
        seen.add(name)
        if want.after is None or _place(item) > (-want.after.score, want.after.chunk_id):
            yield item


def _place(item: Ranked) -> tuple[int, str]:
    return (-item.score, item.passage.chunk_id)


def _exhausted(plan: Plan, found: Retrieved) -> bool:
    return all(len(leg.hits) < plan.depth for leg in found.confirmed.legs)


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
