"""Drafts made in a child process: no document can take this one down, and both work at once."""

import time
from collections.abc import Iterable, Iterator

from clearcite.adapters.parsers.process import DEFAULT_LIMITS, ChildLimits, ChildProcess, Request
from clearcite.domain.manifest import PipelineManifest
from clearcite.errors import InputError
from clearcite.ingest.draft import Draft, content_of, sheet_of
from clearcite.ingest.draft_check import TermTable, decode_drafts
from clearcite.ingest.draft_frames import encode_sheet
from clearcite.storing import Job

BURST, BURST_BYTES, BURST_SECONDS = 32, 250_000, 1.0
"""Answers that are looked at together, and bytes of them; no more are waited for after so long."""

Answer = bytes | InputError | None

_WORKER = "clearcite.wiring.draft_worker"


class ChildDrafter:
    """Implements ``Drafter``. Thread-safe; the jobs of one call are drafted before those of the next."""

    def __init__(self, manifest: PipelineManifest, limits: ChildLimits = DEFAULT_LIMITS) -> None:
        # A document's terms do not depend on synonyms: they are looked for when a question is asked.
        settings = (str(manifest.chunk_words), *manifest.languages)
        self._process = ChildProcess(_WORKER, limits, settings)
        self._table = TermTable()

    @property
    def pid(self) -> int | None:
        """See ``ChildProcess.pid``."""
        return self._process.pid

    def start(self) -> None:
        """See ``ChildProcess.start``."""
        self._process.start()

    def draft_many(self, jobs: Iterable[Job]) -> Iterator[Draft | InputError | None]:
        for some in _bursts(self._process.answers(map(_request, jobs))):
            drafts = iter(
                decode_drafts([answer for answer in some if isinstance(answer, bytes)], self._table)
            )
            for answer in some:
                yield next(drafts) if isinstance(answer, bytes) else answer

    def close(self) -> None:
        self._process.close()


def _request(job: Job) -> Request | None:
    return (encode_sheet(sheet_of(job)), content_of(job)) if job.kind == "project" else None


def _bursts(answers: Iterator[Answer]) -> Iterator[list[Answer]]:
    """Answers, some at once, as long as it does not take long: the leases of their jobs are renewed in between."""
    some: list[Answer] = []
    size, until = 0, 0.0
    for answer in answers:
        if not some:
            until = time.monotonic() + BURST_SECONDS
        some.append(answer)
        size += len(answer) if isinstance(answer, bytes) else 0
        if len(some) >= BURST or size >= BURST_BYTES or time.monotonic() > until:
            yield some
            some, size = [], 0
    if some:
        yield some
