"""``reconcile``: for whoever keeps a store in order."""

from collections.abc import Callable, Mapping
from typing import Annotated

from clearcite.domain.reconcile import Mismatch, Reconciliation
from clearcite.errors import IntegrityFault
from clearcite.interfaces.cli import common
from clearcite.interfaces.cli.commands import Command, Option
from clearcite.interfaces.cli.common import FORMAT, STORE, say
from clearcite.interfaces.cli.progress import progress
from clearcite.wiring import reconcile_store

RECONCILE_HELP = """Check the store against the original bytes, for operators.

Hashes, access lists, pointers, chunks and index entries are computed again and compared; what differs is counted
by name. It is never needed for safety, for a question checks what it reads. Refused while work waits. Exit 0:
nothing differs; 4: something does.

Examples:

  clearcite reconcile

  clearcite reconcile --vectors --format json
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


def _show(found: Reconciliation) -> None:
    say("checked    " + ", ".join(f"{count} {name}" for name, count in found.checked.items()), "bold")
    for kind, count in found.mismatches.items():
        if count:
            say(f"{count:>10} {kind}", "red")
            for example in found.examples:
                if example.kind == kind:
                    say(f"           {_name(example)}")
    say("nothing differs" if not found.total else f"{found.total} differ", "red" if found.total else "green")


def _name(example: Mismatch) -> str:
    key = example.key
    where = "" if key is None else f"{key.tenant_id}/{key.source_id}/{key.document_id}"
    return " ".join(
        part for part in (where, example.detail, example.generation and f"({example.generation})") if part
    )


COMMANDS = {"reconcile": Command(reconcile, RECONCILE_HELP)}
