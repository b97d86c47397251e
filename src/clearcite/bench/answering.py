"""Run a suite on an engine and keep what came back of each case: the public response, and where text was at each stage.

Only ``SuiteCase.asked`` is passed on; the oracle stays with whoever judges.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from clearcite.bench.suite import Asked, Suite
from clearcite.domain.access import Principal
from clearcite.domain.answer import Citation, PublicAnswer, PublicSearch, Statement
from clearcite.domain.corpus import DocumentKey, Place
from clearcite.domain.policy import LOCAL
from clearcite.domain.trace import StageRecord, Trace
from clearcite.engine import Engine
from clearcite.errors import ClearciteError, DependencyUnavailable, InputError, IntegrityFault
from clearcite.operator import Operator

OPERATOR = Principal(
    tenant_id="bench",
    subject_id="bench",
    groups=("bench",),
    authorization_revision=LOCAL,
    roles=("operator",),
)
"""Reads traces; reads no document."""


class CaseRun(Struct, frozen=True, kw_only=True):
    """What came back of one case. ``retrieved`` is in rank order, ``selected`` in the order of the context.

    ``candidates`` are the documents of every hit, before the ledger confirmed any. ``milliseconds`` by stage.
    """

    case_id: str
    public: PublicAnswer | PublicSearch
    candidates: tuple[DocumentKey, ...]
    retrieved: tuple[Place, ...]
    selected: tuple[Place, ...]
    cited: tuple[Place, ...]
    dropped: tuple[tuple[DocumentKey, str], ...]
    degraded: bool
    cause: str | None
    milliseconds: Mapping[str, int]

    @property
    def citations(self) -> tuple[Citation, ...]:
        return self.public.citations if isinstance(self.public, PublicAnswer) else ()

    @property
    def claims(self) -> tuple[Statement, ...]:
        """What was said, the sides of conflicts with it; a search says nothing."""
        if isinstance(self.public, PublicSearch):
            return ()
        return (*self.public.answer, *(side for item in self.public.conflicts for side in item.sides))


class Places(Struct, frozen=True, kw_only=True):
    """Where chunks stand: an id is a hash of its document, text and span, so each is looked up once a run."""

    operator: Operator
    known: dict[str, Place] = field(default_factory=dict)

    def of(self, chunk_ids: Iterable[str]) -> Mapping[str, Place]:
        """Those that are stored no longer are left out."""
        wanted = set(chunk_ids)
        self.known.update(self.operator.places(sorted(wanted - self.known.keys())))
        return {name: self.known[name] for name in wanted if name in self.known}


def run_suite(engine: Engine, suite: Suite, *, use_topic: bool = False) -> Iterator[CaseRun]:
    """Each case of a suite, in its order. Raises InputError that names a case that cannot be asked."""
    places = Places(operator=engine.operator(OPERATOR))
    for case in suite.cases:
        try:
            yield run_case(engine, places, case.id, case.asked, use_topic=use_topic)
        except InputError as error:
            if type(error) is not InputError:
                raise
            raise InputError(f"case {case.id}: {error.message}") from error


def run_case(
    engine: Engine, places: Places, case_id: str, asked: Asked, *, use_topic: bool = False
) -> CaseRun:
    options = asked.options(use_topic=use_topic)
    public: PublicAnswer | PublicSearch
    if asked.search:
        try:
            public = engine.search(asked.text, asked.principal, **options)
        except (DependencyUnavailable, IntegrityFault) as error:
            return _failed(case_id, error)
    else:
        public = engine.ask(asked.text, asked.principal, **options)
    trace = places.operator.inspect(public.trace_id)
    return _kept(case_id, public, trace, places)


def _failed(case_id: str, error: ClearciteError) -> CaseRun:
    """A search that raised: its caller got the error and nothing else."""
    return CaseRun(
        case_id=case_id,
        public=PublicSearch(status="dependency_unavailable", trace_id=""),
        candidates=(),
        retrieved=(),
        selected=(),
        cited=(),
        dropped=(),
        degraded=True,
        cause=error.code,
        milliseconds={},
    )


def _kept(case_id: str, public: PublicAnswer | PublicSearch, trace: Trace, places_of: Places) -> CaseRun:
    last = {stage.stage: stage.detail for stage in trace.stages}
    hits, ranked = hits_of(trace), ranking_of(trace)
    selected = [item[1] for item in last.get("fit_budget", {}).get("selected", ())]
    dropped = [(chunk, why) for detail in last.values() for chunk, why in detail.get("dropped", ())]
    places = places_of.of([*hits, *ranked, *selected, *(chunk for chunk, _ in dropped)])
    context = tuple(places[chunk] for chunk in selected if chunk in places)
    return CaseRun(
        case_id=case_id,
        public=public,
        candidates=tuple(dict.fromkeys(places[chunk].document for chunk in hits if chunk in places)),
        retrieved=tuple(places[chunk] for chunk in ranked if chunk in places),
        selected=context,
        cited=tuple(_cited(public, context)),
        dropped=tuple((places[chunk].document, why) for chunk, why in dropped if chunk in places),
        degraded=trace.degraded,
        cause=trace.cause,
        milliseconds=_milliseconds(trace.stages),
    )


def hits_of(trace: Trace) -> list[str]:
    """The chunks of every hit, before the ledger confirmed any."""
    recalled = (stage.detail for stage in trace.stages if stage.stage == "recall")
    return [hit[0] for detail in recalled for leg in detail.get("legs", ()) for hit in leg["hits"]]


def ranking_of(trace: Trace) -> list[str]:
    """The chunks that were ranked, best first."""
    return [item[0] for item in _ranking(trace.stages)]


def _ranking(stages: Sequence[StageRecord]) -> Sequence[Any]:
    """The newest order there is: of the reranker, or of what came before it where that failed.

    A search that goes deeper ranks what is new each time, below all that it ranked before.
    """
    for name in ("rerank", "weigh", "fuse"):
        found = [
            stage.detail["ranked"] for stage in stages if stage.stage == name and "ranked" in stage.detail
        ]
        if found:
            return [item for ranked in found for item in ranked]
    return ()


def _cited(public: PublicAnswer | PublicSearch, context: Sequence[Place]) -> Iterator[Place]:
    """Citations name a document by its id alone; the passage they were taken from knows the rest."""
    for citation in public.citations if isinstance(public, PublicAnswer) else ():
        for place in context:
            within = place.start <= citation.span.start and citation.span.end <= place.end
            if place.document.shown_id == citation.document_id and within:
                yield Place(document=place.document, start=citation.span.start, end=citation.span.end)
                break


def _milliseconds(stages: Iterable[StageRecord]) -> dict[str, int]:
    total: dict[str, int] = {}
    for stage in stages:
        total[stage.stage] = total.get(stage.stage, 0) + stage.milliseconds
    return total
