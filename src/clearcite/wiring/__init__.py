"""The only package that knows adapters: settings → Engine, Workshop (for ingestion), or findings of ``doctor``."""

from clearcite.wiring.checkup import Finding, check_up, migrate_store, store_status
from clearcite.wiring.engines import engine_on, open_engine
from clearcite.wiring.parts import existing_store, resolver_for
from clearcite.wiring.workshop import Workshop, connector_for, open_ledger, open_workshop

__all__ = [
    "Finding",
    "Workshop",
    "check_up",
    "connector_for",
    "engine_on",
    "existing_store",
    "migrate_store",
    "open_engine",
    "open_ledger",
    "open_workshop",
    "resolver_for",
    "store_status",
]
