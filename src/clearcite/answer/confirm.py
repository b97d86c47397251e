"""Hits → passages: text, access and hashes come from the ledger, never from an index.

A hit that the caller may not read, or that is no longer served, is dropped without being looked at; one that
he may read is verified from its bytes up, and a mismatch fails the whole question closed. Because dropped hits
must not displace readable ones, each leg goes on page by page until its depth is full.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct, field

from clearcite.domain.access import Access, Acl, readable
from clearcite.domain.corpus import DocumentKey, build_seal, chunk_id, revision_label, state_hash_of
from clearcite.domain.digest import sha256_text
from clearcite.domain.retrieval import (
    Confirmed,
    ConfirmedLeg,
    Cursor,
    Dropped,
    Hit,
    HitPage,
    Leg,
    Passage,
    Plan,
    Recall,
    Scope,
)
from clearcite.errors import DependencyUnavailable, IntegrityFault
from clearcite.ports import Snapshot, StoredChunk, StoredDocument
from clearcite.text.memory import memory_of, memory_of_run

NextPage = Callable[[Leg, Cursor], HitPage]
MAX_PAGES = 50


class ReadTampered(IntegrityFault):
    """A readable document does not match its hashes; ``key`` names it for quarantine."""

    def __init__(self, key: DocumentKey) -> None:
        super().__init__("Stored data does not match its hash.", key)


class Judge(Struct):
    """Decides, from ledger metadata alone, what one scope may read; an access is judged once per request.

    ``shown``: whether the mask of the scope shows a slot; what it does not show is not even decoded."""

    scope: Scope
    collections: Mapping[str, Mapping[str, Acl]]
    verdicts: dict[tuple[str, Access], bool]
    shown: Callable[[str, int], bool] | None = None

    def admits(self, stored: StoredChunk | StoredDocument) -> bool:
        """Both sides must admit: the served state and the head state."""
        if not stored.present or stored.key.tenant_id not in self.scope.partitions:
            return False
        if self.scope.sources and stored.key.source_id not in self.scope.sources:
            return False
        partition, served, head = stored.key.tenant_id, stored.served_access, stored.head_access
        return self._allows(partition, served) and (served is head or self._allows(partition, head))

    def _allows(self, partition: str, access: Access) -> bool:
        key = (partition, access)
        verdict = self.verdicts.get(key)
        if verdict is None:
            principal = self.scope.principal
            groups = principal.effective_groups if principal.groups else frozenset()
            verdict = readable(access, self.collections[partition], groups, self.scope.as_of)
            self.verdicts[key] = verdict
        return verdict


def judge_for(scope: Scope, snapshot: Snapshot, shown: Callable[[str, int], bool] | None = None) -> Judge:
    collections = {name: snapshot.collections(name)[1] for name in scope.partitions}
    return Judge(scope=scope, collections=collections, verdicts={}, shown=shown)


def confirm(plan: Plan, found: Recall, judge: Judge, snapshot: Snapshot, next_page: NextPage) -> Confirmed:
    """Fill every leg with confirmed passages up to the plan's depth.

    A question that recalls again, deeper or by another plan, does so in one snapshot and for one scope: what it has
    confirmed stays confirmed.
    """
    known: dict[str, Passage | None] = memory_of("passages")
    filler = _Filler(plan=plan, judge=judge, snapshot=snapshot, next_page=next_page, passages=known)
    legs = tuple(
        ConfirmedLeg(
            leg=leg,
            hits=filler.fill(leg, first),
            documents=first.documents,
            frequencies=first.frequencies,
            whole=first.whole,
        )
        for leg, first in found.pages
    )
    revoked = sorted(name for name in filler.met if known[name] is None)
    return Confirmed(legs=legs, dropped=tuple(Dropped(chunk_id=name, reason="revoked") for name in revoked))


class _Filler(Struct):
    """``passages`` holds what has been looked up: the passage, or None for what this scope does not get. ``met``:
    every hit of this recall."""

    plan: Plan
    judge: Judge
    snapshot: Snapshot
    next_page: NextPage
    passages: dict[str, Passage | None]
    met: set[str] = field(default_factory=set)

    def fill(self, leg: Leg, page: HitPage) -> tuple[tuple[Passage, int], ...]:
        chosen: dict[str, tuple[Passage, int]] = {}
        for hits in self._stretches(leg, page):
            self._look_up([hit.chunk_id for hit in hits])
            for hit in hits:
                passage = self.passages[hit.chunk_id]
                if passage is not None and len(chosen) < self.plan.depth:
                    chosen.setdefault(hit.chunk_id, (passage, hit.score))
            if len(chosen) >= self.plan.depth:
                break
        return tuple(chosen.values())

    def _stretches(self, leg: Leg, page: HitPage) -> Iterator[Sequence[Hit]]:
        """The hits of a leg, as many at once as are wanted: a page may have more than the plan goes through."""
        for _ in range(MAX_PAGES):
            for first in range(0, len(page.hits), self.plan.depth):
                yield page.hits[first : first + self.plan.depth]
            if page.next is None:
                return
            page = self.next_page(leg, page.next)
        raise DependencyUnavailable("The index keeps returning passages that are not served.")

    def _look_up(self, ids: list[str]) -> None:
        self.met.update(ids)
        missing = [name for name in ids if name not in self.passages]
        stored = self.snapshot.chunks(missing, self.judge.shown) if missing else {}
        for name in missing:
            entry = stored.get(name)
            is_wanted = entry is not None and self.judge.admits(entry)
            self.passages[name] = confirmed(entry) if entry is not None and is_wanted else None


def confirmed(stored: StoredChunk) -> Passage:
    """A readable chunk as a passage, once everything it claims about itself has been recomputed.

    In a run of a bench the ledger gives one object for equal bytes, and it is judged once.
    """
    known: dict[int, tuple[StoredChunk, Passage]] | None = memory_of_run("passages")
    found = None if known is None else known.get(id(stored))
    if found is not None and found[0] is stored:
        return found[1]
    verify(stored)
    passage = to_passage(stored)
    if known is not None:
        known[id(stored)] = (stored, passage)
    return passage


def verify(stored: StoredChunk) -> None:
    """Recompute everything a readable chunk claims about itself."""
    chunk = stored.chunk
    same_text = sha256_text(chunk.text) == chunk.sha256
    identity = chunk_id(stored.key, stored.content_sha256, stored.chunker, (chunk.start, chunk.end))
    whole = identity == chunk.chunk_id and chunk.end - chunk.start == len(chunk.text)
    if not (same_text and whole) or chunk.seal() != stored.seal:
        raise ReadTampered(stored.key)
    verify_access(stored)


def verify_access(stored: StoredChunk | StoredDocument) -> None:
    """Access lists and description must give the digests the ledger accepted them under, and the title its seal."""
    served, head = stored.served_access, stored.head_access
    served_digest = _digest_of(served)
    head_digest = served_digest if head is served or head == served else _digest_of(head)
    state = state_hash_of(stored.content_sha256, served_digest, stored.description.digest())
    if (
        served_digest != stored.served_access_digest
        or head_digest != stored.head_access_digest
        or state != stored.served_state_hash
        or build_seal(stored.title, stored.normal_sha256) != stored.build_seal
    ):
        raise ReadTampered(stored.key)


def _digest_of(access: Access) -> str:
    """Computed once a question: the chunks of a question have few access lists among them."""
    known: dict[Access, str] = memory_of("access")
    found = known.get(access)
    if found is None:
        found = known[access] = access.digest()
    return found


def to_passage(stored: StoredChunk) -> Passage:
    chunk, access = stored.chunk, stored.served_access
    return Passage(
        chunk_id=chunk.chunk_id,
        key=stored.key,
        revision=revision_label(stored.content_sha256),
        content_sha256=stored.content_sha256,
        title=stored.title,
        text=chunk.text,
        start=chunk.start,
        end=chunk.end,
        sha256=chunk.sha256,
        context=chunk.context,
        heading=chunk.heading,
        page=chunk.page,
        kind=chunk.kind,
        units=chunk.units,
        description=stored.description,
        valid_from=access.effective_from,
        valid_to=access.effective_to,
        normal_sha256=stored.normal_sha256,
        language=chunk.language,
        flags=chunk.flags,
    )
