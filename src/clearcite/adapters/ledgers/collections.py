"""Access lists of paths. They are copied nowhere and judged live, so a change touches the row of one path alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clearcite.adapters.ledgers.codec import collection_seal, encode
from clearcite.adapters.ledgers.events import record as record_event
from clearcite.adapters.ledgers.intake import partition_id
from clearcite.adapters.ledgers.queries import load
from clearcite.domain.digest import digest
from clearcite.errors import InputError
from clearcite.wire.decode import fault_of_name, fault_of_path

if TYPE_CHECKING:
    from clearcite.adapters.ledgers.writer import Transaction
    from clearcite.domain.access import Acl
    from clearcite.keeping import Configured

SQL = load("collections")
Lists = tuple[str | None, str] | None
"""``allow`` and ``deny`` as they stand in columns; None where there is no collection."""


def put(tx: Transaction, tenant_id: str, path: str, acl: Acl | None) -> None:
    """Close the open row of a collection and, unless it is removed, append the new one."""
    _check(tenant_id, path, acl)
    partition = partition_id(tx, tenant_id)
    if _current(tx, partition, path) != _lists(acl):
        _write(tx, (partition, path), _lists(acl), None)
        _tell(tx, (tenant_id, path), acl, "operator")


def configure(tx: Transaction, tenant_id: str, path: str, acl: Acl) -> Configured:
    """As ``put``, but an entry that has not changed since it was last applied changes nothing: what an operator has
    set by hand since then, perhaps in a hurry, is not undone by the next ingestion."""
    _check(tenant_id, path, acl)
    partition = partition_id(tx, tenant_id)
    wanted, current = _lists(acl), _current(tx, partition, path)
    entry = digest("collection", *(wanted or ()))
    last = tx.row(SQL["last_configured"], partition, path)
    if last is not None and last[0] == entry:
        return "same" if current == wanted else "kept"
    if current == wanted:
        tx.run(SQL["note_configured"], entry, partition, path)
        return "same"
    _write(tx, (partition, path), wanted, entry)
    _tell(tx, (tenant_id, path), acl, "configuration")
    return "set"


def _current(tx: Transaction, partition: int, path: str) -> Lists:
    row = tx.row(SQL["current_collection"], partition, path)
    return None if row is None else (row[1], row[2])


def _tell(tx: Transaction, place: tuple[str, str], acl: Acl | None, by: str) -> None:
    tenant, path = place
    listed = None if acl is None else {"allow": acl.allow, "deny": acl.deny}
    record_event(tx, "collection", tenant=tenant, path=path, list=listed, by=by, position=tx.position())


def _write(tx: Transaction, place: tuple[int, str], lists: Lists, configured: str | None) -> None:
    partition, path = place
    position = tx.position()
    current = tx.row(SQL["current_collection"], partition, path)
    if current is not None:
        tx.run(SQL["close_collection"], position, partition, path, current[0])
    if lists is not None:
        seal = collection_seal(path, *lists)
        tx.run(SQL["add_collection"], partition, path, position, *lists, configured, seal)
    tx.run(SQL["mark_collections"], position, partition)


def _lists(acl: Acl | None) -> Lists:
    if acl is None:
        return None
    return (None if acl.allow is None else encode(list(acl.allow)), encode(list(acl.deny)))


def _check(tenant_id: str, path: str, acl: Acl | None) -> None:
    """Raises InputError for a name that cannot be compared exactly: such a list would guard something else."""
    named = [("The path of a collection", fault_of_path(path)), ("The tenant", _fault(tenant_id))]
    if acl is not None:
        named += [(f"The group {group!a}", _fault(group)) for group in (*(acl.allow or ()), *acl.deny)]
    for what, fault in named:
        if fault is not None:
            raise InputError(f"{what} {fault}.")


def _fault(name: str) -> str | None:
    return fault_of_name(name) if name else "must not be empty"
