"""What a segment knows of one term standing wherever another does makes searches shorter and changes no page."""

import random
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from clearcite.adapters.indexes import local_build
from clearcite.adapters.indexes.local import LocalIndex
from clearcite.adapters.indexes.local_format import Segment, SegmentWriter, Shape, term_keys
from clearcite.adapters.indexes.local_view import LocalView
from clearcite.domain.digest import digest
from clearcite.domain.manifest import PipelineManifest
from clearcite.domain.retrieval import LexicalQuery
from clearcite.domain.terms import KEY_BYTES, TERM_BYTES, Terms
from clearcite.ports import IndexEntry
from clearcite.testing.index_fakes import MemoryIndex, ReadableSlots
from clearcite.text.analysis import Analyzer
from clearcite.text.keys import document_keys, term_key
from tests.support.dice import new_seed

PIPELINE = PipelineManifest(parser="p", chunker="c", analysis="a", embedder=None)
WORDS = (
    "run", "runs", "running", "runner", "walk", "walks", "walked", "walking", "publico",
    "público", "publicação", "publicaciones", "log", "logs", "24h", "1,000", "the", "os",
    "de", "que", "risk-based", "riskbased", "e-mail", "email", "v2.6", "protein", "proteins",
    "and", "are", "for", "is",
)  # fmt: skip
QUESTIONS = (
    "running walks", "runs runs walked proteins", "público publicação", "risk-based e-mail", "logs 24h", "protein",
)  # fmt: skip


def entries(chance: random.Random, number: int) -> list[IndexEntry]:
    """Texts in two languages, and some in none, where no word has a stem; the last words are English only."""
    analyzer = Analyzer(("en", "pt"))
    made: list[IndexEntry] = []
    for n in range(number):
        language = chance.choice(("en", "en", "pt", "de"))
        text = " ".join(chance.choices(WORDS if language == "en" else WORDS[:18], k=chance.randrange(1, 12)))
        made.append(entry(n, document_keys(analyzer, text, language)))
    return made


def entry(number: int, terms: Terms) -> IndexEntry:
    return IndexEntry(chunk_id=digest("chunk", number)[:32], partition="t", slot=number, terms=terms)


def asked() -> Iterator[LexicalQuery]:
    analyzer = Analyzer(("en", "pt"))
    for text in QUESTIONS:
        yield LexicalQuery(terms=analyzer.analyze_question(text))


def built(folder: Path, some: Sequence[IndexEntry], size: int) -> LocalView:
    index = LocalIndex(folder, PIPELINE)
    names = [name for at in range(0, len(some), size) for name in index.write(some[at : at + size])]
    return index.open(index.commit(None, names))


def merged(folder: Path, some: Sequence[IndexEntry], size: int) -> Segment:
    """Entries in segments of ``size`` and one that is gone in each, so that they are merged into one."""
    index = LocalIndex(folder, PIPELINE)
    batches = [some[at : at + size] for at in range(0, len(some), size)]
    names = [
        name
        for n, batch in enumerate(batches)
        for name in index.write([*batch, entry(1000 + n, batch[0].terms)])
    ]
    manifest, live = index.commit(None, names), np.arange(2000) < 1000
    (segment,) = index.open(
        index.commit(manifest, *(index.merge(manifest, lambda _: live, erase=True) or ((), ())))
    ).segments
    return segment


def lies(some: Sequence[IndexEntry], chance: random.Random) -> list[IndexEntry]:
    """The same entries with hints of any term of the chunk, of the term itself and of none."""

    def lie(terms: Terms) -> Terms:
        keys = [terms.keys[at : at + KEY_BYTES] for at in range(0, len(terms.keys), TERM_BYTES)]
        hints = [chance.choice(keys)[:8] if chance.random() < 0.8 else bytes(8) for _ in keys]
        return replace(terms, keys=b"".join(key + hint for key, hint in zip(keys, hints, strict=True)))

    return [replace(item, terms=lie(item.terms)) for item in some]


def pages(view: LocalView, others: Sequence[IndexEntry]) -> list[bool]:
    """Whether each question has the pages of the index that is made of dictionaries, for who reads all and less."""
    memory = MemoryIndex(PIPELINE)
    wanted = memory.open(memory.commit(None, memory.write(others)))
    scopes = [ReadableSlots({"t": range(len(others))}), ReadableSlots({"t": range(0, len(others), 2)})]
    return [
        view.search(query, scope, None, 9) == wanted.search(query, scope, None, 9)
        for query in asked()
        for scope in scopes
    ]


