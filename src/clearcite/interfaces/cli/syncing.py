"""``sync``, ``approve`` and ``source remove``: configured sources, what would happen, and deletes of many."""

from collections import Counter
from contextlib import closing
from typing import Annotated

from msgspec.structs import replace

from clearcite.config import FILE_NAME, Settings, SourceSettings
from clearcite.domain.corpus import DocumentKey
from clearcite.errors import ClearciteError, ConfigError, InputError, NotFound
from clearcite.interfaces.cli import common
from clearcite.interfaces.cli.commands import Argument, Command, Option
from clearcite.interfaces.cli.common import FORMAT, STORE, note, say
from clearcite.interfaces.cli.documents import apply_deletes
from clearcite.interfaces.cli.ingestion import check_apart, take_sources
from clearcite.storing import Applied
from clearcite.wiring import Stage, Taking, open_ledger, rehearsed, unlisted

SYNC_HELP = """Bring the store up to date with the sources of clearcite.toml.

Folders are listed, feeds are read, git repositories are followed from the last commit that was taken. A source
that fails does not stop the others. Deletes that a listing finds wait for `approve` when they are too many; all
else goes on. Exit 2: something was refused or waits; exit 3: a part is unavailable, try again.

Examples:

  clearcite sync

  clearcite sync handbook --dry-run
"""

APPROVE_HELP = """Let the withheld deletes of a source go.

The approval is a ceiling: if more documents than that have gone when the source is taken again, none is deleted.
It is used up by the next listing that it covers.

Example:

  clearcite approve handbook --up-to 37 && clearcite sync handbook
"""


REMOVE_HELP = """Delete every document of a source that is not configured any more, for operators.

Take its [[sources]] out of clearcite.toml first. No question asked from now on sees them. Like one that was deleted by
hand, a document stays deleted until it changes, also where the source is configured again. `clearcite purge`
erases their text.

Example:

  clearcite source remove handbook --tenant default
"""


def sync(
    sources: Annotated[list[str] | None, Argument(help="Names of sources; without, all.")] = None,
    dry_run: Annotated[bool, Option("--dry-run", help="Say what would happen; write nothing.")] = False,
    skip_bad: Annotated[
        bool, Option("--skip-bad", help="Take the good lines of a feed that has bad ones.")
    ] = False,
    semantic: Annotated[str | None, Option(help="auto, on or off: sentence vectors.")] = None,
    store: STORE = None,
    format: FORMAT = None,  # noqa: A002 - the flag's name
) -> int:
    settings = common.settings_for(store, semantic=semantic)
    chosen = replace(settings, sources=_chosen(settings, sources or []))
    taking = Taking(skip_bad=skip_bad)
    if dry_run:
        return _rehearse(chosen, taking, common.chosen_format(format))
    code = take_sources(chosen, taking)
    with closing(open_ledger(settings)) as ledger:
        for place, count in unlisted(settings, ledger).items():
            note(common.unlisted_line(place, count))
    return code


def approve(
    source: Annotated[str, Argument(help="The source whose deletes wait.")],
    up_to: Annotated[int, Option("--up-to", help="How many may go at most.")],
    tenant: Annotated[str | None, Option("--tenant", help="Where two tenants have such a source.")] = None,
    store: STORE = None,
) -> int:
    if up_to < 1:
        raise InputError("--up-to is at least 1.")
    with closing(open_ledger(common.settings_for(store))) as ledger:
        waiting = [
            item
            for item in ledger.sources()
            if item.source_id == source and item.withheld and tenant in (None, item.tenant_id)
        ]
        if not waiting:
            raise NotFound(f"No deletes of a source {source} wait.")
        if len(waiting) > 1:
            names = ", ".join(sorted({item.tenant_id for item in waiting}))
            raise InputError(f"Say which one with --tenant: {names}.")
        (found,) = waiting
        ledger.approve(found.tenant_id, found.source_id, found.kind, up_to)
    more = "" if up_to >= found.withheld else f", less than the {found.withheld} that wait now"
    note(
        f"Approved: up to {up_to} deletes of {source}{more}. They go with the next run: clearcite sync {source}"
    )
    return 0


def remove(
    source: Annotated[str, Argument(help="The source whose documents go.")],
    tenant: Annotated[str, Option("--tenant", help="The tenant it belongs to.")],
    store: STORE = None,
) -> int:
    settings = common.settings_for(store)
    if any((item.tenant, item.source_id) == (tenant, source) for item in settings.sources):
        raise InputError(
            f"The source {source} is configured, and would be taken again."
            f" Take its [[sources]] out of {FILE_NAME} first."
        )
    with closing(open_ledger(settings)) as ledger:
        alive = {
            DocumentKey(tenant_id=tenant, source_id=source, document_id=name): sequence
            for name, (sequence, lives) in ledger.heads(tenant, source).items()
            if lives
        }
        if not alive:
            raise NotFound(f"There is no document of a source {source} of the tenant {tenant}.")
        apply_deletes(ledger, alive, "source_deleted")
    note(f"Deleted: no question asked from now on sees the documents of {source} ({len(alive)}).")
    return 0


def _chosen(settings: Settings, names: list[str]) -> tuple[SourceSettings, ...]:
    known = [item.source_id for item in settings.sources]
    if not known:
        raise ConfigError(
            f"No sources are configured. List [[sources]] in {FILE_NAME}, or: clearcite ingest PATH"
        )
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise InputError(
            f"No source is called {', '.join(unknown)}. There are: {', '.join(sorted(set(known)))}."
        )
    return tuple(item for item in settings.sources if not names or item.source_id in names)


def _rehearse(settings: Settings, taking: Taking, form: common.Format) -> int:
    check_apart(settings)
    code = 0
    with rehearsed(settings) as stage:
        for source in settings.sources:
            try:
                code = max(code, _rehearse_one(stage, settings, source, (taking, form)))
            except ClearciteError as error:
                note(f"the source {source.source_id} would fail: {error.message}")
                code = max(code, error.exit_code)
    for name, reason in taking.skipped:
        note(f"  skipped: {name}: {reason}")
    return code


def _rehearse_one(
    stage: Stage, settings: Settings, source: SourceSettings, how: tuple[Taking, common.Format]
) -> int:
    """A line for each document that would change; nothing for the others but their number."""
    taking, form = how
    counts: Counter[str] = Counter()
    refused: list[str] = []
    for item in stage.take(settings, source, taking):
        if isinstance(item, Applied) and item.decision is not None:
            action = item.decision.action
            counts[action] += 1
            if action not in ("noop", "stale_ignored", "checkpoint_advanced"):
                _show(item, action, form)
        else:
            error = item.error if isinstance(item, Applied) else item
            refused.append(error.message if error is not None else "refused")
    done = ", ".join(f"{count} {action}" for action, count in sorted(counts.items()))
    note(f"{source.source_id}: {done or 'nothing to do'}; nothing was written")
    for message in refused:
        note(f"  refused: {message}")
    return InputError.exit_code if refused else 0


def _show(item: Applied, action: str, form: common.Format) -> None:
    key = item.key
    if form == "json":
        names = {"tenant_id": key.tenant_id, "source_id": key.source_id, "document_id": key.document_id}
        common.print_json({"action": action, **names, "source_sequence": item.source_sequence})
    else:
        say(f"{action}  {key.source_id}/{key.document_id}")


COMMANDS = {
    "sync": Command(sync, SYNC_HELP),
    "approve": Command(approve, APPROVE_HELP),
    "source remove": Command(remove, REMOVE_HELP),
}
