"""By words, by vectors, by both: at which rank each finds the document that a question is about."""

from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from clearcite.bench.answering import OPERATOR, Places, run_case
from clearcite.bench.axes import dense_alone, no_vector
from clearcite.bench.scoring import ranked_documents
from clearcite.bench.suite import Suite, SuiteCase
from clearcite.config import Settings
from clearcite.domain.generations import Generation
from clearcite.engine import Engine
from clearcite.wiring.variants import Variant, engine_of

WORDS = "by words"
LEGS = {
    WORDS: Variant(instead={"embed_question": no_vector}),
    "by vectors": Variant(instead={"fuse": dense_alone}),
    "by both": Variant(),
}


class Ranks(Struct, frozen=True, kw_only=True):
    """Of one question: leg → the rank of the first relevant document (None: it is not found), and of how many."""

    case: SuiteCase
    ranks: Mapping[str, tuple[int | None, int]]


def has_vectors(generation: Generation) -> bool:
    return '"embedder":null' not in generation.manifest


def ranks_by_leg(settings: Settings, live: Generation, suite: Suite) -> tuple[Ranks, ...]:
    """Of the cases that name a relevant document; words alone where the store has no vectors."""
    legs = LEGS if has_vectors(live) else {WORDS: Variant()}
    cases = [case for case in suite.cases if case.oracle.relevant]
    found: dict[str, dict[str, tuple[int | None, int]]] = {case.id: {} for case in cases}
    for leg, variant in legs.items():
        with engine_of(settings, live.name, variant) as engine:
            for name, rank in _ranks(engine, cases):
                found[name][leg] = rank
    return tuple(Ranks(case=case, ranks=found[case.id]) for case in cases)


def _ranks(engine: Engine, cases: list[SuiteCase]) -> Iterator[tuple[str, tuple[int | None, int]]]:
    stored = Places(operator=engine.operator(OPERATOR))
    for case in cases:
        ranked = ranked_documents(run_case(engine, stored, case.id, replace(case.asked, search=True)))
        places = [place for place, key in enumerate(ranked, start=1) if key in case.oracle.relevant]
        yield case.id, (min(places, default=None), len(ranked))
