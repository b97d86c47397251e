"""I5: every port × every kind of fault ends in the status this table expects, and never in an answer.

The fake around each port stands at its seam; the engine behind it is the real one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import pytest
from msgspec.structs import replace

from clearcite.adapters.writers.extractive import ExtractiveWriter
from clearcite.domain.answer import Claim, Quote
from clearcite.domain.retrieval import DenseQuery, Hit, HitPage
from clearcite.errors import DependencyUnavailable, IntegrityFault
from clearcite.testing.embedder import HashedEmbedder
from tests.support.world import LEGS, World, body, make_world, principal, record

QUESTION = "What is the retry limit of the worker queue?"
TEXT = "# Worker queue\n\nThe retry limit of the worker queue is 8 attempts."
OTHER = "# Holidays\n\nEvery employee has 25 days of holiday a year."


def filled(embedder: Any = None) -> World:
    world = make_world(embedder=embedder)
    world.put(record("queue.md", TEXT), record("holidays.md", OTHER))
    world.put(record("secret.md", TEXT.replace("8", "9"), ("board",)))
    world.put(record("rival.md", TEXT.replace("8", "7"), tenant="rival"))
    return world


def ask(world: World) -> Any:
    return world.engine.reply(QUESTION, principal("staff"))


# --- the index ---------------------------------------------------------------------------------------------


class BadIndex:
    """The real index, with one thing wrong about what it returns."""

    def __init__(self, real: Any, bend: Callable[[Any, tuple[Any, ...]], HitPage]) -> None:
        self._real, self._bend = real, bend

    def open(self, manifest: str | None) -> Any:
        view, bend = self._real.open(manifest), self._bend

        class View:
            def search(self, *args: Any) -> HitPage:
                return bend(view, args)

        return View()


def _raise(error: Exception) -> Callable[..., HitPage]:
    def bend(view: Any, args: tuple[Any, ...]) -> HitPage:
        raise error

    return bend


def _page(change: Callable[[HitPage], HitPage]) -> Callable[..., HitPage]:
    return lambda view, args: change(view.search(*args))


def _foreign(world: World) -> tuple[Hit, ...]:
    """The ids of chunks that this caller may not read."""
    ids = []
    for tenant, groups in (("acme", ("board",)), ("rival", ("staff",))):
        found = world.engine.search(QUESTION, principal(*groups, tenant=tenant), collapse="passage")
        assert found.hits
    with world.services.ledger.snapshot() as snapshot:
        view = world.pipeline.index.open(snapshot.index_manifest)
        query = world.pipeline.parts.analyzer.analyze_question(QUESTION)
        from clearcite.domain.retrieval import LexicalQuery, Scope
        from tests.support.world import NOW

        for tenant, groups in (("acme", ("board",)), ("rival", ("staff",))):
            scope = Scope(principal=principal(*groups, tenant=tenant), as_of=NOW, partitions=(tenant,))
            readable = world.services.visibility.readable(snapshot, scope)
            page = view.search(LexicalQuery(terms=query), readable, None, 10)
            ids += [hit.chunk_id for hit in page.hits]
    return tuple(Hit(chunk_id=name, score=10**9) for name in ids)


INDEX_FAULTS: dict[str, tuple[Callable[[World], Callable[..., HitPage]], str]] = {
    "raises": (lambda w: _raise(RuntimeError("disk")), "dependency_unavailable"),
    "is unavailable": (lambda w: _raise(DependencyUnavailable("down")), "dependency_unavailable"),
    "is corrupt": (lambda w: _raise(IntegrityFault("bad segment")), "dependency_unavailable"),
    "returns nothing": (lambda w: _page(lambda page: HitPage(hits=())), "insufficient_evidence"),
    "returns each hit twice": (
        lambda w: _page(lambda page: replace(page, hits=page.hits + page.hits)),
        "answered",
    ),
    "returns hits in another order": (
        lambda w: _page(lambda page: replace(page, hits=page.hits[::-1])),
        "answered",
    ),
    "returns ids nobody has": (
        lambda w: _page(lambda page: replace(page, hits=(Hit(chunk_id="0" * 32, score=9), *page.hits))),
        "answered",
    ),
    "returns what the caller may not read": (
        lambda w: _page(lambda page, f=_foreign(w): replace(page, hits=f + page.hits)),  # type: ignore[misc]
        "answered",
    ),
    "never ends": (
        lambda w: _page(
            lambda page: HitPage(
                hits=(Hit(chunk_id="f" * 32, score=1),), next=_cursor(), documents=1, frequencies=()
            )
        ),
        "dependency_unavailable",
    ),
}


def _cursor() -> Any:
    from clearcite.domain.retrieval import Cursor

    return Cursor(score=1, chunk_id="f" * 32)


@LEGS
@pytest.mark.parametrize("fault", INDEX_FAULTS)
def test_an_index_that_misbehaves_never_shows_what_may_not_be_read(fault: str, embedder: Any) -> None:
    """With vectors, both legs misbehave."""
    world = filled(embedder)
    bend, expected = INDEX_FAULTS[fault]
    wanted = ask(world).public
    broken = world.with_index(BadIndex(world.pipeline.index, bend(world)))
    reply = ask(broken)
    assert reply.public.status == expected
    if expected == "answered":
        assert body(reply.public) == body(wanted)
    else:
        assert reply.public.answer == () and reply.public.citations == ()


@pytest.mark.parametrize("fault", ["raises", "is corrupt", "never ends"])
def test_a_dense_leg_that_fails_alone_fails_the_question(fault: str) -> None:
    """A list with one leg missing would be another list than the one promised."""
    world = filled(HashedEmbedder())
    bend = INDEX_FAULTS[fault][0](world)

    def dense_only(view: Any, args: tuple[Any, ...]) -> HitPage:
        page: HitPage = bend(view, args) if isinstance(args[0], DenseQuery) else view.search(*args)
        return page

    reply = ask(world.with_index(BadIndex(world.pipeline.index, dense_only)))
    assert reply.public.status == "dependency_unavailable"


# --- reranker, writer, embedder ----------------------------------------------------------------------------


class Reranker:
    fingerprint = "fake"

    def __init__(self, scores: Callable[[list[str]], Any]) -> None:
        self._scores = scores

    def rerank(self, plan: Any, passages: Any) -> Any:
        return self._scores([passage.chunk_id for passage in passages])


def _boom(*args: Any) -> Any:
    raise RuntimeError("out of memory")


RERANKER_FAULTS: dict[str, Callable[[list[str]], Any]] = {
    "raises": _boom,
    "returns nothing": lambda ids: [],
    "returns no list": lambda ids: None,
    "leaves one out": lambda ids: [(name, 1) for name in ids[1:]],
    "repeats one": lambda ids: [(name, 1) for name in [*ids, ids[0]]],
    "invents one": lambda ids: [*((name, 1) for name in ids), ("0" * 32, 1)],
    "returns not a number": lambda ids: [(name, float("nan")) for name in ids],
    "returns infinity": lambda ids: [(name, float("inf")) for name in ids],
    "returns a truth value": lambda ids: [(name, True) for name in ids],
    "returns triples": lambda ids: [(name, 1, 1) for name in ids],
}


@LEGS
@pytest.mark.parametrize("fault", RERANKER_FAULTS)
def test_a_reranker_that_misbehaves_leaves_the_fused_order_marked_degraded(fault: str, embedder: Any) -> None:
    world = filled(embedder).with_parts(reranker=Reranker(RERANKER_FAULTS[fault]))
    reply = ask(world)
    assert reply.public.status == "answered"
    trace = world.services.traces.get(reply.public.trace_id)
    assert trace is not None and trace.degraded
    assert any(stage.stage == "rerank" and stage.outcome == "fallback" for stage in trace.stages)


def test_control_a_reranker_that_behaves_is_used_and_not_marked() -> None:
    world = filled().with_parts(reranker=Reranker(lambda ids: [(name, 5) for name in ids]))
    trace = world.services.traces.get(ask(world).public.trace_id)
    assert trace is not None and not trace.degraded


class Writer:
    fingerprint = "fake"

    def __init__(self, drafts: Callable[[Any], Any]) -> None:
        self._drafts = drafts

    def compose(self, plan: Any, evidence: Any, disagreements: Any) -> Any:
        return self._drafts(evidence)


def _claim(evidence: Any, text: str | None, start: int, end: int) -> Claim:
    passage = evidence[0].passage
    quote = Quote(passage=passage, start=start, end=end)
    return Claim(text=quote.text if text is None else text, quotes=(quote,))


WRITER_FAULTS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "raises": (_boom, "generation_unavailable"),
    "writes nothing": (lambda evidence: (), "insufficient_evidence"),
    "writes without a quote": (lambda e: (Claim(text="Eight.", quotes=()),), "insufficient_evidence"),
    "changes the words it quotes": (
        lambda e: (_claim(e, "The retry limit is 80 attempts.", e[0].passage.start, e[0].passage.end),),
        "insufficient_evidence",
    ),
    "quotes beyond the passage": (
        lambda e: (_claim(e, None, e[0].passage.start, e[0].passage.end + 5),),
        "insufficient_evidence",
    ),
    "quotes nothing": (
        lambda e: (_claim(e, "", e[0].passage.start, e[0].passage.start),),
        "insufficient_evidence",
    ),
    "quotes a passage that was not selected": (
        lambda e: (
            Claim(
                text=e[0].passage.text,
                quotes=(
                    Quote(
                        passage=replace(e[0].passage, chunk_id="0" * 32),
                        start=e[0].passage.start,
                        end=e[0].passage.end,
                    ),
                ),
            ),
        ),
        "insufficient_evidence",
    ),
}


@LEGS
@pytest.mark.parametrize("fault", WRITER_FAULTS)
def test_a_writer_that_misbehaves_publishes_no_claim_and_keeps_the_retrieval_trace(
    fault: str, embedder: Any
) -> None:
    drafts, expected = WRITER_FAULTS[fault]
    world = filled(embedder).with_parts(writer=Writer(drafts))
    reply = ask(world)
    assert reply.public.status == expected
    assert reply.public.answer == ()
    trace = world.services.traces.get(reply.public.trace_id)
    assert trace is not None and any(stage.stage == "recall" for stage in trace.stages)


class Embedder(HashedEmbedder):
    """The embedder the index was built with, with one thing wrong about what it returns while answering."""

    def __init__(
        self,
        query: Callable[[Any], Any] | None,
        passage: Callable[[Any], Any] | None,
        words: Callable[[Any], Any] | None = None,
        pair: Callable[[Any], Any] | None = None,
    ) -> None:
        super().__init__()
        self._query, self._passage, self._words, self._pair = query, passage, words, pair

    def embed_query(self, text: str) -> Any:
        vector = super().embed_query(text)
        return vector if self._query is None else self._query(vector)

    def embed_passage(self, text: str) -> Any:
        vector = super().embed_passage(text)
        # of questions, the real one is made by way of a passage
        return vector if self._passage is None or text == QUESTION else self._passage(vector)

    def embed_words(self, text: str) -> Any:
        worded = super().embed_words(text)
        return worded if self._words is None else self._words(worded)

    def answers(self, question: str, text: str) -> Any:
        return None if self._pair is None else self._pair((question, text))


def _shorter_query(query: Any) -> Any:
    return replace(query, vector=query.vector[:-1])


def _shorter_passage(vector: Any) -> Any:
    return replace(vector, data=vector.data[:-1])


EMBEDDER_FAULTS: dict[str, tuple[Any, ...]] = {
    "raises for the question": (_boom, None, "dependency_unavailable"),
    "returns nothing for the question": (lambda query: None, None, "dependency_unavailable"),
    "returns fewer dimensions for the question": (_shorter_query, None, "dependency_unavailable"),
    "returns no dimensions for the question": (
        lambda query: replace(query, vector=b""),
        None,
        "dependency_unavailable",
    ),
    "returns floats for the question": (
        lambda query: replace(query, vector=[float("nan")] * 64),
        None,
        "dependency_unavailable",
    ),
    "raises for a sentence": (None, _boom, "generation_unavailable"),
    "returns nothing for a sentence": (None, lambda vector: None, "generation_unavailable"),
    "returns fewer dimensions for a sentence": (None, _shorter_passage, "generation_unavailable"),
    "raises for words": (None, None, _boom, "generation_unavailable"),
    "returns nothing for words": (None, None, lambda worded: None, "generation_unavailable"),
    "returns fewer rows than words": (
        None,
        None,
        lambda worded: replace(worded, rows=worded.rows[:-1]),
        "generation_unavailable",
    ),
    "raises for a pair": (None, None, None, _boom, "dependency_unavailable"),
    "returns a float for a pair": (None, None, None, lambda pair: float("nan"), "dependency_unavailable"),
}


@pytest.mark.parametrize("fault", EMBEDDER_FAULTS)
def test_an_embedder_that_misbehaves_ends_the_question_as_unavailable(fault: str) -> None:
    *faults, expected = EMBEDDER_FAULTS[fault]
    world, embedder = filled(HashedEmbedder()), Embedder(*faults)
    writer = ExtractiveWriter(world.pipeline.parts.analyzer, embedder)
    reply = ask(world.with_parts(embedder=embedder, writer=writer))
    assert (reply.public.status, reply.exit_code) == (expected, 3)
    assert reply.public.answer == () and reply.public.citations == ()


# --- ledger, traces, deadline ------------------------------------------------------------------------------


class BadLedger:
    def __init__(self, real: Any, method: str, act: Callable[[Any], Any]) -> None:
        self._real, self._method, self._act = real, method, act

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    @contextmanager
    def snapshot(self, generation: str | None = None) -> Any:
        outer = self
        with self._real.snapshot(generation) as real:

            class Snapshot:
                def __getattr__(self, name: str) -> Any:
                    if name == outer._method:
                        return lambda *args: outer._act(getattr(real, name)(*args))
                    return getattr(real, name)

            yield Snapshot()


def _tamper(chunks: Any) -> Any:
    return {
        name: replace(item, chunk=replace(item.chunk, text="X" + item.chunk.text[1:]))
        for name, item in chunks.items()
    }


LEDGER_FAULTS: dict[str, tuple[str, Callable[[Any], Any], str, int]] = {
    "cannot read chunks": ("chunks", _boom, "dependency_unavailable", 3),
    "cannot read visibility": ("visibility_since", _boom, "dependency_unavailable", 3),
    "cannot read collections": ("collections", _boom, "dependency_unavailable", 3),
    "loses every chunk": ("chunks", lambda found: {}, "insufficient_evidence", 0),
    "returns changed text": ("chunks", _tamper, "dependency_unavailable", 4),
    "cannot read the document it quotes": ("document", _boom, "dependency_unavailable", 3),
    "returns another document text": (
        "document",
        lambda found: replace(found, text=found.text.replace("8", "3")),
        "dependency_unavailable",
        4,
    ),
}


@LEGS
@pytest.mark.parametrize("fault", LEDGER_FAULTS)
def test_a_ledger_that_misbehaves_fails_the_question_closed(fault: str, embedder: Any) -> None:
    method, act, expected, code = LEDGER_FAULTS[fault]
    world = filled(embedder)
    reply = ask(world.with_services(ledger=BadLedger(world.services.ledger, method, act)))
    assert (reply.public.status, reply.exit_code) == (expected, code)
    assert reply.public.answer == ()


def test_no_answer_leaves_before_its_trace_is_written() -> None:
    class Traces:
        def append(self, trace: Any) -> None:
            raise OSError("disk full")

    with pytest.raises(DependencyUnavailable):
        ask(filled().with_services(traces=Traces()))


def test_a_deadline_gives_unavailable_and_never_a_partial_answer() -> None:
    def slow(evidence: Any) -> Any:
        time.sleep(0.05)
        return (_claim(evidence, None, evidence[0].passage.start, evidence[0].passage.end),)

    reply = ask(filled().with_parts(writer=Writer(slow)).with_services(deadline_ms=30))
    assert reply.public.status == "dependency_unavailable"
    assert reply.public.answer == ()


@pytest.mark.parametrize(
    ("stage", "expected"),
    [
        ("open_sight", "dependency_unavailable"),
        ("plan_query", "dependency_unavailable"),
        ("recall", "dependency_unavailable"),
        ("confirm", "dependency_unavailable"),
        ("fuse", "dependency_unavailable"),
        ("rerank", "answered"),
        ("compose", "generation_unavailable"),
        ("cite", "dependency_unavailable"),
        ("check", "dependency_unavailable"),
    ],
)
def test_a_fault_injected_at_a_stage_ends_as_the_table_says(stage: str, expected: str) -> None:
    world = filled().with_services(faults={stage: DependencyUnavailable("injected")})
    assert ask(world).public.status == expected


@pytest.mark.parametrize("stage", ["recall", "compose", "confirm"])
def test_live_questions_do_not_enter_retrieval_whatever_fails_there(stage: str) -> None:
    world = filled().with_services(faults={stage: DependencyUnavailable("injected")})
    reply = world.engine.reply("Where is my parcel right now?", principal("staff"))
    assert (reply.public.status, reply.exit_code) == ("tool_required", 0)


@LEGS
def test_control_without_a_fault_the_question_is_answered(embedder: Any) -> None:
    reply = ask(filled(embedder))
    assert reply.public.status == "answered"
    assert "8 attempts" in reply.public.answer[0].text
