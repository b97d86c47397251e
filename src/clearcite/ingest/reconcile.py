"""Does everything that is stored still follow from the original bytes? Never needed for safety: a question checks
what it reads by itself.

The ledger's rows are held against each other; then each served build is made again from the bytes its source gave,
as ingestion would, and compared with the stored text, its chunks and the entries of the index.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from clearcite.domain.corpus import Chunk, DocumentKey, build_seal, chunk_id
from clearcite.domain.digest import sha256_text
from clearcite.domain.manifest import PipelineManifest
from clearcite.domain.reconcile import KINDS, MOST_EXAMPLES, Kind, Mismatch, Reconciliation
from clearcite.errors import DependencyUnavailable, InputError, IntegrityFault
from clearcite.ingest.build import VECTOR_TRUNCATED, Builder, Outcome
from clearcite.keeping import Examination, Served
from clearcite.ports import IndexEntry, IndexView
from clearcite.storing import Job
from clearcite.wire import loads
from clearcite.wire.convert import from_json

REBUILD = "clearcite index build"
Tick = Callable[[str], None]

CHECKED = ("documents", "revisions", "builds", "chunks", "not_read_again", "without_vector", "unmerged")
INDEX_KINDS: Mapping[str, Kind] = {
    "missing": "index_missing",
    "extra": "index_extra",
    "differs": "index_differs",
}


class Remaker(Struct, frozen=True, kw_only=True):
    """What is needed to make the builds of one generation again. ``builder`` is None where another parser made
    them; one without an embedder leaves vectors uncompared."""

    view: IndexView
    builder: Builder | None


Remake = Callable[[str, PipelineManifest, str | None], Remaker]
"""(generation, its manifest, the name of its index manifest) → what makes it again."""


def reconcile(
    examination: Examination, remake: Remake, *, while_pending: bool = False, tick: Tick = lambda _: None
) -> Reconciliation:
    """Compare everything, row by row, in memory that does not grow with the store.

    ``tick`` is told of each row looked at. Raises DependencyUnavailable while a worker still has something to do,
    unless ``while_pending``: then what waits is counted like the rest.
    """
    waiting = examination.waiting()
    if waiting and not while_pending:
        raise DependencyUnavailable(
            f"{waiting} events wait, so what is stored may rightly differ. Work them off first: clearcite ingest;"
            " or count them as well: clearcite reconcile --while-pending"
        )
    tally = _Tally(tick=tick)
    known = map(_manifest, examination.manifests())
    hashes = [manifest.hash() for manifest in known if manifest is not None]
    for mismatch in examination.mismatches(hashes, tally.see):
        tally.add(mismatch)
    for name, raw, index_manifest in examination.generations():
        manifest = _manifest(raw)
        if manifest is None:
            tally.add(Mismatch(kind="unreadable", generation=name, detail="the manifest of a generation"))
        else:
            _Generation(examination, name, manifest, tally).check(remake, index_manifest)
    return tally.report(examination.position)


def with_rebuild(message: str) -> str:
    """What is wrong with an index, with the command that mends it, unless it is named there."""
    return message if REBUILD in message else f"{message} Build it again: {REBUILD}"


def _manifest(raw: str) -> PipelineManifest | None:
    try:
        manifest: PipelineManifest = from_json(PipelineManifest, loads(raw))
    except InputError:
        return None
    return manifest


class _Tally(Struct):
    """Counts, and the first examples of each kind."""

    tick: Tick
    checked: Counter[str] = field(default_factory=Counter)
    found: Counter[Kind] = field(default_factory=Counter)
    examples: dict[Kind, list[Mismatch]] = field(default_factory=dict)

    def see(self, what: str) -> None:
        self.checked[what] += 1
        self.tick(what)

    def add(self, mismatch: Mismatch) -> None:
        self.found[mismatch.kind] += mismatch.number
        examples = self.examples.setdefault(mismatch.kind, [])
        if len(examples) < MOST_EXAMPLES:
            examples.append(mismatch)

    def report(self, position: int) -> Reconciliation:
        return Reconciliation(
            position=position,
            checked={name: self.checked[name] for name in CHECKED},
            mismatches={kind: self.found[kind] for kind in KINDS},
            examples=tuple(item for kind in KINDS for item in self.examples.get(kind, ())),
        )


class _Generation(Struct, frozen=True):
    """One generation on its way through the check."""

    examination: Examination
    name: str
    manifest: PipelineManifest
    tally: _Tally

    def check(self, remake: Remake, index_manifest: str | None) -> None:
        """An index that cannot be opened or read is a finding as well, and the builds are looked at nevertheless."""
        try:
            remaker = remake(self.name, self.manifest, index_manifest)
        except (IntegrityFault, DependencyUnavailable) as fault:
            self._add("index_differs", None, with_rebuild(fault.message))
            self._check_by_hashes()
            return
        if remaker.builder is None:
            self._check_by_hashes()
            self._check_sums(remaker.view)
        else:
            self._compare(remaker.view, remaker.builder)

    def _check_by_hashes(self) -> None:
        for served in self._stored():
            self._check_stored(served)
            self.tally.see("not_read_again")

    def _compare(self, view: IndexView, builder: Builder) -> None:
        before = self.tally.found.copy()
        for item in view.differences(self._entries(builder)):
            state = self.examination.slot_state(self.name, item.partition, item.slot)
            if item.what == "extra" and state == "past":
                self.tally.see("unmerged")
            else:
                detail = f"{item.partition}: slot {item.slot}, chunk {item.chunk_id}"
                self._add(INDEX_KINDS[item.what], None, detail)
        if all(self.tally.found[kind] == before[kind] for kind in INDEX_KINDS.values()):
            self._check_sums(view)

    def _check_sums(self, view: IndexView) -> None:
        """What was not compared entry by entry: vectors that were not computed again, bytes between arrays."""
        try:
            view.check()
        except IntegrityFault:
            self._add("index_differs", None, with_rebuild("a segment does not give its checksum."))

    def _entries(self, builder: Builder) -> Iterator[IndexEntry]:
        """What should stand in the index, made again from the original bytes."""
        for served, outcome in self._made_again(builder):
            self._check_stored(served)
            key = served.job.key
            if isinstance(outcome, InputError):
                self._add("projection", key, "the original bytes cannot be read any more")
                continue
            built, entries = outcome
            blind = builder.embedder is None
            same = (served.text, served.title, served.normal_sha256, _comparable(served.chunks, blind))
            if same != (built.text, built.title, built.normal_sha256, _comparable(built.chunks, blind)):
                self._add("projection", key, "reading the original bytes again gives something else")
            if blind and self.manifest.embedder is not None:
                self.tally.checked["without_vector"] += len(entries)
            yield from sorted(entries, key=lambda entry: entry.chunk_id)

    def _made_again(self, builder: Builder) -> Iterator[tuple[Served, Outcome]]:
        taken: deque[Served] = deque()

        def jobs() -> Iterator[Job]:
            for served in self._stored():
                taken.append(served)
                yield served.job

        for _, outcome in builder.build_all(jobs()):
            yield taken.popleft(), outcome

    def _stored(self) -> Iterator[Served]:
        for served in self.examination.served(self.name):
            if isinstance(served, Mismatch):
                self.tally.add(served)
            else:
                yield served

    def _check_stored(self, served: Served) -> None:
        """A build against its own hashes."""
        job = served.job
        if sha256_text(served.text) != served.text_sha256:
            self._add("text_hash", job.key, "the served text")
        if build_seal(served.title, served.normal_sha256) != served.seal:
            self._add("text_hash", job.key, "the seal of a build")
        end = 0
        for ordinal, (chunk, seal) in enumerate(zip(served.chunks, served.chunk_seals, strict=True)):
            self.tally.see("chunks")
            if not self._is_sound(chunk, served) or chunk.seal() != seal:
                self._add("chunk_hash", job.key, f"chunk {chunk.chunk_id}")
            if chunk.ordinal != ordinal or chunk.start < end:
                self._add("chunk_order", job.key, f"chunk {chunk.chunk_id}")
            end = chunk.end

    def _is_sound(self, chunk: Chunk, served: Served) -> bool:
        job, span = served.job, (chunk.start, chunk.end)
        return (
            chunk.text == served.text[chunk.start : chunk.end]
            and sha256_text(chunk.text) == chunk.sha256
            and chunk.chunk_id == chunk_id(job.key, job.content_sha256, self.manifest.chunker, span)
        )

    def _add(self, kind: Kind, key: DocumentKey | None, detail: str) -> None:
        self.tally.add(Mismatch(kind=kind, generation=self.name, key=key, detail=detail))


def _comparable(chunks: Sequence[Chunk], blind: bool) -> tuple[Chunk, ...]:
    """``blind``: without an embedder nobody can say which texts were too long for it."""
    if not blind:
        return tuple(chunks)
    return tuple(
        replace(chunk, flags=tuple(flag for flag in chunk.flags if flag != VECTOR_TRUNCATED))
        for chunk in chunks
    )
