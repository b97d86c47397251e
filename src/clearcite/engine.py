"""The facade: ``ask``, ``search``, ``documents``, ``document`` for callers; ``operator`` for those who explain.

One request is one ledger snapshot. Nothing is read before the caller has an identity; nothing leaves except
through ``publish``, and no answer leaves before its trace is durable.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from clearcite.answer import lookup, searching
from clearcite.answer.asked import check_identity, instant_of, question_of
from clearcite.answer.confirm import judge_for, verify_access
from clearcite.answer.describe import describe
from clearcite.answer.fuse import FUSION
from clearcite.answer.past import Past, doubt
from clearcite.answer.pipeline import Outcome, Parts, Sight, answer
from clearcite.answer.publish import publish, publish_search
from clearcite.answer.rerank import POOL
from clearcite.answer.sufficiency import SUFFICIENCY
from clearcite.answer.tracing import Request, ask_trace, search_trace
from clearcite.answer.verify import Asked, Replayed
from clearcite.domain.access import Micros, Principal
from clearcite.domain.answer import EXIT_CODES, Answer, PublicAnswer, PublicDocument, PublicSearch
from clearcite.domain.corpus import DocumentKey
from clearcite.domain.explain import Chains, Explanation
from clearcite.domain.generations import Generation
from clearcite.domain.policy import check_current
from clearcite.domain.retrieval import Question, Scope
from clearcite.domain.trace import Trace
from clearcite.errors import (
    ClearciteError,
    DependencyUnavailable,
    InputError,
    IntegrityFault,
    StalePolicy,
)
from clearcite.operator import Operator, Recomputed, Upkeep
from clearcite.ports import Clock, Snapshot, Snapshots, Views
from clearcite.step import Run
from clearcite.visibility import Visibility

if TYPE_CHECKING:
    from clearcite.storing import Ledger, TraceStore

SIGHTS = 4
"""Snapshots a question takes at most, when the index it wants to open is swept each time before it can."""


class Pipeline(Struct, frozen=True, kw_only=True):
    """What depends on the manifest of a generation: its index, and the parts that must agree with it."""

    index: Views
    parts: Parts
    manifest_hash: str


class Services(Struct, frozen=True, kw_only=True):
    """Everything an engine is made of; ``wiring`` builds it.

    ``whole``: the same ledger with all it can do, for operators and to take a damaged document out of sight; a question
    needs none of that, and does not load it.
    ``pipeline`` gives what belongs to a generation by its name, so that a promotion needs no restart;
    ``generation`` names one to answer from instead of the live one.
    ``policy_age``: how old the policy in force may be; None for any age. ``trace_id`` makes 128 random bits in
    hex. ``faults`` names stages that shall fail, for drills and tests, and ``instead`` what takes the
    place of a stage, for ablations.
    """

    ledger: Snapshots
    whole: Callable[[], Ledger]
    traces: TraceStore
    visibility: Visibility
    pipeline: Callable[[str], Pipeline]
    clock: Clock
    trace_id: Callable[[], str]
    config_hash: str
    deadline_ms: int = 30_000
    allow_past: bool = True
    policy_age: Micros | None = None
    faults: Mapping[str, Exception] = field(default_factory=dict)
    instead: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    generation: str | None = None
    upkeep: Upkeep | None = None


class View(Struct):
    """What one request is drawn from; ``state`` is empty as long as nothing could be opened. ``again``: the traced
    request that is done again, and then ``doubt`` says why this is not the same view."""

    trace_id: str
    again: Asked | None = None
    state: dict[str, Any] = field(default_factory=dict)
    doubt: str | None = None


class Reply(Struct, frozen=True, kw_only=True):
    """A public answer with the exit code a command ends with."""

    public: PublicAnswer
    exit_code: int


class Engine:
    """Answers from one store. Thread-safe; close it, or use it as a context manager."""

    def __init__(self, services: Services, on_close: Sequence[Callable[[], None]] = ()) -> None:
        self._services = services
        self._on_close = tuple(on_close)

    def ask(self, question: str, principal: Principal, **options: Any) -> PublicAnswer:
        """Answer a question from what the principal may read.

        Options: ``as_of`` (microseconds UTC), ``target_version``, ``sources``, ``route``, ``topic``. Raises
        InputError for a question or identity that cannot be used, before anything is read.
        """
        return self.reply(question, principal, **options).public

    def reply(self, question: str, principal: Principal, **options: Any) -> Reply:
        """``ask``, with the exit code: integrity faults and outages look alike from outside, not to a shell."""
        services = self._services
        asked = question_of(question, options)
        view = View(trace_id=services.trace_id())
        run = Run(
            describe=describe, deadline=_deadline(services), faults=services.faults, instead=services.instead
        )
        outcome, code = self._answered(asked, principal, run, view)
        public = publish(outcome.answer, outcome.document_hashes, view.trace_id)
        self._record(ask_trace(self._request(asked, principal, view, run), public, outcome))
        return Reply(public=public, exit_code=code or EXIT_CODES[public.status])

    def search(
        self, question: str, principal: Principal, *, k: int = 10, collapse: str = "document", **options: Any
    ) -> PublicSearch:
        """Ranked passages, or documents by their best passage; never a score or a total.

        ``after`` is the ``next`` of the page before. Raises InputError, DependencyUnavailable, IntegrityFault.
        """
        services = self._services
        page = {"k": k, "collapse": collapse, "after": options.pop("after", None)}
        searching.wanted(**page)
        asked = question_of(question, options)
        view = View(trace_id=services.trace_id())
        run = Run(
            describe=describe, deadline=_deadline(services), faults=services.faults, instead=services.instead
        )
        public, error = self._searched((asked, page), principal, run, view)
        cause = None if error is None else error.code
        self._record(search_trace(self._request(asked, principal, view, run, page), public, cause))
        if error is not None:
            raise error
        return public

    def documents(
        self, principal: Principal, *, limit: int = 100, after: str = "", as_of: Micros | None = None
    ) -> Sequence[PublicDocument]:
        """The documents the principal may read, in the order (source id, document id), text left out. ``as_of``: what
        was in force then, and of sources that keep their history the revision that was current."""
        if not isinstance(after, str):
            raise InputError("after must be a text.")
        scope = self._scope(principal, _at(as_of))
        with self._looking(scope) as snapshot:
            readable = self._services.visibility.readable(snapshot, scope)
            return lookup.documents(snapshot, judge_for(scope, snapshot), readable, limit, after)

    def document(
        self,
        document_id: str,
        principal: Principal,
        *,
        source_id: str | None = None,
        as_of: Micros | None = None,
    ) -> PublicDocument:
        """One document with its canonical text. A missing one and a forbidden one raise the same NotFound.

        ``source_id`` is needed only where the principal may read documents of several sources with this id.
        ``as_of``: as for ``documents``.
        """
        if not isinstance(document_id, str) or not isinstance(source_id, str | None):
            raise InputError("A document and its source are named by text.")
        scope = self._scope(principal, _at(as_of))
        with self._looking(scope) as snapshot:
            readable = self._services.visibility.readable(snapshot, scope)
            judge = judge_for(scope, snapshot, readable.shows)
            return lookup.document(snapshot, judge, source_id, document_id)

    def operator(self, principal: Principal) -> Operator:
        """The operator's view; refused for a principal without the role ``operator``."""
        check_identity(principal)
        if "operator" not in principal.roles:
            raise InputError("This needs the role operator.")
        services = self._services
        with self._snapshot() as snapshot:
            self._check_policy(principal, snapshot)
        recomputed = Recomputed(replay=self.replay, explain=self.explain, probe=self.probe)
        parts = (services.whole(), services.traces, self._snapshot, recomputed, services.upkeep)
        return Operator(*parts, name=f"{principal.tenant_id}/{principal.subject_id}")

    def explain(
        self, key: DocumentKey, principal: Principal, as_of: Micros | None, memberships: Chains
    ) -> Explanation:
        """Layer by layer, why a principal may or may not read a document; for operators."""
        scope = self._scope(principal, None if as_of is None else Question(text="", as_of=as_of))
        with self._snapshot() as snapshot:
            try:
                self._check_policy(principal, snapshot)
                current = ""
            except StalePolicy as error:
                current = error.message
            return lookup.explained(snapshot, key, scope, memberships, current)

    def replay(self, asked: Asked, trace_id: str) -> Replayed:
        """Do the same again, as of the traced position, without writing a trace; for ``verify``."""
        run = Run(describe=describe, deadline=None)
        services = self._services
        kept = {item.name for item in services.whole().generations() if item.state == "active"}
        generation = asked.generation if asked.generation in kept else services.generation
        past = Engine(replace(services, visibility=Visibility(), generation=generation))
        view = View(trace_id=trace_id, again=asked)
        public: PublicAnswer | PublicSearch
        if asked.page is None:
            outcome, _ = past._answered(asked.question, asked.principal, run, view)
            public = publish(outcome.answer, outcome.document_hashes, trace_id)
            cause = outcome.answer.cause
        else:
            wanted = (asked.question, asked.page)
            public, error = past._searched(wanted, asked.principal, run, view)
            cause = "integrity" if isinstance(error, IntegrityFault) else None
        return Replayed(public=public, state=view.state, cause=cause, doubt=view.doubt)

    def probe(self, generation: str | None = None) -> str:
        """Open what a question would open, read all of it, and say what it is; for ``doctor`` and before a switch."""
        with self._services.ledger.snapshot(generation or self._services.generation) as snapshot:
            pipeline = self._services.pipeline(snapshot.generation)
            pipeline.index.open(snapshot.index_manifest).check()
            legs = "words and vectors" if pipeline.parts.embedder else "words only"
            return f"generation {snapshot.generation}, {legs}"

    def generations(self) -> Sequence[Generation]:
        """Every generation of the index there was; for ``doctor``."""
        return self._services.whole().generations()

    def open_sight(self, snapshot: Snapshot, scope: Scope) -> Sight:
        """Authorize first: what this scope may read at this snapshot, before a word of the question counts."""
        services = self._services
        readable = services.visibility.readable(snapshot, scope)
        judge = judge_for(scope, snapshot, readable.shows)
        superseding = [
            document
            for partition in scope.partitions
            for document in snapshot.documents_at(partition, readable.superseding(partition))
            if judge.admits(document)
        ]
        for document in superseding:
            verify_access(document)
        return Sight(
            snapshot=snapshot,
            readable=readable,
            judge=judge,
            view=services.pipeline(snapshot.generation).index.open(snapshot.index_manifest),
            superseding=tuple(superseding),
        )

    def _answered(self, asked: Question, principal: Principal, run: Run, view: View) -> tuple[Outcome, int]:
        """The outcome, and an exit code of its own for integrity faults."""
        scope = self._scope(principal, asked, replayed=view.again is not None)
        try:
            with self._opened(scope, run, view) as sight:
                return answer(asked, sight, self._parts(sight), run), 0
        except StalePolicy:
            raise
        except IntegrityFault as fault:
            return _unavailable("integrity"), fault.exit_code
        except ClearciteError:
            return _unavailable("dependency"), 0
        except Exception as error:  # noqa: BLE001 - whatever a port raises, the question fails closed
            run.note("snapshot", "failed", {"cause": type(error).__name__})
            return _unavailable("dependency"), 0

    def _searched(
        self, wanted: tuple[Question, Mapping[str, Any]], principal: Principal, run: Run, view: View
    ) -> tuple[PublicSearch, ClearciteError | None]:
        """A page of hits, or the error a caller gets instead of it. ``wanted``: the question and the page."""
        asked, page = wanted
        scope = self._scope(principal, asked, replayed=view.again is not None)
        failed = PublicSearch(status="dependency_unavailable", trace_id=view.trace_id)
        try:
            with self._opened(scope, run, view) as sight:
                found = searching.search(asked, searching.wanted(**page), sight, self._parts(sight), run)
            return run.step(publish_search, found[0], view.trace_id, found[1]), None
        except ClearciteError as error:
            return failed, error
        except Exception as error:  # noqa: BLE001 - whatever a port raises, the search fails closed
            run.note("snapshot", "failed", {"cause": type(error).__name__})
            fault = DependencyUnavailable("A part needed to search is unavailable; try again later.")
            fault.__cause__ = error
            return failed, fault

    @contextmanager
    def _opened(self, scope: Scope, run: Run, view: View) -> Iterator[Sight]:
        """One snapshot, now or at the position of a request that is done again, judged for a scope."""
        with ExitStack() as stack:
            sight = self._sight(stack, scope, run, view)
            yield sight
            if view.again is not None:
                view.doubt = doubt(sight.snapshot, sight.readable, view.again.generation, view.again.filter)

    def _sight(self, stack: ExitStack, scope: Scope, run: Run, view: View) -> Sight:
        """What the scope may see at a snapshot that ``stack`` ends.

        An index that is gone may have been merged or replaced and swept since the snapshot was taken: then a newer
        snapshot names another one, which is taken instead, a few times at most.
        """
        for attempt in range(1, SIGHTS + 1):
            with ExitStack() as tried:
                snapshot = now = tried.enter_context(self._looking(scope, replayed=view.again is not None))
                if view.again is not None and view.again.position != now.position:
                    snapshot = Past(now, view.again.position)
                view.state = self._state(snapshot, scope)
                try:
                    sight = run.step(self.open_sight, snapshot, scope)
                except (DependencyUnavailable, IntegrityFault):
                    if attempt == SIGHTS or not self._has_moved(now):
                        raise
                    continue
                stack.push(tried.pop_all())
                return sight
        raise DependencyUnavailable("The index is swept faster than it can be opened.")

    def _has_moved(self, snapshot: Snapshot) -> bool:
        """Whether another index serves now than did at a snapshot."""
        with self._snapshot() as newer:
            names = (newer.generation, newer.index_manifest)
        return names != (snapshot.generation, snapshot.index_manifest)

    def _snapshot(self) -> AbstractContextManager[Snapshot]:
        return self._services.ledger.snapshot(self._services.generation)

    def _parts(self, sight: Sight) -> Parts:
        return self._services.pipeline(sight.snapshot.generation).parts

    def _request(
        self,
        asked: Question,
        principal: Principal,
        view: View,
        run: Run,
        page: dict[str, Any] | None = None,
    ) -> Request:
        now = self._services.clock.now()
        return Request(
            asked=asked, principal=principal, state=view.state, stages=run.records, now=now, page=page
        )

    def _record(self, trace: Trace) -> None:
        """An answer whose trace cannot be written is not released."""
        try:
            self._services.traces.append(trace)
        except ClearciteError:
            raise
        except Exception as error:
            raise DependencyUnavailable("The trace could not be written, so nothing is shown.") from error

    @contextmanager
    def _looking(self, scope: Scope, *, replayed: bool = False) -> Iterator[Snapshot]:
        """The snapshot of one request. Raises StalePolicy before anything is read for an identity that was resolved
        under an older policy than the snapshot knows. A readable document that does not match what was accepted is
        quarantined on the way out."""
        with self._snapshot() as snapshot:
            if not replayed:
                self._check_policy(scope.principal, snapshot)
            try:
                yield snapshot
            except IntegrityFault as fault:
                if isinstance(fault.key, DocumentKey):
                    self._services.whole().quarantine(fault.key, "integrity")
                raise

    def _check_policy(self, principal: Principal, snapshot: Snapshot) -> None:
        services = self._services
        check_current(principal, snapshot.policy, services.clock.now(), services.policy_age)

    def _scope(self, principal: Principal, asked: Question | None = None, *, replayed: bool = False) -> Scope:
        """For whom and when. Raises InputError before anything is read."""
        check_identity(principal)
        now = self._services.clock.now()
        as_of, sources = (None, ()) if asked is None else (asked.as_of, asked.sources)
        if as_of is not None and as_of > now:
            raise InputError("as_of lies in the future.")
        if as_of is not None and as_of < now and not (replayed or self._services.allow_past):
            raise InputError("This host does not allow a past as_of.")
        return Scope(
            principal=principal,
            as_of=now if as_of is None else as_of,
            partitions=(principal.tenant_id,),
            sources=tuple(sorted(set(sources))),
        )

    def _state(self, snapshot: Snapshot, scope: Scope) -> dict[str, Any]:
        pipeline = self._services.pipeline(snapshot.generation)
        return {
            "as_of": scope.as_of,
            "position": snapshot.position,
            "generation": snapshot.generation,
            "index_manifest": snapshot.index_manifest,
            "manifest_hash": pipeline.manifest_hash,
            "config_hash": self._services.config_hash,
            "parts": _fingerprints(pipeline.parts),
        }

    def close(self) -> None:
        for close in self._on_close:
            close()

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _at(as_of: Micros | None) -> Question:
    """No question, at an instant."""
    return Question(text="", as_of=instant_of(as_of))


def _unavailable(cause: str) -> Outcome:
    return Outcome(answer=Answer(status="dependency_unavailable", cause=cause), degraded=True)


def _fingerprints(parts: Parts) -> dict[str, Any]:
    """Models and parameters of everything that has a say in an answer."""
    return {
        "writer": parts.writer.fingerprint,
        "reranker": parts.reranker.fingerprint,
        "embedder": None if parts.embedder is None else parts.embedder.fingerprint,
        "analysis": parts.analyzer.fingerprint,
        "depth": parts.depth,
        "pool": POOL,
        "fusion": FUSION,
        "sufficiency": SUFFICIENCY,
        "passages": parts.budget.passages,
        "characters": parts.budget.characters,
    }


def _deadline(services: Services) -> float:
    return time.monotonic() + services.deadline_ms / 1000
