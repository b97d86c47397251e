"""Does the evidence answer the question, or only speak of something near it?

A small logistic model over features that any language and trade has: how much of what the question names is
covered, how much of its meaning the uncovered words carry, whether a code or number is missing. All features are
thousandths, weights and the score are integers (thousandths of log odds); the score is no probability. Everything
comes from readable evidence and readable counts.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct

from clearcite.answer.sufficiency_model import MODELS, Model, Tier
from clearcite.domain.answer import Claim
from clearcite.domain.retrieval import Evidence, Passage, Plan
from clearcite.ports import Embedder
from clearcite.text.alignment import align, lacks_kind
from clearcite.text.analysis import Analyzer, is_covered
from clearcite.text.asks import is_statement
from clearcite.text.candidates import (
    Asked,
    Candidate,
    amid,
    candidates,
    in_context,
    introduced,
    introduction,
    read_question,
    terms_of,
)
from clearcite.text.coverage import Need, coverage, depth, missing, wanted
from clearcite.text.focus import focus_words, names_nothing
from clearcite.text.forms import clean_text
from clearcite.text.kinds import tells_called
from clearcite.text.namesakes import names_another
from clearcite.text.opposites import says_opposite, says_other_bound, says_other_period
from clearcite.text.phrases import folded_words
from clearcite.text.ranges import says_other_size
from clearcite.text.siblings import says_sibling
from clearcite.text.similarity import Similarity
from clearcite.text.tokens import token_spans
from clearcite.text.units import values
from clearcite.text.versions import is_of, names_version, versions_asked

Features = dict[str, int]
SUFFICIENCY = "pairs-2"
"""Named in every trace: what it is judged by."""
CLEAR = 1500
"""Log odds (thousandths) above which an answer is more than just sufficient."""
LEAST_SHARED = 100
"""Thousandths of what the question names of which less says little."""
MOST_NEEDS = 10
MOST_GAPS = 6
FOURTH = 3
LEAST_KEPT, MOST_LOST = 400, -200
"""Below these nothing of the question is left, and how little tells no more."""
MOST_SURE = 3000
"""Thousandths of log odds either way beyond which who reads a pair is only louder."""
DEEPEST = 3
"""Passages, by their best units, among which the one that speaks most of the question is looked for."""


class Sufficiency(Struct, frozen=True, kw_only=True):
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
    """Judge the best units of the evidence. Without claims, or without anything to cover, nothing is answered, nor is
    a question that does not say what it is about. A code that is asked about can be said in no other words, and what
    holds for another version answers nothing."""
    similarity = Similarity(embedder, plan.question) if embedder else None
    asked = read_question(plan, analyzer, similarity)
    found = candidates(asked, [item.passage for item in evidence])
    if not claims or not found or not asked.needs or names_nothing(plan.question, asked.needs):
        return Sufficiency(score=-1, answerable=False, clear=False)
    features = measure(asked, found)
    score = log_odds(MODELS[form(plan.question), _tier(similarity, features)], features)
    # An answer with hardly a word of the question rests on an encoder, which may not know the language.
    is_guess = features["around"] < LEAST_SHARED and score < CLEAR
    if is_guess or _is_of_another(asked, evidence, claims):
        score = min(score, -1)
    around = found[0].terms | found[0].context
    lacking = missing(wanted(asked.needs, around), around)
    return Sufficiency(
        score=score,
        answerable=score >= 0,
        clear=score >= CLEAR,
        features=tuple(features.items()),
        missing=tuple(need.unit.surface for need in lacking if need.named),
    )


def _tier(similarity: Similarity | None, features: Features) -> Tier:
    if similarity is None:
        return "words"
    return "pairs" if "answers" in features else "vectors"


def _is_of_another(asked: Asked, evidence: Sequence[Evidence], claims: Sequence[Claim]) -> bool:
    """Whether what is claimed holds for another code, another version or a namesake of what a question asks about."""
    if form(asked.plan.question) == "claim":
        return False
    said = "\n".join(f"{quote.passage.context}\n{claim.text}" for claim in claims for quote in claim.quotes)
    return (
        _lacks_identifier(asked, claims)
        or _are_of_another_version(asked.plan, evidence, claims)
        or names_another(asked.plan.question, said)
    )


def _lacks_identifier(asked: Asked, claims: Sequence[Claim]) -> bool:
    """Whether a code or exact name the question asks about stands in no claim, nor above one."""
    named = [
        need.unit for need in asked.needs if need.unit.surface in asked.plan.identifiers and not need.told
    ]
    if not named:
        return False
    said: set[str] = set()
    for passage, text in {(quote.passage, claim.text) for claim in claims for quote in claim.quotes}:
        said.update(asked.analyzer.analyze_document(f"{passage.context}\n{text}", passage.language))
    return any(not is_covered(unit, said) for unit in named)


def _are_of_another_version(plan: Plan, evidence: Sequence[Evidence], claims: Sequence[Claim]) -> bool:
    """Whether each claim is from a document of another version, and neither it nor its headings name the one meant.
    A bare *1.9* means a version where a document of that version is among the evidence."""
    versions = versions_asked(plan.question, plan.target_version)
    stated = {item.passage.description.product_version for item in evidence}
    if plan.target_version is None:
        versions = tuple(version for version in versions if any(is_of((version,), one) for one in stated))
    if not versions:
        return False
    return all(
        is_of(versions, quote.passage.description.product_version) is False
        and not any(names_version(one, f"{quote.passage.context}\n{quote.text}") for one in versions)
        for claim in claims
        for quote in claim.quotes
    )


def form(question: str) -> Literal["claim", "question"]:
    """A claim to be checked brings its own answer; a question lacks it. They are judged by different weights."""
    return "claim" if is_statement(question) else "question"


def log_odds(model: Model, features: Mapping[str, int]) -> int:
    return model.bias + sum(weight * features.get(name, 0) for name, weight in model.weights) // 1000


def measure(asked: Asked, found: Sequence[Candidate]) -> Features:
    """The features of a question with its candidates, best first, in thousandths."""
    best = found[0]
    passages = list(dict.fromkeys(item.passage for item in found))
    around = best.terms | best.context
    needs = wanted(asked.needs, around)
    absent, lacking = missing(asked.needs, around), missing(needs, around)
    aligned = align(asked, asked.similarity, found) if asked.similarity else None
    nearest = aligned.nearest if aligned else best
    features = {
        # How much of the question the best passage covers, and how often the one that says most says it.
        "reach": coverage(asked.needs, _counts(asked, best.passage)),
        "depth": max(depth(asked.needs, _counts(asked, passage)) for passage in passages[:DEEPEST]),
        # Evidence for one thing gathers in few documents; what only touches it is scattered.
        "spread": 1000 * len({passage.key for passage in passages}) // len(passages),
        "near": best.feature("near"),
        # How much of the question the best unit covers, itself or with what stands around it.
        "around": coverage(needs, around),
        "plain": _plain(needs, best),
        "lead": (best.score - found[min(FOURTH, len(found) - 1)].score) // 5,
        "needs": 1000 * min(len(asked.needs), MOST_NEEDS) // MOST_NEEDS,
        # Codes, numbers and proper names can not be said in other words; how much there is can, by a rule.
        "lacks_code": 1000 * any(need.coded and not need.amount for need in absent),
        "lacks_amount": 1000 * any(need.coded and need.amount for need in lacking),
        "rare_proper": max((need.weight for need in lacking if need.proper), default=0) // 12,
        # A bank was asked for, and the text has no such word.
        "unnamed": _unnamed(asked, best),
    } | _of_nearest(asked, nearest)
    if asked.similarity is not None and aligned is not None:
        features |= {"adrift": aligned.adrift, "ahead": aligned.ahead}
        features |= _meaning(asked, asked.similarity, best, lacking)
        features |= _read_together(asked, asked.similarity, best)
    return features


def _plain(needs: Sequence[Need], best: Candidate) -> int:
    plain = [need for need in needs if not need.named]
    return coverage(plain, best.terms) if plain else 500


def _unnamed(asked: Asked, best: Candidate) -> int:
    """The share of the words for what is asked for that neither the text has nor what introduces its table."""
    if tells_called(asked.plan.question, values(best.text, best.passage.language)):
        return 0
    words = focus_words(asked.plan.question)
    named = [need for need in asked.needs if need.unit.surface in words]
    said = best.terms | terms_of(asked, introduction(best), best.passage)
    return 1000 - coverage(named, said) if named else 0


def _of_nearest(asked: Asked, nearest: Candidate) -> Features:
    question, lacking = asked.plan.question, missing(asked.needs, nearest.terms | nearest.context)
    return {
        "untyped": 1000 * lacks_kind(asked, nearest),
        # Many uncovered words are other words for what is said; one is what a near miss lacks.
        "gaps": 1000 * min(len(lacking), MOST_GAPS) // MOST_GAPS,
        "opposed": 1000 * _is_opposed(question, [need for need in lacking if not need.told], nearest),
        # At most was asked, at least is told.
        "other_bound": 1000 * says_other_bound(folded_words(question), folded_words(nearest.said)),
    }


def _is_opposed(question: str, lacking: Sequence[Need], nearest: Candidate) -> bool:
    """Whether the text says *south* where *north* was asked, *car* for *motorbike*, *per year* for *per month*."""
    asked, said = folded_words(question), folded_words(nearest.said)
    words = [need.unit.surface for need in lacking]
    return (
        says_opposite(words, said)
        or says_sibling(words, said, asked)
        or says_other_period(asked, said)
        or says_other_size(question, nearest.said, values(nearest.said, nearest.passage.language))
    )


def _counts(asked: Asked, passage: Passage) -> Mapping[str, int]:
    return asked.analyzer.analyze_document(f"{passage.context}\n{passage.text}", passage.language)


def _meaning(asked: Asked, similarity: Similarity, best: Candidate, lacking: Sequence[Need]) -> Features:
    text = in_context(best)
    rest = _without(asked, lacking)
    titled = best.feature("titled")
    return {
        "titled": titled,
        # What is left of the question's meaning without the words that nothing covers.
        "kept": max(LEAST_KEPT, similarity.between(rest, asked.plan.question)) if lacking else 1000,
        # How much nearer the text comes when those words are gone: a near miss answers exactly the rest.
        "gain": max(MOST_LOST, similarity.between(rest, text) - titled) if lacking else 0,
    }


def _read_together(asked: Asked, similarity: Similarity, best: Candidate) -> Features:
    """Whether the unit answers the question, alone or amid its neighbours, by who reads both as one. A claim asks
    nothing."""
    if form(asked.plan.question) == "claim":
        return {}
    found = [similarity.answered_by(text) for text in dict.fromkeys((introduced(best), amid(best)))]
    said = [one for one in found if one is not None]
    return {"answers": max(-MOST_SURE, min(max(said), MOST_SURE))} if said else {}


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
