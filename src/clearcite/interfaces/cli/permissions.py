"""``collection …``, ``policy …`` and ``explain``: who may read what, for operators."""

from collections.abc import Mapping
from contextlib import closing
from typing import Annotated, Any

from clearcite.domain.access import Acl, ancestors
from clearcite.domain.explain import Explanation, Layer
from clearcite.errors import InputError, NotFound
from clearcite.interfaces.cli import common
from clearcite.interfaces.cli.commands import Argument, Command, Option
from clearcite.interfaces.cli.common import AS, AS_OF, FORMAT, GROUP, POLICY, SOURCE, STORE, TENANT, note, say
from clearcite.storing import Ledger
from clearcite.wire.instants import format_instant
from clearcite.wiring import engine_on, open_ledger, resolver_for, store_status, sync_policy

SET_HELP = """Set the access list of a collection, for operators.

A collection is a path such as hr/payroll. Whoever reads a document below it must be admitted by each collection above
the document and by its own list. A change acts at once on everything below. A path that has no list admits nobody:
give a collection that restricts nothing --unrestricted.

Examples:

  clearcite collection set hr --tenant acme --group staff

  clearcite collection set hr/payroll --tenant acme --group finance --deny interns

  clearcite collection set hr/payroll --tenant acme --nobody
"""

REMOVE_HELP = """Remove a collection, for operators: then nobody reads what stands below it.

Example:

  clearcite collection remove hr/payroll --tenant acme
"""

LIST_HELP = """List the collections of all tenants, for operators.

Example:

  clearcite collection list
"""

SYNC_HELP = """Take over the policy of another system, for operators.

The whole policy is read from where [store] policy or [policy] command say. If it cannot be had, is only a part, or is
older than the one in force, the last good one stays, status and doctor raise an alarm, and the exit code is 2 or 3.

Example:

  clearcite policy sync
"""

SHOW_HELP = """Show which policy is in force, and the alarm if it could not be taken over, for operators.

Example:

  clearcite policy show --format json
"""

EXPLAIN_HELP = """Say why somebody may or may not read a document, for operators.

Every layer is shown: tenant, publication, quarantine, status, trust, validity, each collection above, the document's
own list; of the newest state and of the one that is served.

Examples:

  clearcite explain bonus.md --as alice

  clearcite explain bonus.md --source board --tenant acme --group staff --format json
"""


TENANT_OF = Annotated[str, Option("--tenant", help="The tenant it belongs to.")]


def set_collection(
    path: Annotated[str, Argument(help="The collection, such as hr/payroll.")],
    tenant: TENANT_OF = "default",
    group: Annotated[list[str] | None, Option("--group", help="Who may read below it. Repeatable.")] = None,
    deny: Annotated[
        list[str] | None, Option("--deny", help="Who may not, whatever else. Repeatable.")
    ] = None,
    nobody: Annotated[bool, Option("--nobody", help="Nobody may read below it.")] = False,
    unrestricted: Annotated[bool, Option("--unrestricted", help="It restricts nothing itself.")] = False,
    store: STORE = None,
) -> int:
    if bool(group) + nobody + unrestricted != 1:
        raise InputError("Say who may read: --group (repeatable), --nobody or --unrestricted, one of them.")
    allow = None if unrestricted else tuple(sorted(set(group or ())))
    acl = Acl(allow=allow, deny=tuple(sorted(set(deny or ()))))
    with closing(open_ledger(common.settings_for(store))) as ledger:
        ledger.put_collection(tenant, path, acl)
        known = _known(ledger, tenant)
    note("Set. It holds for every question that is asked from now on.")
    missing = [above for above in ancestors(path)[:-1] if above not in known]
    if missing:
        note(f"Nobody reads below it yet: there is no collection {', '.join(missing)} above it.", "yellow")
    return 0


def remove_collection(
    path: Annotated[str, Argument(help="The collection, such as hr/payroll.")],
    tenant: TENANT_OF = "default",
    store: STORE = None,
) -> int:
    with closing(open_ledger(common.settings_for(store))) as ledger:
        if path not in _known(ledger, tenant):
            raise NotFound("There is no such collection.")
        ledger.put_collection(tenant, path, None)
    note("Removed: nobody reads what stands below it, until it is set again.")
    return 0


def list_collections(store: STORE = None, format: FORMAT = None) -> int:  # noqa: A002 - the flag's name
    form = common.chosen_format(format)
    with closing(open_ledger(common.settings_for(store))) as ledger, ledger.snapshot() as snapshot:
        rows = [
            (tenant, path, acl)
            for tenant in snapshot.partitions()
            for path, acl in sorted(snapshot.collections(tenant)[1].items())
        ]
    for tenant, path, acl in rows:
        if form == "json":
            lists = {"allowed_groups": acl.allow, "denied_groups": acl.deny}
            common.print_json({"tenant": tenant, "path": path, **lists})
        else:
            say(f"{tenant}: {path}  {_spoken(acl)}")
    return 0


