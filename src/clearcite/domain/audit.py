"""Two logs that cannot be bent unseen: lifecycle events of the ledger, and traces.

Each entry's link is a hash over the link before it and everything the entry says, so that an edit, a removal or
another order breaks the chain where it happens. What a chain alone cannot show, a cut end or a log that was written
anew from the start, shows against a head that was kept elsewhere.

A trace may have to go. Its link covers a commitment to its body, salted, not the body: body and salt are erased, the
entry stays, and a later entry names what was erased.
"""

from collections.abc import Iterable, Iterator
from typing import Literal

from msgspec import Struct

from clearcite.domain.access import Micros
from clearcite.domain.digest import digest, digest_written, part_of
from clearcite.errors import InputError

GENESIS = "0" * 64
ERASURE = "erasure"
"""The kind of an entry among the traces that names entries which were erased."""

LogName = Literal["events", "traces"]


class Event(Struct, frozen=True, kw_only=True):
    """One thing that happened to the ledger. ``detail`` is JSON: identities, numbers and hashes, never text.

    ``tenant_id``, ``source_id`` and ``document_id`` are empty where it is about more than one document.
    """

    number: int
    at: Micros
    kind: str
    tenant_id: str
    source_id: str
    document_id: str
    detail: str
    link: str

    def link_after(self, before: str) -> str:
        who = (self.tenant_id, self.source_id, self.document_id)
        return event_link(before, self.number, self.at, self.kind, *who, self.detail)


def event_link(before: str, *columns: str | int) -> str:
    """``columns``: those of the event in their order, the link left out."""
    number, at, *texts = columns
    written = "".join([f"s{len(text)}:{text}" for text in texts if isinstance(text, str)])
    whole = f"s5:events{len(before)}:{before}{part_of(number)}{part_of(at)}{written}"
    return digest_written(whole) or digest("event", before, *columns)


class TraceEntry(Struct, frozen=True, kw_only=True):
    """One trace as the log has it. ``body`` and ``salt`` are None once they were erased. ``erases``: the numbers of
    the entries that an entry of the kind ``erasure`` names."""

    number: int
    trace_id: str
    tenant_id: str
    kind: str
    created_at: Micros
    commitment: str
    link: str
    body: str | None
    salt: bytes | None
    erases: tuple[int, ...] = ()

    def link_after(self, before: str) -> str:
        who = (self.trace_id, self.tenant_id, self.kind, self.created_at)
        return digest("trace", before, self.number, *who, self.commitment)


def commitment(salt: bytes, body: str) -> str:
    """Binds a body without telling it: the salt, 16 random bytes, keeps guesses from being tried once it is gone."""
    return digest("body", salt, body)


class Head(Struct, frozen=True, kw_only=True):
    """How long a log is and its last link: enough to find any change of all it covers."""

    size: int
    root: str


class Heads(Struct, frozen=True, kw_only=True):
    """What to keep elsewhere. As text: ``events=12:ROOT traces=4:ROOT``."""

    events: Head
    traces: Head

    def __str__(self) -> str:
        named = (("events", self.events), ("traces", self.traces))
        return " ".join(f"{name}={head.size}:{head.root}" for name, head in named)


def read_heads(text: str) -> Heads:
    """Raises InputError for anything but what ``str(Heads)`` gives."""
    found: dict[str, Head] = {}
    for part in text.split():
        name, _, value = part.partition("=")
        size, _, root = value.partition(":")
        is_number = size.isascii() and size.isdigit() and len(size) < 19
        if name in found or not is_number or len(root) != 64 or set(root) - set("0123456789abcdef"):
            raise InputError(_NO_HEAD)
        found[name] = Head(size=int(size), root=root)
    if set(found) != {"events", "traces"}:
        raise InputError(_NO_HEAD)
    return Heads(events=found["events"], traces=found["traces"])


_NO_HEAD = (
    "This is no head. It looks like: events=12:ROOT traces=4:ROOT, as `clearcite audit head` prints it."
)


class Finding(Struct, frozen=True, kw_only=True):
    """Something that does not hold. ``number``: the entry where it shows."""

    log: LogName
    number: int
    what: str


def check_events(entries: Iterable[Event], kept: Head | None) -> Iterator[Finding]:
    """``entries`` in the order of their numbers. ``kept``: a head that was taken earlier."""
    yield from _check_links("events", entries, kept)


def check_traces(entries: Iterable[TraceEntry], kept: Head | None) -> Iterator[Finding]:
    """Links, and each body against its commitment; an erased one must be named by a later entry."""
    stubs: dict[int, None] = {}
    bad: list[Finding] = []

    def seen() -> Iterator[TraceEntry]:
        for entry in entries:
            if entry.body is None or entry.salt is None:
                stubs[entry.number] = None
            elif commitment(entry.salt, entry.body) != entry.commitment:
                bad.append(Finding(log="traces", number=entry.number, what="its content was changed"))
            for number in entry.erases if entry.kind == ERASURE else ():
                if number < entry.number:
                    stubs.pop(number, None)
            yield entry

    yield from _check_links("traces", seen(), kept)
    yield from bad
    for number in stubs:
        yield Finding(log="traces", number=number, what="its content is gone, and no entry says why")


def _check_links(
    log: LogName, entries: Iterable[Event] | Iterable[TraceEntry], kept: Head | None
) -> Iterator[Finding]:
    """Each entry is judged by the link stored before it, so that one fault is one finding."""
    before, last = GENESIS, 0
    for entry in entries:
        if entry.number != last + 1:
            gone = f"entries {last + 1} to {entry.number - 1} are missing"
            yield Finding(log=log, number=entry.number, what=gone)
        elif entry.link_after(before) != entry.link:
            yield Finding(log=log, number=entry.number, what="it was changed, or stands in another place")
        before, last = entry.link, entry.number
        if kept is not None and kept.size == last and kept.root != before:
            yield Finding(log=log, number=last, what="up to here it is not the log the head was taken of")
    if kept is not None and kept.size > last:
        yield Finding(log=log, number=last, what=f"it ends here, and had {kept.size} entries: cut off")