@pytest.mark.parametrize("cells", [0, 1 << 16])
def test_no_page_changes_by_what_is_covered_or_by_what_is_said_to_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cells: int
) -> None:
    monkeypatch.setattr("clearcite.adapters.indexes.local_match._CELLS", cells)
    seed = new_seed()
    chance = random.Random(seed)
    for size in (1, 3, 60):
        some = entries(chance, 60)
        for name, those in (("said", some), ("lies", lies(some, chance))):
            view = built(tmp_path / f"{name}-{size}", those, size)
            assert all(pages(view, some)), (seed, size, name)
            everything = merged(tmp_path / f"{name}-{size}-merged", those, size)
            assert all(pages(LocalView([everything]), some)), (seed, size, name)


def test_control_believing_every_hint_would_change_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(3)
    some = entries(chance, 60)
    monkeypatch.setattr("clearcite.adapters.indexes.local_match._CELLS", 0)
    monkeypatch.setattr(local_build, "_covers", lambda likely, _: likely)
    monkeypatch.setattr(
        local_build, "agreed", lambda terms, values, count, nothing: last(terms, values, count)
    )
    assert not all(pages(built(tmp_path, some, 60), some))


def last(terms: np.ndarray, values: np.ndarray, count: int) -> np.ndarray:
    out = np.zeros(count, np.int64)
    out[terms] = values
    return out


def test_every_word_with_a_stem_is_covered_in_a_segment_of_one_language(tmp_path: Path) -> None:
    analyzer, chance = Analyzer(("en",)), random.Random(4)
    texts = [" ".join(chance.choices(WORDS, k=9)) for _ in range(200)]
    (segment,) = built(
        tmp_path, [entry(n, document_keys(analyzer, text, "en")) for n, text in enumerate(texts)], 200
    ).segments
    terms = {term for text in texts for term in analyzer.analyze_document(text, "en")}
    for word in ("run", "runs", "running", "walked", "proteins", "publico", "logs"):
        stem = next(
            term for term in analyzer.analyze_document(word, "en") if term.startswith("en:") and term in terms
        )
        _, (here, there) = segment.find(term_keys([term_key("=" + word), term_key(stem)]))
        assert segment.covers[here] == there, word
    _, (here, alone) = segment.find(term_keys([term_key("en:run"), term_key("#24h")]))
    assert segment.covers[here] == segment.covers[alone] == -1


def test_merging_finds_the_covers_of_writing_at_once(tmp_path: Path) -> None:
    seed = new_seed()
    chance = random.Random(seed)
    some = entries(chance, 60)
    (once,) = built(tmp_path / "once", some, 60).segments
    several = merged(tmp_path / "several", some, 7)
    assert np.array_equal(once.high, several.high)
    assert np.array_equal(once.covers, several.covers), seed
    assert 0 < np.count_nonzero(once.covers >= 0) < once.covers.size


def test_a_segment_written_before_there_were_covers_is_read_and_merged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    some = entries(random.Random(5), 40)
    with monkeypatch.context() as before:
        before.setattr(local_build, "Shape", partial(Shape, has_covers=False))
        append = SegmentWriter.append
        before.setattr(
            SegmentWriter, "append", lambda out, name, some: name == "covers" or append(out, name, some)
        )
        built(tmp_path, some, 20)
    index = LocalIndex(tmp_path, PIPELINE)
    (manifest,) = [path.stem for path in tmp_path.glob("*.manifest")]
    assert all(path.read_bytes()[:8] == b"clrcite2" for path in tmp_path.glob("*.segment"))
    view = index.open(manifest)
    assert all((segment.covers == -1).all() for segment in view.segments)
    assert all(pages(view, some))
    live = np.arange(40) % 20 > 0
    manifest = index.commit(manifest, *(index.merge(manifest, lambda _: live, erase=True) or ((), ())))
    index.sweep([manifest])
    assert [path.read_bytes()[:8] for path in tmp_path.glob("*.segment")] == [b"clrcite3"]
    left = [item for item in some if live[item.slot]]
    scope = ReadableSlots({"t": [item.slot for item in left]})
    memory = MemoryIndex(PIPELINE)
    wanted = memory.open(memory.commit(None, memory.write(left)))
    for query in asked():
        assert index.open(manifest).search(query, scope, None, 9) == wanted.search(query, scope, None, 9)
