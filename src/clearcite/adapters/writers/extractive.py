"""The default writer: it quotes. Claims are whole units of the evidence, few and short, best first.

Needs no model. With an embedder, nearness in meaning joins the words of the question in choosing.
"""

from collections.abc import Iterable, Sequence

from clearcite.domain.answer import Claim, Disagreement, Quote
from clearcite.domain.retrieval import Evidence, Plan
from clearcite.domain.standing import stands_over
from clearcite.domain.thresholds import CLAIM_LIMITS, STANDING, ClaimLimits
from clearcite.ports import Embedder
from clearcite.text.analysis import Analyzer
from clearcite.text.asks import names_in
from clearcite.text.candidates import Asked, Candidate, candidates, read_question
from clearcite.text.quoting import Span
from clearcite.text.rivals import is_rival
from clearcite.text.similarity import Similarity
from clearcite.text.versions import is_of, versions_asked

VERSION = "extractive-2"


class ExtractiveWriter:
    """Implements ``Writer``. Deterministic; the same evidence and question give the same claims."""

    def __init__(
        self, analyzer: Analyzer, embedder: Embedder | None = None, limits: ClaimLimits = CLAIM_LIMITS
    ) -> None:
        self._analyzer = analyzer
        self._embedder = embedder
        self._limits = limits

    @property
    def fingerprint(self) -> str:
        model = self._embedder.fingerprint if self._embedder else "lexical"
        return f"{VERSION};{model};{self._analyzer.fingerprint}"

    def compose(
        self, plan: Plan, evidence: Sequence[Evidence], disagreements: Sequence[Disagreement]
    ) -> tuple[Claim, ...]:
        """At most three claims. What lost a resolved disagreement is not claimed; what won comes first."""
        similarity = Similarity(self._embedder, plan.question) if self._embedder else None
        asked = read_question(plan, self._analyzer, similarity)
        found = candidates(asked, [item.passage for item in evidence])
        lost = _quotes(disagreements, winning=False)
        allowed = [item for item in found if not _touches(item, lost)]
        won = _quotes(disagreements, winning=True)
        allowed.sort(key=lambda item: not _touches(item, won))
        heard = _heard(allowed, self._limits)
        if heard is not None:
            allowed = [item for item in allowed if not _is_outvoted(asked, item, heard)]
        chosen = self._few(asked, _in_order(allowed, heard, self._limits), heard)
        return tuple(item.claim() for item in chosen)

    def _few(self, asked: Asked, found: Sequence[Candidate], heard: Candidate | None) -> Sequence[Candidate]:
        limits, chosen = self._limits, list[Candidate]()
        best = max((item.score for item in found), default=0)
        for item in found:
            is_near = not chosen or item is heard or item.score >= best - limits.margin
            if len(chosen) == limits.most or not is_near:
                break
            parts = [other for other in chosen if _holds(item, other)]
            kept = [other for other in chosen if other not in parts]
            is_late = _size(item) > limits.longest and bool(chosen)
            is_long = is_late or _size(item) + sum(map(_size, kept)) > limits.words
            if (
                is_long
                or _repeats(item, kept, limits)
                or _is_at_odds(asked, item, chosen)
                or _is_beside(item, chosen)
            ):
                continue
            at = chosen.index(parts[0]) if parts else len(chosen)
            chosen = [*(o for o in chosen[:at] if o in kept), item, *(o for o in chosen[at:] if o in kept)]
        return chosen


def _heard(found: Sequence[Candidate], limits: ClaimLimits) -> Candidate | None:
    """The best statement of a source that stands higher than the one of the best statement of all.

    It is always cited: many humble sources never drown one that holds for what should be.
    """
    if not found:
        return None
    best = found[0]
    higher = (item for item in found if _standing(item) > _standing(best))
    return next((item for item in higher if item.score >= best.score - limits.heard), None)


