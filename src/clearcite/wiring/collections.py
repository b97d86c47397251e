"""``[[collections]]`` of a configuration → the ledger."""

from collections.abc import Sequence

from clearcite.config import FILE_NAME, CollectionSettings
from clearcite.keeping import Collections


def apply_collections(ledger: Collections, collections: Sequence[CollectionSettings]) -> list[str]:
    """Applies what has changed since it was last applied; returns what a person should know."""
    said: list[str] = []
    for item in collections:
        done = ledger.configure_collection(item.tenant, item.path, item.acl)
        if done == "set":
            said.append(f"The collection {item.path} of the tenant {item.tenant} is set as {FILE_NAME} says.")
        elif done == "kept":
            said.append(
                f"The collection {item.path} of the tenant {item.tenant} stays as an operator has set it, and"
                f" {FILE_NAME} says otherwise."
            )
    return said
