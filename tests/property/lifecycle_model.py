"""What a ledger must show, in a few lines that share no rule with the code: sequences, both sides and fencing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from clearcite.domain.access import Access, Acl, Principal
from clearcite.domain.corpus import DocumentKey, SourceRecord
from clearcite.testing.clock import DAY, NOON
from clearcite.testing.records import access, key, principal

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


@dataclass(frozen=True)
class Kept:
    """A backup: the model and the index as they were, and how far the journal was."""

    model: Model
    entries: dict[Any, Any]
    number: int
    position: int
