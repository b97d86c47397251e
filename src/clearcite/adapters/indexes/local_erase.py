"""Whether anything of chunks that are not served stands in the files of a generation, by reading them."""

from collections.abc import Callable
from pathlib import Path

from clearcite.adapters.indexes.local_files import TEMPORARY
from clearcite.adapters.indexes.local_manifest import MANIFEST_SUFFIX, SEGMENT_SUFFIX, read_manifest
from clearcite.adapters.indexes.local_readable import Mask
from clearcite.adapters.indexes.local_view import LocalView


def dead_entries(view: LocalView, live: Callable[[str], Mask]) -> int:
    """Entries of an opened index whose slot is not served."""
    return sum(
        segment.chunks - view.select(segment, live(partition)).size
        for partition, segments in view.partitions()
        for segment in segments
    )


def strangers(root: Path, manifest: str | None) -> int:
    """Files of a generation that its manifest does not name: of another worker, or left by one that was killed."""
    names = (
        set() if manifest is None else {name + SEGMENT_SUFFIX for name in read_manifest(root, manifest).names}
    )
    if manifest is not None:
        names.add(manifest + MANIFEST_SUFFIX)
    suffixes = (SEGMENT_SUFFIX, MANIFEST_SUFFIX, TEMPORARY)
    return sum(path.suffix in suffixes and path.name not in names for path in root.iterdir())
