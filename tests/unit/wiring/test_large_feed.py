"""The process that reads documents starts while a large feed is checked, and not for a small one."""

from pathlib import Path

import pytest

from clearcite.domain.manifest import PipelineManifest
from clearcite.wiring import sources
from clearcite.wiring.drafting import ChildDrafter


@pytest.mark.parametrize(("size", "starts"), [(sources._LARGE_FEED, False), (sources._LARGE_FEED + 1, True)])
def test_a_large_feed_starts_the_process_once(tmp_path: Path, *, size: int, starts: bool) -> None:
    feed = tmp_path / "feed.jsonl"
    feed.write_bytes(b"\n" * size)
    drafter = ChildDrafter(
        PipelineManifest(
            parser="p", chunker="c", analysis="a", embedder=None, languages=("en",), chunk_words=20
        )
    )
    try:
        sources._get_ready(drafter, feed)
        pid = drafter._process.pid
        assert (pid is not None) == starts
        sources._get_ready(drafter, feed)
        assert drafter._process.pid == pid
    finally:
        drafter.close()
    sources._get_ready(drafter, tmp_path / "gone.jsonl")
    assert drafter._process.pid is None
