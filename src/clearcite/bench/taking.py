"""Records into the index of a store that was made for a run: all of them, or none counts."""

from collections.abc import Iterable

from clearcite.domain.corpus import SourceRecord
from clearcite.errors import InputError
from clearcite.ingest.pipeline import project, take
from clearcite.storing import Applied
from clearcite.wiring import Workshop


def take_in(shop: Workshop, records: Iterable[SourceRecord], what: str) -> None:
    """``what``: how a message calls such a document. Raises InputError if one is refused or cannot be indexed."""
    for batch in take(records, shop.ledger, shop.manifest.hash()):
        for item in batch:
            if isinstance(item, Applied) and item.error is not None:
                raise InputError(f"{what} was refused: {item.error.message}")
    index(shop, what)


def index(shop: Workshop, what: str) -> None:
    """Everything that waits. Raises InputError if a document cannot be indexed."""
    for done in project(shop.worker):
        if done.failed:
            raise InputError(f"{what} could not be indexed: {done.failed[0][1]}")
