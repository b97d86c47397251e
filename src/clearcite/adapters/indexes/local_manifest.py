"""Manifests: which segments belong together. A small canonical JSON file named by its own digest."""

import re
from pathlib import Path

from msgspec import Struct

from clearcite.adapters.indexes.local_files import Held, durable_file, write_all
from clearcite.domain.digest import sha256_bytes
from clearcite.errors import DependencyUnavailable, InputError, IntegrityFault
from clearcite.wire import canonical, loads
from clearcite.wire.convert import from_json, to_json

SEGMENT_SUFFIX = ".segment"
MANIFEST_SUFFIX = ".manifest"

_SEGMENT_NAME = re.compile(r"[0-9a-f]{16}-[0-9a-f]{24}")
_MANIFEST_NAME = re.compile(r"[0-9a-f]{32}")


class Stored(Struct, frozen=True, kw_only=True):
    """A segment by name, and the size of its file in bytes."""

    name: str
    size: int


class Manifest(Struct, frozen=True, kw_only=True):
    """The segments in the order they were committed. ``base``: the manifest it grew from."""

    base: str | None
    segments: tuple[Stored, ...]

    @property
    def names(self) -> frozenset[str]:
        return frozenset(segment.name for segment in self.segments)


def segment_path(root: Path, name: str) -> Path:
    if not _SEGMENT_NAME.fullmatch(name):
        raise IntegrityFault("The name of a segment of the index is malformed.")
    return root / (name + SEGMENT_SUFFIX)


def manifest_path(root: Path, name: str) -> Path:
    if not _MANIFEST_NAME.fullmatch(name):
        raise IntegrityFault("The name of a manifest of the index is malformed.")
    return root / (name + MANIFEST_SUFFIX)


def write_manifest(root: Path, manifest: Manifest, held: Held) -> str:
    raw = canonical(to_json(manifest))
    name = sha256_bytes(raw)[:32]
    with durable_file(manifest_path(root, name), len(raw), held) as descriptor:
        write_all(descriptor, raw, 0)
    return name


def read_manifest(root: Path, name: str) -> Manifest:
    """Raises DependencyUnavailable when it is gone (swept meanwhile) and IntegrityFault when it is
    damaged.
    """
    try:
        raw = manifest_path(root, name).read_bytes()
    except OSError as error:
        raise DependencyUnavailable("A manifest of the index is not there any more.") from error
    if sha256_bytes(raw)[:32] != name:
        raise IntegrityFault("A manifest of the index is damaged.")
    try:
        manifest: Manifest = from_json(Manifest, loads(raw, max_bytes=len(raw)))
    except InputError as error:
        raise IntegrityFault("A manifest of the index is damaged.") from error
    return manifest
