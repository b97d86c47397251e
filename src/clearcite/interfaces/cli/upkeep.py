"""``reconcile``, ``purge`` and ``sweep``: for whoever keeps a store in order."""

from collections.abc import Callable, Mapping
from typing import Annotated

from clearcite.domain.access import Micros
from clearcite.domain.corpus import PAST, DocumentKey
from clearcite.domain.purge import Receipt, Selection
from clearcite.domain.reconcile import Mismatch, Reconciliation
from clearcite.errors import InputError, IntegrityFault
from clearcite.interfaces.cli import common
from clearcite.interfaces.cli.commands import Argument, Command, Option
from clearcite.interfaces.cli.common import FORMAT, SOURCE, STORE, counted, say
from clearcite.interfaces.cli.progress import progress
from clearcite.wire.instants import format_instant
from clearcite.wiring import purge_store, reconcile_store, sweep_store

RECONCILE_HELP = """Check the store against the original bytes, for operators.

Hashes, access lists, pointers, chunks and index entries are computed again and compared; what differs is counted
by name. It is never needed for safety, for a question checks what it reads. Refused while work waits. Exit 0:
nothing differs; 4: something does.

Examples:

  clearcite reconcile

  clearcite reconcile --vectors --format json
"""

SWEEP_HELP = """Do what the rule of retention says, for operators.

Content of deleted documents, older revisions and traces is erased when it has been kept for the days that stand
under [retention] in clearcite.toml; entries that serve no more leave the index. Run it every day: `status` shows
when it was last completed. Exit codes and receipt are those of `purge`.

Example:

  clearcite sweep
"""

MOST_DAYS = 36_500

PURGE_HELP = """Erase deleted documents and old revisions for good, for operators.

Content is erased from every store, every byte is read back, and a receipt says how each store was left and what
that does not prove. A document must have been deleted, and its deletion indexed, before. Exit 0: done; 1: something
remains or waits, and the receipt says what to do.

Examples:

  clearcite purge leave.md --tenant default

  clearcite purge --deleted

  clearcite purge --revisions-older-than 30
"""


def reconcile(
    while_pending: Annotated[
        bool, Option("--while-pending", help="Also while work waits; what waits is counted.")
    ] = False,
    vectors: Annotated[
        bool, Option("--vectors", help="Compute every sentence vector again too. Takes long.")
    ] = False,
    store: STORE = None,
    format: FORMAT = None,  # noqa: A002 - the flag's name
) -> int:
    settings = common.settings_for(store)
    with progress() as bar:

        def begin(sizes: Mapping[str, int]) -> Callable[[str], None]:
            task = bar.add_task("reconciling", total=sum(sizes.values()))
            return lambda what: bar.advance(task) if what in sizes else None

        found = reconcile_store(settings, while_pending=while_pending, vectors=vectors, begin=begin)
    if common.chosen_format(format) == "json":
        common.print_json(found)
    else:
        _show(found)
    return IntegrityFault.exit_code if found.total else 0


DAY: Micros = 86_400_000_000


def purge(
    document: Annotated[str | None, Argument(help="The id of a deleted document.")] = None,
    tenant: Annotated[str | None, Option("--tenant", help="The tenant it belongs to.")] = None,
    source: SOURCE = None,
    deleted: Annotated[bool, Option("--deleted", help="Every deleted document.")] = False,
    revisions_older_than: Annotated[
        int | None,
        Option(help="Revisions accepted so many days ago that are neither newest nor served."),
    ] = None,
    store: STORE = None,
    format: FORMAT = None,  # noqa: A002 - the flag's name
) -> int:
    if document is None and not deleted and revisions_older_than is None:
        raise InputError(
            "Nothing was erased: name a DOCUMENT, or give --deleted or --revisions-older-than DAYS."
        )
    if document is not None and tenant is None:
        raise InputError("Nothing was erased: --tenant says whose document it is.")

    def select(now: Micros) -> Selection:
        before = None if revisions_older_than is None else now - revisions_older_than * DAY
        return Selection(keys=keys, deleted_before=now if deleted else None, revisions_before=before)

    settings = common.settings_for(store)
    keys = () if document is None else (common.key_of(settings, tenant or "", source, document),)
    if revisions_older_than is not None and not 0 <= revisions_older_than <= MOST_DAYS:
        raise InputError(
            f"Nothing was erased: --revisions-older-than is a number of days, at least 0 and at most {MOST_DAYS}."
        )
    with progress() as bar:
        task = bar.add_task("purging", total=None)
        receipt = purge_store(settings, select, lambda what: bar.update(task, description=what))
    if common.chosen_format(format) == "json":
        common.print_json(receipt)
    else:
        _show_receipt(receipt)
    return 0 if receipt.complete else 1


def sweep(store: STORE = None, format: FORMAT = None) -> int:  # noqa: A002 - the flag's name
    with progress() as bar:
        task = bar.add_task("sweeping", total=None)
        receipt = sweep_store(common.settings_for(store), lambda what: bar.update(task, description=what))
    if common.chosen_format(format) == "json":
        common.print_json(receipt)
    else:
        _show_receipt(receipt)
    return 0 if receipt.complete else 1


def _show_receipt(receipt: Receipt) -> None:
    say(
        f"purge {receipt.purge}: {counted(len(receipt.documents), 'document')}, {receipt.waiting} wait",
        "bold",
    )
    for item in receipt.documents:
        key = item.key
        what = "deleted" if item.deleted else "lives on"
        say(f"  {_place(key)}: {item.revisions} revisions, {what}")
    if receipt.waiting:
        documents = counted(receipt.waiting, "deleted document")
        say(
            f"      waits  {documents}, not erased: work the deletion off, and purge again: clearcite work",
            "red",
        )
    for line in receipt.stores:
        say(f"{line.state:>11}  {line.store}" + (f": {line.detail}" if line.detail else ""))
    say(f"{receipt.fragments} fragments were looked for in {receipt.bytes} bytes of {receipt.files} files")
    for text in receipt.keeps:
        say(f"      keeps  {text}")
    for text in receipt.not_proven:
        say(f" not proven  {text}")


def _show(found: Reconciliation) -> None:
    say("checked    " + ", ".join(f"{count} {name}" for name, count in found.checked.items()), "bold")
    for kind, count in found.mismatches.items():
        if count:
            say(f"{count:>10} {kind}", "red")
            for example in found.examples:
                if example.kind == kind:
                    say(f"           {_name(example)}")
    say("nothing differs" if not found.total else f"{found.total} differ", "red" if found.total else "green")


def _place(key: DocumentKey) -> str:
    """An older revision that is kept is known by its document and the instant from which it was current."""
    past = key.document_id.partition(PAST)[2]
    when = f" as from {format_instant(int(past))}" if past.isdecimal() else ""
    return f"{key.tenant_id}/{key.source_id}/{key.shown_id}{when}"


def _name(example: Mismatch) -> str:
    key = example.key
    where = "" if key is None else _place(key)
    return " ".join(
        part for part in (where, example.detail, example.generation and f"({example.generation})") if part
    )


COMMANDS = {
    "reconcile": Command(reconcile, RECONCILE_HELP),
    "purge": Command(purge, PURGE_HELP),
    "sweep": Command(sweep, SWEEP_HELP),
}
