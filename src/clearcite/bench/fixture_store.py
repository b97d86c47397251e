"""A fixture's documents in a store of their own, ingested as any other source is."""

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from clearcite.bench.fixture import Fixture, FixtureDocument
from clearcite.bench.judge import statements_in
from clearcite.bench.scoring import Statements
from clearcite.bench.suite import FIXTURE_SOURCE, ExpectedFact, fixture_key
from clearcite.bench.taking import take_in
from clearcite.config import Settings
from clearcite.domain.corpus import SourceRecord
from clearcite.wire.decode import repair_text
from clearcite.wire.records import read_record
from clearcite.wiring import open_workshop


def settings_for(fixture: Fixture, folder: Path, base: Settings) -> Settings:
    """The user's settings with a store of its own, and the limits that the fixture names."""
    pipeline = fixture.pipeline
    return replace(
        base,
        base=str(folder),
        store=".clearcite",
        depth=pipeline.retrieval_limit,
        evidence_limit=pipeline.context_limit,
        evidence_chars=pipeline.max_context_chars,
    )


def fill(fixture: Fixture, settings: Settings) -> None:
    """Ingest the documents. Raises InputError if one is refused: a fixture runs whole or not at all."""
    records = [record_of(document) for document in fixture.documents]
    with closing(open_workshop(settings)) as shop:
        take_in(shop, records, "a document of the fixture")
        shop.serve()


def record_of(document: FixtureDocument) -> SourceRecord:
    return read_record(_fields(document))


def _fields(document: FixtureDocument) -> Mapping[str, Any]:
    facts = [
        {
            "fact_id": fact.id,
            "topic": fact.topic,
            "statement": fact.statement,
            "value": fact.value,
            "unit": fact.unit or None,
        }
        for fact in document.facts
    ]
    return {
        "tenant_id": document.tenant_id,
        "source_id": FIXTURE_SOURCE,
        "document_id": document.id,
        "source_sequence": 1,
        "source_uri": document.id,
        "source_version": document.source_revision,
        "canonical_document_id": document.canonical_document_id,
        "media_type": "text/plain",
        "title": document.title,
        "content": document.text,
        "allowed_groups": list(document.acl),
        "status": document.status,
        "effective_from": document.effective_from,
        "effective_to": document.effective_to,
        "authority": document.authority,
        "facts": facts,
    }


def statements_of(fixture: Fixture) -> Statements:
    """Where each fact stands in the canonical text of its document."""
    return {
        key: statements_in(
            repair_text(document.text),
            [
                ExpectedFact(fact_id=fact.id, document=key, statement=fact.statement)
                for fact in document.facts
            ],
        )
        for document in fixture.documents
        for key in (fixture_key(document.tenant_id, document.id),)
    }
