"""What an ablation changes, one thing at a time. A new axis is one entry in ``AXES``.

Each function takes the place of the stage of its name and has its form. *As configured* stands for every axis at once:
both legs by their shares, no reranker, source weights, conflicts and checks on, chunks along the structure of a
document, and the installed model if the store has vectors.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from clearcite.answer import fuse as fusing
from clearcite.answer.check import Checked, Drafted, bind
from clearcite.answer.weigh import weigh_by
from clearcite.config import Settings
from clearcite.domain.answer import Answer
from clearcite.domain.corpus import ParsedDocument, Unit
from clearcite.domain.retrieval import Confirmed, Passage, Plan, Ranked
from clearcite.errors import MissingExtra
from clearcite.ingest.chunk import HARD_LIMIT_WORDS, TARGET_WORDS, Cut
from clearcite.ingest.units import measure_units
from clearcite.ports import Embedder, Snapshot
from clearcite.testing.embedder import HashedEmbedder
from clearcite.wiring.variants import Variant, cross_encoder, static_rows, transformer

RRF_K = 60
RRF_SCALE = 1_000_000
HASHED_DIMS = 256
BEST, LEAST = 10, 900
"""Of adaptive weights: how many passages say what a kind of source is worth, and the least factor in thousandths."""
NO_VECTORS = "the store has no vectors"
CONFIGURED = "it is what is configured"
_WORD = re.compile(r"\S+")


def no_vector(*_: Any) -> None:
    """In place of ``embed_question``: the search goes by words alone; the writer still has the model."""


def dense_alone(confirmed: Confirmed, depth: int, *_: bool) -> tuple[Ranked, ...]:
    """In place of ``fuse``."""
    legs = tuple(leg for leg in confirmed.legs if leg.leg == "dense")
    return fusing.fuse(replace(confirmed, legs=legs), depth)


def reciprocal_ranks(confirmed: Confirmed, *__: int) -> tuple[Ranked, ...]:
    """In place of ``fuse``: each leg gives 1 / (60 + rank)."""
    scores: dict[str, int] = {}
    passages: dict[str, Passage] = {}
    for leg in confirmed.legs:
        for rank, (passage, _) in enumerate(leg.hits, start=1):
            passages[passage.chunk_id] = passage
            scores[passage.chunk_id] = scores.get(passage.chunk_id, 0) + RRF_SCALE // (RRF_K + rank)
    ranked = [Ranked(passage=passages[name], score=score, factors=()) for name, score in scores.items()]
    return tuple(sorted(ranked, key=lambda item: (-item.score, item.passage.chunk_id)))


def as_ranked(_: Plan, ranked: tuple[Ranked, ...]) -> tuple[Ranked, ...]:
    """In place of ``weigh``."""
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
    return tuple(unit._replace(header=None, lead=None) for unit in inside)


def adaptive_weights(plan: Plan, ranked: tuple[Ranked, ...]) -> tuple[Ranked, ...]:
    """In place of ``weigh``: no kind of source is worth more by itself. What the best passages of this question come
    from counts for it, by its part of their scores, within the range of the fixed weights."""
    best = ranked[:BEST]
    total = sum(item.score for item in best)
    if total <= 0:
        return weigh_by({}, plan, ranked)
    parts: dict[str, int] = {item.passage.description.source_type: 0 for item in ranked}
    for item in best:
        parts[item.passage.description.source_type] += item.score
    factors = {name: LEAST + (1_000 - LEAST) * part // total for name, part in parts.items()}
    return weigh_by(factors, plan, ranked)


class Ground(Struct, frozen=True, kw_only=True):
    """What is changed: the settings of a store, whether it has vectors, and the folder of a cross-encoder."""

    settings: Settings
    has_vectors: bool
    cross_encoder: Path | None = None


Make = Callable[[Ground], Variant | str]
"""The change, or why it means nothing or cannot be had here."""


def _always(variant: Variant) -> Make:
    return lambda _: variant


def _with_vectors(variant: Variant) -> Make:
    return lambda ground: variant if ground.has_vectors else NO_VECTORS


def _cross_encoder(ground: Ground) -> Variant | str:
    if ground.cross_encoder is None:
        return "name a folder with model.onnx and vocab.txt: --cross-encoder FOLDER"
    return Variant(reranker=cross_encoder(ground.cross_encoder))


def _transformer(ground: Ground) -> Variant | str:
    if ground.has_vectors:
        return CONFIGURED
    return _embedding(transformer)(ground)


def _embedding(made: Callable[[Settings], Embedder]) -> Make:
    def make(ground: Ground) -> Variant | str:
        try:
            return Variant(embedder=made(ground.settings), rebuilt=True)
        except MissingExtra as error:
            return error.message

    return make


AXES: Mapping[str, Mapping[str, Make]] = {
    "retrieval": {
        "words alone": _with_vectors(Variant(instead={"embed_question": no_vector})),
        "vectors alone": _with_vectors(Variant(instead={"fuse": dense_alone})),
        "reciprocal ranks": _with_vectors(Variant(instead={"fuse": reciprocal_ranks})),
    },
    "reranker": {
        "none": lambda _: CONFIGURED,
        "cross-encoder": _cross_encoder,
    },
    "source weights": {
        "off": _always(Variant(instead={"weigh": as_ranked})),
        "adaptive": _always(Variant(instead={"weigh": adaptive_weights})),
    },
    "conflicts": {"off": _always(Variant(instead={"find_conflicts": no_conflicts}))},
    "checks": {"off": _always(Variant(instead={"check": unchecked}))},
    "chunks": {"fixed size": _always(Variant(cut=cut_fixed, rebuilt=True))},
    "embedding": {
        "hashed words": _always(Variant(embedder=HashedEmbedder(dims=HASHED_DIMS), rebuilt=True)),
        "word rows": _embedding(static_rows),
        "transformer": _transformer,
    },
}
"""Axis → what it may be instead of what is configured."""
