"""Random lives of a ledger against a dict: what each reader may read, step by step, crashes included.

The model shares no rule with the code: it judges sequences, both sides and fencing in a few lines of its own.
Every life ends with a rebuild from scratch that must hold the same documents, chunks and visibility.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from clearcite.adapters.ledgers import enqueue, visible
from clearcite.adapters.ledgers.reapply import Since
from clearcite.adapters.ledgers.sqlite import SqliteLedger, open_sqlite_ledger
from clearcite.domain.access import Access, Acl, Principal
from clearcite.domain.corpus import DocumentKey, SourceRecord
from clearcite.domain.generations import Switch
from clearcite.domain.journal import Reapplied
from clearcite.domain.purge import Selection
from clearcite.errors import InputError
from clearcite.operator import Operator
from clearcite.ports import Built, Snapshot, StoredDocument
from clearcite.testing.clock import DAY, NOON, SECOND, PinnedClock
from clearcite.testing.library import Library
from clearcite.testing.records import MANIFEST, access, delete, key, principal, upsert
from clearcite.visibility import Visibility
from tests.support.audit import log_faults

KEYS = (key("d1"), key("d2"), key("d1", source_id="wiki"), key("d1", tenant_id="globex"))
READERS = (
    principal("staff", subject_id="alice"),
    principal("guest", subject_id="bob"),
    principal("guest", "staff", subject_id="carol"),
    principal("staff", tenant_id="globex", subject_id="dora"),
)
TEXTS = ("alpha", "beta\ngamma", "delta\n\nepsilon\nzeta", "\n")
RIGHTS = (
    access("staff"),
    access("guest"),
    access("guest", "staff"),
    access("guest", "staff", deny=("user:bob",)),
    access("staff", status="archived"),
    access("staff", trusted=False),
    access("guest", "staff", effective_from=NOON + DAY),
    access("guest", "staff", effective_to=NOON + 2 * DAY),
    access("guest", "staff", parent="a/b"),
)
LISTS = (None, Acl(allow=None), Acl(allow=()), Acl(allow=("guest",)), Acl(allow=None, deny=("user:alice",)))
GENERATIONS = ("g1", "g2", "g3")
State = tuple[str, Access]


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


@dataclass
class Card:
    """What the model knows of a document. ``served``: by generation; ``tickets``: whose work still counts."""

    sequence: int = 0
    head: State | str | None = None
    served: dict[str, State] = field(default_factory=dict)
    tickets: dict[str, int] = field(default_factory=dict)
    quarantined: bool = False
    since: list[State | str] = field(default_factory=list)
    """Heads since the backup that took something away or changed who may read."""
    marked: bool = False
    """Whether the last mark since the backup is a quarantine."""


@dataclass
class Model:
    cards: dict[DocumentKey, Card] = field(default_factory=lambda: {who: Card() for who in KEYS})
    lists: dict[tuple[str, str], Acl] = field(default_factory=dict)
    live: str = "g1"
    started: list[str] = field(default_factory=lambda: ["g1"])
    retired: list[str] = field(default_factory=list)
    switches: list[tuple[str, str, str]] = field(default_factory=list)

    @property
    def active(self) -> list[str]:
        return [name for name in self.started if name not in self.retired]

    def switched(self, kind: str, name: str) -> None:
        self.switches.append((kind, self.live, name))
        self.live = name

    def before_live(self) -> str | None:
        """Which generation a rollback goes back to."""
        found = [before for kind, before, after in self.switches if after == self.live and kind != "rollback"]
        return found[-1] if found else None

    def retire(self, name: str) -> None:
        self.retired.append(name)
        for card in self.cards.values():
            card.served.pop(name, None)
            card.tickets.pop(name, None)

    def apply(self, record: SourceRecord) -> str:
        card = self.cards[record.key]
        new: State | str = record.delete_reason or (record.text or "", record.access or access())
        if record.source_sequence < card.sequence:
            return "stale_ignored"
        if record.source_sequence == card.sequence:
            return "noop" if new == card.head else "sequence_conflict"
        before, card.sequence = card.head, record.source_sequence
        if new == before:
            return "checkpoint_advanced"
        card.head = new
        if isinstance(new, str) or isinstance(before, str) or (before is not None and before[1] != new[1]):
            card.since.append(new)
        card.tickets.clear()
        if isinstance(new, str):
            card.served.clear()
            return "deleted"
        if isinstance(before, tuple) and before[1] != new[1]:
            self.keep_narrow(card, before[1])
        if before is None:
            return "created"
        if isinstance(before, str):
            return "restored"
        return "revised" if new[0] != before[0] else "access_changed"

    def keep_narrow(self, card: Card, pending: Access) -> None:
        """A change that was not acknowledged narrows on; lists that overlap leave what they share."""
        for generation, (text, served) in card.served.items():
            narrow = replace(
                served,
                allow=tuple(sorted(set(served.allow) & set(pending.allow))),
                deny=tuple(sorted(set(served.deny) | set(pending.deny))),
                parent=served.parent or pending.parent,
                trusted=served.trusted and pending.trusted,
                status="published" if served.status == pending.status == "published" else "archived",
                effective_from=max(served.effective_from or 0, pending.effective_from or 0) or None,
                effective_to=min(served.effective_to or 2**60, pending.effective_to or 2**60),
            )
            card.served[generation] = (text, narrow)

    def may_come_back(self, before: Model, reader: Principal, now: int) -> dict[DocumentKey, str]:
        """What a backup of ``before`` may show once what happened since has been taken away again."""
        found = {}
        for who, text in before.read(reader, now).items():
            card, head = self.cards[who], before.cards[who].head
            states = card.since if not card.since or card.since[-1] != head else []
            kept = all(isinstance(state, tuple) and self.admits(state[1], reader, now) for state in states)
            still = isinstance(head, tuple) and self.admits(head[1], reader, now)
            if kept and still and not card.marked:
                found[who] = text
        return found

    def publish(self, ticket: int, generation: str, who: DocumentKey) -> bool:
        card = self.cards[who]
        if card.tickets.get(generation) != ticket:
            return False
        del card.tickets[generation]
        if isinstance(card.head, tuple):
            card.served[generation] = card.head
        return True

    def read(self, reader: Principal, now: int) -> dict[DocumentKey, str]:
        found = {}
        for who, card in self.cards.items():
            served, head = card.served.get(self.live), card.head
            if (
                served is None
                or not isinstance(head, tuple)
                or card.quarantined
                or who.tenant_id != reader.tenant_id
            ):
                continue
            if self.admits(served[1], reader, now) and self.admits(head[1], reader, now):
                text = "\n".join(line for line in served[0].split("\n") if line)
                if text:
                    found[who] = text
        return found

    def admits(self, rights: Access, reader: Principal, now: int) -> bool:
        groups = {*reader.groups, f"user:{reader.subject_id}"}
        if rights.status != "published" or not rights.trusted or groups & set(rights.deny):
            return False
        if not groups & set(rights.allow) or now < (rights.effective_from or 0):
            return False
        if rights.effective_to is not None and now >= rights.effective_to:
            return False
        return rights.parent is None or all(
            self.opens(reader.tenant_id, path, groups) for path in ("a", "a/b")
        )

    def opens(self, tenant: str, path: str, groups: set[str]) -> bool:
        acl = self.lists.get((tenant, path))
        if acl is None or groups & set(acl.deny):
            return False
        return acl.allow is None or bool(groups & set(acl.allow))


keys = st.sampled_from(KEYS)
steps = st.integers(-1, 2)
changes = st.lists(
    st.tuples(keys, steps, st.sampled_from(TEXTS) | st.none(), st.sampled_from(RIGHTS)),
    min_size=1,
    max_size=4,
)


@dataclass(frozen=True)
class Kept:
    """A backup: the model and the index as they were, and how far the journal was."""

    model: Model
    entries: dict[Any, Any]
    number: int
    position: int


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


SETTINGS = settings(
    max_examples=60,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)


def test_any_life_of_a_ledger_shows_each_reader_what_the_model_says() -> None:
    run_state_machine_as_test(Lives, settings=SETTINGS)  # type: ignore[no-untyped-call]


def served_side_only(refresh: Callable[..., None]) -> Callable[..., None]:
    """The mistake the both-sides rule prevents: rows follow publications, not the head."""

    def late(tx: Any, document: int) -> None:
        waiting = tx.row("SELECT 1 FROM outbox WHERE document = ?", document)
        if waiting is None or tx.row("SELECT 1 FROM visibility WHERE document = ?", document) is None:
            refresh(tx, document)

    return late


FINDING = settings(SETTINGS, max_examples=300, database=None, phases=(Phase.generate,))


def test_control_a_ledger_that_trusts_the_served_side_alone_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(visible, "refresh", served_side_only(visible.refresh))
    with pytest.raises(AssertionError):
        run_state_machine_as_test(Lives, settings=FINDING)  # type: ignore[no-untyped-call]


class LiveOnly:
    """A transaction in which a document is served by the live generation alone, as far as can be seen."""

    def __init__(self, real: Any) -> None:
        self._real = real

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def rows(self, sql: str, *bindings: Any) -> list[Any]:
        (live,) = self._real.row("SELECT generation FROM aliases WHERE name = 'live'")
        return [row for row in self._real.rows(sql, *bindings) if row[0] == live]


def one_life() -> None:
    """A document, two generations, a delete, a switch: nothing of it is left to chance."""
    life = Lives()
    try:
        life.start()
        life.apply(
            [upsert("alpha", 1, KEYS[0], access("staff")), upsert("beta\ngamma", 1, KEYS[1], access("guest"))]
        )
        life.build_a_generation("g1", wholly=True)
        life.build_a_generation("g2", wholly=True)
        life.apply([delete(2, KEYS[0], "user_request")])
        life.promote("g2", forced=True, expected="g1")
        life.every_reader_reads_what_the_model_says()
        life.roll_back(forced=True)
    finally:
        life.teardown()


def test_control_a_change_that_is_told_to_the_live_generation_alone_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one_life()
    refresh = visible.refresh
    monkeypatch.setattr(visible, "refresh", lambda tx, document: refresh(LiveOnly(tx), document))  # type: ignore[arg-type]
    with pytest.raises(AssertionError):
        one_life()


def test_control_a_newer_event_that_keeps_the_number_of_the_older_one_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keeping = enqueue.SQL["put_event"].replace("INSERT OR REPLACE", "INSERT") + (
        " ON CONFLICT (generation, document) DO UPDATE"
        " SET kind = excluded.kind, revision = excluded.revision, access = excluded.access"
    )
    monkeypatch.setattr(enqueue, "SQL", {**enqueue.SQL, "put_event": keeping})
    with pytest.raises(AssertionError):
        run_state_machine_as_test(Lives, settings=FINDING)  # type: ignore[no-untyped-call]


def test_control_a_backup_that_is_put_back_as_it_is_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SqliteLedger, "reapply", lambda self, since: (Reapplied(), [], []))
    with pytest.raises(AssertionError):
        run_state_machine_as_test(Lives, settings=FINDING)  # type: ignore[no-untyped-call]


@pytest.mark.soak
@pytest.mark.skipif("CLEARCITE_SOAK" not in os.environ, reason="long: set CLEARCITE_SOAK to run it")
def test_many_long_lives() -> None:
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        Lives, settings=settings(SETTINGS, max_examples=1_000, stateful_step_count=60)
    )
