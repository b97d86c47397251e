"""Reading files of a source folder: inside it only, regular files only, up to a size."""

import os
import stat
from pathlib import Path

from msgspec import Struct

from clearcite.errors import InputError, TooLarge

_FLAGS = (
    os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
)


class ContentReader(Struct, frozen=True, kw_only=True):
    """Reads the ``content_path`` of a record, relative to ``root``. Messages name no path of the machine."""

    root: Path
    max_bytes: int

    def __call__(self, relative: str) -> bytes:
        parts = relative.split("/")
        if "\\" in relative or ":" in parts[0] or any(part in ("", ".", "..") for part in parts):
            raise InputError("must be a relative path inside the folder of the feed")
        if any(ord(char) < 32 for char in relative):
            raise InputError("must not hold control characters")
        return read_inside(self.root, self.root.joinpath(*parts), self.max_bytes)


def read_inside(root: Path, path: Path, max_bytes: int) -> bytes:
    """The bytes of a regular file whose real place is inside ``root``. Raises InputError."""
    try:
        real = path.resolve(strict=True)
        if not real.is_relative_to(root.resolve(strict=True)):
            raise InputError("leads out of the folder of the source")
        handle = os.open(real, _FLAGS)
    except (OSError, ValueError, RuntimeError) as error:
        raise InputError(f"cannot be read ({_reason(error)})") from None
    try:
        raw = _read_regular(handle, max_bytes)
    except OSError as error:
        raise InputError(f"cannot be read ({_reason(error)})") from None
    finally:
        os.close(handle)
    if len(raw) > max_bytes:
        raise TooLarge(f"is larger than {max_bytes} bytes")
    return raw


def _read_regular(handle: int, max_bytes: int) -> bytes:
    state = os.fstat(handle)
    if not stat.S_ISREG(state.st_mode):
        raise InputError("is not a regular file")
    if state.st_size > max_bytes:
        raise TooLarge(f"is larger than {max_bytes} bytes")
    parts: list[bytes] = []
    left = max_bytes + 1
    while left > 0 and (part := os.read(handle, min(left, 1 << 20))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _reason(error: BaseException) -> str:
    if isinstance(error, FileNotFoundError):
        return "it does not exist"
    return "no permission" if isinstance(error, PermissionError) else type(error).__name__
