"""The same questions to the live generation and to a candidate, before anybody is answered from it."""

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from clearcite.answer.verify import asked_of
from clearcite.bench.suite import Asked, Suite
from clearcite.domain.answer import PublicAnswer
from clearcite.domain.policy import LOCAL
from clearcite.domain.trace import Trace
from clearcite.engine import Engine
from clearcite.errors import InputError

WHOLE = 1_000


class Difference(Struct, frozen=True, kw_only=True):
    """One question that ends otherwise: its case or trace, both statuses, and the overlap of what is cited."""

    name: str
    before: str
    after: str
    overlap: int


class Shadow(Struct, frozen=True, kw_only=True):
    """``overlap``: mean over the questions of documents cited by both of those cited by either, in thousandths;
    two answers that cite nothing overlap wholly.
    """

    live: str
    candidate: str
    questions: int
    status_changes: int
    overlap: int
    differences: tuple[Difference, ...]


def questions_of(suite: Suite) -> list[tuple[str, Asked]]:
    return [(case.id, case.asked) for case in suite.cases]


def questions_asked(traces: Iterable[Trace]) -> list[tuple[str, Asked]]:
    """The questions of recorded answers, as those who asked them were then; to be asked as of now."""
    found = []
    for trace in traces:
        if trace.kind != "ask" or not trace.state:
            continue
        asked = asked_of(trace)
        question = asked.question
        found.append(
            (
                trace.trace_id,
                Asked(
                    text=question.text,
                    principal=replace(asked.principal, authorization_revision=LOCAL),
                    target_version=question.target_version,
                    sources=question.sources,
                    route=question.route,
                    topic=question.topic,
                ),
            )
        )
    return found


def compare(
    live: Engine, candidate: Engine, names: tuple[str, str], asked: Sequence[tuple[str, Asked]]
) -> Shadow:
    """``names``: of the two generations. Raises InputError when there is nothing to ask."""
    if not asked:
        raise InputError("There is no question to compare with.")
    overlaps, changes = [], 0
    differences: list[Difference] = []
    for name, question in asked:
        before, after = (_answer(engine, question) for engine in (live, candidate))
        overlap = _overlap(before, after)
        overlaps.append(overlap)
        changes += before.status != after.status
        if before.status != after.status or overlap < WHOLE:
            differences.append(
                Difference(name=name, before=before.status, after=after.status, overlap=overlap)
            )
    return Shadow(
        live=names[0],
        candidate=names[1],
        questions=len(asked),
        status_changes=changes,
        overlap=sum(overlaps) // len(overlaps),
        differences=tuple(differences),
    )


def _answer(engine: Engine, asked: Asked) -> PublicAnswer:
    return engine.ask(asked.text, asked.principal, **asked.options(use_topic=True))


def _overlap(one: PublicAnswer, other: PublicAnswer) -> int:
    left, right = ({(item.document_id, item.revision) for item in some.citations} for some in (one, other))
    return len(left & right) * WHOLE // len(left | right) if left | right else WHOLE
