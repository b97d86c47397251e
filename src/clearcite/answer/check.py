"""Claims → Answer: bound to bytes, sufficient for the question, and undisputed; or the status that says why not.

Three checks, in this order: the canonical text of every quoted document is read again and must hold the quote at
its span; a disagreement that nothing decides is a conflict; the question itself must be covered. A question that
is not covered although recall was cut off yields one deeper plan.
"""

from collections.abc import Iterable, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from clearcite.answer.confirm import ReadTampered
from clearcite.answer.evidence import Chosen
from clearcite.answer.sufficiency import Sufficiency, judge
from clearcite.domain.answer import Answer, AnswerStatus, Claim, Confidence, Disagreement, Quote
from clearcite.domain.corpus import DocumentKey
from clearcite.domain.digest import sha256_text
from clearcite.domain.retrieval import Confirmed, Plan
from clearcite.ports import Embedder, Snapshot
from clearcite.text.analysis import Analyzer

MAX_ATTEMPT = 1
"""Plans beyond the first that ask for more: a second deeper one never helped where the first did not."""
DEEPER = 3


class Drafted(Struct, frozen=True, kw_only=True):
    """What one plan led to, ready to be checked."""

    plan: Plan
    confirmed: Confirmed
    chosen: Chosen
    claims: tuple[Claim, ...]
    disagreements: tuple[Disagreement, ...]


class Checked(Struct, frozen=True, kw_only=True):
    """An answer, the hashes of the documents it quotes, and the plan to try instead, if there is one."""

    answer: Answer
    document_hashes: Mapping[DocumentKey, str] = field(default_factory=dict)
    again: Plan | None = None
    sufficiency: Sufficiency | None = None

    @staticmethod
    def failed(status: AnswerStatus, cause: str) -> "Checked":
        return Checked(answer=Answer(status=status, cause=cause))


def check(draft: Drafted, snapshot: Snapshot, analyzer: Analyzer, embedder: Embedder | None) -> Checked:
    if not draft.chosen.evidence:
        return Checked.failed("insufficient_evidence", "no_candidate")
    open_ones = tuple(item for item in draft.disagreements if item.winner is None)
    decided = tuple(item for item in draft.disagreements if item.winner is not None)
    claims = (*draft.claims, *(side.claim for item in draft.disagreements for side in item.sides))
    hashes = bind(claims, snapshot)
    found = judge(draft.plan, draft.chosen.evidence, draft.claims, analyzer, embedder)
    if not found.answerable or not draft.claims:
        cause = "below_coverage" if draft.claims else "no_claim"
        answer = Answer(status="insufficient_evidence", cause=cause)
        return Checked(answer=answer, again=_deeper(draft), sufficiency=found)
    if open_ones:
        answer = Answer(status="conflict", disagreements=open_ones, cause="conflict")
        return Checked(answer=answer, document_hashes=hashes, sufficiency=found)
    answer = Answer(
        status="answered",
        claims=draft.claims,
        disagreements=decided,
        confidence=_confidence(found, decided),
    )
    return Checked(answer=answer, document_hashes=hashes, sufficiency=found)


def bind(claims: Iterable[Claim], snapshot: Snapshot) -> dict[DocumentKey, str]:
    """Read every quoted document's canonical text again; returns its SHA-256 by document."""
    hashes: dict[DocumentKey, str] = {}
    texts: dict[DocumentKey, str] = {}
    for quote in (quote for claim in claims for quote in claim.quotes):
        key = quote.passage.key
        if key not in texts:
            stored = snapshot.document(key)
            if stored is None or sha256_text(stored.text) != stored.text_sha256:
                raise ReadTampered(key)
            texts[key], hashes[key] = stored.text, stored.text_sha256
        if not _stands(quote, texts[key]):
            raise ReadTampered(key)
    return hashes


def _stands(quote: Quote, text: str) -> bool:
    passage = quote.passage
    return (
        text[passage.start : passage.end] == passage.text
        and text[quote.start : quote.end] == quote.text != ""
    )


def _deeper(draft: Drafted) -> Plan | None:
    """A deeper plan, if recall was cut off: more may lie below, so the question deserves one more look."""
    cut_off = any(len(leg.hits) >= draft.plan.depth for leg in draft.confirmed.legs)
    if not cut_off or draft.plan.attempt >= MAX_ATTEMPT:
        return None
    return replace(draft.plan, depth=draft.plan.depth * DEEPER)


def _confidence(found: Sufficiency, decided: tuple[Disagreement, ...]) -> Confidence:
    """High: everything the question names is covered and sources agree. Medium: covered by a clear margin or
    after a decided disagreement. Low: just above the threshold."""
    if found.clear and not found.missing:
        return "medium" if decided else "high"
    return "medium" if found.clear or not found.missing else "low"
