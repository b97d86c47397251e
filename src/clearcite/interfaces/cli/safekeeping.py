"""``backup``, ``restore`` and ``integrity``: for whoever keeps a store safe."""

from pathlib import Path
from typing import Annotated

from clearcite.errors import InputError, IntegrityFault
from clearcite.interfaces.cli import common
from clearcite.interfaces.cli.commands import Argument, Command, Option
from clearcite.interfaces.cli.common import FORMAT, STORE, note, say
from clearcite.interfaces.cli.progress import progress
from clearcite.wiring import backup_store, check_integrity, export_journal, restore_store

BACKUP_HELP = """Copy a store into a new folder, also while it is in use.

The copy is of one moment, names every file with its hash, and cannot be asked before it is put back. Keep the journal
apart from the backups and write it often: it is small, and says what was deleted, revoked and purged since.

Examples:

  clearcite backup /safe/2026-11-30

  clearcite backup --journal /elsewhere/journal.json
"""

RESTORE_HELP = """Put a backup in the place of the store.

What was deleted, revoked or purged since is taken away again before the store serves: from the store that is
replaced, or from a journal. Where neither is there it is refused, unless --accept-loss says why. Stop what uses the
store first; what stood there is put aside.

Examples:

  clearcite restore /safe/2026-11-30

  clearcite restore /safe/2026-11-30 --journal /elsewhere/journal.json
"""

INTEGRITY_HELP = """Check the files of a store, for operators.

Databases, their references, every segment of the index, and who may read the files. Exit 4: something is wrong.
Whether what they hold is right is what `reconcile` checks.

Example:

  clearcite integrity
"""


def backup(
    folder: Annotated[Path | None, Argument(help="A folder that is new or empty.")] = None,
    journal: Annotated[
        Path | None, Option("--journal", help="Write the journal to this file, in place of an older one.")
    ] = None,
    store: STORE = None,
    format: FORMAT = None,  # noqa: A002 - the flag's name
) -> int:
    if folder is None and journal is None:
        raise InputError("Nothing was written: name a FOLDER, or give --journal FILE.")
    if journal is not None and (journal.is_dir() or not journal.parent.is_dir()):
        raise InputError(f"Nothing was written: {journal} is a folder, or is in none that there is.")
    settings = common.settings_for(store)
    done: dict[str, object] = {}
    if folder is not None:
        with progress() as bar:
            task = bar.add_task("backing up", total=None)
            made = backup_store(settings, folder, lambda what: bar.update(task, description=what))
        done["backup"] = {
            "store_id": made.store_id,
            "number": made.number,
            "position": made.position,
            "files": len(made.files),
            "bytes": sum(item.size for item in made.files),
        }
    if journal is not None:
        written = export_journal(settings, journal)
        done["journal"] = {"number": written.number, "entries": len(written.entries)}
    if common.chosen_format(format) == "json":
        common.print_json(done)
        return 0
    for name, about in done.items():
        say(f"{name:<8} " + ", ".join(f"{what} {value}" for what, value in dict(about).items()))  # type: ignore[call-overload]
    return 0


def restore(
    folder: Annotated[Path, Argument(help="A folder that a backup was written to.")],
    journal: Annotated[Path | None, Option("--journal", help="What was taken away since.")] = None,
    accept_loss: Annotated[
        str | None, Option("--accept-loss", help="Why it is done without knowing what was taken away since.")
    ] = None,
    store: STORE = None,
    format: FORMAT = None,  # noqa: A002 - the flag's name
) -> int:
    if accept_loss is not None and not accept_loss.strip():
        raise InputError("Nothing was restored: --accept-loss needs a reason.")
    with progress() as bar:
        task = bar.add_task("restoring", total=None)
        done = restore_store(
            common.settings_for(store),
            folder,
            journal,
            accept_loss,
            lambda what: bar.update(task, description=what),
        )
    if common.chosen_format(format) == "json":
        common.print_json(done)
        return 0
    again = done.reapplied
    if done.journal_number is None:
        say(f"restored; what was taken away since is not known ({done.reason})", "yellow")
    else:
        say(
            f"restored; taken away again: {again.deleted} deleted, {again.narrowed} narrowed,"
            f" {again.quarantined} quarantined, {done.purged_revisions} revisions erased,"
            f" {again.collections} collections"
        )
    for path in again.collections_to_set:
        say(f"set this collection again: {path}", "yellow")
    if done.replaced is not None:
        note(f"The store that stood here is in {done.replaced} now; destroy it when it is not needed.")
    note("Take the sources in again to bring it up to date: clearcite ingest")
    return 0


def integrity(store: STORE = None, format: FORMAT = None) -> int:  # noqa: A002 - the flag's name
    found = dict(check_integrity(common.settings_for(store)))
    failed = any(found.values())
    if common.chosen_format(format) == "json":
        common.print_json({"ok": not failed, "checked": found})
    else:
        for what, fault in found.items():
            say(
                f"{'BAD  ' if fault else 'ok   '} {what}" + (f": {fault}" if fault else ""),
                "red" if fault else "",
            )
    return IntegrityFault.exit_code if failed else 0


COMMANDS = {
    "backup": Command(backup, BACKUP_HELP),
    "restore": Command(restore, RESTORE_HELP),
    "integrity": Command(integrity, INTEGRITY_HELP),
}
