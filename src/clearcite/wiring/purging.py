"""Settings → a purge: erase from every store, read every byte back, write a receipt.

A purge that was interrupted is completed by the next one: everything but the choice of documents is done for the
whole store each time.
"""

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from clearcite.adapters.indexes.local import LocalIndex
from clearcite.adapters.indexes.local_erase import dead_entries, strangers
from clearcite.adapters.ledgers.sqlite import open_sqlite_ledger
from clearcite.adapters.parsers.child import ChildParser
from clearcite.adapters.presence import Lock
from clearcite.adapters.remains import MOST_OF_ONE, Fragments, files_of, fragments_of, scan
from clearcite.adapters.traces.sqlite import open_sqlite_traces
from clearcite.config import Settings
from clearcite.domain.access import Micros
from clearcite.domain.audit import ERASURE
from clearcite.domain.manifest import PipelineManifest
from clearcite.domain.purge import Erasable, Erased, Receipt, Selection, StoreLine, StoreState
from clearcite.errors import InputError, IntegrityFault
from clearcite.ingest.pipeline import sweep
from clearcite.storing import Ledger, Parser, TraceStore
from clearcite.wire import canonical, loads
from clearcite.wire.convert import from_json, to_json
from clearcite.wiring.parts import INDEX, LEDGER, TRACES, SystemClock, existing_store
from clearcite.wiring.repeating import LEAST, Repeats

Say = Callable[[str], None]

REPLACED = ".replaced-"
"""After the name of a store, with a number: what a restore has put aside."""
MOST_FRAGMENTS = 200_000
BATCH = 500
_MERGES = 50

KEEPS = (
    "the identity, newest sequence and tombstone of each document, so that no older event brings it back",
    "ids, spans, integers and SHA-256 digests in traces and in the records of folders",
    "the names of groups in access lists",
)
NOT_PROVEN = (
    "backups and other copies of the store",
    "blocks that the file system or the disk has freed and not overwritten, its snapshots, and swap",
    "memory of processes that have the store open",
    "the source itself, and answers that were already given",
)


def purge_store(
    settings: Settings, select: Callable[[Micros], Selection], say: Say = lambda _: None
) -> Receipt:
    """``select`` makes the selection from the present instant. Raises as ``Ledger.erasable`` does."""
    store = existing_store(settings)
    clock = SystemClock()
    with ExitStack() as stack:
        ledger = stack.enter_context(closing(open_sqlite_ledger(store / LEDGER, clock)))
        traces = stack.enter_context(closing(open_sqlite_traces(store / TRACES)))
        parser = stack.enter_context(ChildParser())
        now = clock.now()
        return Purge(store=store, ledger=ledger, traces=traces, parser=parser, say=say).run(select(now), now)


NOTHING = Selection()
DAY: Micros = 86_400_000_000


def sweep_store(settings: Settings, say: Say = lambda _: None) -> Receipt:
    """What the rule of retention says, and everything that is dead in the index. The receipt is the evidence."""
    days = {
        "deleted_days": settings.keep_deleted,
        "revisions_days": settings.keep_revisions,
        "traces_days": settings.keep_traces,
    }

    def select(now: Micros) -> Selection:
        before = {name: now - number * DAY if number else None for name, number in days.items()}
        return Selection(
            deleted_before=before["deleted_days"],
            revisions_before=before["revisions_days"],
            traces_before=before["traces_days"],
            policy=tuple(days.items()),
        )

    return purge_store(settings, select, say)


def retain(settings: Settings, say: Say) -> None:
    """``sweep_store`` if there is a rule and the last time is a day ago. One process at a time."""
    if not (settings.keep_deleted or settings.keep_revisions or settings.keep_traces):
        return
    store = existing_store(settings)
    with closing(open_sqlite_ledger(store / LEDGER, SystemClock())) as ledger:
        last = ledger.status()["retention"]
    if last is not None and SystemClock().now() - last["started_at"] < DAY:
        return
    with closing(Lock(store / "retention.lock", "Another worker does it.")):
        receipt = sweep_store(settings)
    say(f"retention: purge {receipt.purge}, {'complete' if receipt.complete else 'not complete'}")


