"""``[[collections]]`` of a configuration → the ledger."""

from collections.abc import Sequence

from clearcite.config import FILE_NAME, CollectionSettings
from clearcite.domain.access import widens
from clearcite.storing import Ledger


def apply_collections(
    ledger: Ledger, collections: Sequence[CollectionSettings], *, widening: bool
) -> list[str]:
    """Applies what has changed since it was last applied; returns what a person should know.

    What narrows goes before the documents of a run, and what widens after them: a document that is closed by the same
    edit must not be shown for a moment to those whom its collection lets in.
    """
    with ledger.snapshot() as snapshot:
        before = {
            (item.tenant, item.path): snapshot.collections(item.tenant)[1].get(item.path)
            for item in collections
        }
    said: list[str] = []
    for item in collections:
        if widens(before[item.tenant, item.path], item.acl) != widening:
            continue
        done = ledger.configure_collection(item.tenant, item.path, item.acl)
        if done == "set":
            said.append(f"The collection {item.path} of the tenant {item.tenant} is set as {FILE_NAME} says.")
        elif done == "kept":
            said.append(
                f"The collection {item.path} of the tenant {item.tenant} stays as an operator has set it, and"
                f" {FILE_NAME} says otherwise."
            )
    return said
