"""Taking away again, in a ledger that was put back, what a journal says was taken away since.

Too narrow rather than too wide: a document that was revoked from somebody after the backup is not shown to him
again before its source sends it anew, also where he was let in again later, for then it may have been to other text.
What the source has sent since is accepted as new, and nothing older is.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import groupby, pairwise
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from clearcite.adapters.ledgers import collections, events, intake, visible
from clearcite.adapters.ledgers.codec import decode_access, decode_acl, decode_description, encode
from clearcite.adapters.ledgers.enqueue import enqueue
from clearcite.adapters.ledgers.journal import revision_digest
from clearcite.adapters.ledgers.leases import SQL as OUTBOX
from clearcite.adapters.ledgers.queries import load
from clearcite.adapters.ledgers.writer import SQL as COMMON
from clearcite.adapters.ledgers.writer import Transaction
from clearcite.domain.access import Acl, meet
from clearcite.domain.corpus import DocumentKey, build_hash, state_hash_of
from clearcite.domain.journal import Entry, Journal, Reapplied
from clearcite.domain.purge import Erasable

SQL = load("reapply")
Reached = tuple[DocumentKey, int, bool]
"""A document, the sequence it has reached at least, and whether its source sent it anew after it was deleted."""


class Since(Struct, frozen=True):
    """A journal, and up to where the ledger that was put back knows it. ``manifests``: hashes of every generation."""

    journal: Journal
    number: int
    position: int
    manifests: Sequence[str]


def reapply(tx: Transaction, since: Since) -> tuple[Reapplied, list[Erasable], list[Reached]]:
    """What was done, what is still to be erased, and how far each document has come."""
    tx.run(SQL["free_leases"], tx.now)
    # A history is then listed whole, above the sequences documents have reached; an approval was for other deletes.
    tx.run(SQL["begin_sources_again"])
    tx.run(SQL["raise_to"], since.journal.position)
    news = sorted(
        (entry for entry in since.journal.entries if entry.number > since.number),
        key=lambda entry: (entry.key, entry.number),
    )
    done, doomed, reached = Reapplied(), [], []
    for key, group in groupby(news, key=lambda entry: entry.key):
        entries = list(group)
        document = _document(tx, key, entries)
        if document is None:
            continue
        what = _Document(tx, document, entries, since.manifests)
        done = what.settle(done)
        doomed += what.doomed(key)
        reached.append((key, what.reached, what.was_replaced))
        what.keep_entries()
        events.record(tx, "put_back", key, **what.state_now())
    tx.run(SQL["forget_number"])
    tx.run(SQL["set_number"], since.journal.number)
    return _settle_collections(tx, since, done), doomed, reached


def _document(tx: Transaction, key: DocumentKey, entries: Sequence[Entry]) -> int | None:
    """The document; one that the backup does not know gets its tombstone. None: nothing can be taken away."""
    row = tx.row(COMMON["find_document"], key.tenant_id, key.source_id, key.document_id)
    if row is not None:
        return int(row[0])
    deletes = [entry for entry in entries if entry.kind in ("delete", "purge")]
    if not deletes:
        return None
    partition = intake.partition_id(tx, key.tenant_id)
    reason = next((entry.detail for entry in reversed(deletes) if entry.detail), "source_deleted")
    sequence = deletes[-1].source_sequence
    document = tx.insert(
        SQL["add_deleted"], partition, key.source_id, key.document_id, sequence, reason, tx.now
    )
    tx.run(SQL["add_tombstone"], document, sequence, reason, tx.now)
    return document


class _Document:
    """One document of the ledger that was put back, and the entries it missed."""

    def __init__(
        self, tx: Transaction, document: int, entries: Sequence[Entry], manifests: Sequence[str]
    ) -> None:
        self.tx, self.id, self.entries, self._manifests = tx, document, entries, manifests
        row = tx.row(SQL["head"], document) or ()
        _, self.partition, self.operation, self.sequence, self.state, self.build, *rest = row
        _, self.content, self.description, self.content_key, *self.columns = rest
        states = [entry for entry in entries if entry.kind in ("access", "delete")]
        self._newest = states[-1] if states else None
        self._gone = [entry for entry in entries if entry.kind in ("delete", "purge")]
        self._is_purged = any(entry.kind == "purge" for entry in entries)
        self._erased = {name for entry in entries for name in entry.revisions}
        self.reached = max(entry.source_sequence for entry in entries) - 1

    @property
    def was_replaced(self) -> bool:
        return bool(self._gone) and self._newest is not None and self._newest.kind == "access"

    @property
    def _is_current(self) -> bool:
        """The newest state is the one the backup has."""
        newest = self._newest
        return (
            newest is not None
            and newest.kind == "access"
            and self.operation == "upsert"
            and newest.state_hash == self.state
        )

    def settle(self, done: Reapplied) -> Reapplied:
        marks = [entry.kind for entry in self.entries if entry.kind in ("quarantine", "reinstate")]
        if marks and marks[-1] == "quarantine":
            self.tx.run(OUTBOX["quarantine_document"], self.tx.now, "quarantined after the backup", self.id)
            done = replace(done, quarantined=done.quarantined + 1)
        if self._is_current:
            self.reached = self._newest.source_sequence if self._newest else self.reached
            self.tx.run(SQL["set_sequence"], self.reached, self.id)
        elif self.operation == "upsert" and (self._gone or self._is_erased):
            self._delete()
            done = replace(done, deleted=done.deleted + 1)
        elif self.operation == "upsert" and self._newest is not None:
            self._narrow()
            done = replace(done, narrowed=done.narrowed + 1)
        elif self._newest is not None or self._gone:
            newest = max(entry.source_sequence for entry in self._gone) if self._gone else self.reached
            self.tx.run(SQL["set_sequence"], max(newest, self.reached), self.id)
        self._drop_erased_builds()
        visible.refresh(self.tx, self.id)
        return done

    @property
    def _is_erased(self) -> bool:
        """The newest revision of the backup was erased as an old one."""
        return self.content_key is not None and revision_digest(self.content_key) in self._erased

    def _delete(self) -> None:
        reason = next((entry.detail for entry in reversed(self._gone) if entry.detail), "retention_expired")
        sequence = max(self.sequence, self.reached, *(entry.source_sequence for entry in self._gone))
        self.tx.run(SQL["delete_head"], sequence, reason, self.tx.now, self.id)
        self.tx.run(SQL["add_tombstone"], self.id, sequence, reason, self.tx.now)
        self._drop_builds()

    def _narrow(self) -> None:
        now = decode_access(tuple(self.columns))
        later = [
            entry.access for entry in self.entries if entry.kind == "access" and entry.access is not None
        ]
        access = reduce(meet, later, now)
        name = access.digest()
        state = state_hash_of(self.content, name, decode_description(self.description).digest())
        manifest = next(
            (item for item in self._manifests if build_hash(self.state or "", item) == self.build), None
        )
        build = None if manifest is None else build_hash(state, manifest)
        number = intake.access_id(self.tx, access, name, self.partition)
        self.tx.run(SQL["narrow_head"], number, name, state, build, self.reached, self.id)
        visible.refresh(self.tx, self.id)
        enqueue(self.tx, self.id)

    def _drop_erased_builds(self) -> None:
        """Of a build that still served an older revision, which was erased since."""
        builds = self.tx.rows(SQL["builds"], self.id)
        older = [row[4] for row in builds if row[4] != self.content_key]
        if any(self._is_purged or revision_digest(name) in self._erased for name in older):
            self._drop_builds()
            enqueue(self.tx, self.id)

    def _drop_builds(self) -> None:
        for projection, generation, partition, slot, _ in self.tx.rows(SQL["builds"], self.id):
            visible.retire(self.tx, generation, partition, slot)
            self.tx.run(OUTBOX["drop_projection"], projection)
        self.tx.run(SQL["drop_events"], self.id)

    def doomed(self, key: DocumentKey) -> list[Erasable]:
        """What was purged since, as it stands in the backup."""
        head = self.tx.row(SQL["head"], self.id) or ()
        revisions = tuple(
            number
            for number, content_key in self.tx.rows(SQL["revisions"], self.id)
            if number != head[6] and (self._is_purged or revision_digest(content_key) in self._erased)
        )
        if not revisions:
            return []
        deleted = head[2] == "delete"
        return [
            Erasable(document=self.id, key=key, source_sequence=head[3], revisions=revisions, deleted=deleted)
        ]

    def state_now(self) -> dict[str, Any]:
        """The head, as the log tells it."""
        operation, sequence, state, access = self.tx.row(SQL["state_now"], self.id) or (None,) * 4
        return {"operation": operation, "sequence": sequence, "state": state, "access": access}

    def keep_entries(self) -> None:
        """The entries stay, under their numbers, for whoever puts back an even older backup."""
        for entry in self.entries:
            access = None
            if entry.access is not None:
                access = intake.access_id(self.tx, entry.access, entry.access.digest(), self.partition)
            detail = encode(list(entry.revisions)) if entry.kind == "erase" else entry.detail
            state = (entry.source_sequence, access, entry.state_hash, detail, entry.at)
            self.tx.run(SQL["keep_entry"], entry.number, entry.kind, self.id, *state)


def _settle_collections(tx: Transaction, since: Since, done: Reapplied) -> Reapplied:
    """Lists that changed since: what each has denied meanwhile stays denied, until it is set again."""
    here = {(row[0], row[1]): decode_acl(row[2], row[3]) for row in tx.rows(SQL["open_collections"])}
    newer: dict[tuple[str, str], list[Acl]] = {}
    now: set[tuple[str, str]] = set()
    for state in since.journal.collections:
        place = (state.tenant_id, state.path)
        if state.from_position > since.position:
            newer.setdefault(place, []).append(state.acl)
        if state.to_position is None:
            now.add(place)
        elif state.to_position > since.position:
            newer.setdefault(place, [])
    changed, to_set = 0, []
    for place, lists in sorted(newer.items()):
        if place in now and (place not in here or _had_a_gap(since, place)):
            to_set.append("/".join(place))
        acl = reduce(_meet, lists, here[place]) if place in now and place in here else None
        if place in here and acl != here[place]:
            collections.put(tx, *place, acl)
            changed += 1
    return replace(done, collections=changed, collections_to_set=tuple(to_set))


def _had_a_gap(since: Since, place: tuple[str, str]) -> bool:
    """Whether the collection was removed and made again."""
    states = [item for item in since.journal.collections if (item.tenant_id, item.path) == place]
    return any(
        one.to_position != other.from_position and other.from_position > since.position
        for one, other in pairwise(states)
    )


def _meet(one: Acl, other: Acl) -> Acl:
    """A list that admits nobody whom either denies."""
    if one.allow is None or other.allow is None:
        allow = other.allow if one.allow is None else one.allow
    else:
        allow = tuple(group for group in one.allow if group in set(other.allow))
    return Acl(allow=allow, deny=tuple(sorted({*one.deny, *other.deny})))
