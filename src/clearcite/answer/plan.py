"""Question → Plan: which route, which words and identifiers, which version."""

from clearcite.domain.retrieval import LexicalQuery, Plan, Question, Route
from clearcite.text.analysis import Analyzer
from clearcite.text.live import asks_for_live_state
from clearcite.text.phrases import PhraseSet
from clearcite.text.versions import asked_version


def plan_query(question: Question, analyzer: Analyzer, live: PhraseSet, depth: int) -> Plan:
    """``live`` holds the configured phrases that ask for live state; a host's own route goes before them."""
    return Plan(
        question=question.text,
        route=question.route or _route(question.text, live),
        lexical=LexicalQuery(terms=analyzer.analyze_question(question.text)),
        identifiers=analyzer.identifiers(question.text),
        target_version=question.target_version or asked_version(question.text),
        topic=question.topic,
        depth=depth,
    )


def _route(text: str, live: PhraseSet) -> Route:
    return "tool_required" if live.found_in(text) or asks_for_live_state(text) else "knowledge"
