"""A shelf of plain texts, cut, indexed and searched as the engine does it, without a ledger and without access rules.

For measurements that need what the stages return in between: scores of sufficiency, claims, disagreements.
"""

import hashlib
import pickle
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
from msgspec import Struct

from clearcite.adapters.indexes.local import LocalIndex
from clearcite.answer.deduplicate import deduplicate
from clearcite.answer.evidence import diversify
from clearcite.answer.fuse import counted, fuse
from clearcite.answer.plan import plan_query
from clearcite.answer.weigh import weigh
from clearcite.domain.corpus import Description, DocumentKey, Element, ParsedDocument
from clearcite.domain.digest import sha256_text
from clearcite.domain.manifest import PipelineManifest
from clearcite.domain.retrieval import (
    Confirmed,
    ConfirmedLeg,
    DenseQuery,
    Evidence,
    Passage,
    Plan,
    Question,
    Ranked,
)
from clearcite.ingest.chunk import chunk_document
from clearcite.ports import Embedder, IndexEntry, Vector, Worded
from clearcite.testing.index_fakes import ReadableSlots
from clearcite.text.analysis import Analyzer
from clearcite.text.keys import packed
from clearcite.text.phrases import PhraseSet

ANALYZER = Analyzer(("en", "pt"))
EVIDENCE = 8
DEPTH = 100


class Remembering:
    """An embedder that keeps its vectors on disk: a measurement is repeated, a corpus is embedded once."""

    def __init__(self, embedder: Embedder, file: Path | None) -> None:
        self._embedder, self._file = embedder, file
        self.fingerprint, self.dims = embedder.fingerprint, embedder.dims
        self._vectors: dict[bytes, tuple[bytes, int]] = {}
        if file is not None and file.is_file():
            self._vectors = pickle.loads(file.read_bytes())  # written by this class only

    def embed_passage(self, text: str) -> Vector:
        key = hashlib.sha256(text.encode()).digest()
        if key not in self._vectors:
            made = self._embedder.embed_passage(text)
            self._vectors[key] = (made.data, made.scale)
        data, scale = self._vectors[key]
        return Vector(data=data, scale=scale)

    def embed_query(self, text: str) -> DenseQuery:
        return self._embedder.embed_query(text)

    def embed_words(self, text: str) -> Worded:
        return self._embedder.embed_words(text)

    def answers(self, question: str, text: str) -> int | None:
        return self._embedder.answers(question, text)

    def save(self) -> None:
        if self._file is not None:
            self._file.write_bytes(pickle.dumps(self._vectors))


class Text(Struct, frozen=True, kw_only=True):
    """One document. ``markdown``: parsed by the caller into elements; plain text is one paragraph."""

    name: str
    text: str
    title: str = ""
    elements: tuple[Element, ...] = ()
    source_type: str = "documentation"
    authority: int = 50
    product_version: str | None = None


def passages_of(document: Text) -> list[Passage]:
    elements = document.elements or (Element(kind="paragraph", start=0, end=len(document.text)),)
    parsed = ParsedDocument(text=document.text, elements=elements, title=document.title)
    key = DocumentKey(tenant_id="bench", source_id="s", document_id=document.name)
    sha = sha256_text(document.text)
    description = Description(
        source_uri=document.name,
        source_version="1",
        title=document.title,
        source_type=document.source_type,
        authority=document.authority,
        product_version=document.product_version,
    )
    return [
        Passage(
            chunk_id=chunk.chunk_id,
            key=key,
            revision=sha[:16],
            content_sha256=sha,
            title=document.title,
            text=chunk.text,
            start=chunk.start,
            end=chunk.end,
            sha256=chunk.sha256,
            context=chunk.context,
            heading=chunk.heading,
            page=chunk.page,
            kind=chunk.kind,
            units=chunk.units,
            description=description,
            valid_from=None,
            valid_to=None,
            normal_sha256=sha,
            language=chunk.language,
        )
        for chunk in chunk_document(parsed, key, sha, title=document.title)
    ]


class Shelf:
    """Documents in an index of their own under ``folder``. With an embedder there are two legs."""

    def __init__(self, documents: Iterable[Text], folder: Path, embedder: Embedder | None) -> None:
        self._embedder = embedder
        found = [passage for document in documents for passage in passages_of(document)]
        self._passages = {passage.chunk_id: passage for passage in found}
        manifest = PipelineManifest(
            parser="plain", chunker="bench", analysis=ANALYZER.fingerprint, embedder=None
        )
        index = LocalIndex(folder, manifest)
        unique = list(self._passages.values())
        entries = [self._entry(slot, passage) for slot, passage in enumerate(unique)]
        self._view = index.open(index.commit(None, index.write(entries)))
        self._readable = ReadableSlots({"bench": range(len(unique))})

    def _entry(self, slot: int, passage: Passage) -> IndexEntry:
        read = f"{passage.context}\n{passage.text}"
        return IndexEntry(
            chunk_id=passage.chunk_id,
            partition="bench",
            slot=slot,
            terms=packed(ANALYZER.analyze_document(read, passage.language)),
            vector=self._embedder.embed_passage(read) if self._embedder else None,
        )

    def ranked(self, question: str) -> tuple[Plan, tuple[Ranked, ...]]:
        """The plan with its counts, and passages as they are before the budget."""
        plan = plan_query(Question(text=question), ANALYZER, PhraseSet(()), DEPTH)
        legs = [self._leg(plan, "lexical")]
        if self._embedder is not None:
            legs.append(self._leg(plan, "dense"))
        confirmed = Confirmed(legs=tuple(legs))
        plan = counted(plan, confirmed)
        kept, _ = deduplicate(weigh(plan, fuse(confirmed, DEPTH)))
        return plan, diversify(kept)

    def _leg(self, plan: Plan, name: str) -> ConfirmedLeg:
        dense = self._embedder.embed_query(plan.question) if self._embedder and name == "dense" else None
        page = self._view.search(plan.lexical if dense is None else dense, self._readable, None, DEPTH)
        hits = tuple((self._passages[hit.chunk_id], hit.score) for hit in page.hits)
        leg = "lexical" if dense is None else "dense"
        return ConfirmedLeg(
            leg=leg,  # type: ignore[arg-type]
            hits=hits,
            documents=page.documents,
            frequencies=page.frequencies,
            whole=page.whole,
        )


def evidence_of(
    ranked: Sequence[Ranked], keep: Callable[[Passage], bool] = lambda _: True
) -> tuple[Evidence, ...]:
    kept = [item for item in ranked if keep(item.passage)][:EVIDENCE]
    return tuple(Evidence(number=n, ranked=item) for n, item in enumerate(kept, start=1))


def auc(positive: Sequence[int], negative: Sequence[int]) -> float:
    """The chance that a positive scores above a negative, ties by half."""
    if not positive or not negative:
        raise ValueError("an empty side has no AUC")
    high, low = np.array(positive)[:, None], np.array(negative)[None, :]
    return float(((high > low).sum() + 0.5 * (high == low).sum()) / (high.size * low.size))
