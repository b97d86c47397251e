"""What an ablation changes, one thing at a time. A new axis is one entry in ``AXES``.

Each function takes the place of the stage of its name and has its form. *As configured* stands for every axis at once:
legs averaged by their scores, the lexical reranker, source weights, conflicts and checks on, chunks along the structure
of a document, and the installed model if the store has vectors.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from clearcite.answer import fuse as fusing
from clearcite.answer.check import Checked, Drafted, bind
from clearcite.domain.answer import Answer
from clearcite.domain.corpus import ParsedDocument, Unit
from clearcite.domain.retrieval import Confirmed, Passage, Plan, Ranked
from clearcite.ingest.chunk import HARD_LIMIT_WORDS, TARGET_WORDS, Cut
from clearcite.ingest.units import measure_units
from clearcite.ports import Reranker, Snapshot
from clearcite.testing.embedder import HashedEmbedder
from clearcite.wiring.variants import Variant

RRF_K = 60
RRF_SCALE = 1_000_000
HASHED_DIMS = 256
_WORD = re.compile(r"\S+")


def no_vector(*_: Any) -> None:
    """In place of ``embed_question``: the search goes by words alone; the writer still has the model."""


def dense_alone(confirmed: Confirmed) -> tuple[Ranked, ...]:
    """In place of ``fuse``."""
    return fusing.fuse(replace(confirmed, legs=tuple(leg for leg in confirmed.legs if leg.leg == "dense")))


def reciprocal_ranks(confirmed: Confirmed) -> tuple[Ranked, ...]:
    """In place of ``fuse``: each leg gives 1 / (60 + rank)."""
    scores: dict[str, int] = {}
    passages: dict[str, Passage] = {}
    for leg in confirmed.legs:
        for rank, (passage, _) in enumerate(leg.hits, start=1):
            passages[passage.chunk_id] = passage
            scores[passage.chunk_id] = scores.get(passage.chunk_id, 0) + RRF_SCALE // (RRF_K + rank)
    ranked = [Ranked(passage=passages[name], score=score, factors=()) for name, score in scores.items()]
    return tuple(sorted(ranked, key=lambda item: (-item.score, item.passage.chunk_id)))


def as_ranked(_: Plan, ranked: tuple[Ranked, ...], *__: Reranker) -> tuple[Ranked, ...]:
    """In place of ``rerank`` and ``weigh``."""
    return ranked


def no_conflicts(*_: Any) -> tuple[()]:
    """In place of ``find_conflicts``."""
    return ()


def unchecked(draft: Drafted, snapshot: Snapshot, *_: Any) -> Checked:
    """In place of ``check``: whatever was drafted is said. Quotes are still bound to the bytes they stand in."""
    if not draft.claims:
        return Checked.failed("insufficient_evidence", "no_claim")
    hashes = bind(draft.claims, snapshot)
    return Checked(answer=Answer(status="answered", claims=draft.claims), document_hashes=hashes)


def cut_fixed(parsed: ParsedDocument, *, title: str = "", words: int = TARGET_WORDS) -> tuple[Cut, ...]:
    """Chunks of so many words, wherever that falls. A sentence across a border is searched and can not be quoted."""
    units = [item.unit for item in measure_units(parsed.text, parsed.elements, HARD_LIMIT_WORDS)]
    spans = [match.span() for match in _WORD.finditer(parsed.text)]
    cuts = []
    for at in range(0, len(spans), words):
        start, end = spans[at][0], spans[min(at + words, len(spans)) - 1][1]
        cuts.append(Cut(start=start, end=end, context=title, units=_within(units, start, end)))
    return tuple(cuts)


def _within(units: Sequence[Unit], start: int, end: int) -> tuple[Unit, ...]:
    inside = (unit for unit in units if start <= unit.start and unit.end <= end and unit.kind != "heading")
    return tuple(replace(unit, header=None, lead=None) for unit in inside)


AXES: Mapping[str, Mapping[str, Variant]] = {
    "retrieval": {
        "words alone": Variant(instead={"embed_question": no_vector}),
        "vectors alone": Variant(instead={"fuse": dense_alone}),
        "reciprocal ranks": Variant(instead={"fuse": reciprocal_ranks}),
    },
    "reranker": {"none": Variant(instead={"rerank": as_ranked})},
    "source weights": {"off": Variant(instead={"weigh": as_ranked})},
    "conflicts": {"off": Variant(instead={"find_conflicts": no_conflicts})},
    "checks": {"off": Variant(instead={"check": unchecked})},
    "chunks": {"fixed size": Variant(cut=cut_fixed, rebuilt=True)},
    "embedding": {"hashed words": Variant(embedder=HashedEmbedder(dims=HASHED_DIMS), rebuilt=True)},
}
"""Axis → what it may be instead of what is configured."""

NEEDS_VECTORS = frozenset(
    (("retrieval", "words alone"), ("retrieval", "vectors alone"), ("retrieval", "reciprocal ranks"))
)
"""Mean nothing for a store without vectors."""
