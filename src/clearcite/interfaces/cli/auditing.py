"""``audit``: for whoever has to show, later, that nothing was bent."""

import json
import os
from pathlib import Path
from typing import Annotated

from clearcite.domain.audit import Heads, read_heads
from clearcite.errors import InputError, IntegrityFault
from clearcite.interfaces.cli import common
from clearcite.interfaces.cli.commands import Argument, Command, Option
from clearcite.interfaces.cli.common import AS, FORMAT, POLICY, STORE, note, say
from clearcite.wiring import audit_heads, audit_store, checker_source, engine_on, policy_as_written

HEAD_HELP = """Print how long the logs of events and traces are, and their last links.

Keep it where whoever can write the store cannot: `audit verify` holds the logs against it.

Example:

  clearcite audit head > head-2026-11.txt
"""

VERIFY_HELP = """Show that the logs of events and traces were not changed.

Every link is recomputed, and documents, lists of collections and policy are held against the last event about each.
With --head, a log that was cut off or written anew is found too. Exit 0: it holds; 4: it does not.

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


EXPORT_HELP = """Write one answer, and everything it follows from, for an auditor.

Access lists, collections, validity, hashes of the documents of the asker's tenant; the policy; the trace; the response;
both logs. With --texts also the text of the documents that are cited. It names documents and people: treat it
accordingly.

Example:

  clearcite audit export 3b5115faf08453c0027528b1863237b0 answer.json --response kept.json --texts

  python clearcite_auditor.py answer.json --head "$(cat head-2026-11.txt)"
"""

CHECKER_HELP = """Print the auditor's checker: one file that needs Python and nothing else.

It shares no code with the rest, and derives again from an export who could read what and whether each citation holds.

Example:

  clearcite audit checker > clearcite_auditor.py
"""


def export(
    trace: Annotated[str, Argument(help="A trace id.")],
    file: Annotated[Path, Argument(help="The file to write; it must not be there yet.")],
    response: Annotated[
        Path | None, Option("--response", help="The public response that was kept, as JSON.")
    ] = None,
    texts: Annotated[bool, Option("--texts", help="With the text of the documents that are cited.")] = False,
    as_: AS = None,
    policy: POLICY = None,
    store: STORE = None,
) -> int:
    settings = common.settings_for(store)
    kept = common.kept_response(response)
    written = policy_as_written(settings, policy)
    if file.exists():
        raise InputError("The file is there already; nothing was written.")
    with engine_on(settings) as engine:
        operator = engine.operator(common.operator_for(settings, as_, policy))
        found = operator.export(trace, response=kept, policy=written, texts=texts)
    try:
        with open(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8") as out:
            json.dump(found, out, ensure_ascii=False, separators=(",", ":"))
    except OSError as error:
        raise InputError(f"The file cannot be written: {type(error).__name__}.") from error
    note(f"Wrote {file}: {len(found['documents'])} documents, {len(found['events'])} events.")
    return 0


def checker() -> int:
    print(checker_source(), end="")
    return 0


def _kept(text: str) -> Heads:
    path = Path(text)
    try:
        if "=" not in text and path.is_file():
            text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise InputError(f"The file of the head cannot be read: {type(error).__name__}.") from error
    return read_heads(text)


COMMANDS = {
    "audit head": Command(head, HEAD_HELP),
    "audit verify": Command(verify, VERIFY_HELP),
    "audit export": Command(export, EXPORT_HELP),
    "audit checker": Command(checker, CHECKER_HELP),
}
