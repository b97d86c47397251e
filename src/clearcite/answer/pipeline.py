"""What happens to a question, on one page.

Authorize first, then look for hits, confirm them against the ledger, rank, look for disagreement, choose
evidence within a budget, write, bind, check. Each line is a stage: a function of the one before. A failed check
yields another plan, at most twice, and never a jump back. Nothing here publishes; see ``publish``.
"""

from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from clearcite.answer.check import Checked, Drafted, check
from clearcite.answer.cite import bound_sides, cite
from clearcite.answer.confirm import Judge, confirm
from clearcite.answer.conflicts import find_conflicts
from clearcite.answer.deduplicate import deduplicate
from clearcite.answer.evidence import Budget, Chosen, diversify, fit_budget
from clearcite.answer.fuse import counted, fuse
from clearcite.answer.plan import plan_query
from clearcite.answer.recall import embed_question, queries, recall
from clearcite.answer.rerank import rerank
from clearcite.answer.resolve import resolve_conflicts
from clearcite.answer.supersede import set_aside_superseded
from clearcite.answer.weigh import depth_needed, weigh
from clearcite.domain.answer import Answer, Claim, Disagreement
from clearcite.domain.corpus import DocumentKey
from clearcite.domain.retrieval import Confirmed, Cursor, DenseQuery, HitPage, Leg, Plan, Question, Ranked
from clearcite.errors import ClearciteError, DeadlineExceeded, IntegrityFault
from clearcite.ports import Embedder, IndexView, Readable, Reranker, Snapshot, StoredDocument, Writer
from clearcite.step import Run
from clearcite.text.analysis import Analyzer
from clearcite.text.memory import remembering
from clearcite.text.phrases import PhraseSet

MAX_ATTEMPTS = 3


class Parts(Struct, frozen=True, kw_only=True):
    """The ports and settings that do not change from question to question. ``by_document``: whether documents are
    ranked, or passages."""

    analyzer: Analyzer
    live: PhraseSet
    embedder: Embedder | None
    reranker: Reranker
    writer: Writer
    budget: Budget
    depth: int
    by_document: bool = False


class Sight(Struct, frozen=True, kw_only=True):
    """What this request may see: one snapshot of the ledger, judged for one scope."""

    snapshot: Snapshot
    readable: Readable
    judge: Judge
    view: IndexView
    superseding: tuple[StoredDocument, ...] = ()


class Retrieved(Struct, frozen=True, kw_only=True):
    plan: Plan
    confirmed: Confirmed
    ranked: tuple[Ranked, ...]
    degraded: bool = False


class Outcome(Struct, frozen=True, kw_only=True):
    """A checked answer, and the hashes of the documents it quotes."""

    answer: Answer
    document_hashes: Mapping[DocumentKey, str] = field(default_factory=dict)
    degraded: bool = False


def retrieve(
    plan: Plan, sight: Sight, parts: Parts, run: Run, shown: frozenset[str] = frozenset()
) -> Retrieved:
    """Plan → ranked passages the caller may read, copies and superseded text set aside.

    ``shown``: chunks that stood on an earlier page; of copies they are the ones that are kept.
    """
    dense = None if parts.embedder is None else run.step(embed_question, plan, parts.embedder)
    found = run.step(recall, plan, dense, sight.readable, sight.view)
    plan = replace(plan, depth=depth_needed(plan, found))
    more = _pages(plan, dense, sight)
    confirmed = run.step(confirm, plan, found, sight.judge, sight.snapshot, more)
    plan = counted(plan, confirmed)
    fused = run.step(fuse, confirmed, plan.depth, parts.by_document)
    weighed = run.step(weigh, plan, fused)
    ranked, degraded = _rerank_or_keep(plan, weighed, parts, run)
    ranked, _ = run.step(set_aside_superseded, ranked, sight.superseding)
    ranked, _ = run.step(deduplicate, ranked, shown)
    return Retrieved(plan=plan, confirmed=confirmed, ranked=ranked, degraded=degraded)


def answer(question: Question, sight: Sight, parts: Parts, run: Run) -> Outcome:
    """Question → checked answer. Failures of a part become statuses; the cause stays in the trace."""
    plan = run.step(plan_query, question, parts.analyzer, parts.live, parts.depth)
    if plan.route == "tool_required":
        return Outcome(answer=Answer(status="tool_required", cause="route"))
    with remembering():
        return _attempts(plan, sight, parts, run)


def _attempts(plan: Plan, sight: Sight, parts: Parts, run: Run) -> Outcome:
    outcome = Outcome(answer=Answer(status="insufficient_evidence", cause="no_candidate"))
    for attempt in range(MAX_ATTEMPTS):
        checked, degraded = _attempt(replace(plan, attempt=attempt), sight, parts, run)
        outcome = Outcome(
            answer=checked.answer,
            document_hashes=checked.document_hashes,
            degraded=degraded or outcome.degraded,
        )
        if checked.again is None:
            break
        plan = checked.again
    return outcome


def _attempt(plan: Plan, sight: Sight, parts: Parts, run: Run) -> tuple[Checked, bool]:
    try:
        found = retrieve(plan, sight, parts, run)
    except IntegrityFault:
        raise
    except ClearciteError:
        return Checked.failed("dependency_unavailable", "dependency"), True
    plan = found.plan
    conflicts = run.step(find_conflicts, plan, found.ranked, parts.analyzer)
    conflicts = run.step(resolve_conflicts, plan, conflicts)
    spread = run.step(diversify, found.ranked)
    chosen = run.step(fit_budget, spread, conflicts, parts.budget)
    try:
        drafts = run.step(compose, plan, chosen, conflicts, parts.writer)
    except DeadlineExceeded:
        return Checked.failed("dependency_unavailable", "deadline"), True
    except ClearciteError:
        return Checked.failed("generation_unavailable", "generation"), True
    claims = run.step(cite, drafts, chosen.evidence)
    sides = run.step(bound_sides, conflicts, chosen.evidence)
    draft = Drafted(
        plan=found.plan, confirmed=found.confirmed, chosen=chosen, claims=claims, disagreements=sides
    )
    return run.step(check, draft, sight.snapshot, parts.analyzer, parts.embedder), found.degraded


def compose(
    plan: Plan, chosen: Chosen, conflicts: tuple[Disagreement, ...], writer: Writer
) -> tuple[Claim, ...]:
    return tuple(writer.compose(plan, chosen.evidence, conflicts))


def _rerank_or_keep(
    plan: Plan, ranked: tuple[Ranked, ...], parts: Parts, run: Run
) -> tuple[tuple[Ranked, ...], bool]:
    """A reranker that fails, or returns anything but each passage once, changes nothing but ``degraded``."""
    try:
        return run.step(rerank, plan, ranked, parts.reranker), False
    except DeadlineExceeded:
        raise
    except ClearciteError:
        run.note("rerank", "fallback", {"kept": "fused order"})
        return ranked, True


def _pages(plan: Plan, dense: DenseQuery | None, sight: Sight):  # type: ignore[no-untyped-def]
    by_leg = dict(queries(plan, dense))

    def more(leg: Leg, after: Cursor) -> HitPage:
        return sight.view.search(by_leg[leg], sight.readable, after, plan.depth)

    return more
