"""How fast the embedded index searches, beside SQLite FTS5 and tantivy on the same chunks in the same run.

    python -m bench.search [--chunks 100000] [--questions 300] [--limit 100] [--json FILE] [--skip-others]

Chunks of about 100 words are made of shuffled SciFact sentences, the questions are its 300 test claims. Each
engine answers every question once to warm up and three times under the clock, on one thread (the numpy kernel takes
a second one where there is one), for callers who may read all, a tenth or a hundredth of the chunks. p50 and p95 are
over all runs; best is the median over questions of each one's fastest run, which is what a machine with busy
neighbours can still tell.

Vectors are drawn at random: every readable one is multiplied, so that the time does not depend on what they hold. How
long this machine takes to read all of them once, as a sum of eight bytes at a time, is measured beside them.

FTS5 filters with a join against a table of (chunk, group), tantivy with a required term; both count hidden chunks
into their statistics, so that their lists are not ours. Ours finds a word by the word itself and its stems, which
is two lists of postings where theirs is one.
"""

import argparse
import gzip
import json
import os
import random
import resource
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import apsw
import numpy as np
from msgspec import Struct, field

from bench.kept import keep_json
from clearcite.adapters.indexes import local_dense
from clearcite.adapters.indexes.local import LocalIndex
from clearcite.adapters.indexes.local_view import LocalView
from clearcite.domain.digest import digest
from clearcite.domain.manifest import PipelineManifest
from clearcite.domain.retrieval import DenseQuery, LexicalQuery, QueryTerm
from clearcite.ports import IndexEntry, Vector
from clearcite.text.analysis import Analyzer
from clearcite.text.keys import packed

SHARES = (100, 10, 1)
ROUNDS = 3
DIMS = 384
PIPELINE = PipelineManifest(parser="bench", chunker="bench", analysis="bench", embedder="bench")
TARGETS = {"lexical": (1.0, 0.7, 0.4), "dense": (3.0, 1.0, 0.3), "dense numpy": (6.0, 6.0, 6.0)}


Times = Sequence[Sequence[float]]


class Corpus(Struct):
    """``words``: the text of each chunk. ``draw``: a number from 0 to 99 a chunk; below the share: readable."""

    words: list[str]
    terms: list[dict[str, int]]
    draw: np.ndarray
    questions: list[str]


