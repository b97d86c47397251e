"""``init``, ``migrate``, ``status`` and ``doctor``: for whoever keeps a store."""

import os
from pathlib import Path

from clearcite.config import FILE_NAME
from clearcite.errors import InputError
from clearcite.interfaces.cli import common
from clearcite.interfaces.cli.commands import Command
from clearcite.interfaces.cli.common import FORMAT, STORE, note, say
from clearcite.interfaces.cli.status import show_status
from clearcite.wiring import check_up, migrate_store, store_status

CONFIG = """\
# What clearcite reads here, and who may read it. Every key has a default; `clearcite doctor` shows what holds.

[store]
policy = "policy.toml"

[text]
languages = ["en", "pt"]
# semantic = "auto"     # on: demand sentence vectors; off: words only

# Days until `clearcite sweep` erases what is not current any more; 0 keeps it for ever.
[retention]
deleted_days = 0
revisions_days = 0
traces_days = 0

[[sources]]
path = "docs"
source_id = "docs"
tenant = "default"
allowed_groups = ["staff"]
source_type = "documentation"

# `clearcite sync` also follows git repositories:
# [[sources]]
# path = "../product"
# kind = "git"
# folder = "docs"
# source_id = "product"
# allowed_groups = ["staff"]

# Questions about live state, which documents cannot answer.
[routes]
tool_required = []

# Words that mean the same here. A change builds the index anew.
[synonyms]
"""

POLICY = """\
# Who is who. Raise the revision with every change: an older file is refused.
revision = "1"

[subjects.me]
tenant = "default"
groups = ["staff"]
roles = ["operator"]
"""

MIGRATE_HELP = """Bring an older store to this version.

A backup is made first. Nothing is done to a store that has this version.

Example:

  clearcite migrate --store .clearcite
"""

STATUS_HELP = """Show what the store holds and what waits.

Counts, ages, failures and quarantine. For operators.

Example:

  clearcite status --format json
"""

DOCTOR_HELP = """Check this installation and store.

Each failure names the command that mends it. Exit 0 if everything needed works, 2 if something has to
change.

Example:

  clearcite doctor
"""

INIT_HELP = """Write a clearcite.toml and a policy.toml to start from.

Nothing is overwritten.

Example:

  clearcite init && clearcite ingest && clearcite ask "…" --as me
"""


def init() -> int:
    files = {FILE_NAME: CONFIG, "policy.toml": POLICY}
    for name in files:
        if os.path.lexists(name):
            raise InputError(f"There is a {name} here already; nothing was written.")
    for name, text in files.items():
        Path(name).write_text(text, encoding="utf-8")
    note(f"Wrote {FILE_NAME} and policy.toml. Put documents into docs/, then: clearcite ingest")
    return 0


def migrate(store: STORE = None) -> int:
    for line in migrate_store(common.settings_for(store)):
        note(line)
    return 0


def status(store: STORE = None, format: FORMAT = None) -> int:  # noqa: A002 - the flag's name
    found = store_status(common.settings_for(store))
    if common.chosen_format(format) == "json":
        common.print_json(found)
        return 0
    show_status(found)
    return 0


def doctor(store: STORE = None) -> int:
    failed = False
    for finding in check_up(common.settings_for(store)):
        mark = {"ok": "ok   ", "note": "note ", "bad": "BAD  "}[finding.state]
        say(f"{mark} {finding.what}: {finding.detail}", "red" if finding.state == "bad" else "")
        if finding.remedy:
            say(f"      mend it with: {finding.remedy}")
        failed = failed or finding.state == "bad"
    return InputError.exit_code if failed else 0


COMMANDS = {
    "init": Command(init, INIT_HELP),
    "migrate": Command(migrate, MIGRATE_HELP),
    "status": Command(status, STATUS_HELP),
    "doctor": Command(doctor, DOCTOR_HELP),
}
