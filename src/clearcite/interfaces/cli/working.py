"""``work``: project what waits, in as many processes as one likes, once or for as long as nobody stops it."""

import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from types import FrameType
from typing import Annotated, Any

from msgspec import Struct

from clearcite.config import Settings
from clearcite.domain.corpus import DocumentKey
from clearcite.errors import ClearciteError, DependencyUnavailable
from clearcite.ingest.pipeline import project, sweep, tidy
from clearcite.interfaces.cli import common
from clearcite.interfaces.cli.commands import Command, Option
from clearcite.interfaces.cli.common import STORE, note
from clearcite.interfaces.cli.ingestion import Summary, catch_up, report
from clearcite.wiring import Workshop, existing_store, live_target, open_ledger, open_workshop, retain

HELP = """Project what waits: read, cut, index and publish.

Several may run, also beside `ingest` and `sync`; what one of them had when it was killed is taken over at once.
With --watch it goes on until it is stopped (SIGTERM: it gives back what it has in hand and ends with 0), looks
for new work with growing pauses of at most ten seconds, and does once a day what stands under [retention]. Questions
never wait for it. Exit 2: something could not be indexed; exit 3: another worker still has some of it.

Examples:

  clearcite work

  clearcite work --watch

  clearcite work --retry
"""

SHORTEST, LONGEST = 0.25, 10.0
"""Seconds between two looks for work, doubled while there is none."""
HOUR = 3_600.0


class _Stop(BaseException):
    """SIGTERM. Like an interrupt from the keyboard it may come anywhere."""


class _Count(Struct):
    published: int = 0
    failed: int = 0
    chunks: int = 0


def work(
    watch: Annotated[bool, Option("--watch", help="Go on until stopped.")] = False,
    retry: Annotated[bool, Option("--retry", help="First let what was given up be tried again.")] = False,
    semantic: Annotated[str | None, Option(help="auto, on or off: sentence vectors.")] = None,
    store: STORE = None,
) -> int:
    settings = common.settings_for(store, semantic=semantic)
    existing_store(settings)
    try:
        with _stoppable():
            if retry:
                _let_retry(settings)
            if watch:
                _watch(settings)
            return _once(settings)
    except _Stop:
        _log("stopped; what was in hand is given back")
        return 0


def _let_retry(settings: Settings) -> None:
    """Documents that could not be read or indexed; not those that an integrity fault took out of sight."""
    with closing(open_ledger(settings)) as ledger:
        rows = ledger.status()["quarantine"]
        keys = {what: {_key(row) for row in rows if row["what"] == what} for what in ("event", "document")}
        for key in sorted(keys["event"] - keys["document"]):
            ledger.reinstate(key)


def _key(row: Mapping[str, Any]) -> DocumentKey:
    return DocumentKey(tenant_id=row["tenant_id"], source_id=row["source_id"], document_id=row["document_id"])


def _once(settings: Settings) -> int:
    summary = Summary()
    with closing(open_workshop(settings, live_target)) as shop:
        catch_up(shop, summary)
        for other in shop.others():
            catch_up(other, summary)
        sweep(shop.ledger, shop.index, shop.generation)
    report(summary)
    return summary.exit_code


def _watch(settings: Settings) -> None:
    """Until it is stopped. Where a part is unavailable (a full disk, a busy store) it begins again after a pause."""
    pause = SHORTEST
    due = time.monotonic()
    while True:
        try:
            with closing(open_workshop(settings, live_target)) as shop:
                _log(f"working on {shop.generation} as {shop.presence.name}")
                while _is_live(shop):
                    if _round(shop):
                        pause = SHORTEST
                        continue
                    if time.monotonic() >= due:
                        due = time.monotonic() + HOUR
                        _retain(settings)
                    time.sleep(pause)
                    pause = min(2 * pause, LONGEST)
            _log("another generation is live now")
        except DependencyUnavailable as error:
            _log(f"{error.message} Trying again in {pause:g} s.")
            time.sleep(pause)
            pause = min(2 * pause, LONGEST)


def _retain(settings: Settings) -> None:
    """The rule of retention, if it is due. What it cannot do now does not stop the work."""
    try:
        retain(settings, _log)
    except ClearciteError as error:
        _log(f"retention: {error.message}")


def _is_live(shop: Workshop) -> bool:
    with shop.ledger.snapshot() as snapshot:
        return snapshot.generation == shop.generation


def _round(shop: Workshop) -> bool:
    """What can be claimed now, here and in the generations beside; whether there was anything."""
    shop.take_over()
    found = _drain(shop)
    for other in shop.others():
        found = _drain(other) or found
    return found


def _drain(shop: Workshop) -> bool:
    count = _Count()
    for batch in project(shop.worker):
        count.published += len(batch.published)
        count.failed += len(batch.failed)
        count.chunks += batch.chunks
        for job, why in batch.failed:
            _log(f"not indexed: {job.key.source_id}/{job.key.document_id}: {why}")
    if not count.published and not count.failed:
        return False
    while tidy(shop.ledger, shop.index, shop.generation):
        pass
    sweep(shop.ledger, shop.index, shop.generation)
    _log(f"{count.published} published, {count.failed} failed, {count.chunks} chunks")
    return True


@contextmanager
def _stoppable() -> Iterator[None]:
    def stop(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough: giving back must not be cut short
        raise _Stop

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _log(text: str) -> None:
    note(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {text}")


COMMANDS = {"work": Command(work, HELP)}
