"""Which files a folder holds: sorted, nothing hidden, nothing outside; what cannot be listed is said."""

import os
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct, field

from clearcite.errors import InputError
from clearcite.wire.strict import shown

CONFIGURATION = frozenset(("clearcite.toml", "policy.toml", "questions.toml"))
_MAX_DEPTH = 64


class Listing(Struct, kw_only=True):
    """``files``: document id → path. ``refused``: ids that exist and cannot be taken, with the reason.

    ``complete`` is False when some folder could not be read: then an absent file proves nothing.
    """

    files: dict[str, Path] = field(default_factory=dict)
    refused: dict[str, InputError] = field(default_factory=dict)
    complete: bool = True

    def refuse(self, name: str, reason: str) -> None:
        self.refused[name] = InputError(f"{shown(name, 200)}: {reason}")


def list_folder(root: Path) -> Listing:
    """Every visible regular file below ``root``. Links to files inside it count as files."""
    listing = Listing()
    pending: list[tuple[Path, int]] = [(root, 0)]
    while pending:
        folder, depth = pending.pop()
        for entry in _entries(folder, root, listing):
            path = Path(entry.path)
            if entry.name.startswith(".") or (depth == 0 and entry.name in CONFIGURATION):
                continue
            name = document_id(path, root)
            if name is None:
                listing.refuse(ascii(entry.name), "its name is not valid Unicode")
            elif entry.is_symlink() and _leads_to_folder(entry):
                listing.refuse(name, "a link to a folder is not followed")
            elif entry.is_dir(follow_symlinks=False):
                if depth + 1 >= _MAX_DEPTH:
                    listing.refuse(name, "is nested too deeply")
                    listing.complete = False
                else:
                    pending.append((path, depth + 1))
            elif name in listing.files:
                listing.refuse(name, "two files have this name in different Unicode forms")
            else:
                listing.files[name] = path
    listing.files = dict(sorted(listing.files.items()))
    return listing


def _leads_to_folder(entry: os.DirEntry[str]) -> bool:
    """A link that leads nowhere or to itself is refused when it is read."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def list_file(root: Path, name: str) -> Listing:
    """One file of a folder, as a listing."""
    listing = Listing(complete=False)
    known = document_id(root / name, root)
    if known is None:
        listing.refuse(ascii(name), "its name is not valid Unicode")
    else:
        listing.files[known] = root / name
    return listing


def document_id(path: Path, root: Path) -> str | None:
    """The path relative to the folder, NFC, with slashes; None for a name that is not Unicode."""
    name = path.relative_to(root).as_posix()
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return None
    return unicodedata.normalize("NFC", name)


def _entries(folder: Path, root: Path, listing: Listing) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        name = (document_id(folder, root) or "?") if folder != root else "the folder"
        listing.refuse(name, f"cannot be listed ({type(error).__name__})")
        listing.complete = False
