"""Generations: one complete build each, under one manifest; the alias ``live`` names the one that serves."""

from __future__ import annotations

from typing import Any

import apsw

from clearcite.adapters.ledgers.enqueue import SQL as ENQUEUE
from clearcite.adapters.ledgers.events import record
from clearcite.adapters.ledgers.queries import load
from clearcite.adapters.ledgers.writer import SQL as COMMON
from clearcite.adapters.ledgers.writer import Transaction
from clearcite.domain.digest import sha256_text
from clearcite.domain.generations import Generation, Switch, Switched
from clearcite.errors import ConfigError, InputError

SQL = load("generations")


def start(tx: Transaction, name: str, manifest: str, *, kept: bool = False) -> None:
    """Register a generation and queue every document for it. The first one is live at once."""
    row = tx.row(COMMON["find_generation"], name)
    if row is not None:
        if row[1] != manifest or row[3] != "active":
            raise ConfigError("This generation was built under another manifest, or is retired.")
        if kept:
            tx.run(SQL["keep"], row[0])
        return
    generation = tx.insert(SQL["add_generation"], name, manifest, tx.now, int(kept))
    tx.run(ENQUEUE["enqueue_everything"], generation, tx.now)
    record(tx, "generation_started", generation=name, manifest=sha256_text(manifest))
    if tx.row(SQL["live"]) is None:
        _make_live(tx, generation)


def promote(tx: Transaction, name: str, switch: Switch | None, expected: str | None) -> None:
    """Point ``live`` at a generation; the one before stays, for a rollback by the same means."""
    generation = active_id(tx, name)
    row = tx.row(SQL["live"])
    before = None if row is None else row[0]
    if expected is not None and before != _number(tx, expected):
        raise InputError("Another generation has become live meanwhile. Look at it: clearcite index list")
    if switch is not None:
        _record(tx, switch, before, generation)
    _make_live(tx, generation)
    said: dict[str, Any] = {}
    if switch is not None:
        said = {"by": switch.actor, "how": switch.kind, "forced": switch.forced, "reason": switch.reason}
    record(tx, "promoted", None, generation=name, **said)


def _record(tx: Transaction, switch: Switch, before: int | None, after: int) -> None:
    if before == after:
        raise InputError("This generation answers already.")
    waiting = tx.row(SQL["waiting"], after)
    if waiting and waiting[0] and not switch.forced:
        raise InputError(
            f"This generation has not taken in {waiting[0]} events yet. Let it: clearcite index build, or"
            " clearcite ingest"
        )
    said = (switch.actor, switch.reason, int(switch.forced), switch.panel)
    tx.run(SQL["add_switch"], tx.now, switch.kind, before, after, *said)
    if switch.kind in ("promote", "rollback"):
        for generation in (before, after):
            if generation is not None:
                tx.run(SQL["keep"], generation)


def _number(tx: Transaction, name: str) -> int | None:
    row = tx.row(COMMON["find_generation"], name)
    return None if row is None else row[0]


def retire(tx: Transaction, name: str) -> None:
    """Drop everything a generation holds. Refused for the live one."""
    generation = active_id(tx, name)
    live = tx.row(SQL["live"])
    if live is not None and live[0] == generation:
        raise InputError("The live generation cannot be retired; promote another one first.")
    for statement in ("drop_outbox", "drop_projections", "drop_visibility", "set_retired"):
        tx.run(SQL[statement], generation)
    record(tx, "retired", generation=name)


def active_id(tx: Transaction, name: str) -> int:
    """The number of an active generation. Raises InputError for one that is unknown or retired."""
    row = tx.row(COMMON["find_generation"], name)
    if row is None or row[3] != "active":
        raise InputError("There is no such generation, or it is retired.")
    return int(row[0])


def _make_live(tx: Transaction, generation: int) -> None:
    tx.run(SQL["set_live"], generation)
    tx.position()


def described(db: apsw.Connection) -> tuple[Generation, ...]:
    """Every generation there was, in the order they were started."""
    return tuple(
        Generation(
            name=row[0],
            manifest=row[1],
            index_manifest=row[2],
            state=row[3],
            is_live=bool(row[4]),
            is_kept=bool(row[5]),
            created_at=row[6],
            waiting=row[7],
            given_up=row[8],
            served=row[9],
        )
        for row in db.execute(SQL["described"])
    )


def switches(db: apsw.Connection) -> tuple[Switched, ...]:
    """Every switch that was made, oldest first."""
    return tuple(
        Switched(
            number=number,
            at=at,
            before=before,
            after=after,
            switch=Switch(kind=kind, actor=actor, reason=reason, forced=bool(forced), panel=panel),
        )
        for number, at, before, after, kind, actor, reason, forced, panel in db.execute(SQL["switches"])
    )
