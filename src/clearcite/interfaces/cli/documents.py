"""``list``, ``show`` and ``delete``."""

from typing import Annotated

import typer

from clearcite.domain.corpus import DELETE_REASONS, DocumentKey, SourceRecord
from clearcite.errors import InputError, NotFound
from clearcite.interfaces.cli import common
from clearcite.interfaces.cli.common import AS, FORMAT, GROUP, POLICY, STORE, TENANT, say
from clearcite.interfaces.cli.ingestion import run_projection
from clearcite.wiring import engine_on, existing_store, open_workshop

SOURCE = Annotated[str, typer.Option("--source", help="The source the document belongs to.")]


def register(app: typer.Typer) -> None:
    app.command(name="list", help="List the documents the asker may read.")(list_documents)
    app.command(help="Show one document's text, as the asker.")(show)
    app.command(help="Delete a document: out of sight at once, then out of the index.")(delete)


def list_documents(
    as_: AS = None,
    policy: POLICY = None,
    tenant: TENANT = None,
    group: GROUP = None,
    limit: Annotated[int, typer.Option(help="At most so many.")] = 1_000,
    after: Annotated[str, typer.Option(help="Go on after SOURCE/DOCUMENT.")] = "",
    store: STORE = None,
    format: FORMAT = None,  # noqa: A002 - the flag's name
) -> int:
    settings = common.settings_for(store)
    principal = common.principal_for(settings, as_, policy, tenant, group)
    form = common.chosen_format(format)
    position = after.replace("/", "\0", 1)
    with engine_on(settings) as engine:
        found = engine.documents(principal, limit=limit, after=position)
    for item in found:
        if form == "json":
            common.print_json(item)
        else:
            say(f"{item.source_id}/{item.document_id}  {item.title}  [{item.source_type}, {item.revision}]")
    return 0


def show(
    document: Annotated[str, typer.Argument(help="The document's id.")],
    source: SOURCE = "default",
    as_: AS = None,
    policy: POLICY = None,
    tenant: TENANT = None,
    group: GROUP = None,
    store: STORE = None,
    format: FORMAT = None,  # noqa: A002 - the flag's name
) -> int:
    settings = common.settings_for(store)
    principal = common.principal_for(settings, as_, policy, tenant, group)
    form = common.chosen_format(format)
    with engine_on(settings) as engine:
        found = engine.document(document, principal, source_id=source)
    if form == "json":
        common.print_json(found)
    else:
        say(f"{found.title} ({found.uri}, revision {found.revision})", "bold")
        say(found.text or "")
    return 0


def delete(
    document: Annotated[str, typer.Argument(help="The document's id.")],
    tenant: Annotated[str, typer.Option("--tenant", help="The tenant it belongs to.")],
    source: SOURCE = "default",
    reason: Annotated[str, typer.Option(help=", ".join(DELETE_REASONS))] = "user_request",
    store: STORE = None,
) -> int:
    if reason not in DELETE_REASONS:
        raise InputError(f"--reason is one of: {', '.join(DELETE_REASONS)}.")
    settings = common.settings_for(store)
    existing_store(settings)
    shop = open_workshop(settings)
    try:
        key = DocumentKey(tenant_id=tenant, source_id=source, document_id=document)
        head = shop.ledger.head(key)
        if head is None or head.operation == "delete":
            raise NotFound("There is no such document.")
        record = SourceRecord(
            key=key,
            source_sequence=head.source_sequence + 1,
            operation="delete",
            delete_reason=next(item for item in DELETE_REASONS if item == reason),
        )
        applied = shop.ledger.apply([record], shop.manifest.hash())[0]
        if applied.error is not None:
            raise applied.error
        run_projection(shop)
    finally:
        shop.close()
    common.err.print("Deleted; no question asked from now on sees it.")
    return 0
