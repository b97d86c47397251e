"""What each fault does to a copy. Each damages bytes, rows or segments, or lets a part fail; none touches a check."""

from collections.abc import Mapping
from contextlib import closing
from typing import Any

import apsw
from msgspec.structs import replace

from clearcite.bench.faults.defects import (
    LOOKALIKE,
    defective,
    with_damaged_codes,
    with_split_statements,
    without_titles,
)
from clearcite.bench.faults.observe import Seen, Target
from clearcite.bench.faults.site import NotApplicableError, Site
from clearcite.domain.corpus import DocumentKey
from clearcite.errors import DependencyUnavailable
from clearcite.testing.embedder import HashedEmbedder
from clearcite.wire import canonical
from clearcite.wire.convert import to_json
from clearcite.wiring import Recipe, live_target, open_ledger, open_workshop

OTHER_CHUNKS = 181
NOBODY = ("nobody-at-all",)
NOTE = "\n\nThis page was printed from the archive.\n"


def needed(target: Target | None, what: str) -> Target:
    if target is None:
        raise NotApplicableError(f"there is no {what}")
    return target


def answering(site: Site) -> Target:
    what = "text document that one answered case rests on alone, with a string that the answer must hold"
    return needed(site.chosen.answering, what)


def bystander(site: Site) -> Target:
    return needed(site.chosen.bystander, "readable text document that no case expects")


# --- the sources ------------------------------------------------------------------------------------------


def ocr(site: Site) -> None:
    """A code is read as letters that look like its figures."""
    target = answering(site)
    damaged = target.text.translate(LOOKALIKE)
    if damaged == target.text:
        damaged = target.text.swapcase()[::-1]
    site.send(site.record(target.key, change=lambda text: text.replace(target.text, damaged)))


def acl_widen(site: Site) -> None:
    hidden = needed(site.chosen.hidden, "document that is hidden from somebody who asks")
    access = site.access(hidden.key)
    allow = tuple(sorted({*access.allow, *hidden.groups}))
    site.send(site.record(hidden.key, access=replace(access, allow=allow, parent=None)))


def acl_missed_grant(site: Site) -> None:
    """A group that the source admits does not arrive."""
    target = answering(site)
    site.send(site.record(target.key, access=replace(site.access(target.key), allow=NOBODY)))


def revoked(site: Site) -> None:
    """What was withdrawn or has ended comes back as if it held."""
    target = needed(site.chosen.withheld, "withdrawn, ended or draft document")
    access = site.access(target.key)
    back = replace(access, status="published", effective_from=None, effective_to=None)
    site.send(site.record(target.key, access=back))


def injection(site: Site) -> None:
    """A source that nobody approved is taken for one that was."""
    target = needed(site.chosen.untrusted, "document of a source that is not approved")
    site.send(site.record(target.key, access=replace(site.access(target.key), trusted=True)))


def clock_edge(site: Site) -> None:
    """The end of a window is taken as its last instant instead of the first one after it."""
    target = needed(site.chosen.ending, "document whose window ends")
    access = site.access(target.key)
    site.send(site.record(target.key, access=replace(access, effective_to=(access.effective_to or 0) + 1)))


def dup_canonical(site: Site) -> None:
    """A copy arrives under another id, with one more line and without the id of its original."""
    target = answering(site)
    copy = f"copy-of-{target.key.document_id}"
    record = site.record(
        target.key, change=lambda text: text + NOTE, canonical_document_id=None, source_uri=copy, facts=()
    )
    site.send(replace(record, key=replace(target.key, document_id=copy), source_sequence=1))


# --- the ledger -------------------------------------------------------------------------------------------


def outbox_lag(site: Site) -> None:
    """A change was accepted, and no worker takes it."""
    site.send(site.record(answering(site).key, change=lambda text: text + NOTE), publish=False)


def tombstone_lost(site: Site) -> None:
    """The source deletes a document, and an older copy of the ledger's rows comes back over the delete."""
    key = bystander(site).key
    with site.rows() as db:
        number, before, position = _number(db, key), _row(db, key), _position(db)
    site.delete(key)
    with site.rows() as db:
        sets = ", ".join(f"{name} = ?" for name in before)
        db.execute(f"UPDATE documents SET {sets} WHERE id = ?", (*before.values(), number))  # noqa: S608 - own columns
        db.execute("UPDATE projections SET withdrawn = 0 WHERE document = ?", (number,))
        db.execute("DELETE FROM outbox WHERE document = ?", (number,))
        _turn_back(db, number, position)


def stale_acl_copy(site: Site) -> None:
    """The list was narrowed; the columns that the engine judges by still hold the older one."""
    key = answering(site).key
    with site.rows() as db:
        position = _position(db)
    site.send(site.record(key, access=replace(site.access(key), allow=NOBODY)))
    with site.rows() as db:
        _turn_back(db, _number(db, key), position)


