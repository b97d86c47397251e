"""Every fault: where it is put, the stage that must fail first, and what a person needs to act on it."""

from collections.abc import Callable
from typing import Literal

from msgspec import Struct, field

from clearcite.bench.faults import mutations as do
from clearcite.bench.faults.observe import Seen
from clearcite.bench.faults.site import Site

Where = Literal["sources", "ledger", "generation", "guard"]
EARLIER = ("alias", "index", "publication")


class Fault(Struct, frozen=True, kw_only=True):
    """``stage`` must fail first. ``must_fail``: stages that fail as well; ``must_not_fail``: stages that hold.
    ``legitimate``: what the part of it that is no fault changes in what is expected.
    """

    name: str
    stage: str
    where: Where
    mutate: Callable[[Site], None]
    impact: str
    control: str
    next_tests: str
    must_fail: tuple[str, ...] = ()
    must_not_fail: tuple[str, ...] = EARLIER
    legitimate: Callable[[Seen], Seen] = field(default=lambda seen: seen)


FAULTS: tuple[Fault, ...] = (
    Fault(
        name="ocr",
        stage="parsing",
        where="sources",
        mutate=do.ocr,
        impact="a code is not found, or is quoted wrongly",
        control="golden samples of what is read: text against its digest, and strings that must stand in it",
        next_tests="read the source again; clearcite reconcile; ask for the code",
        must_not_fail=(*EARLIER, "lifecycle", "access", "authorization"),
    ),
    Fault(
        name="title",
        stage="chunking",
        where="generation",
        mutate=do.title,
        impact="a passage does not say what it is about and ranks below others",
        control="every chunk names a title before a generation may answer (panel: titled)",
        next_tests="clearcite index panel; clearcite index rollback",
        must_not_fail=(*EARLIER, "parsing", "access", "authorization"),
    ),
    Fault(
        name="chunk_split",
        stage="chunking",
        where="generation",
        mutate=do.chunk_split,
        impact="half a statement is quoted, or none",
        control="units are never cut; what may be quoted is compared with golden samples",
        next_tests="clearcite index panel; clearcite index rollback",
        must_not_fail=(*EARLIER, "parsing", "access", "authorization"),
    ),
    Fault(
        name="dup_canonical",
        stage="canonical",
        where="sources",
        mutate=do.dup_canonical,
        impact="one source counts as two and pushes others out of the context",
        control="copies carry the id of their original, or the same text",
        next_tests="give the copy its canonical_document_id, or delete it",
        must_not_fail=(*EARLIER, "parsing", "chunking"),
    ),
    Fault(
        name="revoked",
        stage="lifecycle",
        where="sources",
        mutate=do.revoked,
        impact="an instruction that was withdrawn is cited",
        control="status and window are judged at every question, on both sides",
        next_tests="clearcite explain DOCUMENT; ask as of today",
        must_not_fail=(*EARLIER, "parsing", "chunking", "authorization"),
    ),
    Fault(
        name="injection",
        stage="lifecycle",
        where="sources",
        mutate=do.injection,
        impact="a text that nobody approved reaches the context",
        control="only approved sources are read; no text has authority",
        next_tests="clearcite explain DOCUMENT; take the approval back",
        must_not_fail=(*EARLIER, "parsing", "chunking", "authorization"),
    ),
    Fault(
        name="tombstone_lost",
        stage="lifecycle",
        where="ledger",
        mutate=do.tombstone_lost,
        impact="a deleted document is answered from again",
        control="deletes are kept in a journal that a restore applies; events are linked (audit verify)",
        next_tests="clearcite audit verify; clearcite restore with the newest journal",
        must_not_fail=(*EARLIER, "parsing", "chunking"),
        legitimate=do.bystander_deleted,
    ),
    Fault(
        name="clock_edge",
        stage="validity",
        where="sources",
        mutate=do.clock_edge,
        impact="a rule holds for an instant longer than it was given",
        control="windows are half-open and tried at both ends",
        next_tests="ask as of the end and as of one microsecond before",
        must_not_fail=(*EARLIER, "parsing", "chunking", "lifecycle", "access", "authorization"),
    ),
    Fault(
        name="acl_widen",
        stage="access",
        where="sources",
        mutate=do.acl_widen,
        impact="somebody may read what he must not",
        control="lists are compared with those of the source; questions that must end empty",
        next_tests="clearcite explain DOCUMENT; narrow the list, which acts at once",
        must_not_fail=(*EARLIER, "parsing", "chunking", "lifecycle", "validity"),
    ),
    Fault(
        name="acl_missed_grant",
        stage="access",
        where="sources",
        mutate=do.acl_missed_grant,
        impact="somebody does not find what he may read, and no alarm rings",
        control="authorized recall for each cohort beside the count of leaks",
        next_tests="clearcite explain DOCUMENT; clearcite sync the source",
        must_fail=("access", "retrieval"),
        must_not_fail=(*EARLIER, "parsing", "chunking", "authorization"),
    ),
    Fault(
        name="stale_acl_copy",
        stage="authorization",
        where="ledger",
        mutate=do.stale_acl_copy,
        impact="a document that was closed is still looked at for somebody",
        control="lists stand in the ledger alone; candidates are judged again document by document",
        next_tests="clearcite reconcile names the rows (visibility)",
        must_not_fail=(*EARLIER, "parsing", "chunking", "lifecycle", "access"),
        legitimate=do.answering_closed,
    ),
    Fault(
        name="outbox_lag",
        stage="publication",
        where="ledger",
        mutate=do.outbox_lag,
        impact="the old text is answered while the new one waits",
        control="what waits is counted and keeps a generation from being promoted",
        next_tests="clearcite status; clearcite work",
        must_not_fail=("alias", "index", "parsing", "access", "authorization"),
    ),
    Fault(
        name="alias_bad",
        stage="alias",
        where="ledger",
        mutate=do.alias_bad,
        impact="questions meet an index that is not complete",
        control="promotion is refused while events wait; a switch is recorded",
        next_tests="clearcite index list; clearcite index rollback or promote",
        must_fail=("alias", "publication", "retrieval"),
        must_not_fail=("index", "parsing", "chunking"),
    ),
    Fault(
        name="embed_dim",
        stage="index",
        where="generation",
        mutate=do.embed_dim,
        impact="vectors of two models are compared, or a search fails",
        control="the manifest names the model; a generation holds vectors of one length",
        next_tests="clearcite index build; clearcite doctor",
        must_not_fail=("alias", "publication", "parsing", "access", "authorization"),
    ),
    Fault(
        name="retrieval_error",
        stage="retrieval",
        where="guard",
        mutate=do.retrieval_error,
        impact="no question is answered",
        control="a search that fails ends as dependency_unavailable, never as an empty answer",
        next_tests="clearcite doctor; clearcite inspect the trace",
        must_fail=("retrieval", "answer"),
        must_not_fail=(*EARLIER, "parsing", "access", "authorization"),
    ),
    Fault(
        name="reranker_error",
        stage="reranking",
        where="guard",
        mutate=do.reranker_error,
        impact="answers come in a worse order and look like any other",
        control="the answer is marked degraded, and the release gate counts these",
        next_tests="clearcite evaluate: the gate degraded",
        must_not_fail=(*EARLIER, "parsing", "access", "authorization"),
    ),
    Fault(
        name="generation_error",
        stage="generation",
        where="guard",
        mutate=do.generation_error,
        impact="evidence was found and no answer is written",
        control="the answer ends as generation_unavailable, without a draft",
        next_tests="clearcite inspect the trace; clearcite search finds the passages",
        must_fail=("generation", "answer"),
        must_not_fail=(*EARLIER, "parsing", "access", "authorization", "retrieval"),
    ),
    Fault(
        name="citation_drift",
        stage="citation",
        where="ledger",
        mutate=do.citation_drift,
        impact="a citation points at other words than it quotes",
        control="canonical bytes are read again for every citation, and the answer is refused",
        next_tests="clearcite reconcile; clearcite reinstate after a repair",
        must_fail=("citation", "answer"),
        must_not_fail=(*EARLIER, "parsing", "access", "authorization"),
    ),
    Fault(
        name="report_disclosure",
        stage="report",
        where="guard",
        mutate=do.report_disclosure,
        impact="a report names what its readers may not know of",
        control="reports hold codes and numbers only, and are searched for names",
        next_tests="remove the file; search the others for the names",
        must_not_fail=(*EARLIER, "parsing", "access", "authorization", "answer"),
    ),
)

ALIASES = {"acl": "acl_widen"}
BROKEN = ("ocr", "dup_canonical", "revoked", "injection", "acl_widen")
"""The faults of content that can stand beside one another; ``broken`` is all of them at once."""
