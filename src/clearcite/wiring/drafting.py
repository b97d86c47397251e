"""Drafts made in a child process: no document can take this one down, and both work at once."""

from collections.abc import Iterable, Iterator

from clearcite.adapters.parsers.process import DEFAULT_LIMITS, ChildLimits, ChildProcess, Request
from clearcite.domain.manifest import PipelineManifest
from clearcite.errors import InputError
from clearcite.ingest.draft import Draft, content_of, sheet_of
from clearcite.ingest.draft_check import TermTable, decode_draft
from clearcite.ingest.draft_frames import encode_sheet
from clearcite.storing import Job

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
        for answer in self._process.answers(map(_request, jobs)):
            yield self._draft(answer) if isinstance(answer, bytes) else answer

    def _draft(self, answer: bytes) -> Draft | InputError:
        try:
            return decode_draft(answer, self._table)
        except InputError as error:
            return error

    def close(self) -> None:
        self._process.close()


def _request(job: Job) -> Request | None:
    return (encode_sheet(sheet_of(job)), content_of(job)) if job.kind == "project" else None
