"""The embedded index: exact, small, on local files. See ARCHITECTURE §6.

Nothing in it depends on who may read what. A question counts and scores readable chunks only, so that what a
caller sees is a function of what he may read; hidden matches cost a little time and change nothing else.

One directory holds one generation: immutable segments, and manifests that say which belong together. Any
number of processes may read, write and sweep at once, as long as commits follow one another: the ledger
serialises them.
"""

import secrets
from collections.abc import Callable, Sequence
from pathlib import Path

from clearcite.adapters.indexes.local_build import in_batches, write_segment
from clearcite.adapters.indexes.local_files import TEMPORARY, Held, is_held, remove, sync_directory
from clearcite.adapters.indexes.local_manifest import (
    MANIFEST_SUFFIX,
    SEGMENT_SUFFIX,
    Manifest,
    Stored,
    read_manifest,
    segment_path,
    write_manifest,
)
from clearcite.adapters.indexes.local_merge import due, merge_segments
from clearcite.adapters.indexes.local_open import LocalViews, mark_of
from clearcite.adapters.indexes.local_readable import Mask
from clearcite.domain.manifest import PipelineManifest
from clearcite.errors import DependencyUnavailable, IntegrityFault
from clearcite.ports import IndexEntry


class LocalIndex(LocalViews):
    """Implements ``Index`` in one directory. Thread-safe."""

    def __init__(self, root: Path, pipeline: PipelineManifest) -> None:
        super().__init__(root, pipeline)
        self._segments_held, self._manifest_held = Held(), Held()
        try:
            root.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise DependencyUnavailable("The directory of the index cannot be made.") from error

    def write(self, entries: Sequence[IndexEntry]) -> tuple[str, ...]:
        """See ``Index.write``. Raises InputError for an entry that cannot be stored,
        DependencyUnavailable.
        """
        names: list[str] = []
        by_partition: dict[str, list[IndexEntry]] = {}
        for entry in entries:
            by_partition.setdefault(entry.partition, []).append(entry)
        for partition, some in by_partition.items():
            for batch in in_batches(some):
                name = _new_name(partition)
                write_segment(segment_path(self._root, name), batch, self._bm25, self._segments_held)
                names.append(name)
        return tuple(names)

    def commit(self, base: str | None, segments: Sequence[str], replaces: Sequence[str] = ()) -> str:
        """See ``Index.commit``. Raises IntegrityFault when a segment to replace is not part of the base."""
        before = read_manifest(self._root, base) if base else Manifest(base=None, segments=())
        if base and not segments and not replaces:
            return base
        if not before.names.issuperset(replaces):
            raise IntegrityFault("A segment to be replaced is not part of the index.")
        kept = [segment for segment in before.segments if segment.name not in replaces]
        new = dict.fromkeys(name for name in segments if name not in before.names)
        manifest = Manifest(base=base, segments=(*kept, *map(self._stored, new)))
        if base is None:  # the first of this directory, which may be new as well, and the one it stands in
            self._sync_parents()
        name = write_manifest(self._root, manifest, self._manifest_held)
        self._manifest_held.release_others(name + MANIFEST_SUFFIX)
        self._segments_held.release(segment + SEGMENT_SUFFIX for segment in new)
        return name

    def merge(
        self, manifest: str, live: Callable[[str], Mask], *, erase: bool = False
    ) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
        """See ``Index.merge``. One call does what is due in every partition."""
        view = self.open(manifest)
        made: list[str] = []
        replaced: list[str] = []
        for partition, segments in view.partitions():
            slots = live(partition)
            wanted = [view.select(segment, slots) for segment in segments]
            sizes = [(segment.chunks, some.size) for segment, some in zip(segments, wanted, strict=True)]
            chosen = due(sizes, erase=erase)
            if not chosen:
                continue
            for i in chosen:
                segments[i].check()
            name = _new_name(partition)
            sources, masks = [segments[i] for i in chosen], [wanted[i].number >= 0 for i in chosen]
            if merge_segments(segment_path(self._root, name), sources, masks, self._segments_held):
                made.append(name)
            replaced += [source.name for source in sources]
        return (tuple(made), tuple(replaced)) if replaced else None

    def sweep(self, keep: Sequence[str]) -> None:
        """See ``Index.sweep``. What a living process has written and not yet published stays."""
        with self._lock:
            for name in [name for name in self._views if name not in keep]:
                del self._views[name]
        needed = {segment for name in keep for segment in read_manifest(self._root, name).names}
        try:
            for path in self._root.glob("*" + MANIFEST_SUFFIX):
                if path.stem in keep:
                    continue
                unpublished = self._unpublished(path, keep)
                needed |= unpublished
                if not unpublished:
                    remove(path)
            for path in (*self._root.glob("*" + SEGMENT_SUFFIX), *self._root.glob("*" + TEMPORARY)):
                if path.stem not in needed and not is_held(path):
                    remove(path)
            sync_directory(self._root)
        except OSError as error:
            raise DependencyUnavailable("The index cannot be swept.") from error

    def close(self) -> None:
        """Give up what was written and not committed. Opened views stay usable."""
        self._segments_held.close()
        self._manifest_held.close()

    def _unpublished(self, path: Path, keep: Sequence[str]) -> frozenset[str]:
        """The segments of a manifest that a living process is about to publish, on top of a kept one."""
        try:
            manifest = read_manifest(self._root, path.stem)
        except (DependencyUnavailable, IntegrityFault):
            return frozenset()
        grows = manifest.base in keep if manifest.base else not keep
        return manifest.names if grows and is_held(path) else frozenset()

    def _sync_parents(self) -> None:
        try:
            sync_directory(self._root.parent)
            sync_directory(self._root.parent.parent)
        except OSError as error:
            raise DependencyUnavailable("The index cannot be written.") from error

    def _stored(self, name: str) -> Stored:
        try:
            return Stored(name=name, size=segment_path(self._root, name).stat().st_size)
        except OSError as error:
            raise DependencyUnavailable("A segment to be committed is not there any more.") from error


def _new_name(partition: str) -> str:
    """A name nobody had before. The partition shows as a digest only."""
    return f"{mark_of(partition)}-{secrets.token_hex(12)}"
