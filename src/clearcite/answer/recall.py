"""Plan → pages of hits, one leg at a time. A hit is only an id that an index believes in."""

from clearcite.domain.retrieval import DenseQuery, Leg, LexicalQuery, Plan, Recall
from clearcite.errors import DependencyUnavailable
from clearcite.ports import Embedder, IndexView, Readable
from clearcite.text.similarity import query_vector


def embed_question(plan: Plan, embedder: Embedder) -> DenseQuery:
    """Raises DependencyUnavailable for an embedder that returns no vector: a leg left out would not be seen."""
    query: object = query_vector(embedder, plan.question)
    if not isinstance(query, DenseQuery) or not isinstance(query.vector, bytes):
        raise DependencyUnavailable("The embedder returned no vector for the question.")
    return query


def queries(plan: Plan, dense: DenseQuery | None) -> tuple[tuple[Leg, LexicalQuery | DenseQuery], ...]:
    """The legs of a plan in their fixed order; the dense one is absent without an embedder."""
    lexical: tuple[tuple[Leg, LexicalQuery | DenseQuery], ...] = (("lexical", plan.lexical),)
    return lexical if dense is None else (*lexical, ("dense", dense))


def recall(plan: Plan, dense: DenseQuery | None, readable: Readable, view: IndexView) -> Recall:
    """The first page of each leg: as many hits as the plan wants passages."""
    pages = []
    for leg, query in queries(plan, dense):
        pages.append((leg, view.search(query, readable, None, plan.depth)))
    return Recall(pages=tuple(pages))
