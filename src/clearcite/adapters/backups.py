"""A backup as files: a folder of mode 0700, whose ``backup.json`` names every other file with its hash."""

import hashlib
import os
import shutil
from pathlib import Path
from typing import Literal

from msgspec import Struct

from clearcite.adapters.remains import files_of
from clearcite.domain.access import Micros
from clearcite.domain.digest import sha256_bytes
from clearcite.domain.journal import Journal
from clearcite.errors import InputError, IntegrityFault
from clearcite.wire import canonical, loads
from clearcite.wire.convert import from_json, to_json

MANIFEST = "backup.json"
MOST_BYTES = 1_000_000_000


class BackupFile(Struct, frozen=True, kw_only=True):
    """``name``: relative to the folder, with ``/``."""

    name: str
    size: int
    sha256: str


class Backup(Struct, frozen=True, kw_only=True):
    """``number`` and ``position``: how far the store was, so that a journal tells what came after."""

    store_id: str
    number: int
    position: int
    created_at: Micros
    files: tuple[BackupFile, ...]
    schema: Literal["clearcite-backup-1"] = "clearcite-backup-1"


def new_folder(path: Path) -> None:
    """Raises InputError for a folder that holds something already."""
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise InputError(f"Nothing was written: {path} is there already and not an empty folder.")
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.chmod(0o700)


def describe(folder: Path) -> tuple[BackupFile, ...]:
    """Every file of a folder, read and hashed."""
    return tuple(
        BackupFile(name=path.relative_to(folder).as_posix(), size=path.stat().st_size, sha256=sha256_of(path))
        for path in files_of(folder)
    )


def sha256_of(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def write_backup(folder: Path, backup: Backup) -> None:
    write_private(folder / MANIFEST, canonical(to_json(backup)) + b"\n")


def read_backup(folder: Path) -> Backup:
    """Raises InputError for a folder that is no backup, IntegrityFault when a file is missing, new or changed."""
    try:
        raw = (folder / MANIFEST).read_bytes()
    except OSError as error:
        raise InputError(f"There is no backup in {folder}.") from error
    backup: Backup = from_json(Backup, loads(raw, max_bytes=MOST_BYTES), what="the description of the backup")
    found = {item.name: item for item in describe(folder) if item.name != MANIFEST}
    for wanted in backup.files:
        if found.pop(wanted.name, None) != wanted:
            raise IntegrityFault(f"A file of the backup is missing or was changed: {wanted.name}")
    if found:
        raise IntegrityFault(f"The backup holds a file it does not name: {min(found)}")
    return backup


def write_journal(path: Path, journal: Journal) -> None:
    """Written beside and renamed, so that an older one stays whole until the new one is. Raises InputError where
    nothing can be written."""
    raw = canonical(to_json(journal))
    line = b'{"journal":%b,"sha256":"%b"}\n' % (raw, sha256_bytes(raw).encode())
    temporary = path.with_name(path.name + ".new")
    try:
        write_private(temporary, line)
        temporary.replace(path)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError) as error:
        raise InputError(
            f"The journal was not written, for {path} cannot be: {type(error).__name__}."
        ) from error


def read_journal(path: Path) -> Journal:
    """Raises InputError for a file that is no journal, IntegrityFault for one that was changed."""
    try:
        value = loads(path.read_bytes(), max_bytes=MOST_BYTES)
    except OSError as error:
        raise InputError(f"The journal cannot be read: {type(error).__name__}.") from error
    if not isinstance(value, dict) or set(value) != {"journal", "sha256"}:
        raise InputError("The file is no journal.")
    if sha256_bytes(canonical(value["journal"])) != value["sha256"]:
        raise IntegrityFault("The journal was changed.")
    journal: Journal = from_json(Journal, value["journal"], what="the journal")
    return journal


def write_private(path: Path, raw: bytes) -> None:
    """Durable, readable by its owner only."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(raw)
        stream.flush()
        os.fsync(stream.fileno())


def _make_private(folder: Path) -> None:
    """A folder and those above it that are missing, for their owner only."""
    if not folder.is_dir():
        _make_private(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def link_or_copy(source: Path, target: Path) -> None:
    """For files that are never changed: one more name where the file system can, else a copy."""
    _make_private(target.parent)
    try:
        os.link(source, target)
    except FileNotFoundError:
        raise
    except OSError:
        shutil.copyfile(source, target)
        target.chmod(0o600)


def copy_private(source: Path, target: Path) -> None:
    _make_private(target.parent)
    shutil.copyfile(source, target)
    target.chmod(0o600)