def _in_order(
    found: Sequence[Candidate], heard: Candidate | None, limits: ClaimLimits
) -> Sequence[Candidate]:
    """The one to be heard goes first when it answers about as well as the best, and second otherwise."""
    if heard is None:
        return found
    best = found[0]
    rest = [item for item in found if item is not heard and item is not best]
    return [heard, best, *rest] if heard.score >= best.score - limits.close else [best, heard, *rest]


def _standing(item: Candidate) -> int:
    """Source types not named stand with blogs."""
    return STANDING.get(item.passage.description.source_type, STANDING["blog"])


def _size(item: Candidate) -> int:
    return len(item.text.split())


def _is_at_odds(asked: Asked, item: Candidate, chosen: Sequence[Candidate]) -> bool:
    """Outvoted by a claim made before, or about another version than the asked one, which the first claim is about."""
    wanted = versions_asked(asked.plan.question, asked.plan.target_version)
    if chosen and _is_of_one(chosen[0], wanted) is True and _is_of_one(item, wanted) is False:
        return True
    return any(_is_outvoted(asked, item, other) for other in chosen)


def _is_beside(item: Candidate, chosen: Sequence[Candidate]) -> bool:
    """Another row of the table, or item of the list, from which the first claim is; and what the question names of
    it stands in that one alone: it is about another thing."""
    first = chosen[0] if chosen else item
    frame = item.spans[:-1]
    if first is item or not frame or first.passage.key != item.passage.key or first.spans[:-1] != frame:
        return False
    if item.unit.kind == "sentence" or first.unit.kind != item.unit.kind:
        return False
    return item.feature("cover") < first.feature("cover")


def _is_of_one(item: Candidate, wanted: Sequence[str]) -> bool | None:
    return is_of(wanted, item.passage.description.product_version)


def _is_outvoted(asked: Asked, item: Candidate, other: Candidate) -> bool:
    """A source that stands lower gives another value: it is no further claim beside the higher one."""
    higher, humble = other.passage.description, item.passage.description
    return stands_over(higher, humble) and is_rival(asked, item, other)


def _repeats(item: Candidate, chosen: Sequence[Candidate], limits: ClaimLimits) -> bool:
    """Whether a claim already made says nearly the same words, names and numbers, or quotes some of this."""
    for other in chosen:
        common = len(item.terms & other.terms) * 1000
        alike = common >= limits.same * max(1, len(item.terms | other.terms))
        if alike and _particulars(item) <= _particulars(other):
            return True
        if other.passage.key == item.passage.key and (
            _cross(_said(item), other.spans) or _cross(_said(other), item.spans)
        ):
            return True
    return False


def _holds(item: Candidate, other: Candidate) -> bool:
    """Whether a claim would quote all that another one quotes, and more: it takes the other's place."""
    return (
        item.passage.key == other.passage.key
        and item.spans != other.spans
        and all(any(a <= start and end <= b for a, b in item.spans) for start, end in other.spans)
    )


def _said(item: Candidate) -> Sequence[Span]:
    """The spans that are the claim's own; the header of a row and the lead of an item serve many claims."""
    return item.spans if item.unit.kind == "sentence" else ((item.unit.start, item.unit.end),)


def _cross(some: Sequence[Span], others: Sequence[Span]) -> bool:
    return any(start < end_too and start_too < end for start, end in some for start_too, end_too in others)


def _particulars(item: Candidate) -> frozenset[str]:
    """The names, codes and numbers of a statement: with others in their place it is another statement."""
    return frozenset(item.text[start:end].casefold() for start, end in names_in(item.text, ()))


def _quotes(disagreements: Sequence[Disagreement], *, winning: bool) -> list[Quote]:
    return [
        quote
        for disagreement in disagreements
        if disagreement.winner is not None
        for index, side in enumerate(disagreement.sides)
        if (index == disagreement.winner) == winning
        for quote in side.claim.quotes
    ]


def _touches(item: Candidate, quotes: Sequence[Quote]) -> bool:
    return any(quote.passage.key == item.passage.key and _overlaps((quote,), item) for quote in quotes)


def _overlaps(quotes: Iterable[Quote], item: Candidate) -> bool:
    return any(quote.start < item.unit.end and item.unit.start < quote.end for quote in quotes)
