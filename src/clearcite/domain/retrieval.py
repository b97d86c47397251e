"""Question → Plan → Hit → Passage → Ranked → Evidence. Each noun is trusted more than the one before."""

from typing import Literal

from msgspec import Struct

from clearcite.domain.access import Micros, Principal
from clearcite.domain.corpus import Description, DocumentKey, Unit

Route = Literal["knowledge", "tool_required"]
Leg = Literal["lexical", "dense"]


class Question(Struct, frozen=True, kw_only=True):
    """What was asked, after NFC: 1 to 4,000 code points. ``route`` and ``topic`` come from a host that knows."""

    text: str
    as_of: Micros | None = None
    target_version: str | None = None
    sources: tuple[str, ...] = ()
    route: Route | None = None
    topic: str | None = None


class Scope(Struct, frozen=True, kw_only=True):
    """For whom, at which instant, over which partitions. Empty partitions: nothing is readable.

    ``sources`` narrows it to documents of these; empty: of all.
    """

    principal: Principal
    as_of: Micros
    partitions: tuple[str, ...]
    sources: tuple[str, ...] = ()


class QueryTerm(Struct, frozen=True, kw_only=True):
    """One word of the question with every form of it that may stand in a document.

    The forms share one weight: a word counts once, by its best form, whatever the number of its forms.
    """

    surface: str
    forms: tuple[str, ...]


class LexicalQuery(Struct, frozen=True, kw_only=True):
    terms: tuple[QueryTerm, ...]


SCALE_BITS = 30
"""An int8 vector stands for ``data × scale / 2^30``, which is of length one."""


class DenseQuery(Struct, frozen=True, kw_only=True):
    """``vector``: int8, one byte a dimension; ``scale``: as for ``SCALE_BITS``."""

    vector: bytes
    scale: int = 1


class Plan(Struct, frozen=True, kw_only=True):
    """What to look for and how much of it.

    ``documents`` (N) and ``frequencies`` (df of each term of ``lexical``) count readable chunks; they are known
    once the lexical leg has been confirmed, and empty before. ``enough``: fewer than ``depth``, where those are sure to
    hold the first ten; see ``weigh.depth_needed``.
    """

    question: str
    route: Route
    lexical: LexicalQuery
    identifiers: tuple[str, ...] = ()
    target_version: str | None = None
    topic: str | None = None
    depth: int = 100
    enough: int | None = None
    attempt: int = 0
    documents: int = 0
    frequencies: tuple[int, ...] = ()


class Cursor(Struct, frozen=True, kw_only=True):
    """Where a leg stopped: the score and chunk id of the last hit."""

    score: int
    chunk_id: str


class Hit(Struct, frozen=True, gc=False):
    """A chunk an index believes in. Nothing about it is trusted until the ledger has confirmed it.

    Made by position and out of sight of the garbage collection, for a search makes a hundred.
    """

    chunk_id: str
    score: int


class HitPage(Struct, frozen=True, kw_only=True):
    """Hits in the order (−score, chunk id). ``next`` is None when the leg is exhausted.

    ``documents`` (N) and ``frequencies`` (df of each query term, in its order) count readable chunks only.
    ``whole``: the score of a passage that meets all of the query. A share of it means the same in every question.
    """

    hits: tuple[Hit, ...]
    next: Cursor | None = None
    documents: int = 0
    frequencies: tuple[int, ...] = ()
    whole: int = 0


class Passage(Struct, frozen=True, kw_only=True):
    """A chunk whose text, access, hash and identity the ledger has confirmed for this scope."""

    chunk_id: str
    key: DocumentKey
    revision: str
    content_sha256: str
    title: str
    text: str
    start: int
    end: int
    sha256: str
    context: str
    heading: tuple[str, ...]
    page: int | None
    kind: str
    units: tuple[Unit, ...]
    description: Description
    valid_from: Micros | None
    valid_to: Micros | None
    normal_sha256: str
    language: str | None = None
    flags: tuple[str, ...] = ()


class Ranked(Struct, frozen=True, kw_only=True):
    """A passage with its score (an integer, only comparable within this question) and what made it."""

    passage: Passage
    score: int
    factors: tuple[tuple[str, int], ...] = ()


class Dropped(Struct, frozen=True, kw_only=True):
    chunk_id: str
    reason: Literal["canonical_duplicate", "context_limit", "character_budget", "superseded", "revoked"]


class Evidence(Struct, frozen=True, kw_only=True):
    """A passage chosen for the answer, numbered from 1 in rank order."""

    number: int
    ranked: Ranked

    @property
    def passage(self) -> Passage:
        return self.ranked.passage


class ConfirmedLeg(Struct, frozen=True, kw_only=True):
    """The confirmed passages of one leg with their scores, best first, and the counts they were scored with.

    ``whole``: see ``HitPage``.
    """

    leg: Leg
    hits: tuple[tuple[Passage, int], ...]
    documents: int = 0
    frequencies: tuple[int, ...] = ()
    whole: int = 0


class Confirmed(Struct, frozen=True, kw_only=True):
    legs: tuple[ConfirmedLeg, ...]
    dropped: tuple[Dropped, ...] = ()


class Recall(Struct, frozen=True, kw_only=True):
    """The pages each leg returned, in the order asked."""

    pages: tuple[tuple[Leg, HitPage], ...] = ()
