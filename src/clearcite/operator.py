"""What an operator may do: read traces, verify them, see why a document is or is not visible, watch the store."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from clearcite.answer.export import Material, build_export
from clearcite.answer.past import GONE, Past
from clearcite.answer.verify import Replay, Verdict, asked_of, verify_trace
from clearcite.domain.access import Acl, Micros, Principal, in_force
from clearcite.domain.corpus import Chunk, DocumentKey, Place
from clearcite.domain.digest import digest
from clearcite.domain.generations import Generation, Switch, Switched, SwitchKind
from clearcite.domain.policy import Accepted
from clearcite.domain.retrieval import Scope
from clearcite.errors import ConfigError, InputError, NotFound
from clearcite.visibility import Visibility
from clearcite.wire.convert import to_json

if TYPE_CHECKING:
    from clearcite.domain.explain import Chains, Explanation
    from clearcite.domain.panel import Panel
    from clearcite.domain.purge import Receipt, Selection
    from clearcite.domain.reconcile import Reconciliation
    from clearcite.domain.trace import Trace
    from clearcite.ports import Snapshot, StoredDocument
    from clearcite.storing import Ledger, TraceStore

PAGE = 500


class Upkeep(Protocol):
    """What keeps a store in order; ``wiring`` knows how, for it needs parsers and files."""

    def reconcile(self, *, while_pending: bool = False, vectors: bool = False) -> Reconciliation:
        """See ``ingest.reconcile``."""

    def purge(self, selection: Selection) -> Receipt:
        """See ``wiring.purging``."""


class Recomputed(Struct, frozen=True, kw_only=True):
    """What the engine computes again for an operator. ``probe`` opens a generation and reads all of its index."""

    replay: Replay
    probe: Callable[[str], str]
    explain: Callable[[DocumentKey, Principal, Micros | None, Chains], Explanation]


class Operator:
    """Bound to one engine; ``Engine.operator`` checks the role before it makes one."""

    def __init__(
        self,
        ledger: Ledger,
        traces: TraceStore,
        look: Callable[[], AbstractContextManager[Snapshot]],
        recomputed: Recomputed,
        upkeep: Upkeep | None,
        *,
        name: str,
    ) -> None:
        """``look`` opens the generation looked at, the live one as a rule; ``name``: who the operator is."""
        self._name = name
        self._ledger = ledger
        self._traces = traces
        self._look = look
        self._recomputed = recomputed
        self._upkeep = upkeep

    @property
    def upkeep(self) -> Upkeep:
        """Raises ConfigError for an engine that was not opened on a store of its own."""
        if self._upkeep is None:
            raise ConfigError("This engine was not opened on a store.")
        return self._upkeep

    def reconcile(self, *, while_pending: bool = False, vectors: bool = False) -> Reconciliation:
        """Does everything that is stored still follow from the original bytes? See ``ingest.reconcile``."""
        return self.upkeep.reconcile(while_pending=while_pending, vectors=vectors)

    def purge(self, selection: Selection) -> Receipt:
        """Erase deleted documents and old revisions for good. The receipt says of every store how it was left."""
        return self.upkeep.purge(selection)

    def inspect(self, trace_id: str) -> Trace:
        """The protected trace of one answer."""
        trace = self._traces.get(trace_id)
        if trace is None:
            raise NotFound("There is no such trace.")
        return trace

    def newest(self, limit: int = 20) -> Sequence[Trace]:
        return self._traces.newest(limit)

    def verify(self, trace_id: str, response: Any | None = None) -> Verdict:
        """Recompute an answer from the ledger; see ``answer.verify``."""
        return verify_trace(self.inspect(trace_id), self._recomputed.replay, response)

    def export(
        self, trace_id: str, *, response: Any | None = None, policy: Any | None = None, texts: bool = False
    ) -> dict[str, Any]:
        """One answer and what it follows from, for ``clearcite.auditor``. ``response``: the one that was kept; else it
        is computed again. Raises InputError for an answer some of whose documents are no longer as they were."""
        trace = self.inspect(trace_id)
        if not trace.state:
            raise InputError("This request failed before anything was read; there is nothing to export.")
        asked = asked_of(trace)
        again = self._recomputed.replay(asked, trace_id)
        if again.doubt is not None and again.doubt.startswith(GONE):
            raise InputError(f"This answer cannot be exported any more: {again.doubt}.")
        if response is None and verify_trace(trace, self._recomputed.replay).outcome == "reproduced":
            response = to_json(again.public)
        now = time.time_ns() // 1_000
        material = Material(asked=asked, trace_id=trace_id, response=response, policy=policy, now=now)
        with self._ledger.snapshot(asked.generation) as current:
            same = asked.position == current.position
            snapshot = current if same else Past(current, asked.position)
            with self._ledger.events() as events, self._traces.entries() as entries:
                return build_export(material, snapshot, (events, entries), texts=texts)

    def places(self, chunk_ids: Sequence[str]) -> Mapping[str, Place]:
        """Where chunks that a trace names stand; one that is no longer stored is left out."""
        with self._look() as snapshot:
            found = snapshot.chunks(list(dict.fromkeys(chunk_ids)))
        return {
            name: Place(document=stored.key, start=stored.chunk.start, end=stored.chunk.end)
            for name, stored in found.items()
        }

    def reasons(self, trace: Trace) -> Mapping[str, Sequence[str]]:
        """Why each document of the store was hidden from the traced asker, at the traced position; [] if it was not.

        Empty for a trace of a request that failed before anything was read.
        """
        if not trace.state:
            return {}
        asked = asked_of(trace)
        partitions = (asked.principal.tenant_id,)
        scope = Scope(principal=asked.principal, as_of=trace.state["as_of"], partitions=partitions)
        with self._look() as now:
            found = Visibility().reasons(Past(now, asked.position), scope)
        return {
            f"{key.tenant_id}/{key.source_id}/{key.document_id}": list(why)
            for key, why in sorted(found.items())
        }

    def access_lists(self) -> Mapping[str, Mapping[str, Acl]]:
        """The lists of the collections of each tenant, by path."""
        with self._look() as snapshot:
            return {name: snapshot.collections(name)[1] for name in snapshot.partitions()}

    def newest_state(self, key: DocumentKey) -> str | None:
        """The hash of the newest state accepted of a document; None where it was deleted or never seen."""
        head = self._ledger.head(key)
        return head.source_state_hash if head is not None and head.operation == "upsert" else None

    def stored(self, key: DocumentKey) -> StoredDocument | None:
        """What the generation looked at serves of a document, with its text, whoever may read it."""
        with self._look() as snapshot:
            return snapshot.document(key)

    def chunks(self, keys: Sequence[DocumentKey]) -> Mapping[DocumentKey, Sequence[Chunk]]:
        """How the generation looked at has cut documents, whoever may read them."""
        with self._look() as snapshot:
            generation = snapshot.generation
        with self._ledger.examine() as examination:
            return {key: examination.chunks(generation, key) for key in keys}

    def corpus_digest(self) -> str:
        """One hash over every document that is served: its state, not its name alone. It gives nothing away."""
        heads = sorted(
            f"{item.key.tenant_id}/{item.key.source_id}/{item.key.document_id}:{item.text_sha256}"
            for item in self.contents()
        )
        return digest("corpus", *heads)

    def policy(self) -> Accepted | None:
        """The newest policy that was accepted."""
        with self._look() as snapshot:
            return snapshot.policy

    def explain(
        self,
        key: DocumentKey,
        principal: Principal,
        *,
        as_of: Micros | None = None,
        memberships: Chains | None = None,
    ) -> Explanation:
        """Why a principal may or may not read a document: which layer allows or denies, at which ledger position and
        under which policy. ``memberships``: how he came by his groups, see ``Directory.memberships``; they are
        shown, never judged. Raises NotFound for a document the ledger has never seen."""
        return self._recomputed.explain(key, principal, as_of, memberships or {})

    def announce_policy(self, revision: int, issued_at: Micros | None = None) -> None:
        """For a host with a directory of its own: every identity resolved under an older revision is refused from
        now on, in every process. Raises StalePolicy if a newer one was announced before."""
        new = Accepted(revision=revision, content=None, issued_at=issued_at)
        self._ledger.accept_policy(new, "announced")

    def status(self, *, in_full: bool = False) -> Mapping[str, Any]:
        return self._ledger.status(in_full=in_full)

    def generations(self) -> Sequence[Generation]:
        """Every generation of the index there was, in the order they were started."""
        return self._ledger.generations()

    def switches(self) -> Sequence[Switched]:
        """Who pointed ``live`` where, when and why."""
        return self._ledger.switches()

    def contents(self) -> Iterator[StoredDocument]:
        """Every document that the generation looked at serves, whoever may read it; text left out."""
        with self._look() as snapshot:
            for partition in snapshot.partitions():
                slots = [slot for _, slot in snapshot.inventory(partition) if slot is not None]
                for start in range(0, len(slots), PAGE):
                    some = snapshot.documents_at(partition, slots[start : start + PAGE])
                    yield from (item for item in some if item.present)

    def known(self) -> Sequence[DocumentKey]:
        """Every document the ledger knows."""
        with self._look() as snapshot:
            return [key for name in snapshot.partitions() for key, _ in snapshot.inventory(name)]

    def is_current(self, key: DocumentKey, now: Micros) -> bool:
        """Whether the generation looked at serves the newest state of a document, and that is in force."""
        with self._look() as snapshot:
            served = snapshot.document(key)
        head = self._ledger.head(key)
        return (
            served is not None
            and served.present
            and head is not None
            and head.operation == "upsert"
            and head.source_state_hash == served.served_state_hash
            and in_force(served.served_access, now)
        )

    def promote(
        self, generation: str, reason: str, panel: Panel | None = None, *, force: bool = False
    ) -> None:
        """Let questions be answered from a generation, from one transaction to the next.

        Raises InputError unless its panel passes and it has taken everything in, or ``force``; and when another
        one has become live since the panel was measured. Who, why and the panel are recorded in the same
        transaction. One that cannot be read raises what its first question would have met, forced or not.
        """
        self._recomputed.probe(generation)
        if panel is not None and panel.generation != generation:
            raise InputError("This panel was measured on another generation.")
        if not force and (panel is None or not panel.passes):
            verdict = "it has none" if panel is None else panel.line
            raise InputError(f"The panel does not let this generation answer: {verdict}. Override: --force")
        switch = self._switch("promote", reason, force, "" if panel is None else panel.line)
        self._ledger.promote(generation, switch, expected=None if panel is None else panel.live)

    def rollback(self, reason: str, *, force: bool = False) -> str:
        """Go back to the generation that answered before the live one was promoted; its name. Nothing is built.

        Raises InputError if there is none, or it is retired, or events wait for it and not ``force``; and what a
        question would have met if it cannot be read.
        """
        with self._ledger.snapshot() as snapshot:
            live = snapshot.generation
        made = [
            item for item in self._ledger.switches() if item.after == live and item.switch.kind != "rollback"
        ]
        if not made or not made[-1].before:
            raise InputError("No generation answered before this one.")
        before = made[-1].before
        self._recomputed.probe(before)
        self._ledger.promote(before, self._switch("rollback", reason, force, ""), expected=live)
        return before

    def _switch(self, kind: SwitchKind, reason: str, force: bool, panel: str) -> Switch:
        if not reason.strip():
            raise InputError("Give a reason; it is recorded.")
        return Switch(kind=kind, actor=self._name, reason=reason.strip(), forced=force, panel=panel)
