"""Random lives of a ledger, compared with the model after every step, and with a rebuild from scratch at the end."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from copy import deepcopy
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from clearcite.adapters.ledgers.reapply import Since
from clearcite.adapters.ledgers.sqlite import open_sqlite_ledger
from clearcite.domain.access import Access, Acl
from clearcite.domain.corpus import DocumentKey, SourceRecord
from clearcite.domain.generations import Switch
from clearcite.domain.lifecycle import Decision
from clearcite.domain.purge import Selection
from clearcite.errors import InputError
from clearcite.operator import Operator
from clearcite.ports import Snapshot, StoredDocument
from clearcite.storing import Built
from clearcite.testing.clock import DAY, SECOND, PinnedClock
from clearcite.testing.library import Library
from clearcite.testing.records import MANIFEST, MANIFEST_HASH, delete, upsert
from clearcite.visibility import Visibility
from tests.property.lifecycle_model import GENERATIONS, KEYS, LISTS, READERS, RIGHTS, TEXTS, Kept, Model
from tests.support.audit import log_faults


class Crashed(BaseException):
    """The process stops here."""


class Bomb:
    """A record at which the process stops."""

    @property
    def content(self) -> bytes:
        raise Crashed


class Readable:
    """Stands for an engine: this ledger has no index that could be damaged."""

    def probe(self, _generation: str) -> None:
        pass


class Cut:
    """A switch at which the process stops, inside the transaction that makes it."""

    kind, actor, reason, forced = "promote", "olga", "to and fro", True

    @property
    def panel(self) -> str:
        raise Crashed


def switch(*, forced: bool) -> Switch:
    return Switch(kind="promote", actor="acme/olga", reason="to and fro", forced=forced)


keys = st.sampled_from(KEYS)
steps = st.integers(-1, 2)
changes = st.lists(
    st.tuples(keys, steps, st.sampled_from(TEXTS) | st.none(), st.sampled_from(RIGHTS)),
    min_size=1,
    max_size=4,
)


def contents(library: Library, who: DocumentKey) -> int:
    """How many revisions of a document have their content in a ledger."""
    sql = (
        "SELECT count(*) FROM revisions r JOIN documents d ON d.id = r.document"
        " JOIN partitions p ON p.id = d.partition WHERE (p.name, d.source_id, d.document_id) = (?, ?, ?)"
    )
    with library.ledger._reading() as db:  # type: ignore[attr-defined]
        return int(db.execute(sql, (who.tenant_id, who.source_id, who.document_id)).get)


class Lives(RuleBasedStateMachine):
    """``held``: builds that some worker still has in hand, whatever became of their leases."""

    def __init__(self) -> None:
        super().__init__()
        memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
        self.folder = Path(tempfile.mkdtemp(prefix="clearcite-lives-", dir=memory))
        self.clock = PinnedClock()
        self.library = Library(ledger=self.open(), clock=self.clock).start()
        self.model = Model()
        self.held: list[tuple[int, Built]] = []
        self.seen: list[SourceRecord] = []
        self.tickets = 0
        self.backup: Kept | None = None
        self.purged: list[tuple[DocumentKey, bool]] = []

    def open(self) -> Any:
        return open_sqlite_ledger(self.folder / "ledger.db", self.clock)

    @initialize()
    def start(self) -> None:
        self.library.start()

    def record(self, who: DocumentKey, step: int, text: str | None, rights: Access) -> SourceRecord:
        sequence = max(1, self.model.cards[who].sequence + step)
        if text is None:
            return delete(sequence, who, "user_request" if rights.trusted else "source_deleted")
        return upsert(text, sequence, who, rights)

    def apply(self, records: Sequence[SourceRecord]) -> None:
        assert self.library.actions(*records) == [self.model.apply(record) for record in records]
        self.seen += records

    @rule(batch=changes)
    def change(self, batch: list[tuple[DocumentKey, int, str | None, Access]]) -> None:
        for who, step, text, rights in batch:
            self.apply([self.record(who, step, text, rights)])

    @rule(batch=changes)
    def change_in_one_batch(self, batch: list[tuple[DocumentKey, int, str | None, Access]]) -> None:
        self.apply([self.record(*item) for item in batch])

    @rule(data=st.data())
    def repeat_old_events_in_another_order(self, data: st.DataObject) -> None:
        if self.seen:
            picks = data.draw(st.lists(st.sampled_from(range(len(self.seen))), max_size=6))
            self.apply([self.seen[pick] for pick in picks])

    @rule(batch=changes)
    def change_and_read_all_again(self, batch: list[tuple[DocumentKey, int, str | None, Access]]) -> None:
        """Under another manifest and back, with work in hand, which counts nevertheless."""
        self.change(batch)
        claimed = self.claimed(3, self.model.live)
        heads = [(who, card.sequence, card.head) for who, card in self.model.cards.items()]
        same = [upsert(head[0], at, who, head[1]) for who, at, head in heads if isinstance(head, tuple)]
        for manifest in ("manifest-2", MANIFEST_HASH):
            for applied in self.library.ledger.apply(same, manifest):
                assert applied.decision == Decision(action="reprocessed")
        for ticket, built in claimed:
            wanted = self.model.publish(ticket, self.model.live, built.job.key)
            assert bool(self.library.publish([built], self.model.live)) == wanted

    @rule(
        tenant=st.sampled_from(["acme", "globex"]),
        path=st.sampled_from(["a", "a/b"]),
        acl=st.sampled_from(LISTS),
    )
    def change_a_collection(self, tenant: str, path: str, acl: Acl | None) -> None:
        self.library.ledger.put_collection(tenant, path, acl)
        self.model.lists.pop((tenant, path), None)
        if acl is not None:
            self.model.lists[tenant, path] = acl

    @rule(limit=st.integers(1, 3), generation=st.sampled_from(GENERATIONS))
    def claim(self, limit: int, generation: str) -> None:
        if generation in self.model.active:
            self.held += self.claimed(limit, generation)

    def claimed(self, limit: int, generation: str) -> list[tuple[int, Built]]:
        """Builds of what was claimable, each with the number by which the model knows it."""
        found = []
        for built in self.library.build(self.library.claim(limit, generation=generation)):
            self.tickets += 1
            card = self.model.cards[built.job.key]
            served = card.served.get(generation)
            wanted = "delete" if isinstance(card.head, str) else "project"
            if served is not None and isinstance(card.head, tuple) and served[0] == card.head[0]:
                wanted = "access"
            assert built.job.kind == wanted
            card.tickets[generation] = self.tickets
            found.append((self.tickets, built))
        return found

    def take(self, data: st.DataObject) -> list[tuple[int, Built]]:
        """Some builds of one generation out of the workers' hands."""
        if not self.held:
            return []
        picks = sorted(data.draw(st.sets(st.sampled_from(range(len(self.held))), min_size=1, max_size=3)))
        generation = self.held[picks[0]][1].job.generation
        return [self.held[pick] for pick in picks if self.held[pick][1].job.generation == generation]

    @rule(data=st.data())
    def publish(self, data: st.DataObject) -> None:
        chosen = self.take(data)
        if chosen:
            generation = chosen[0][1].job.generation
            wanted = [b.job.key for ticket, b in chosen if self.model.publish(ticket, generation, b.job.key)]
            published = self.library.publish([built for _, built in chosen], generation)
            assert list(published) == wanted

    @rule(data=st.data())
    def crash_while_publishing(self, data: st.DataObject) -> None:
        chosen = self.take(data)

        def crash(_: str | None) -> str:
            raise Crashed

        try:
            if chosen:
                generation = chosen[0][1].job.generation
                self.library.ledger.publish(generation, [built for _, built in chosen], crash)
        except Crashed:
            self.reopen()
        else:  # nothing but acknowledgements: the index was not asked, and all of it counts
            for ticket, built in chosen:
                self.model.publish(ticket, built.job.generation, built.job.key)

    @rule(batch=changes)
    def crash_while_accepting_and_repeat(
        self, batch: list[tuple[DocumentKey, int, str | None, Access]]
    ) -> None:
        records = [self.record(*item) for item in batch]
        with pytest.raises(Crashed):
            self.library.ledger.apply([*records, Bomb()], "manifest-1")  # type: ignore[list-item]
        self.reopen()
        self.library.apply(*records)
        for record in records:
            self.model.apply(record)
        self.seen += records

    @rule(data=st.data())
    def fail(self, data: st.DataObject) -> None:
        for ticket, built in self.take(data):
            job, card = built.job, self.model.cards[built.job.key]
            self.library.ledger.fail(job, "parser")
            if card.tickets.get(job.generation) == ticket:
                del card.tickets[job.generation]

    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        for ticket, built in self.take(data):
            job, card = built.job, self.model.cards[built.job.key]
            self.library.ledger.release([job])
            if card.tickets.get(job.generation) == ticket:
                del card.tickets[job.generation]

    @rule(micros=st.sampled_from([SECOND, 40 * SECOND, DAY // 2]))
    def wait(self, micros: int) -> None:
        self.clock.advance(micros)

    @rule()
    def restart(self) -> None:
        self.reopen()

    def reopen(self) -> None:
        self.library.ledger.close()
        self.library.ledger = self.open()
        self.library.visibility = Visibility()

    @rule(who=keys)
    def quarantine(self, who: DocumentKey) -> None:
        if self.model.cards[who].head is not None:
            self.library.ledger.quarantine(who, "integrity")
            self.model.cards[who].quarantined = self.model.cards[who].marked = True

    @rule(who=keys)
    def reinstate(self, who: DocumentKey) -> None:
        card = self.model.cards[who]
        if card.head is not None:
            self.library.ledger.reinstate(who)
            card.tickets.clear()
            if card.quarantined:
                card.served.clear()
            card.quarantined = card.marked = False

    @rule()
    def purge(self) -> None:
        """Nobody sees anything of it; see also what ``put_back`` finds."""
        everything = Selection(deleted_before=2**60, revisions_before=2**60)
        items, _ = self.library.ledger.erasable(everything)
        assert len(self.library.ledger.erase(items)) == len(items)
        assert self.library.ledger.erasable(everything)[0] == []
        self.purged += [(item.key, item.deleted) for item in items]

    @rule()
    def back_up(self) -> None:
        path = self.folder / "backup.db"
        path.unlink(missing_ok=True)
        self.library.ledger.copy_to(path)
        for card in self.model.cards.values():
            card.since, card.marked = [], False
        _, position, number = self.library.ledger.journal_head()
        self.purged = []
        self.backup = Kept(deepcopy(self.model), dict(self.library.entries), number, position)

    @precondition(lambda self: self.backup is not None)
    @rule()
    def put_back(self) -> None:
        """A copy of the backup, brought up to date, looked at, sent everything again, and thrown away."""
        kept = self.backup
        shutil.copy(self.folder / "backup.db", self.folder / "restored.db")
        ledger = open_sqlite_ledger(self.folder / "restored.db", self.clock, sealed=True)
        try:
            since = Since(self.library.ledger.journal(), kept.number, kept.position, [])
            _, doomed, _ = ledger.reapply(since)
            ledger.erase(doomed)
            ledger.unseal((0, kept.number, since.journal.number, None, "{}"), None)
            restored = Library(ledger=ledger, clock=self.clock, entries=dict(kept.entries))
            self.look_at(restored, kept)
            self.send_everything_again(restored)
        finally:
            ledger.close()
            for path in self.folder.glob("restored.db*"):
                path.unlink()

    @rule(batch=changes)
    def back_up_change_and_put_back(self, batch: list[tuple[DocumentKey, int, str | None, Access]]) -> None:
        """What the three rules would rarely do by themselves: with everything published before."""
        for generation in self.model.active:
            claimed = self.claimed(100, generation)
            self.library.publish([built for _, built in claimed], generation)
            for ticket, built in claimed:
                self.model.publish(ticket, generation, built.job.key)
        self.back_up()
        self.change(batch)
        self.put_back()

    def look_at(self, restored: Library, kept: Kept) -> None:
        now = self.clock.now()
        lists = self.model.lists == kept.model.lists
        for reader in READERS:
            shown = restored.read(reader)
            may = self.model.may_come_back(kept.model, reader, now)
            assert shown.items() <= may.items()
            untouched = {who for who in may if not self.model.cards[who].since and lists}
            erased = {who for who, _ in self.purged}
            assert untouched - erased <= shown.keys()
        for who, is_deleted in self.purged:
            if is_deleted and isinstance(self.model.cards[who].head, str):
                assert contents(restored, who) == 0

    def send_everything_again(self, restored: Library) -> None:
        """Sources send all they ever sent: the newest state wins, as if nothing had been put back."""
        restored.apply(*self.seen)
        for who in KEYS:
            if restored.ledger.head(who) is not None:
                restored.ledger.reinstate(who)
        for tenant, path in product(("acme", "globex"), ("a", "a/b")):
            restored.ledger.put_collection(tenant, path, self.model.lists.get((tenant, path)))
        with restored.ledger.snapshot() as snapshot:
            live = snapshot.generation
        restored.work(live)
        settled = deepcopy(self.model)
        settled.live = live
        for card in settled.cards.values():
            card.quarantined = False
            card.served = {live: card.head} if isinstance(card.head, tuple) else {}
        for reader in READERS:
            assert restored.read(reader) == settled.read(reader, self.clock.now())

    @rule(name=st.sampled_from(GENERATIONS), wholly=st.booleans())
    def build_a_generation(self, name: str, wholly: bool) -> None:
        """Begin one, or go on with it, to the end or not at all: then what waits is claimed like any other work."""
        if name not in self.model.retired:
            manifest = MANIFEST if name == "g1" else f'{{"chunker":"lines-1","name":"{name}"}}'
            self.library.ledger.start_generation(name, manifest, kept=True)
            self.model.started += [name] if name not in self.model.started else []
            while wholly and (claimed := self.claimed(100, name)):
                wanted = [b.job.key for ticket, b in claimed if self.model.publish(ticket, name, b.job.key)]
                assert list(self.library.publish([built for _, built in claimed], name)) == wanted

    @rule(name=st.sampled_from(GENERATIONS))
    def promote_without_a_record(self, name: str) -> None:
        if name in self.model.active:
            self.library.ledger.promote(name)
            self.model.live = name

    @rule(
        name=st.sampled_from(GENERATIONS),
        forced=st.booleans(),
        expected=st.sampled_from([None, *GENERATIONS]),
    )
    def promote(self, name: str, forced: bool, expected: str | None) -> None:
        """Refused for what is not there or live already, while events wait, and when another one is live than was
        looked at."""
        waiting = {item.name: item.waiting for item in self.library.ledger.generations()}
        live = self.model.live
        allowed = name in self.model.active and name != live and expected in (None, live)
        if allowed and (forced or not waiting[name]):
            self.library.ledger.promote(name, switch(forced=forced), expected=expected)
            self.model.switched("promote", name)
        else:
            with pytest.raises(InputError):
                self.library.ledger.promote(name, switch(forced=forced), expected=expected)

    @rule(forced=st.booleans())
    def roll_back(self, forced: bool) -> None:
        ledger = self.library.ledger
        parts: Any = (ledger, None, ledger.snapshot, Readable(), None)
        operator = Operator(*parts, name="acme/olga")
        target = self.model.before_live()
        waiting = {item.name: item.waiting for item in ledger.generations()}
        if target in self.model.active and target != self.model.live and (forced or not waiting[str(target)]):
            assert operator.rollback("back", force=forced) == target
            self.model.switched("rollback", str(target))
        else:
            with pytest.raises(InputError):
                operator.rollback("back", force=forced)

    @rule(name=st.sampled_from(GENERATIONS))
    def crash_while_promoting(self, name: str) -> None:
        if name in self.model.active and name != self.model.live:
            with pytest.raises(Crashed):
                self.library.ledger.promote(name, Cut())  # type: ignore[arg-type]
            self.reopen()

    @rule(name=st.sampled_from(GENERATIONS))
    def retire(self, name: str) -> None:
        if name not in self.model.active or name == self.model.live:
            with pytest.raises(InputError):
                self.library.ledger.retire(name)
            return
        self.library.ledger.retire(name)
        self.model.retire(name)
        lost = [built for _, built in self.held if built.job.generation == name]
        if lost:
            with pytest.raises(InputError):
                self.library.publish(lost, name)
        self.held = [item for item in self.held if item[1].job.generation != name]

    @invariant()
    def every_reader_reads_what_the_model_says(self) -> None:
        for reader in READERS:
            assert self.library.read(reader) == self.model.read(reader, self.clock.now())

    def teardown(self) -> None:
        try:
            self.settle()
            assert log_faults(self.library.ledger) == []
            self.compare_with_a_rebuild()
        finally:
            self.library.ledger.close()
            shutil.rmtree(self.folder)

    def settle(self) -> None:
        for who, card in self.model.cards.items():
            if card.head is not None:
                self.library.ledger.reinstate(who)
        assert [(made.switch.kind, made.before, made.after) for made in self.library.ledger.switches()] == (
            self.model.switches
        )
        for generation in self.model.active:
            self.library.work(generation)
        for entry in self.library.ledger.status()["outbox"]:
            assert entry["waiting"] == 0
        for card in self.model.cards.values():
            card.quarantined = False
            if isinstance(card.head, tuple):
                card.served[self.model.live] = card.head
        self.every_reader_reads_what_the_model_says()

    def compare_with_a_rebuild(self) -> None:
        ledger = open_sqlite_ledger(None, self.clock)
        fresh = Library(ledger=ledger, clock=self.clock).start()
        for (tenant, path), acl in self.model.lists.items():
            ledger.put_collection(tenant, path, acl)
        for who, card in self.model.cards.items():
            if card.head is not None:
                text, rights = card.head if isinstance(card.head, tuple) else (None, RIGHTS[0])
                reason: Any = card.head
                fresh.apply(delete(9, who, reason) if text is None else upsert(text, 9, who, rights))
        fresh.work()
        assert content(self.library) == content(fresh)
        ledger.close()


def content(library: Library) -> dict[str, Any]:
    """Served documents, their chunks and their readers: everything a rebuild must reproduce."""
    ids = sorted({name for names in library.entries.values() for name in names})
    with library.ledger.snapshot() as snapshot:
        stored = snapshot.chunks(ids)
        served = [
            item for tenant in ("acme", "globex") for item in served_by(snapshot, tenant) if item.present
        ]
        chunks = {name: (item.chunk, item.key, item.served_state_hash) for name, item in stored.items()}
        documents = {item.key: (item.text_sha256, item.served_state_hash, item.title) for item in served}
    readable = [library.read(reader) for reader in READERS]
    return {"chunks": chunks, "documents": documents, "readable": readable, "count": count(library)}


def served_by(snapshot: Snapshot, tenant: str) -> Sequence[StoredDocument]:
    return snapshot.documents_at(tenant, [slot for _, slot in snapshot.inventory(tenant) if slot is not None])


def count(library: Library) -> int:
    return int(library.ledger.status()["chunks"])
