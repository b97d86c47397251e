"""A ledger with the smallest worker and reader around it: enough to ask "who may read what" in a test.

The stand-in for an index remembers every entry any attempt ever made and forgets none, so whatever a reader
is shown has been decided by the ledger and the visibility columns alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from clearcite.domain.access import Principal, readable
from clearcite.domain.corpus import DocumentKey, SourceRecord, state_hash
from clearcite.domain.retrieval import Scope
from clearcite.ports import Clock, Snapshot, StoredChunk
from clearcite.storing import Applied, Built, Job, Ledger
from clearcite.testing.expect import expect
from clearcite.testing.records import GENERATION, MANIFEST, MANIFEST_HASH, build, commit
from clearcite.visibility import Visibility

Shelf = dict[tuple[str, str, int], tuple[str, ...]]
"""(generation, partition, slot) → the chunk ids that were made for it."""


class Library(Struct):
    """``entries`` is the everlasting index; ``visibility`` lives as long as a service would."""

    ledger: Ledger
    clock: Clock
    entries: Shelf = field(default_factory=dict)
    visibility: Visibility = field(default_factory=Visibility)

    def start(self, generation: str = GENERATION, manifest: str = MANIFEST) -> Library:
        self.ledger.start_generation(generation, manifest)
        return self

    def apply(self, *records: SourceRecord) -> tuple[Applied, ...]:
        return self.ledger.apply(records, MANIFEST_HASH)

    def actions(self, *records: SourceRecord) -> list[str]:
        """The decision of each record, or the code of its refusal."""
        return [
            item.decision.action if item.decision else item.error.code if item.error else "nothing"
            for item in self.apply(*records)
        ]

    def claim(self, limit: int = 100, owner: str = "worker", generation: str = GENERATION) -> tuple[Job, ...]:
        return self.ledger.claim(generation, limit, owner)

    def build(self, jobs: Sequence[Job]) -> list[Built]:
        """Build the jobs and put their chunks into the index, published or not."""
        built = [build(job) for job in jobs]
        for item in built:
            place = (item.job.generation, item.job.key.tenant_id, item.job.slot)
            if item.job.kind == "project":
                expect(place not in self.entries, "a slot is never handed out twice")
                self.entries[place] = tuple(chunk.chunk_id for chunk in item.chunks)
        return built

    def publish(self, built: Sequence[Built], generation: str = GENERATION) -> tuple[DocumentKey, ...]:
        return self.ledger.publish(generation, built, commit)

    def work(self, generation: str = GENERATION) -> list[DocumentKey]:
        """Project until nothing is claimable; the documents published."""
        published: list[DocumentKey] = []
        while jobs := self.claim(generation=generation):
            published += self.publish(self.build(jobs), generation)
        return published

    def scope(self, reader: Principal, *partitions: str) -> Scope:
        return Scope(principal=reader, as_of=self.clock.now(), partitions=partitions or (reader.tenant_id,))

    def read(self, reader: Principal, *partitions: str) -> dict[DocumentKey, str]:
        """Every document the reader may read now, with its chunks joined by line ends."""
        with self.ledger.snapshot() as snapshot:
            return self.read_in(snapshot, self.scope(reader, *partitions))

    def read_in(self, snapshot: Snapshot, scope: Scope) -> dict[DocumentKey, str]:
        """Masks and stored chunks must tell the same story; raises Unmet where they do not."""
        view = self.visibility.readable(snapshot, scope)
        found: dict[DocumentKey, str] = {}
        for (generation, partition, slot), chunk_ids in self.entries.items():
            if generation != snapshot.generation:
                continue
            mask = view.mask(partition)
            shown = slot < len(mask) and bool(mask[slot])
            stored = snapshot.chunks(chunk_ids)
            mine = [stored[name] for name in chunk_ids if name in stored and stored[name].slot == slot]
            allowed = bool(mine) and all(admits(item, snapshot, scope) for item in mine)
            if chunk_ids:
                expect(shown == allowed, f"mask ({shown}) and stored access ({allowed}) agree on slot {slot}")
            if shown and mine:
                expect(mine[0].key not in found, "one document is served by one slot")
                found[mine[0].key] = "\n".join(item.chunk.text for item in mine)
        return found

    def documents(self, partition: str = "acme") -> Mapping[DocumentKey, str]:
        """The canonical text of every served document of a partition, whoever may read it."""
        with self.ledger.snapshot() as snapshot:
            keys = [key for key, slot in snapshot.inventory(partition) if slot is not None]
            served = [snapshot.document(key) for key in keys]
            return {item.key: item.text for item in served if item is not None and item.present}


def admits(stored: StoredChunk, snapshot: Snapshot, scope: Scope) -> bool:
    """Judge one stored chunk by itself, from the ledger's metadata, and check it against its digests."""
    served, head = stored.served_access, stored.head_access
    state = state_hash(stored.content_sha256, served, stored.description)
    expect(state == stored.served_state_hash, "the served state hash can be recomputed")
    expect(served.digest() == stored.served_access_digest, "the served access digest can be recomputed")
    expect(head.digest() == stored.head_access_digest, "the head access digest can be recomputed")
    who = scope.principal
    identified = who.tenant_id and who.subject_id and who.groups
    if not stored.present or stored.key.tenant_id not in scope.partitions or not identified:
        return False
    _, collections = snapshot.collections(stored.key.tenant_id)
    groups = who.effective_groups
    return all(readable(access, collections, groups, scope.as_of) for access in (served, head))
