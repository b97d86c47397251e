"""``demo --lifecycle``: a document published, changed, failed, mended, deleted and erased, told as JSON lines.

The same bytes each time: nothing of a clock, an id or a path stands in them.
"""

import tempfile
import time
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from importlib.resources import files
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from clearcite.config import Settings
from clearcite.domain.access import Micros, Principal
from clearcite.domain.corpus import DocumentKey, SourceRecord
from clearcite.domain.purge import Selection
from clearcite.errors import ReadingFailed
from clearcite.ingest.draft import Draft
from clearcite.ingest.pipeline import project
from clearcite.interfaces.cli.common import print_json
from clearcite.storing import Job
from clearcite.wire.records import read_record
from clearcite.wiring import Workshop, engine_on, open_workshop, purge_store, reconcile_store

TENANT, GROUP, SOURCE = "default", "everybody", "demo"
ASKER = Principal(tenant_id=TENANT, subject_id="reader", groups=(GROUP,), authorization_revision="demo")


class _Failing(Struct, frozen=True):
    """A drafter that reads nothing, as if its process had died."""

    def draft_many(self, jobs: Iterable[Job]) -> Iterator[Draft | ReadingFailed | None]:
        for _ in jobs:
            yield ReadingFailed("the process that reads documents died")

    def close(self) -> None:
        """Nothing is held."""


def demo_lifecycle() -> int:
    """Exit 0 when the reconciliation at the end finds nothing."""
    told = tomllib.loads((files("clearcite.demo") / "lifecycle.toml").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="clearcite-") as folder:
        settings = Settings(base=folder, store=str(Path(folder) / "store"), semantic="off")
        return _tell(settings, told)


def _tell(settings: Settings, told: Mapping[str, Any]) -> int:
    first, second = told["documents"]
    with closing(open_workshop(settings)) as shop:
        _say("accepted", documents=_take(shop, _record(first, 1), _record(second, 1)))
        _say("published", **_project(shop))
        _ask(settings, told)
        _say("updated", documents=_take(shop, _record({**first, "text": first["newer"]}, 2)))
        _say("projection failed", **_project(shop, failing=True))
        _ask(settings, told)
        _say("retried", **_project(shop))
        _ask(settings, told)
        _say("deleted", documents=_take(shop, _delete(first["id"], 3)))
        _ask(settings, told)
        _say("deletion projected", **_project(shop))
    key = _key(first["id"])

    def select(_now: Micros) -> Selection:
        return Selection(keys=(key,))

    receipt = purge_store(settings, select)
    revisions = sum(item.revisions for item in receipt.documents)
    _say("purged", revisions=revisions, complete=receipt.complete)
    found = reconcile_store(settings)
    checked, mismatches = (dict(sorted(counts.items())) for counts in (found.checked, found.mismatches))
    _say("reconciled", total=found.total, checked=checked, mismatches=mismatches)
    return 0 if receipt.complete and not found.total else 1


def _say(step: str, **what: Any) -> None:
    print_json({"step": step, **what})


def _take(shop: Workshop, *records: SourceRecord) -> list[dict[str, Any]]:
    said = []
    for applied in shop.ledger.apply(records, shop.manifest.hash()):
        if applied.error is not None:
            raise applied.error
        action = applied.decision.action if applied.decision is not None else ""
        said.append({"document_id": applied.key.document_id, "action": action})
    return said


def _project(shop: Workshop, *, failing: bool = False) -> dict[str, Any]:
    """Everything that waits, after the pause that a failed attempt is given."""
    worker = shop.worker
    if failing:
        worker = replace(worker, builder=replace(worker.builder, drafter=_Failing()))
    published: list[str] = []
    failed: dict[str, str] = {}
    end = time.monotonic() + 10
    while not (published or failed) and time.monotonic() < end:
        for batch in project(worker):
            published += [key.document_id for key in batch.published]
            failed |= {job.key.document_id: why for job, why in batch.failed}
        time.sleep(0.1)
    return {"published": sorted(published), "failed": failed}


def _ask(settings: Settings, told: Mapping[str, Any]) -> None:
    with engine_on(settings) as engine:
        answer = engine.ask(told["question"], ASKER)
    _say(
        "asked",
        status=answer.status,
        answer=[claim.text for claim in answer.answer],
        revisions=[citation.revision for citation in answer.citations],
    )


def _key(document: str) -> DocumentKey:
    return DocumentKey(tenant_id=TENANT, source_id=SOURCE, document_id=document)


def _record(document: Mapping[str, Any], sequence: int) -> SourceRecord:
    return read_record(
        {
            "tenant_id": TENANT,
            "source_id": SOURCE,
            "document_id": document["id"],
            "source_sequence": sequence,
            "source_uri": document["id"],
            "source_version": str(sequence),
            "allowed_groups": [GROUP],
            "content": document["text"],
        }
    )


def _delete(document: str, sequence: int) -> SourceRecord:
    return SourceRecord(
        key=_key(document), source_sequence=sequence, operation="delete", delete_reason="user_request"
    )
