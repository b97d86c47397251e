"""Generations: one complete build each, under one manifest; the alias ``live`` names the one that serves."""

from __future__ import annotations

from clearcite.adapters.ledgers.enqueue import SQL as ENQUEUE
from clearcite.adapters.ledgers.queries import load
from clearcite.adapters.ledgers.writer import SQL as COMMON
from clearcite.adapters.ledgers.writer import Transaction
from clearcite.errors import ConfigError, InputError

SQL = load("generations")


def start(tx: Transaction, name: str, manifest: str) -> None:
    """Register a generation and queue every document for it. The first one is live at once."""
    row = tx.row(COMMON["find_generation"], name)
    if row is not None:
        if row[1] != manifest or row[3] != "active":
            raise ConfigError("This generation was built under another manifest, or is retired.")
        return
    generation = tx.insert(SQL["add_generation"], name, manifest, tx.now)
    tx.run(ENQUEUE["enqueue_everything"], generation, tx.now)
    if tx.row(SQL["live"]) is None:
        _make_live(tx, generation)


def promote(tx: Transaction, name: str) -> None:
    """Point ``live`` at a generation; the one before stays, for a rollback by the same means."""
    _make_live(tx, active_id(tx, name))


def retire(tx: Transaction, name: str) -> None:
    """Drop everything a generation holds. Refused for the live one."""
    generation = active_id(tx, name)
    live = tx.row(SQL["live"])
    if live is not None and live[0] == generation:
        raise InputError("The live generation cannot be retired; promote another one first.")
    for statement in ("drop_outbox", "drop_projections", "drop_visibility", "set_retired"):
        tx.run(SQL[statement], generation)


def active_id(tx: Transaction, name: str) -> int:
    """The number of an active generation. Raises InputError for one that is unknown or retired."""
    row = tx.row(COMMON["find_generation"], name)
    if row is None or row[3] != "active":
        raise InputError("There is no such generation, or it is retired.")
    return int(row[0])


def _make_live(tx: Transaction, generation: int) -> None:
    tx.run(SQL["set_live"], generation)
    tx.position()
