"""Where a fault is put: a copy of a store that nobody else uses, and the ways to change it.

What a source would send goes through the real intake and is projected; what only broken software would write goes into
the rows of the copied ledger, past all of its guards.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any

import apsw
from msgspec import Struct, field
from msgspec.structs import replace

from clearcite.bench.faults.observe import Chosen, Seen
from clearcite.bench.suite import Suite
from clearcite.bench.taking import index
from clearcite.config import Settings
from clearcite.domain.access import Access
from clearcite.domain.corpus import DocumentKey, SourceRecord
from clearcite.errors import InputError
from clearcite.ingest.build import Builder
from clearcite.wiring import (
    Recipe,
    Workshop,
    build_target,
    existing_store,
    live_target,
    open_ledger,
    open_workshop,
)

LEDGER = "ledger.db"
Extra = Callable[[Mapping[str, bytes], Seen], Mapping[str, bytes]]


class NotApplicableError(Exception):
    """The corpus or the suite holds nothing that this fault could damage."""


class Site(Struct, kw_only=True):
    """One copy. ``least``: the rates that the suite asks for, see ``bench.panel``. ``golden``: what was seen before the
    fault. ``failing``: stages of the answer path that shall fail. ``report``: what a defective report makes of the
    files of the run. ``sent``: what the source sent of each document, so that faults in one document add up.
    """

    settings: Settings
    suite: Suite
    least: Mapping[str, int]
    golden: Seen | None = None
    failing: dict[str, Exception] = field(default_factory=dict)
    report: Extra | None = None
    sent: dict[DocumentKey, SourceRecord] = field(default_factory=dict)

    @property
    def chosen(self) -> Chosen:
        return self.before.chosen

    @property
    def before(self) -> Seen:
        if self.golden is None:
            raise InputError("The copy was not looked at before its fault.")
        return self.golden

    def send(
        self, record: SourceRecord, *, publish: bool = True, spoil: Callable[[Builder], Builder] | None = None
    ) -> None:
        """As a source sends it. ``spoil`` puts a defect into what builds it."""
        self.sent[record.key] = record
        with closing(open_workshop(self.settings, live_target)) as shop:
            for applied in shop.ledger.apply([record], shop.manifest.hash()):
                if applied.error is not None:
                    raise applied.error
            if publish:
                _project(shop if spoil is None else replace(shop, builder=spoil(shop.builder)))

    def record(
        self,
        key: DocumentKey,
        *,
        change: Callable[[str], str] | None = None,
        access: Access | None = None,
        **described: Any,
    ) -> SourceRecord:
        """The newest state of a document once more, with something of it changed."""
        old = self.before.documents[key]
        newest = self.sent.get(key)
        content, original = (old.content, old.original) if newest is None else (newest.content, newest.text)
        text = original if change is None or original is None else change(original)
        return SourceRecord(
            key=key,
            source_sequence=self.sequence(key) + 1,
            content=content if change is None or text is None else text.encode("utf-8"),
            text=text,
            access=access or self.access(key),
            description=replace((newest and newest.description) or old.description, **described),
        )

    def access(self, key: DocumentKey) -> Access:
        """Of its newest state."""
        newest = self.sent.get(key)
        return (newest and newest.access) or self.before.documents[key].access

    def delete(self, key: DocumentKey) -> None:
        """The delete is accepted; nothing has taken it out of the index yet."""
        sequence = self.sequence(key) + 1
        record = SourceRecord(
            key=key, source_sequence=sequence, operation="delete", delete_reason="source_deleted"
        )
        self.send(record, publish=False)

    def sequence(self, key: DocumentKey) -> int:
        with closing(open_ledger(self.settings)) as ledger:
            head = ledger.head(key)
        return 0 if head is None else head.source_sequence

    def build(self, recipe: Recipe, spoil: Callable[[Builder], Builder] | None = None) -> str:
        """Another generation beside the live one; ``spoil`` puts a defect into what builds it. Its name."""
        with closing(open_workshop(self.settings, build_target(recipe))) as shop:
            _project(shop if spoil is None else replace(shop, builder=spoil(shop.builder)))
            return shop.generation

    @contextmanager
    def rows(self) -> Iterator[apsw.Connection]:
        """The rows of the copied ledger, in one transaction and past every guard of it."""
        db = apsw.Connection(str(existing_store(self.settings) / LEDGER))
        try:
            with db:
                yield db
        finally:
            db.close()


def _project(shop: Workshop) -> None:
    index(shop, "A document of the copy")
