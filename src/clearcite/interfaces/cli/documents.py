"""``list``, ``show``, ``delete`` and ``reinstate``."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Annotated, Any

from clearcite.domain.corpus import DELETE_REASONS, DeleteReason, DocumentKey, SourceRecord
from clearcite.errors import InputError, NotFound
from clearcite.interfaces.cli import common
from clearcite.interfaces.cli.commands import Argument, Command, Option
from clearcite.interfaces.cli.common import AS, AS_OF, FORMAT, GROUP, POLICY, SOURCE, STORE, TENANT, note, say
from clearcite.storing import Intake
from clearcite.wiring import engine_on, open_ledger

LIST_HELP = """List the documents the asker may read.

In the order of source and id.

Example:

  clearcite list --as alice

  clearcite list --as alice --as-of 2025-03-01
"""

SHOW_HELP = """Show one document's text, as the asker.

One that is missing and one he may not read look the same. The source is needed only where several that he may
read have a document of this id.

Example:

  clearcite show leave.md --as alice

  clearcite show leave.md --as alice --as-of 2025-03-01
"""

DELETE_HELP = """Delete a document, for operators.

No question asked from now on sees it. It comes back when its source sends a newer state, such as a changed
file. Its text stays in the ledger's history.

Example:

  clearcite delete leave.md --tenant default --reason user_request
"""

REINSTATE_HELP = """Let a quarantined document be served again, for operators.

Without DOCUMENT, list what is quarantined and why. A document is quarantined when it could not be read or did not
match its hashes: find out why first. The next ingestion builds it from the content that is stored; content that is
not what its source sent stays out.

Examples:

  clearcite reinstate

  clearcite reinstate leave.md --tenant default
"""


def list_documents(
    as_: AS = None,
    policy: POLICY = None,
    tenant: TENANT = None,
    group: GROUP = None,
    limit: Annotated[int, Option(help="At most so many.")] = 1_000,
    after: Annotated[str, Option(help="Go on after SOURCE/DOCUMENT.")] = "",
    as_of: AS_OF = None,
    store: STORE = None,
    format: FORMAT = None,  # noqa: A002 - the flag's name
) -> int:
    settings = common.settings_for(store)
    principal = common.principal_for(settings, as_, policy, tenant, group)
    form = common.chosen_format(format)
    position = after.replace("/", "\0", 1)
    instant = common.as_of_for(settings, as_of)
    with engine_on(settings) as engine:
        found = engine.documents(principal, limit=limit, after=position, as_of=instant)
    for item in found:
        if form == "json":
            common.print_json(item)
        else:
            say(f"{item.source_id}/{item.document_id}  {item.title}  [{item.source_type}, {item.revision}]")
    return 0


def show(
    document: Annotated[str, Argument(help="The document's id.")],
    source: SOURCE = None,
    as_: AS = None,
    policy: POLICY = None,
    tenant: TENANT = None,
    group: GROUP = None,
    as_of: AS_OF = None,
    store: STORE = None,
    format: FORMAT = None,  # noqa: A002 - the flag's name
) -> int:
    settings = common.settings_for(store)
    principal = common.principal_for(settings, as_, policy, tenant, group)
    form = common.chosen_format(format)
    instant = common.as_of_for(settings, as_of)
    with engine_on(settings) as engine:
        found = engine.document(document, principal, source_id=source, as_of=instant)
    if form == "json":
        common.print_json(found)
    else:
        say(f"{found.title} ({found.uri}, revision {found.revision})", "bold")
        say(found.text or "")
    return 0


def delete(
    document: Annotated[str, Argument(help="The document's id.")],
    tenant: Annotated[str, Option("--tenant", help="The tenant it belongs to.")],
    source: SOURCE = None,
    reason: Annotated[str, Option(help=", ".join(DELETE_REASONS))] = "user_request",
    store: STORE = None,
) -> int:
    if reason not in DELETE_REASONS:
        raise InputError(f"--reason is one of: {', '.join(DELETE_REASONS)}.")
    why = next(item for item in DELETE_REASONS if item == reason)
    settings = common.settings_for(store)
    with closing(open_ledger(settings)) as ledger:
        key = common.key_of(settings, tenant, source, document)
        head = ledger.head(key)
        if head is None or head.operation == "delete":
            raise NotFound("There is no such document.")
        apply_deletes(ledger, {key: head.source_sequence}, why)
    note("Deleted: no question asked from now on sees it. The next ingestion takes it out of the index.")
    return 0


def apply_deletes(ledger: Intake, newest: Mapping[DocumentKey, int], reason: DeleteReason) -> None:
    """Delete documents by hand. ``newest``: their sequences now. Raises the error of the first that is refused."""
    records = [
        SourceRecord(key=key, source_sequence=sequence + 1, operation="delete", delete_reason=reason)
        for key, sequence in newest.items()
    ]
    for done in ledger.apply(records, manifest_hash=""):  # of a build; a delete is none
        if done.error is not None:
            raise done.error


def reinstate(
    document: Annotated[str | None, Argument(help="The document's id.")] = None,
    tenant: Annotated[str | None, Option("--tenant", help="The tenant it belongs to.")] = None,
    source: SOURCE = None,
    store: STORE = None,
    format: FORMAT = None,  # noqa: A002 - the flag's name
) -> int:
    settings = common.settings_for(store)
    with closing(open_ledger(settings)) as ledger:
        quarantined = ledger.status()["quarantine"]
        if document is None:
            _show_quarantine(quarantined, common.chosen_format(format))
            return 0
        if tenant is None:
            raise InputError("Nothing was changed: --tenant says whose document it is.")
        key = common.key_of(settings, tenant, source, document)
        place = (key.tenant_id, key.source_id, key.document_id)
        if place not in {(row["tenant_id"], row["source_id"], row["document_id"]) for row in quarantined}:
            raise NotFound("No such document is quarantined. What is: clearcite reinstate")
        ledger.reinstate(key)
    note("It is built again from its stored content, and served after that, by: clearcite ingest")
    return 0


def _show_quarantine(quarantined: Sequence[Mapping[str, Any]], form: str) -> None:
    for row in quarantined:
        if form == "json":
            common.print_json(row)
        else:
            place = f"{row['tenant_id']}/{row['source_id']}/{row['document_id']}"
            say(f"{place}  {row['reason']}  [{row['what']}, {row['seconds']} s ago]")
    if not quarantined:
        note("Nothing is quarantined.")


COMMANDS = {
    "list": Command(list_documents, LIST_HELP),
    "show": Command(show, SHOW_HELP),
    "reinstate": Command(reinstate, REINSTATE_HELP),
    "delete": Command(delete, DELETE_HELP),
}