class Table(Struct):
    rows: list[dict[str, Any]] = field(default_factory=list)

    def add(self, what: str, share: int | None, times: Times, target: float | None = None) -> float:
        """``times``: a list of runs for each input. Returns the p50."""
        runs = sorted(time for some in times for time in some)
        p50, p95 = runs[len(runs) // 2] * 1e3, runs[int(len(runs) * 0.95)] * 1e3
        best = sorted(min(some) for some in times)[len(times) // 2] * 1e3
        row = {"what": what, "readable_percent": share, "p50_ms": p50, "p95_ms": p95, "best_ms": best}
        row = {key: round(value, 3) if isinstance(value, float) else value for key, value in row.items()}
        self.rows.append(row | {"target_ms": target, "runs": len(runs)})
        verdict = "" if target is None else ("  ok" if p50 <= target else f"  over {target} ms")
        readable = "" if share is None else f"{share} %"
        print(
            f"{what:34} {readable:>6} p50 {p50:8.3f}  p95 {p95:8.3f}  best {best:8.3f} ms{verdict}",
            flush=True,
        )
        return p50

    def note(self, what: str, value: float, unit: str) -> None:
        self.rows.append({"what": what, "value": round(value, 3), "unit": unit})
        print(f"{what:48} {value:12.3f} {unit}", flush=True)


class Mask:
    """A ``Readable`` of one partition."""

    partitions = ("t",)

    def __init__(self, mask: np.ndarray, token: object) -> None:
        self._mask, self.token = mask, (token,)

    def mask(self, partition: str) -> np.ndarray:  # noqa: ARG002
        return self._mask


def main() -> int:
    options = _options()
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":  # numpy reads it once, when it is imported
        environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        os.execve(sys.executable, [sys.executable, "-m", "bench.search", *sys.argv[1:]], environment)
    data = Path(options.data)
    if not (data / "corpus.jsonl.gz").exists():
        print(f"no SciFact in {data}; name it with --data", file=sys.stderr)
        return 2
    corpus = make_corpus(data, options.chunks, options.questions, random.Random(options.seed))
    table = Table()
    folder = Path(tempfile.mkdtemp(prefix="clearcite-bench-"))
    try:
        ours = measure_ours(folder / "index", corpus, options.limit, table)
        if not options.skip_others:
            for name, measure in (("FTS5 + ACL join", measure_fts5), ("tantivy + filter", measure_tantivy)):
                others = measure(folder, corpus, options.limit, table)
                for share, p50 in others.items():
                    table.note(f"{name} / ours at {share} %", p50 / ours[share], "times")
    finally:
        shutil.rmtree(folder)
    table.note("peak memory", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "MB")
    sizes = {name: value for name, value in vars(options).items() if name not in ("data", "json")}
    keep_json(options.json, {"options": sizes, "rows": table.rows})
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    default = os.environ.get("CLEARCITE_TEST_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data"
    parser.add_argument("--data", default=str(Path(default) / "scifact"))
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--limit", type=int, default=100)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--json")
    parser.add_argument("--skip-others", action="store_true")
    return parser.parse_args()


def make_corpus(data: Path, chunks: int, questions: int, random_: random.Random) -> Corpus:
    """Sentences are analysed once and then mixed, which is much faster than analysing every chunk."""
    analyzer = Analyzer()
    sentences: list[str] = []
    with gzip.open(data / "corpus.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            sentences += [s for s in json.loads(line)["text"].split(". ") if len(s) > 20]
    analysed = [(s, len(s.split()), analyzer.analyze_document(s, "en")) for s in sentences]
    words: list[str] = []
    terms: list[dict[str, int]] = []
    for _ in range(chunks):
        size, text, counts = 0, [], Counter[str]()
        while size < 90:
            sentence, length, some = analysed[random_.randrange(len(analysed))]
            text.append(sentence)
            counts.update(some)
            size += length
        words.append(". ".join(text))
        terms.append(dict(counts))
    with (data / "queries.test.jsonl").open(encoding="utf-8") as file:
        asked = [json.loads(line)["text"] for line in file][:questions]
    draw = np.array([random_.randrange(100) for _ in range(chunks)])
    return Corpus(words=words, terms=terms, draw=draw, questions=asked)


def clock(run: Callable[[Any], object], inputs: Sequence[Any]) -> Times:
    for item in inputs:
        run(item)
    times: list[list[float]] = [[] for _ in inputs]
    for _ in range(ROUNDS):
        for item, some in zip(inputs, times, strict=True):
            start = time.perf_counter()
            run(item)
            some.append(time.perf_counter() - start)
    return times


def measure_ours(root: Path, corpus: Corpus, limit: int, table: Table) -> dict[int, float]:
    index, manifest = build(root, corpus, table)
    analyzer = Analyzer()
    asked = [LexicalQuery(terms=analyzer.analyze_question(text)) for text in corpus.questions]
    written = index.open(manifest)
    for share in SHARES:
        readable = Mask(corpus.draw < share, share)
        times = clock(lambda query, r=readable: written.search(query, r, None, limit), asked)
        table.add(f"lexical, {len(written.segments)} segments as written", share, times)
    manifest = in_one(index, manifest, len(corpus.terms), table)
    table.note("index on disk", sum(path.stat().st_size for path in root.glob("*.segment")) / 1e6, "MB")
    opened = clock(lambda _: LocalIndex(root, PIPELINE).open(manifest), range(7))
    table.add("open", None, opened, 300)
    view = LocalIndex(root, PIPELINE).open(manifest)
    result = {}
    for share, target in zip(SHARES, TARGETS["lexical"], strict=True):
        readable = Mask(corpus.draw < share, share)
        times = clock(lambda query, r=readable: view.search(query, r, None, limit), asked)
        result[share] = table.add("lexical, one segment", share, times, target)
    measure_dense(view, corpus, limit, table)
    measure_hidden(root, table)
    return result


def build(root: Path, corpus: Corpus, table: Table) -> tuple[LocalIndex, str]:
    """Write as ingestion does: batches of 500, each committed, merged when it is due."""
    index = LocalIndex(root, PIPELINE)
    vectors = np.random.default_rng(1).integers(-127, 128, (len(corpus.terms), DIMS), dtype=np.int8)
    everything = np.ones(len(corpus.terms), np.bool_)
    manifest = index.commit(None, ())
    writing = merging = 0.0
    for first in range(0, len(corpus.terms), 500):
        entries = [
            IndexEntry(
                chunk_id=digest("bench", i)[:32],
                partition="t",
                slot=i,
                terms=packed(corpus.terms[i], "en"),
                vector=Vector(data=vectors[i].tobytes(), scale=1000 + i % 50),
            )
            for i in range(first, min(first + 500, len(corpus.terms)))
        ]
        start = time.perf_counter()
        manifest = index.commit(manifest, index.write(entries))
        writing += time.perf_counter() - start
        start = time.perf_counter()
        if merged := index.merge(manifest, lambda _: everything):
            manifest = index.commit(manifest, *merged)
            index.sweep([manifest])
        merging += time.perf_counter() - start
    table.note("written and committed, 500 at a time", len(corpus.terms) / writing, "chunks/s")
    table.note("the same with merging and sweeping", len(corpus.terms) / (writing + merging), "chunks/s")
    return index, manifest


def in_one(index: LocalIndex, manifest: str, chunks: int, table: Table) -> str:
    """One chunk of each segment goes, so that erasing writes them all anew, as one."""
    live = np.ones(chunks, np.bool_)
    live[[int(segment.slots[-1]) for segment in index.open(manifest).segments]] = False
    start = time.perf_counter()
    manifest = index.commit(manifest, *(index.merge(manifest, lambda _: live, erase=True) or ((), ())))
    table.note("merged into one", chunks / (time.perf_counter() - start), "chunks/s")
    index.sweep([manifest])
    return manifest


def measure_dense(view: LocalView, corpus: Corpus, limit: int, table: Table) -> None:
    rng = np.random.default_rng(2)
    asked = [DenseQuery(vector=rng.integers(-127, 128, DIMS, dtype=np.int8).tobytes()) for _ in range(100)]
    kernels = {"dense numpy": local_dense.numpy_dots}
    if local_dense.kernel_name() == "simsimd":
        kernels = {"dense": local_dense.simsimd_dots} | kernels
    chosen = local_dense.dots
    for name, kernel in kernels.items():
        local_dense.dots = kernel
        for share, target in zip(SHARES, TARGETS[name], strict=True):
            readable = Mask(corpus.draw < share, share)
            times = clock(lambda query, r=readable: view.search(query, r, None, limit), asked)
            label = (
                f"{name} {DIMS}, limit {limit}" if name != "dense" else f"dense simsimd {DIMS}, limit {limit}"
            )
            table.add(label, share, times, target)
    local_dense.dots = chosen
    words = [segment.vectors.reshape(-1).view(np.int64) for segment in view.segments]
    table.add("reading the vectors once", None, clock(lambda _: [some.sum() for some in words], range(100)))


def measure_hidden(root: Path, table: Table) -> None:
    """What hidden matches of one word cost a caller who may read 100 chunks: in random order, 0 twice (A/A)."""
    query = LexicalQuery(terms=(QueryTerm(surface="common", forms=("=common",)),))
    names = ("0", "0 again", "10", "1,000", "100,000")
    runs = []
    for number, hidden in enumerate((0, 0, 10, 1_000, 100_000)):
        index = LocalIndex(root.with_name(f"hidden-{number}"), PIPELINE)
        entries = [
            IndexEntry(
                chunk_id=digest("h", i)[:32], partition="t", slot=i, terms=packed({"=common": 1 + i % 3})
            )
            for i in range(100 + hidden)
        ]
        view = index.open(index.commit(None, index.write(entries)))
        readable = Mask(np.arange(100 + hidden) < 100, number)
        runs.append(lambda v=view, r=readable: v.search(query, r, None, 10))
    times: list[list[float]] = [[] for _ in runs]
    order = list(range(len(runs))) * 400
    random.Random(3).shuffle(order)
    for which in order:
        start = time.perf_counter()
        runs[which]()
        times[which].append(time.perf_counter() - start)
    medians = [float(np.median(some)) * 1e3 for some in times]
    for name, median in zip(names[1:], medians[1:], strict=True):
        table.note(f"one word, {name} hidden matches, above none", median - medians[0], "ms (at most 0.5)")


def measure_fts5(folder: Path, corpus: Corpus, limit: int, table: Table) -> dict[int, float]:
    connection = apsw.Connection(str(folder / "fts.db"))
    connection.execute("pragma journal_mode=off; pragma synchronous=off; pragma cache_size=-400000")
    connection.execute("create virtual table chunk using fts5(body, tokenize='porter unicode61')")
    connection.execute("create table acl(id integer, grp integer, primary key(id, grp)) without rowid")
    start = time.perf_counter()
    with connection:
        connection.executemany("insert into chunk(rowid, body) values (?, ?)", enumerate(corpus.words))
        rows = [(i, share) for i, draw in enumerate(corpus.draw.tolist()) for share in SHARES if draw < share]
        connection.executemany("insert into acl values (?, ?)", rows)
        connection.execute("insert into chunk(chunk) values ('optimize')")
    table.note("FTS5 built", len(corpus.words) / (time.perf_counter() - start), "chunks/s")
    sql = (
        "select chunk.rowid, bm25(chunk) as score from chunk join acl on acl.id = chunk.rowid"
        " where chunk.body match ? and acl.grp = ? order by score limit ?"
    )
    asked = [" OR ".join(f'"{word}"' for word in words_of(text)) for text in corpus.questions]
    result = {}
    for share in SHARES:
        times = clock(lambda q, s=share: connection.execute(sql, (q, s, limit)).fetchall(), asked)
        result[share] = table.add("FTS5 bm25, ACL join", share, times)
    connection.close()
    return result


def measure_tantivy(folder: Path, corpus: Corpus, limit: int, table: Table) -> dict[int, float]:
    try:
        import tantivy
    except ImportError:
        print("tantivy is not installed; left out", flush=True)
        return {}
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("body", tokenizer_name="en_stem", index_option="freq")
    builder.add_unsigned_field("grp", indexed=True)
    schema = builder.build()
    (folder / "tantivy").mkdir()
    index = tantivy.Index(schema, path=str(folder / "tantivy"))
    writer = index.writer(heap_size=200_000_000, num_threads=1)
    start = time.perf_counter()
    for text, draw in zip(corpus.words, corpus.draw.tolist(), strict=True):
        document = tantivy.Document(body=text)
        for share in SHARES:
            if draw < share:
                document.add_unsigned("grp", share)
        writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()
    table.note("tantivy built", len(corpus.words) / (time.perf_counter() - start), "chunks/s")
    index.reload()
    searcher = index.searcher()
    result = {}
    for share in SHARES:
        allowed = tantivy.Query.term_query(schema, "grp", share)
        allowed = tantivy.Query.const_score_query(allowed, 0.0)
        asked = []
        for text in corpus.questions:
            words = index.parse_query(" ".join(words_of(text)), ["body"])
            must = tantivy.Occur.Must
            asked.append(
                words if share == 100 else tantivy.Query.boolean_query([(must, words), (must, allowed)])
            )
        times = clock(lambda query: searcher.search(query, limit, count=False), asked)
        result[share] = table.add("tantivy, required group", share, times)
    return result


def words_of(text: str) -> list[str]:
    """The words of a question without stop words, as FTS5 and tantivy are asked."""
    words = [term.surface for term in Analyzer().analyze_question(text)]
    return [word for word in words if word.isalnum()]


if __name__ == "__main__":
    sys.exit(main())