def alias_bad(site: Site) -> None:
    """The alias points at a generation that was only begun."""
    with closing(open_workshop(site.settings, live_target)) as shop:
        begun = replace(shop.manifest, chunk_words=OTHER_CHUNKS)
        manifest = canonical(to_json(begun)).decode("utf-8")
        shop.ledger.start_generation(f"g-{begun.hash()[:12]}", manifest, kept=True)
    with site.rows() as db:
        db.execute("UPDATE aliases SET generation = (SELECT max(id) FROM generations)")


def citation_drift(site: Site) -> None:
    """The text moves under spans that were cut before."""
    key = answering(site).key
    text = site.before.documents[key].text
    with site.rows() as db:
        db.execute(
            "UPDATE served_texts SET text = ? WHERE projection IN"
            " (SELECT id FROM projections WHERE document = ?)",
            (f"-{text[:-1]}", _number(db, key)),
        )


def _number(db: apsw.Connection, key: DocumentKey) -> int:
    return int(_row(db, key)["id"])


def _row(db: apsw.Connection, key: DocumentKey) -> dict[str, Any]:
    names = [str(row[1]) for row in db.execute("PRAGMA table_info(documents)")]
    cursor = db.execute(
        "SELECT d.* FROM documents d JOIN partitions p ON p.id = d.partition"
        " WHERE p.name = ? AND d.source_id = ? AND d.document_id = ?",
        (key.tenant_id, key.source_id, key.document_id),
    )
    row = cursor.fetchone()
    if row is None:
        raise NotApplicableError("the document is not there")
    return dict(zip(names, row, strict=True))


def _turn_back(db: apsw.Connection, document: int, position: int) -> None:
    """What decides about a document is again what it was at an earlier position."""
    db.execute("DELETE FROM visibility WHERE document = ? AND from_position > ?", (document, position))
    db.execute(
        "UPDATE visibility SET to_position = NULL WHERE document = ? AND to_position > ?",
        (document, position),
    )


def _position(db: apsw.Connection) -> int:
    return int(db.execute("SELECT position FROM counters").get)


# --- a generation -----------------------------------------------------------------------------------------


def title(site: Site) -> None:
    _promoted(site, site.build(Recipe(chunk_words=OTHER_CHUNKS), defective(without_titles)))


def chunk_split(site: Site) -> None:
    _promoted(site, site.build(Recipe(chunk_words=OTHER_CHUNKS), defective(with_split_statements)))


def embed_dim(site: Site) -> None:
    """A worker with another model writes into the live generation."""
    record = site.record(answering(site).key, source_version="drill")
    site.send(record, spoil=lambda builder: replace(builder, embedder=HashedEmbedder(dims=48)))


def bad_pipeline(site: Site) -> str:
    """A generation of a pipeline that damages codes and loses titles; it does not answer yet."""
    return site.build(
        Recipe(chunk_words=OTHER_CHUNKS), defective(lambda draft: with_damaged_codes(without_titles(draft)))
    )


def _promoted(site: Site, generation: str) -> None:
    with closing(open_ledger(site.settings)) as ledger:
        ledger.promote(generation)


# --- parts that fail --------------------------------------------------------------------------------------


def retrieval_error(site: Site) -> None:
    site.failing["recall"] = DependencyUnavailable("injected")


def reranker_error(site: Site) -> None:
    site.failing["rerank"] = DependencyUnavailable("injected")


def generation_error(site: Site) -> None:
    site.failing["compose"] = DependencyUnavailable("injected")


def report_disclosure(site: Site) -> None:
    """The rule of reports, codes and numbers only, is off: the summary names what was looked at."""

    def naming(files: Mapping[str, bytes], seen: Seen) -> Mapping[str, bytes]:
        names = "\n".join(item.title for _, item in sorted(seen.documents.items()))
        return {**files, "summary.md": files.get("summary.md", b"") + names.encode("utf-8")}

    site.report = naming


# --- what the legitimate part of a fault changes -------------------------------------------------------------


def bystander_deleted(seen: Seen) -> Seen:
    target = seen.chosen.bystander
    if target is None:
        return seen
    documents = {key: item for key, item in seen.documents.items() if key != target.key}
    return _unreadable(replace(seen, documents=documents), target)


def answering_closed(seen: Seen) -> Seen:
    return _unreadable(seen, seen.chosen.answering)


def _unreadable(seen: Seen, target: Target | None) -> Seen:
    gone = frozenset() if target is None else frozenset({target.key})
    return replace(seen, readable={case: keys - gone for case, keys in seen.readable.items()})