def _known(ledger: Ledger, tenant: str) -> Mapping[str, Acl]:
    with ledger.snapshot() as snapshot:
        return snapshot.collections(tenant)[1]


def _spoken(acl: Acl) -> str:
    allowed = "unrestricted" if acl.allow is None else ", ".join(acl.allow) or "nobody"
    return f"{allowed}; denied: {', '.join(acl.deny)}" if acl.deny else allowed


def sync(policy: POLICY = None, store: STORE = None) -> int:
    note(f"The policy has revision {sync_policy(common.settings_for(store), policy)}.")
    return 0


def show(store: STORE = None, format: FORMAT = None) -> int:  # noqa: A002 - the flag's name
    form = common.chosen_format(format)
    found = store_status(common.settings_for(store))["policy"]
    if form == "json":
        common.print_json(found)
        return 0
    say(policy_line(found), "bold")
    if found["alarm"]:
        say(alarm_line(found["alarm"]), "red")
    return 0


def policy_line(found: Mapping[str, Any]) -> str:
    """The policy in force, as ``status`` and ``policy show`` say it."""
    if found["revision"] is None:
        return "policy     none accepted yet"
    issued = "" if found["issued_seconds"] is None else f", issued {found['issued_seconds']} s ago"
    accepted = f"accepted {found['accepted_seconds']} s ago"
    return f"policy     revision {found['revision']} from {found['origin']}, {accepted}{issued}"


def alarm_line(alarm: Mapping[str, Any]) -> str:
    return (
        f"ALARM      the policy was not taken over (failed attempts: {alarm['failures']}, the last {alarm['seconds']} s"
        f" ago); the last good one is in force: {alarm['reason']}"
    )


def explain(
    document: Annotated[str, Argument(help="The document's id.")],
    source: SOURCE = None,
    of: Annotated[str | None, Option("--of", help="Its tenant (default: that of the asker).")] = None,
    as_: AS = None,
    policy: POLICY = None,
    tenant: TENANT = None,
    group: GROUP = None,
    as_of: AS_OF = None,
    by: Annotated[str | None, Option("--by", help="The operator who looks; needs the role.")] = None,
    store: STORE = None,
    format: FORMAT = None,  # noqa: A002 - the flag's name
) -> int:
    settings = common.settings_for(store)
    operator = common.operator_for(settings, by, policy)
    asker = common.principal_for(settings, as_, policy, tenant, group)
    through = {} if as_ is None else resolver_for(settings, policy).memberships(as_)
    form = common.chosen_format(format)
    with engine_on(settings) as engine:
        view = engine.operator(operator)
        key = common.key_of(settings, of or asker.tenant_id, source, document)
        found = view.explain(key, asker, as_of=common.as_of_for(settings, as_of), memberships=through)
    if form == "json":
        common.print_json(found)
    else:
        _show(found)
    return 0


def _show(found: Explanation) -> None:
    who, key = found.principal, found.document
    verdict = "may read" if found.readable else "may not read"
    say(
        f"{who.subject_id} of {who.tenant_id} {verdict} {key.tenant_id}/{key.source_id}/{key.document_id}",
        "bold",
    )
    for layer in found.layers:
        say(
            f"{'yes' if layer.admits else 'NO ':<4} {_place(layer)}: {layer.why}",
            "" if layer.admits else "red",
        )
    for item in found.memberships:
        if item.through:
            say(f"     {item.group} through {' in '.join(item.through)}", "dim")
    policy_revision = "none" if found.policy_revision is None else str(found.policy_revision)
    say(
        f"     at {format_instant(found.as_of)}, position {found.position}, generation {found.generation};"
        f" resolved under {who.authorization_revision}, policy in force: {policy_revision}",
        "dim",
    )


def _place(layer: Layer) -> str:
    side = {"head": "newest state", "served": "served state", None: ""}[layer.side]
    return ", ".join(part for part in (layer.name + (f" {layer.path}" if layer.path else ""), side) if part)


COMMANDS = {
    "collection set": Command(set_collection, SET_HELP),
    "collection remove": Command(remove_collection, REMOVE_HELP),
    "collection list": Command(list_collections, LIST_HELP),
    "policy sync": Command(sync, SYNC_HELP),
    "policy show": Command(show, SHOW_HELP),
    "explain": Command(explain, EXPLAIN_HELP),
}
