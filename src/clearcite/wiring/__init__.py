"""The only package that knows adapters: settings → Engine, Workshop (for ingestion), or findings of ``doctor``.

A name is loaded when it is first used, so that asking a question loads no parser, connector or check.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clearcite.wiring.auditing import audit_heads, audit_store, checker_source, policy_as_written
    from clearcite.wiring.builds import Recipe, build_target, live_target, retire_in, vector_lengths
    from clearcite.wiring.checkup import Finding, check_up, migrate_store, store_status
    from clearcite.wiring.collections import apply_collections
    from clearcite.wiring.copies import scratch_copy
    from clearcite.wiring.engines import engine_on, open_engine
    from clearcite.wiring.parts import existing_store, opening_embedder
    from clearcite.wiring.policies import directory_in_force, resolver_for, sync_policy
    from clearcite.wiring.purging import purge_store, retain, sweep_store
    from clearcite.wiring.safekeeping import backup_store, check_integrity, export_journal, restore_store
    from clearcite.wiring.sources import Stage, Taking, check_there, kind_of, rehearsed, take_one, unlisted
    from clearcite.wiring.upkeep import reconcile_store
    from clearcite.wiring.workshop import Workshop, open_ledger, open_workshop

_HOMES = {
    "live_target": "clearcite.wiring.builds",
    "vector_lengths": "clearcite.wiring.builds",
    "retain": "clearcite.wiring.purging",
    "Finding": "clearcite.wiring.checkup",
    "Recipe": "clearcite.wiring.builds",
    "Stage": "clearcite.wiring.sources",
    "Taking": "clearcite.wiring.sources",
    "Workshop": "clearcite.wiring.workshop",
    "apply_collections": "clearcite.wiring.collections",
    "audit_heads": "clearcite.wiring.auditing",
    "audit_store": "clearcite.wiring.auditing",
    "build_target": "clearcite.wiring.builds",
    "scratch_copy": "clearcite.wiring.copies",
    "backup_store": "clearcite.wiring.safekeeping",
    "check_integrity": "clearcite.wiring.safekeeping",
    "check_there": "clearcite.wiring.sources",
    "check_up": "clearcite.wiring.checkup",
    "checker_source": "clearcite.wiring.auditing",
    "directory_in_force": "clearcite.wiring.policies",
    "engine_on": "clearcite.wiring.engines",
    "export_journal": "clearcite.wiring.safekeeping",
    "restore_store": "clearcite.wiring.safekeeping",
    "existing_store": "clearcite.wiring.parts",
    "kind_of": "clearcite.wiring.sources",
    "migrate_store": "clearcite.wiring.checkup",
    "open_engine": "clearcite.wiring.engines",
    "open_ledger": "clearcite.wiring.workshop",
    "open_workshop": "clearcite.wiring.workshop",
    "opening_embedder": "clearcite.wiring.parts",
    "purge_store": "clearcite.wiring.purging",
    "reconcile_store": "clearcite.wiring.upkeep",
    "rehearsed": "clearcite.wiring.sources",
    "policy_as_written": "clearcite.wiring.auditing",
    "retire_in": "clearcite.wiring.builds",
    "resolver_for": "clearcite.wiring.policies",
    "sweep_store": "clearcite.wiring.purging",
    "store_status": "clearcite.wiring.checkup",
    "sync_policy": "clearcite.wiring.policies",
    "take_one": "clearcite.wiring.sources",
    "unlisted": "clearcite.wiring.sources",
}

__all__ = [
    "Finding",
    "Recipe",
    "Stage",
    "Taking",
    "Workshop",
    "apply_collections",
    "audit_heads",
    "audit_store",
    "backup_store",
    "build_target",
    "check_integrity",
    "check_there",
    "check_up",
    "checker_source",
    "directory_in_force",
    "engine_on",
    "existing_store",
    "export_journal",
    "kind_of",
    "live_target",
    "migrate_store",
    "open_engine",
    "open_ledger",
    "open_workshop",
    "opening_embedder",
    "policy_as_written",
    "purge_store",
    "reconcile_store",
    "rehearsed",
    "resolver_for",
    "restore_store",
    "retain",
    "retire_in",
    "scratch_copy",
    "store_status",
    "sweep_store",
    "sync_policy",
    "take_one",
    "unlisted",
    "vector_lengths",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
