"""Claim → Answer → PublicAnswer. The last is the only thing that leaves."""

from typing import Literal

from msgspec import Struct

from clearcite.domain.retrieval import Passage

AnswerStatus = Literal[
    "answered",
    "insufficient_evidence",
    "conflict",
    "tool_required",
    "dependency_unavailable",
    "generation_unavailable",
    "refused",
]
Confidence = Literal["high", "medium", "low"]

MESSAGES: dict[AnswerStatus, str] = {
    "answered": "Answered from the documents you may read.",
    "insufficient_evidence": "The documents you may read do not answer this question.",
    "conflict": "The documents you may read disagree; both sides are shown.",
    "tool_required": "This asks for live information, which documents do not hold.",
    "dependency_unavailable": "A part needed to answer is unavailable; try again later.",
    "generation_unavailable": "The answer could not be written; try again later.",
    "refused": "The answer was withheld because its draft did not pass a safety check.",
}

EXIT_CODES: dict[AnswerStatus, int] = {
    "answered": 0,
    "insufficient_evidence": 0,
    "conflict": 0,
    "tool_required": 0,
    "refused": 0,
    "dependency_unavailable": 3,
    "generation_unavailable": 3,
}


class Quote(Struct, frozen=True, kw_only=True):
    """A span of one passage, in code points of its document's canonical text."""

    passage: Passage
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.passage.text[self.start - self.passage.start : self.end - self.passage.start]


class Claim(Struct, frozen=True, kw_only=True):
    """One statement of the answer: its text is its quotes joined by ``\\n`` (verbatim), or follows from them."""

    text: str
    quotes: tuple[Quote, ...]
    support: Literal["verbatim", "entailed"] = "verbatim"
    score: int = 0


class Side(Struct, frozen=True, kw_only=True):
    """One side of a conflict: the claim and the value it gives."""

    claim: Claim
    value: str


class Disagreement(Struct, frozen=True, kw_only=True):
    """Two or more readable, valid sources that give different values for one thing.

    ``resolved_by`` names the step that decided and ``winner`` the index of the side it chose; both are None
    when nothing decides, and then the question ends as ``conflict``.
    """

    topic: str
    kind: Literal["value", "version", "polarity", "date", "code"]
    sides: tuple[Side, ...]
    resolved_by: str | None = None
    winner: int | None = None


class Answer(Struct, frozen=True, kw_only=True):
    """The checked outcome inside the engine, before publication."""

    status: AnswerStatus
    claims: tuple[Claim, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    confidence: Confidence = "low"
    cause: str | None = None


class Span(Struct, frozen=True, kw_only=True):
    start: int
    end: int


class Citation(Struct, frozen=True, kw_only=True):
    """A reference that can be resolved again. Hashes are of UTF-8; offsets are code points."""

    n: int
    document_id: str
    title: str
    uri: str
    revision: str
    cited_text: str
    fact_id: str | None
    span: Span
    page: int | None
    heading: tuple[str, ...]
    sha256: str
    document_sha256: str
    valid_from: str | None
    valid_to: str | None
    product_version: str | None
    support: Literal["verbatim", "entailed"]


class Statement(Struct, frozen=True, kw_only=True):
    text: str
    citations: tuple[int, ...]


class PublicConflict(Struct, frozen=True, kw_only=True):
    topic: str
    kind: str
    resolved_by: str | None
    sides: tuple[Statement, ...]


class PublicAnswer(Struct, frozen=True, kw_only=True):
    """The public response of ``ask``: all keys always there, nothing else ever."""

    status: AnswerStatus
    trace_id: str
    message: str
    confidence: Confidence | None
    answer: tuple[Statement, ...] = ()
    citations: tuple[Citation, ...] = ()
    conflicts: tuple[PublicConflict, ...] = ()


class PublicHit(Struct, frozen=True, kw_only=True):
    """One line of ``search``: a passage, or a document by its best passage. No score."""

    n: int
    document_id: str
    title: str
    uri: str
    revision: str
    span: Span
    snippet: str
    heading: tuple[str, ...]
    page: int | None


class PublicSearch(Struct, frozen=True, kw_only=True):
    status: AnswerStatus
    trace_id: str
    hits: tuple[PublicHit, ...] = ()
    next: str | None = None


class PublicDocument(Struct, frozen=True, kw_only=True):
    """One line of ``list``, or with ``text`` the whole of ``show``; judged like ``search``, as the caller."""

    document_id: str
    source_id: str
    title: str
    uri: str
    revision: str
    source_type: str
    valid_from: str | None
    valid_to: str | None
    text: str | None = None