class Purge(Struct, kw_only=True):
    """One purge of an opened store."""

    store: Path
    ledger: Ledger
    traces: TraceStore
    parser: Parser
    say: Say = lambda _: None
    lines: list[StoreLine] = field(default_factory=list)
    doomed: list[int] = field(default_factory=list)
    short: int = 0
    read_files: int = 0
    read_bytes: int = 0

    def run(self, selection: Selection, now: Micros) -> Receipt:
        """Erase, then look everywhere. The receipt is kept in the ledger."""
        if selection.revisions_before is not None:
            self.ledger.end_history(selection.revisions_before)
        items, waiting = self.ledger.erasable(selection)
        return self.erase(items, now, selection, waiting)

    def erase(
        self, items: Sequence[Erasable], now: Micros, selection: Selection = NOTHING, waiting: int = 0
    ) -> Receipt:
        """``run`` for revisions that were chosen already."""
        repeats = Repeats(self._questions())
        wanted = Fragments(self._fragments(items, repeats))
        self.doomed = [revision for item in items for revision in item.revisions]
        policy = canonical(dict(selection.policy)).decode("ascii") if selection.policy else None
        number = self.ledger.begin_purge(policy)
        if selection.traces_before is not None:
            self._drop_traces(selection.traces_before)
        # First: after an interrupt nobody knows any more what to look for.
        self._check_traces(wanted, repeats)
        erased: list[Erased] = []
        for start in range(0, len(items), BATCH):
            self.say(f"erasing {start + 1} of {len(items)}")
            erased += self.ledger.erase(items[start : start + BATCH])
        self._erase_index()
        self._check_ledger(wanted, erased)
        self._check_rest(wanted)
        self._check_replaced(wanted)
        if self.short:
            detail = f"{self.short} revisions have no line of {LEAST} characters; a question that repeats one stays"
            self.lines.append(StoreLine(store="short texts in traces", state="unsupported", detail=detail))
        self.lines += _NOT_OURS
        receipt = Receipt(
            purge=number,
            store_id=self.ledger.store_id(),
            at=now,
            documents=tuple(erased),
            waiting=waiting,
            stores=tuple(self.lines),
            fragments=len(wanted.all),
            files=self.read_files,
            bytes=self.read_bytes,
            keeps=KEEPS,
            not_proven=NOT_PROVEN,
            complete=not waiting and all(line.is_done for line in self.lines),
        )
        self.ledger.finish_purge(number, canonical(to_json(receipt)).decode("utf-8"))
        return receipt

    def _questions(self) -> Iterator[tuple[int, str]]:
        with self.traces.entries() as entries:
            for entry in entries:
                if entry.body is not None and entry.kind != ERASURE:
                    yield entry.number, _question_of(entry.body)

    def _fragments(self, items: Sequence[Erasable], repeats: Repeats) -> Iterator[bytes]:
        """Of every text that is to be erased, in each form in which it may stand somewhere."""
        most = max(8, min(MOST_OF_ONE, MOST_FRAGMENTS // max(1, sum(len(item.revisions) for item in items))))
        for item in items:
            for description, textual, content, text in self.ledger.contents(item):
                texts = [content, *_words(description)]
                if text is not None:
                    texts.append(text.encode("utf-8"))
                if not textual:
                    texts.append(self._parsed(content, description))
                words = b"\n".join(texts if textual else texts[1:]).decode("utf-8", "replace")
                self.short += not repeats.add(words)
                for one in texts:
                    yield from fragments_of(one, most)

    def _parsed(self, content: bytes, description: str) -> bytes:
        """What was read out of a document that is no text; nothing where it cannot be read."""
        try:
            return self.parser.parse(content, json.loads(description)["media_type"]).text.encode("utf-8")
        except InputError:
            return b""

    def _erase_index(self) -> None:
        active = {row["name"] for row in self.ledger.status()["generations"] if row["state"] != "retired"}
        folders = sorted(path for path in (self.store / INDEX).glob("*") if path.is_dir())
        for folder in folders:
            if folder.name not in active:
                shutil.rmtree(folder)
        with self.ledger.examine() as examination:
            generations = examination.generations()
        for name, raw, _ in generations:
            self.say(f"merging {name}")
            manifest: PipelineManifest = from_json(PipelineManifest, loads(raw), what="the stored manifest")
            with closing(LocalIndex(self.store / INDEX / name, manifest)) as index:
                self._erase_generation(index, name)

    def _erase_generation(self, index: LocalIndex, name: str) -> None:
        merges = 0
        while merges < _MERGES and self._merge_away(index, name):
            merges += 1
        sweep(self.ledger, index, name)
        with self.ledger.examine() as examination:
            kept = {row[0]: row[2] for row in examination.generations()}.get(name)
            dead = dead_entries(index.open(kept), lambda partition: examination.live_slots(name, partition))
            left = strangers(index.root, kept)
        if dead or left:
            detail = (
                f"{dead} entries and {left} files of a worker that is running; purge again when it has ended"
            )
            self.lines.append(StoreLine(store=f"index {name}", state="in_use", detail=detail))
        else:
            state, detail = ("erased", f"{merges} merges") if merges else ("absent", "")
            self.lines.append(StoreLine(store=f"index {name}", state=state, detail=detail))  # type: ignore[arg-type]

    def _merge_away(self, index: LocalIndex, name: str) -> bool:
        """Rewrite what holds entries that are not served; whether there was any. Another worker may be faster."""
        with self.ledger.examine() as examination:
            kept = {row[0]: row[2] for row in examination.generations()}.get(name)
            if kept is None:
                return False
            merged = index.merge(kept, lambda partition: examination.live_slots(name, partition), erase=True)
        if merged is None:
            return False
        new, replaced = merged
        try:
            self.ledger.publish(name, (), lambda base: index.commit(base, new, replaced))
        except IntegrityFault:  # it was merged meanwhile: look again
            return True
        return True

    def _check_ledger(self, wanted: Fragments, erased: Sequence[Erased]) -> None:
        """The tables, free pages and log: read every byte; write the file anew if something is left."""
        self.say("reading the ledger back")
        emptied = self.ledger.scrub()
        files = [path for path in files_of(self.store) if path.name in _database(LEDGER)]
        left = self._left(files, wanted)
        if left and self.ledger.scrub(rewrite=True):
            left = self._left(files, wanted)
        number = sum(item.revisions for item in erased)
        line = StoreLine(
            store="ledger tables", state="erased" if number else "absent", detail=f"{number} revisions"
        )
        self.lines.append(line)
        if not emptied:
            detail = "the log is being read; purge again when that has ended"
            self.lines.append(StoreLine(store="ledger free pages and log", state="in_use", detail=detail))
        else:
            detail = f"{left} fragments" if left else ""
            state = "remains" if left else "erased" if number else "absent"
            self.lines.append(StoreLine(store="ledger free pages and log", state=state, detail=detail))  # type: ignore[arg-type]

    def _holding(self, found: set[bytes]) -> set[int]:
        """The traces that hold one of some fragments."""
        asked = Fragments(found)
        with self.traces.entries() as entries:
            return {
                entry.number
                for entry in entries
                if entry.body is not None and asked.found_in(entry.body.encode("utf-8"))
            }

    def _drop_traces(self, before: Micros) -> None:
        number = self.traces.forget_before(before)
        emptied = self.traces.scrub()
        state = ("erased" if number else "absent") if emptied else "in_use"
        self.lines.append(StoreLine(store="older traces", state=state, detail=f"{number} traces"))  # type: ignore[arg-type]

    def _check_traces(self, wanted: Fragments, repeats: Repeats) -> None:
        """A trace holds the question in its asker's words; one that repeats erased text goes."""
        files = [path for path in files_of(self.store) if path.name in _database(TRACES)]
        found = self._found(files, wanted)
        with self.ledger.examine() as examination:
            numbers = repeats.numbers(examination.texts(self.doomed))
        numbers |= self._holding(found) if found else set()
        dropped = self.traces.forget(sorted(numbers))
        emptied = not (found or dropped) or self.traces.scrub()
        left = self._left(files, wanted) if found else 0
        if left and self.traces.scrub(rewrite=True):
            left = self._left(files, wanted)
        if not emptied or left:
            line = StoreLine(
                store="traces", state="remains" if emptied else "in_use", detail=f"{left} fragments"
            )
        elif dropped:
            line = StoreLine(store="traces", state="erased", detail=f"{dropped} traces that repeated it")
        else:
            line = StoreLine(store="traces", state="absent")
        self.lines.append(line)

    def _check_rest(self, wanted: Fragments) -> None:
        """Every other file below the store: records of folders, copies made by migrations, whatever is there."""
        known = _database(LEDGER) | _database(TRACES)
        rest = [path for path in files_of(self.store) if path.name not in known]
        holding = [path for path in rest if self._left([path], wanted)]
        if holding:
            names = ", ".join(str(path.relative_to(self.store)) for path in holding)
            line = StoreLine(
                store="other files of the store", state="remains", detail=f"remove them: {names}"
            )
        else:
            line = StoreLine(store="other files of the store", state="absent", detail=f"{len(rest)} files")
        self.lines.append(line)

    def _check_replaced(self, wanted: Fragments) -> None:
        """Stores that a restore has put aside, beside this one: whole copies, sealed."""
        for aside in sorted(self.store.parent.glob(f"{self.store.name}{REPLACED}*")):
            left = self._left(files_of(aside), wanted)
            detail = (
                f"{left} fragments; remove it"
                if left
                else "what earlier purges erased may be there; remove it"
            )
            state: StoreState = "remains" if left else "unsupported"
            self.lines.append(StoreLine(store=f"put aside {aside.name}", state=state, detail=detail))

    def _found(self, files: Iterable[Path], wanted: Fragments) -> set[bytes]:
        """Fragments that stand in some files, and in nothing that is rightly stored."""
        found: set[bytes] = set()
        for path in files if wanted.all else ():
            some, size = scan(path, wanted)
            self.read_files += 1
            self.read_bytes += size
            found |= some
        if found:
            asked = Fragments(found)
            with self.ledger.examine() as examination:
                for text in examination.texts(self.doomed):
                    found -= asked.found_in(text)
        return found

    def _left(self, files: Iterable[Path], wanted: Fragments) -> int:
        return len(self._found(files, wanted))


_NOT_OURS = (
    StoreLine(
        store="temporary files", state="unsupported", detail="of SQLite; it removes them as it closes them"
    ),
    StoreLine(store="caches of models", state="absent", detail="none is written"),
    StoreLine(store="memory of running processes", state="unsupported"),
    StoreLine(store="backups", state="unsupported", detail="restore erases again what was purged since"),
    StoreLine(store="file system and disk", state="unsupported"),
)


def _database(name: str) -> frozenset[str]:
    return frozenset((name, f"{name}-wal", f"{name}-shm", f"{name}-journal"))


def _question_of(body: str) -> str:
    """What was asked, all texts of it. A trace that cannot be read is compared as it stands."""
    try:
        return "\n".join(_texts_in(json.loads(body)["request"]["question"]))
    except (ValueError, TypeError, KeyError, RecursionError):
        return body


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts_in(item)


def _words(description: str) -> Iterator[bytes]:
    """What a description shows of the document. Its address is not looked for: it is often its identity."""
    plain = json.loads(description)
    yield (plain.get("title") or "").encode("utf-8")
    for fact in plain.get("facts", ()):
        yield fact["statement"].encode("utf-8")
