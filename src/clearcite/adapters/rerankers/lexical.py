"""A reranker without a model: it trusts the order it is given, and lifts passages that hold what was named.

Codes, keys and phrases are exact wants that an average of legs can blur: a passage with every identifier of the
question moves up a little. Everything else keeps its order.
"""

from collections.abc import Sequence

from clearcite.domain.retrieval import IDENTIFIER_LIFT, Passage, Plan
from clearcite.text.forms import search_text


class LexicalReranker:
    """Implements ``Reranker``. Scores are ranks counted from the end, plus the lift."""

    @property
    def fingerprint(self) -> str:
        return "lexical-1"

    def rerank(self, plan: Plan, passages: Sequence[Passage]) -> tuple[tuple[str, int], ...]:
        wanted = [search_text(name) for name in plan.identifiers]
        return tuple(
            (passage.chunk_id, len(passages) - rank + IDENTIFIER_LIFT * _held(wanted, passage))
            for rank, passage in enumerate(passages)
        )


def _held(wanted: Sequence[str], passage: Passage) -> int:
    if not wanted:
        return 0
    text = search_text(f"{passage.context}\n{passage.text}")
    return sum(name in text for name in wanted)
