"""What stands where no reranker is configured: the order that was found stays."""

from collections.abc import Sequence

from clearcite.domain.retrieval import Passage, Plan


class AsFound:
    """Implements ``Reranker``. Scores are ranks counted from the end."""

    @property
    def fingerprint(self) -> str:
        return "as-found-1"

    def rerank(self, _: Plan, passages: Sequence[Passage]) -> tuple[tuple[str, int], ...]:
        return tuple((passage.chunk_id, len(passages) - rank) for rank, passage in enumerate(passages))
