"""What can be seen of a copy: its rows read back without trust, who may read what, and the answers to the suite."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing

from msgspec import Struct

from clearcite.bench.answering import OPERATOR, CaseRun
from clearcite.bench.artifact import files_of
from clearcite.bench.evaluate import Evaluation, Subject, evaluate
from clearcite.bench.panel import panel_of
from clearcite.bench.readers import readers_of
from clearcite.bench.suite import Suite, SuiteCase
from clearcite.config import Settings
from clearcite.domain.access import Access, Micros, Principal, in_force
from clearcite.domain.corpus import Chunk, Description, DocumentKey
from clearcite.domain.generations import Generation
from clearcite.domain.panel import OWNERS, WHOLE, Panel
from clearcite.domain.policy import LOCAL
from clearcite.engine import Engine
from clearcite.errors import ClearciteError, IntegrityFault
from clearcite.keeping import Served
from clearcite.operator import Operator
from clearcite.storing import Ledger
from clearcite.wiring import engine_on, open_ledger, vector_lengths

MOST_EDGES = 12
LEAST_WORD = 4


class Document(Struct, frozen=True, kw_only=True):
    """One served build. ``original``: the decoded text as the source sent it, None for binary formats."""

    key: DocumentKey
    text: str
    text_sha256: str
    title: str
    content: bytes
    original: str | None
    access: Access
    description: Description
    normal_sha256: str
    chunks: tuple[Chunk, ...]

    def is_usable(self, now: Micros) -> bool:
        return self.access.status == "published" and self.access.trusted and in_force(self.access, now)

    def units(self) -> frozenset[str]:
        """What may be quoted of it."""
        return frozenset(
            chunk.text[unit.start - chunk.start : unit.end - chunk.start]
            for chunk in self.chunks
            for unit in chunk.units
        )


class Target(Struct, frozen=True, kw_only=True):
    """A document, and what of it: the string that a case needs, or the groups of somebody it is hidden from."""

    key: DocumentKey
    text: str = ""
    groups: tuple[str, ...] = ()


class Chosen(Struct, frozen=True, kw_only=True):
    """What faults are put into; None where the corpus or the suite holds nothing of the kind."""

    answering: Target | None
    bystander: Target | None
    withheld: Target | None
    untrusted: Target | None
    ending: Target | None
    hidden: Target | None


class Seen(Struct, frozen=True, kw_only=True):
    """``readable``: by case. ``edges``: whether each document could be read around the ends of its window.
    ``damage``: the code of what kept a part from being read. ``reports``: the files of the run."""

    now: Micros
    live: Generation | None
    generations: tuple[Generation, ...]
    documents: Mapping[DocumentKey, Document]
    chosen: Chosen
    readable: Mapping[str, frozenset[DocumentKey]]
    edges: Mapping[tuple[DocumentKey, Micros], bool]
    vectors: frozenset[int]
    evaluation: Evaluation | None
    panel: Panel | None
    reports: Mapping[str, bytes]
    damage: Mapping[str, str]

    @property
    def runs(self) -> Sequence[CaseRun]:
        return () if self.evaluation is None else self.evaluation.runs


def look(
    settings: Settings,
    suite: Suite,
    failing: Mapping[str, Exception],
    now: Micros,
    golden: Seen | None = None,
) -> Seen:
    """``golden``: what was seen before; the ends of windows that are tried come from there."""
    damage: dict[str, str] = {}
    with closing(open_ledger(settings)) as ledger:
        generations = tuple(ledger.generations())
        live = next((item for item in generations if item.is_live), None)
        with engine_on(settings, failing, generation=None if live is None else live.name) as engine:
            operator = engine.operator(OPERATOR)
            _noting(damage, "index", engine.probe)
            documents = {} if live is None else _documents(ledger, operator, live.name, damage)
            edges = _edges(operator, documents if golden is None else golden.documents)
            readers = readers_of(operator, now)
            readable = {case.id: readers.readable(case.asked) for case in suite.cases}
            found = _evaluated(engine, suite, damage)
            panel = _panel(operator, live, suite, found, now)
    return Seen(
        now=now,
        live=live,
        generations=generations,
        documents=documents,
        chosen=choose(documents, suite, readable, now),
        readable=readable,
        edges=edges,
        vectors=_vectors(settings, live),
        evaluation=found,
        panel=panel,
        reports={} if found is None else files_of(found),
        damage=damage,
    )


def _noting(damage: dict[str, str], part: str, read: Callable[[], object]) -> None:
    try:
        read()
    except ClearciteError as error:
        damage[part] = error.code


def _documents(
    ledger: Ledger, operator: Operator, generation: str, damage: dict[str, str]
) -> dict[DocumentKey, Document]:
    stored = {item.key: item for item in operator.contents()}
    found: dict[DocumentKey, Document] = {}
    with ledger.examine() as rows:
        for item in rows.served(generation):
            if not isinstance(item, Served):
                damage["rows"] = item.kind
            elif item.job.key in stored:
                one = stored[item.job.key]
                found[one.key] = Document(
                    key=one.key,
                    text=item.text,
                    text_sha256=item.text_sha256,
                    title=item.title,
                    content=item.job.content,
                    original=item.job.text,
                    access=one.head_access,
                    description=one.description,
                    normal_sha256=item.normal_sha256,
                    chunks=item.chunks,
                )
    return found


def _edges(
    operator: Operator, documents: Mapping[DocumentKey, Document]
) -> dict[tuple[DocumentKey, Micros], bool]:
    """At the first and last instants of windows, and just outside: asked of the engine, as one of the readers."""
    found: dict[tuple[DocumentKey, Micros], bool] = {}
    ending = sorted(key for key, item in documents.items() if item.access.effective_to is not None)
    others = sorted(key for key, item in documents.items() if item.access.effective_from is not None)
    for key in list(dict.fromkeys([*ending, *others]))[:MOST_EDGES]:
        access = documents[key].access
        reader = Principal(
            tenant_id=key.tenant_id, subject_id="drill", groups=access.allow, authorization_revision=LOCAL
        )
        for edge in (access.effective_from, access.effective_to):
            for instant in () if edge is None else (edge - 1, edge):
                found[key, instant] = operator.explain(key, reader, as_of=instant).readable
    return found


def _evaluated(engine: Engine, suite: Suite, damage: dict[str, str]) -> Evaluation | None:
    try:
        # Windows are tried document by document, see ``_edges``.
        return evaluate(Subject(engine=engine, tries_windows=False), suite)
    except ClearciteError as error:
        damage["answers"] = error.code
        return None


def _panel(
    operator: Operator, live: Generation | None, suite: Suite, found: Evaluation | None, now: Micros
) -> Panel | None:
    if live is None or found is None:
        return None
    try:
        return panel_of(operator, live, (suite, dict.fromkeys(OWNERS, WHOLE)), found.runs, now)
    except IntegrityFault:
        return None


def _vectors(settings: Settings, live: Generation | None) -> frozenset[int]:
    """The lengths of the vectors that stand in the segments of the live generation; 0 where there are none."""
    return frozenset() if live is None else vector_lengths(settings, live.name)


def choose(
    documents: Mapping[DocumentKey, Document],
    suite: Suite,
    readable: Mapping[str, frozenset[DocumentKey]],
    now: Micros,
) -> Chosen:
    wanted = [key for case in suite.cases for key in case.oracle.relevant]
    textual = {key: item for key, item in sorted(documents.items()) if item.original is not None}
    usable = {key: item for key, item in textual.items() if item.is_usable(now)}
    seen = frozenset().union(*readable.values())
    apart = [key for key in usable if key not in wanted and key in seen]
    return Chosen(
        answering=next(_answering(suite.cases, usable, wanted), None),
        bystander=_first(apart),
        withheld=_first(
            key
            for key, item in textual.items()
            if item.access.trusted and item.access.allow and not item.is_usable(now)
        ),
        untrusted=_first(key for key, item in textual.items() if not item.access.trusted),
        ending=_first(key for key, item in textual.items() if item.access.effective_to is not None),
        hidden=next(_hidden(suite.cases, usable, readable), None),
    )


def _first(keys: Iterable[DocumentKey]) -> Target | None:
    return next((Target(key=key) for key in keys), None)


def _answering(
    cases: Sequence[SuiteCase], usable: Mapping[DocumentKey, Document], wanted: Sequence[DocumentKey]
) -> Iterator[Target]:
    """A document that one case alone rests on, and a string of it that the answer must hold; codes go first."""
    found = []
    for case in cases:
        if case.oracle.status != "answered" or len(case.oracle.relevant) != 1:
            continue
        (key,) = case.oracle.relevant
        if key not in usable or wanted.count(key) > 1:
            continue
        found += [
            Target(key=key, text=nugget)
            for nugget in case.oracle.nuggets
            if nugget in usable[key].text and len(nugget) >= LEAST_WORD
        ]
    yield from sorted(found, key=lambda target: not any(letter.isdigit() for letter in target.text))


def _hidden(
    cases: Sequence[SuiteCase],
    usable: Mapping[DocumentKey, Document],
    readable: Mapping[str, frozenset[DocumentKey]],
) -> Iterator[Target]:
    for case in cases:
        reader = case.asked.principal
        for key, item in usable.items():
            is_denied = set(item.access.deny) & reader.effective_groups
            if (
                key.tenant_id == reader.tenant_id
                and key not in readable[case.id]
                and not is_denied
                and not case.asked.sources
            ):
                yield Target(key=key, groups=reader.groups)
