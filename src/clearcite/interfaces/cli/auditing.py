"""``audit``: for whoever has to show, later, that nothing was bent."""

from pathlib import Path
from typing import Annotated

from clearcite.domain.audit import Heads, read_heads
from clearcite.errors import InputError, IntegrityFault
from clearcite.interfaces.cli import common
from clearcite.interfaces.cli.commands import Command, Option
from clearcite.interfaces.cli.common import FORMAT, STORE, say
from clearcite.wiring import audit_heads, audit_store

HEAD_HELP = """Print how long the logs of events and traces are, and their last links.

Keep it where whoever can write the store cannot: `audit verify` holds the logs against it.

Example:

  clearcite audit head > head-2026-11.txt
"""

VERIFY_HELP = """Show that the logs of events and traces were not changed.

Every link is recomputed, and the documents of the ledger are held against the last event about each. With --head, a log
that was cut off or written anew is found too. Exit 0: it holds; 4: it does not.

Example:

  clearcite audit verify --head head-2026-11.txt
"""


def head(store: STORE = None) -> int:
    say(str(audit_heads(common.settings_for(store))))
    return 0


def verify(
    head: Annotated[
        str | None, Option("--head", help="A head that was kept, or the name of a file that holds one.")
    ] = None,
    store: STORE = None,
    format: FORMAT = None,  # noqa: A002 - the flag's name
) -> int:
    kept = None if head is None else _kept(head)
    heads, findings = audit_store(common.settings_for(store), kept)
    if common.chosen_format(format) == "json":
        common.print_json({"head": str(heads), "holds": not findings, "findings": findings})
    else:
        for finding in findings:
            say(f"{finding.log} {finding.number}: {finding.what}", "red")
        against = "" if head is None else " and continues the head that was kept"
        say(f"holds{against}" if not findings else "does not hold")
        say(str(heads), "dim")
    return IntegrityFault.exit_code if findings else 0


def _kept(text: str) -> Heads:
    path = Path(text)
    try:
        if "=" not in text and path.is_file():
            text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise InputError(f"The file of the head cannot be read: {type(error).__name__}.") from error
    return read_heads(text)


COMMANDS = {"audit head": Command(head, HEAD_HELP), "audit verify": Command(verify, VERIFY_HELP)}
