"""Does the evidence answer the question, or only speak of something near it?

A small logistic model over features that any language and trade has: how much of what the question names is
covered, how much of its meaning the uncovered words carry, whether a code or number is missing. All features are
thousandths, weights and the score are integers (thousandths of log odds); the score is no probability. Everything
comes from readable evidence and readable counts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from clearcite.answer.sufficiency_model import LEXICAL, SEMANTIC, Model
from clearcite.domain.answer import Claim
from clearcite.domain.retrieval import Evidence, Passage, Plan
from clearcite.ports import Embedder
from clearcite.text.analysis import Analyzer
from clearcite.text.candidates import Asked, Candidate, candidates, in_context, read_question, terms_of
from clearcite.text.coverage import Need, coverage, missing
from clearcite.text.forms import clean_text
from clearcite.text.similarity import Similarity
from clearcite.text.tokens import raw_tokens, token_spans

Features = dict[str, int]
CLEAR = 1500
"""Log odds (thousandths) above which an answer is more than just sufficient."""
MOST_NEEDS = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class Sufficiency:
    """``score`` ≥ 0 is ``answerable``; ``clear`` by a margin. ``missing``: named words that nothing covers."""

    score: int
    answerable: bool
    clear: bool
    features: tuple[tuple[str, int], ...] = ()
    missing: tuple[str, ...] = ()


def judge(
    plan: Plan,
    evidence: Sequence[Evidence],
    claims: Sequence[Claim],
    analyzer: Analyzer,
    embedder: Embedder | None,
) -> Sufficiency:
    """Judge the best units of the evidence. Without claims, or without anything to cover, nothing is answered."""
    similarity = Similarity(embedder, plan.question) if embedder else None
    asked = read_question(plan, analyzer, similarity)
    found = candidates(asked, [item.passage for item in evidence])
    if not claims or not found or not asked.needs:
        return Sufficiency(score=-1, answerable=False, clear=False)
    features = measure(asked, found)
    model = SEMANTIC if similarity else LEXICAL
    score = log_odds(model, features)
    lacking = missing(asked.needs, found[0].terms | found[0].context)
    return Sufficiency(
        score=score,
        answerable=score >= 0,
        clear=score >= CLEAR,
        features=tuple(features.items()),
        missing=tuple(need.unit.surface for need in lacking if need.named),
    )


def log_odds(model: Model, features: Mapping[str, int]) -> int:
    return model.bias + sum(weight * features.get(name, 0) for name, weight in model.weights) // 1000


def measure(asked: Asked, found: Sequence[Candidate]) -> Features:
    """The features of a question with its candidates, best first, in thousandths."""
    best = found[0]
    around = best.terms | best.context
    lacking = missing(asked.needs, around)
    features = {
        "cover": coverage(asked.needs, best.terms),
        "around": coverage(asked.needs, around),
        "reach": coverage(asked.needs, passage_terms(asked, best.passage)),
        "kind": best.feature("kind"),
        "near": best.feature("near"),
        "needs": 1000 * min(len(asked.needs), MOST_NEEDS) // MOST_NEEDS,
        "lacks_code": 1000 * any(need.coded for need in lacking),
        "lacks_name": 1000 * any(need.named for need in lacking),
        "rarest_lacking": max((need.weight for need in lacking), default=0) // 12,
        "unknown_name": 1000 * any(need.named and need.frequency == 0 for need in asked.needs),
        "unknown": _unknown(asked.needs),
        "lead": (best.score - found[min(3, len(found) - 1)].score) // 5,
    }
    if asked.similarity is not None:
        features |= _meaning(asked, asked.similarity, best, lacking)
    return features


def passage_terms(asked: Asked, passage: Passage) -> frozenset[str]:
    return terms_of(asked, f"{passage.context}\n{passage.text}", passage)


def _unknown(needs: Sequence[Need]) -> int:
    """The share of the question's weight in words that no readable passage has."""
    total = sum(need.weight for need in needs)
    return 1000 * sum(need.weight for need in needs if need.frequency == 0) // total


def _meaning(asked: Asked, similarity: Similarity, best: Candidate, lacking: Sequence[Need]) -> Features:
    text = in_context(best)
    rest = _without(asked, lacking)
    titled = best.feature("titled")
    return {
        "cosine": best.feature("cosine"),
        "titled": titled,
        # What is left of the question's meaning without the words that nothing covers.
        "kept": similarity.between(rest, asked.plan.question) if lacking else 1000,
        # How much nearer the text comes when those words are gone: a near miss answers exactly the rest.
        "gain": similarity.between(rest, text) - titled if lacking else 0,
        "soft": _soft_coverage(asked, similarity, best, lacking),
    }


def _without(asked: Asked, lacking: Sequence[Need]) -> str:
    """The question without its uncovered words; as it is, when nothing else would be left."""
    question = clean_text(asked.plan.question)
    gone = frozenset(form for need in lacking for form in need.unit.forms)
    pieces, at = [], 0
    for raw, start, end in token_spans(question):
        if any(not gone.isdisjoint(unit.forms) for unit in asked.analyzer.analyze_question(raw)):
            pieces.append(question[at:start])
            at = end
    return " ".join("".join([*pieces, question[at:]]).split()) or question


def _soft_coverage(asked: Asked, similarity: Similarity, best: Candidate, lacking: Sequence[Need]) -> int:
    """Coverage where an uncovered word counts by its nearest word of the text, its title and headings."""
    around = "\n".join((best.text, best.passage.title, *best.passage.heading))
    words = [word for word in dict.fromkeys(raw_tokens(clean_text(around).casefold())) if len(word) > 2]
    total = gained = 0
    for need in asked.needs:
        near = 1000
        if need in lacking:
            near = max((similarity.between(need.unit.surface, word) for word in words), default=0)
        total += need.weight
        gained += need.weight * max(0, near)
    return gained // total
