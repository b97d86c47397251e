"""Versioned migrations: numbered SQL files, each applied in one transaction, a backup before the first.

``user_version`` of the file is the number of the last one applied. Opening never migrates.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import apsw
from msgspec import Struct

from clearcite.adapters.ledgers.codec import collection_seal, decode_strings, decode_units
from clearcite.adapters.ledgers.connection import (
    check_library,
    connect,
    copy_database,
    immediate,
    pragma,
    translated,
)
from clearcite.domain.corpus import Chunk, build_seal
from clearcite.domain.digest import digest
from clearcite.errors import ConfigError, InputError, OutdatedStore

SCRIPTS = Path(__file__).parent / "migrations"
APPLICATION_ID = 0x636C6372  # "clcr"


class Migrated(Struct, frozen=True, kw_only=True):
    """From which version to which; ``backup`` is the copy taken before, None when nothing was to do."""

    before: int
    after: int
    backup: Path | None


def migrations(folder: Path = SCRIPTS) -> tuple[str, ...]:
    """The scripts in order; the first makes version 1."""
    return tuple(item.read_text(encoding="utf-8") for item in sorted(folder.glob("*.sql")))


def chunk_seal_of(*columns: Any) -> str:
    """``Chunk.seal`` from stored columns, for rows that were written before there were seals."""
    ordinal, page, kind, language, context, heading, flags, units = columns
    chunk = Chunk(
        chunk_id="",
        ordinal=ordinal,
        start=0,
        end=0,
        text="",
        sha256="",
        context=context,
        heading=decode_strings(heading),
        page=page,
        kind=kind,
        units=decode_units(units),
        language=language,
        flags=decode_strings(flags),
    )
    return chunk.seal()


def build_seal_of(*columns: Any) -> str:
    title, normal_sha256 = columns
    return build_seal(title, normal_sha256)


def _digest(*parts: Any) -> str:
    return digest(*parts)


def collection_seal_of(*columns: Any) -> str:
    path, allow, deny = columns
    return collection_seal(path, allow, deny)


def _offer_functions(db: apsw.Connection) -> None:
    """What migrations may call from SQL."""
    db.create_scalar_function("chunk_seal", chunk_seal_of, 8, deterministic=True)
    db.create_scalar_function("digest", _digest, deterministic=True)
    db.create_scalar_function("build_seal", build_seal_of, 2, deterministic=True)
    db.create_scalar_function("collection_seal", collection_seal_of, 3, deterministic=True)


def ready(db: apsw.Connection, scripts: Sequence[str]) -> None:
    """Lay out an empty file, or accept one of exactly this version. Raises ConfigError for any other."""
    newest = len(scripts)
    if _version(db) == 0:
        _offer_functions(db)
        _lay_out(db, scripts)
    version = _version(db)
    if version < newest:
        raise OutdatedStore(
            f"The store has version {version}, not {newest}. Bring it up to date: clearcite migrate"
        )
    if version > newest:
        raise ConfigError(_newer(version))
    if pragma(db, "application_id") != APPLICATION_ID:
        raise ConfigError("This file is not a clearcite store.")


def migrate(path: Path, scripts: Sequence[str] | None = None) -> Migrated:
    """Bring a store up to date. Raises InputError for a missing file, ConfigError for a newer store."""
    wanted = migrations() if scripts is None else scripts
    check_library()
    if not path.exists():
        raise InputError("There is no store to migrate.")
    with translated(), contextlib.closing(connect(path)) as db:
        _offer_functions(db)
        before = _version(db)
        if before > len(wanted):
            raise ConfigError(_newer(before))
        if before == len(wanted):
            return Migrated(before=before, after=before, backup=None)
        backup = _back_up(db, path, before)
        for number in range(before, len(wanted)):
            _apply(db, wanted[number], number + 1)
        return Migrated(before=before, after=len(wanted), backup=backup)


def _lay_out(db: apsw.Connection, scripts: Sequence[str]) -> None:
    with translated(), immediate(db):
        if _version(db) != 0:
            return  # another process was first
        if db.execute("SELECT count(*) FROM sqlite_schema").get:
            raise ConfigError("This file is not a clearcite store.")
        for script in scripts:
            db.execute(script)
        db.pragma("application_id", APPLICATION_ID)
        db.pragma("user_version", len(scripts))


def _apply(db: apsw.Connection, script: str, version: int) -> None:
    with immediate(db):
        if _version(db) == version - 1:  # another process may have been first
            db.execute(script)
            db.pragma("user_version", version)


def _back_up(db: apsw.Connection, path: Path, version: int) -> Path:
    """A complete copy beside the store, readable by its owner only. Never written over an older one."""
    number = 1
    while True:
        target = path.with_name(f"{path.name}.v{version}.{number}.backup")
        try:
            copy_database(db, target)
        except FileExistsError:
            number += 1
        else:
            return target


def _version(db: apsw.Connection) -> int:
    return int(pragma(db, "user_version"))


def _newer(version: int) -> str:
    return f"The store has version {version}, which is newer than this program. Update clearcite."
