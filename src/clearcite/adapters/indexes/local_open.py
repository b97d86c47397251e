"""The half of the index that asking needs: a manifest, and its segments opened."""

import threading
from collections import OrderedDict
from pathlib import Path

from clearcite.adapters.indexes.local_format import Segment
from clearcite.adapters.indexes.local_manifest import Stored, read_manifest, segment_path
from clearcite.adapters.indexes.local_scoring import Bm25
from clearcite.adapters.indexes.local_view import LocalView
from clearcite.domain.digest import digest
from clearcite.domain.manifest import PipelineManifest
from clearcite.errors import DependencyUnavailable, IntegrityFault

_OPEN_VIEWS = 4


class LocalViews:
    """Implements ``Views`` on the directory of one generation. Thread-safe."""

    def __init__(self, root: Path, pipeline: PipelineManifest) -> None:
        """``pipeline`` pins k1, b and the average length; segments written under others are refused."""
        self._root = root
        self._bm25 = Bm25(k1=pipeline.bm25_k1, b=pipeline.bm25_b, average_length=pipeline.average_length)
        self._lock = threading.Lock()
        self._views: OrderedDict[str, LocalView] = OrderedDict()

    @property
    def root(self) -> Path:
        """The directory of this generation."""
        return self._root

    def open(self, manifest: str | None) -> LocalView:
        """See ``Views.open``. Raises IntegrityFault for a damaged file, DependencyUnavailable for a swept
        one.
        """
        if manifest is None:
            return LocalView(())
        with self._lock:
            view = self._views.get(manifest)
            if view is None:
                view = self._views[manifest] = self._opened(manifest)
            self._views.move_to_end(manifest)
            while len(self._views) > _OPEN_VIEWS:
                self._views.popitem(last=False)
            return view

    def _opened(self, name: str) -> LocalView:
        opened = {segment.name: segment for view in self._views.values() for segment in view.segments}
        manifest = read_manifest(self._root, name)
        try:
            return LocalView(
                [opened.get(stored.name) or self._segment(stored) for stored in manifest.segments]
            )
        except FileNotFoundError as error:
            read_manifest(self._root, name)  # gone as well when both were swept: then it is no fault
            raise IntegrityFault("A segment of the index is missing.") from error
        except OSError as error:
            raise DependencyUnavailable("The index cannot be read.") from error

    def _segment(self, stored: Stored) -> Segment:
        segment = Segment(segment_path(self._root, stored.name), stored.name, stored.size, self._bm25)
        if not stored.name.startswith(mark_of(segment.partition)):
            raise IntegrityFault("A segment of the index names another partition than its own.")
        return segment


def mark_of(partition: str) -> str:
    """What the names of the segments of a partition begin with: its digest, which does not show it."""
    return digest("partition", partition)[:16]
