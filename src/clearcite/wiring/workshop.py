"""Settings → Workshop: what ingestion needs, opened on one store."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from clearcite.adapters.indexes.local import LocalIndex
from clearcite.adapters.ledgers.sqlite import open_sqlite_ledger
from clearcite.adapters.presence import Presence, take_over
from clearcite.config import Settings
from clearcite.domain.generations import Switch
from clearcite.domain.manifest import PipelineManifest
from clearcite.errors import ConfigError
from clearcite.ingest.build import Builder
from clearcite.ingest.pipeline import Worker, sweep
from clearcite.storing import Ledger
from clearcite.text.analysis import Analyzer
from clearcite.wiring.builds import Target, builder_for, others, retire_unkept, target_for
from clearcite.wiring.manifests import manifest_of
from clearcite.wiring.parts import INDEX, LEDGER, SystemClock, existing_store

Choose = Callable[[Settings, Ledger, Path], Target]


class Workshop(Struct, frozen=True, kw_only=True):
    """What ingestion needs, opened on one store."""

    settings: Settings
    ledger: Ledger
    index: LocalIndex
    builder: Builder
    manifest: PipelineManifest
    generation: str
    switch: Switch | None
    note: str
    presence: Presence
    store: Path

    @property
    def worker(self) -> Worker:
        return Worker(
            ledger=self.ledger,
            index=self.index,
            builder=self.builder,
            generation=self.generation,
            owner=self.presence.name,
        )

    def take_over(self) -> None:
        """Make free what workers of this machine had that are not there any more."""
        take_over(self.store, self.ledger.reclaim)

    def waiting(self) -> int:
        """Pieces of work pending for this generation."""
        outbox = self.ledger.status()["outbox"]
        return sum(int(row["waiting"]) for row in outbox if row["generation"] == self.generation)

    def leased(self) -> int:
        """Pieces of work that another worker has."""
        outbox = self.ledger.status()["outbox"]
        return sum(int(row["leased"]) for row in outbox if row["generation"] == self.generation)

    def failing(self) -> dict[str, str]:
        """Documents that could not be indexed: ``SOURCE/DOCUMENT`` → reason."""
        status = self.ledger.status()
        rows = [row for row in status["failing"] if row["generation"] == self.generation]
        rows += [row for row in status["quarantine"] if row["what"] == "event"]
        return {f"{row['source_id']}/{row['document_id']}": str(row["reason"]) for row in rows}

    def serve(self) -> None:
        """Let questions be answered from this generation, if it may be; drop those that nobody keeps."""
        if self.switch is not None:
            self.ledger.promote(self.generation, self.switch)
        retire_unkept(self.ledger, self.store, self.generation)
        sweep(self.ledger, self.index, self.generation)

    def others(self) -> Iterator["Workshop"]:
        """The same for each generation that is kept beside this one and has something to take in."""
        for item in others(self.settings, self.ledger, self.store, self.generation):
            manifest = manifest_of(item.name, item.manifest)
            other = replace(
                self,
                index=LocalIndex(self.index.root.parent / item.name, manifest),
                builder=builder_for(self.settings, manifest),
                manifest=manifest,
                generation=item.name,
                switch=None,
                note="",
            )
            try:
                yield other
            finally:
                other.builder.drafter.close()

    def close(self) -> None:
        self.builder.drafter.close()
        self.ledger.close()
        self.presence.leave()


def open_workshop(settings: Settings, choose: Choose = target_for) -> Workshop:
    """Open a store for writing, making it if it is new. ``choose``: which generation to build."""
    Analyzer(languages=settings.languages)  # a language that is not known is refused before a store is made
    store = settings.path(settings.store)
    try:
        store.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"The folder of the store cannot be made: {type(error).__name__}.") from error
    with ExitStack() as stack:
        ledger = open_sqlite_ledger(store / LEDGER, SystemClock())
        stack.callback(ledger.close)
        target = choose(settings, ledger, store)
        shop = Workshop(
            settings=settings,
            ledger=ledger,
            index=LocalIndex(store / INDEX / target.name, target.manifest),
            builder=builder_for(settings, target.manifest),
            manifest=target.manifest,
            generation=target.name,
            switch=target.switch,
            note=target.note,
            presence=Presence(store),
            store=store,
        )
        stack.pop_all()
    shop.take_over()
    return shop


def open_ledger(settings: Settings) -> Ledger:
    """The ledger of an existing store, for a change that needs no index: it acts in its own transaction."""
    return open_sqlite_ledger(existing_store(settings) / LEDGER, SystemClock())
