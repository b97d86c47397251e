"""``list`` and ``show``: documents by id, judged by the same decision as ``ask``, as the caller."""

from collections.abc import Sequence

from clearcite.answer.confirm import Judge, ReadTampered, verify_access
from clearcite.answer.publish import instant_text
from clearcite.domain.answer import PublicDocument
from clearcite.domain.corpus import PAST, DocumentKey, revision_label
from clearcite.domain.digest import sha256_text
from clearcite.domain.explain import Chains, Explanation, Layer, Membership, layers_of
from clearcite.domain.retrieval import Scope
from clearcite.errors import InputError, IntegrityFault, NotFound
from clearcite.ports import Snapshot, StoredDocument
from clearcite.visibility import ReadableNow

PAGE = 500


def documents(
    snapshot: Snapshot, judge: Judge, readable: ReadableNow, limit: int, after: str
) -> Sequence[PublicDocument]:
    """The first ``limit`` readable documents after a position, found from the readable slots alone."""
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= 10_000:
        raise InputError("limit must lie between 1 and 10000.")
    found: list[PublicDocument] = []
    if "\0" in after:
        after = f"{after}{PAST}~"  # an older revision is no document after its own
    for partition in judge.scope.partitions:
        keys = snapshot.keys_of(partition, readable.slots(partition), after, limit)
        for start in range(0, len(keys), PAGE):
            slots = [slot for _, slot in keys[start : start + PAGE]]
            for stored in snapshot.documents_at(partition, slots):
                if judge.admits(stored):
                    verify_access(stored)
                    found.append(_public(stored, with_text=False))
    return found[:limit]


def document(snapshot: Snapshot, judge: Judge, source_id: str | None, document_id: str) -> PublicDocument:
    """One readable document, its text verified: at another instant, the revision that was in force then.

    Without a source, the one that has the id among those the caller may read; raises InputError, naming them, where
    several have it.
    """
    found = [
        stored
        for partition in judge.scope.partitions
        for stored in snapshot.named(partition, document_id, judge.shown)
        if stored.key.shown_id == document_id
        and source_id in (None, stored.key.source_id)
        and judge.admits(stored)
    ]
    if not found:
        raise NotFound("There is no such document, or you may not read it.")
    if len(found) > 1:
        sources = ", ".join(stored.key.source_id for stored in found)
        raise InputError(
            f"Several sources have a document with this id: {sources}. Choose one with --source."
        )
    stored = snapshot.document(found[0].key)
    if stored is None:
        raise IntegrityFault("The store lost a document.")
    verify_access(stored)
    if sha256_text(stored.text) != stored.text_sha256:
        raise ReadTampered(stored.key)
    return _public(stored, with_text=True)


def explained(
    snapshot: Snapshot, key: DocumentKey, scope: Scope, memberships: Chains, stale: str
) -> Explanation:
    """``stale``: why the policy refuses the identity; empty if it does not."""
    standing = snapshot.standing(key)
    if standing is None:
        raise NotFound("The ledger has never seen such a document.")
    _, collections = snapshot.collections(key.tenant_id)
    policy = Layer(name="policy", admits=not stale, why=stale or "the identity is current")
    layers = (policy, *layers_of(standing, scope.principal, collections, scope.as_of))
    return Explanation(
        document=key,
        principal=scope.principal,
        memberships=tuple(
            Membership(group=group, through=chain) for group, chain in sorted(memberships.items())
        ),
        readable=all(layer.admits for layer in layers),
        layers=layers,
        as_of=scope.as_of,
        position=snapshot.position,
        generation=snapshot.generation,
        policy_revision=None if snapshot.policy is None else snapshot.policy.revision,
    )


def _public(stored: StoredDocument, *, with_text: bool) -> PublicDocument:
    return PublicDocument(
        document_id=stored.key.shown_id,
        source_id=stored.key.source_id,
        title=stored.title,
        uri=stored.description.source_uri,
        revision=revision_label(stored.content_sha256),
        source_type=stored.description.source_type,
        valid_from=instant_text(stored.served_access.effective_from),
        valid_to=instant_text(stored.served_access.effective_to),
        text=stored.text if with_text else None,
    )
