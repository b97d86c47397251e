"""Revocation over real processes: a writer, a slow worker and a reader who has just lost a group.

The two "new enemy" examples of the Zanzibar paper (Pang et al., USENIX ATC 2019, section 2.2) are played round by
round while the reader never stops reading; half-way every process is killed and started again. What each read
saw is judged afterwards from a history with one clock for all processes. The controls switch one protection off
and must show the anomaly.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from clearcite.adapters.ledgers import visible
from clearcite.adapters.ledgers.reader import SqliteSnapshot
from clearcite.adapters.ledgers.sqlite import SqliteLedger, open_sqlite_ledger
from clearcite.domain.access import Acl, Principal
from clearcite.domain.policy import Accepted, Directory, Group, Policy, Subject
from clearcite.domain.retrieval import Scope
from clearcite.engine import Engine, Services
from clearcite.errors import StalePolicy
from clearcite.testing.clock import PinnedClock
from clearcite.testing.records import MANIFEST, MANIFEST_HASH, access, build, commit, key, principal, upsert
from clearcite.visibility import Visibility
from clearcite.wire.policies import policy_to_json, read_policy

SPAWN = multiprocessing.get_context("spawn")
BOB = principal("guest", subject_id="bob")
BOTH, STAFF = access("guest", "staff"), access("staff")
ROUNDS = 2
PATIENCE = 20.0


def run_worker(folder: str, late: bool) -> None:
    """Publishes what is pending, slowly. ``late``: with the control's broken rule."""
    if late:
        break_both_sides()
    with closing(open_sqlite_ledger(Path(folder) / "ledger.db", PinnedClock(), lease=100_000)) as ledger:
        while not (Path(folder) / "stop").exists():
            jobs = ledger.claim("g1", 2, f"worker-{os.getpid()}")
            time.sleep(0.02)
            ledger.publish("g1", [build(job) for job in jobs], commit)


def run_reader(folder: str, stale: bool) -> None:
    """Reads as Bob without a pause. ``stale``: with collections remembered from the first read on."""
    if stale:
        remember_collections()
    visibility = Visibility()
    scope = Scope(principal=BOB, as_of=PinnedClock().now(), partitions=("acme",))
    with (
        closing(open_sqlite_ledger(Path(folder) / "ledger.db", PinnedClock())) as ledger,
        (Path(folder) / f"reads-{os.getpid()}").open("a") as log,
    ):
        while not (Path(folder) / "stop").exists():
            start = time.monotonic_ns()
            texts = read(ledger, visibility, scope)
            log.write(json.dumps([start, texts]) + "\n")
            log.flush()
            time.sleep(0.002)


def run_member(folder: str, trusting: bool) -> None:
    """Lists as Bob without a pause, as a host does: under the identity it has resolved, until that is refused.
    ``trusting``: the engine does not check under which policy an identity was resolved."""
    if trusting:
        Engine._check_policy = lambda self, principal, snapshot: None  # type: ignore[method-assign]
    bob: Principal | None = None
    with (
        closing(open_sqlite_ledger(Path(folder) / "ledger.db", PinnedClock())) as ledger,
        (Path(folder) / f"reads-{os.getpid()}").open("a") as log,
    ):
        engine = Engine(services_on(ledger))
        while not (Path(folder) / "stop").exists():
            start = time.monotonic_ns()
            bob = bob or resolved(ledger)
            if bob is None:
                continue
            try:
                names = [item.document_id for item in engine.documents(bob)]
            except StalePolicy:
                bob = None
                continue
            log.write(json.dumps([start, names]) + "\n")
            log.flush()
            time.sleep(0.002)


def services_on(ledger: SqliteLedger) -> Services:
    """What listing needs; nothing is asked, so there is no pipeline and no trace."""
    nothing: Any = None
    return Services(
        ledger=ledger,
        whole=lambda: ledger,
        traces=nothing,
        visibility=Visibility(),
        pipeline=nothing,
        clock=PinnedClock(),
        trace_id=nothing,
        config_hash="",
    )


def resolved(ledger: SqliteLedger) -> Principal | None:
    """Bob under the newest policy that the ledger has accepted."""
    text = ledger.policy_snapshot()
    return None if text is None else Directory(read_policy(json.loads(text))).resolve("bob")


def read(ledger: SqliteLedger, visibility: Visibility, scope: Scope) -> list[str]:
    """The texts of the documents that the mask of one snapshot admits."""
    with ledger.snapshot() as snapshot:
        mask = visibility.readable(snapshot, scope).mask("acme")
        served = [
            name
            for name, slot in snapshot.inventory("acme")
            if slot is not None and mask[slot:].any() and mask[slot]
        ]
        found = [snapshot.document(name) for name in served]
        return sorted(document.text for document in found if document is not None)


def break_both_sides() -> None:
    """Control: what a document may show follows its publication alone, as in an index that holds the ACL."""
    refresh: Callable[..., None] = visible.refresh

    def late(tx: Any, document: int) -> None:
        waiting = tx.row("SELECT 1 FROM outbox WHERE document = ? AND owner IS NOT NULL", document)
        if waiting is not None:
            refresh(tx, document)

    visible.refresh = late


def remember_collections() -> None:
    """Control: a cache of access lists that looks at no position."""
    current: Callable[..., Any] = SqliteSnapshot.collections
    first: dict[str, Any] = {}

    def remembered(self: SqliteSnapshot, partition: str) -> Any:
        found = current(self, partition)
        return first.setdefault(partition, found) if found[1] else found

    SqliteSnapshot.collections = remembered  # type: ignore[method-assign]


@dataclass
class Play:
    """One store, its processes, and the history: when which change had been acknowledged."""

    folder: Path
    late: bool = False
    stale: bool = False
    trusting: bool = False
    processes: list[Any] = field(default_factory=list)
    revoked: list[tuple[str, int]] = field(default_factory=list)
    ledger: SqliteLedger | None = None

    def start(self) -> None:
        self.ledger = open_sqlite_ledger(self.folder / "ledger.db", PinnedClock())
        self.ledger.start_generation("g1", MANIFEST)
        readers = ((run_reader, self.stale), (run_member, self.trusting))
        for target, broken in ((run_worker, self.late), *readers):
            process = SPAWN.Process(target=target, args=(str(self.folder), broken), daemon=True)
            process.start()
            self.processes.append(process)

    def kill(self) -> None:
        for process in self.processes:
            if process.is_alive():
                os.kill(process.pid, signal.SIGKILL)
            process.join(PATIENCE)
        self.processes.clear()
        if self.ledger is not None:
            self.ledger.close()

    def write(self, name: str, sequence: int, text: str, **fields: Any) -> None:
        """Returns when the change has been acknowledged."""
        assert self.ledger is not None
        record = upsert(text, sequence, key(name), fields.pop("rights", STAFF), **fields)
        (applied,) = self.ledger.apply([record], MANIFEST_HASH)
        assert applied.error is None

    def admit(self, folder: str, *groups: str) -> None:
        assert self.ledger is not None
        self.ledger.put_collection("acme", folder, Acl(allow=groups))

    def policy(self, revision: int, crew: str, *team: str) -> None:
        """Bob is in a crew as long as he is in the team, which is a member of it."""
        assert self.ledger is not None
        policy = Policy(
            revision=revision,
            subjects={"bob": Subject(tenant_id="acme", groups=("guest",))},
            groups={"team": Group(members=team), crew: Group(member_groups=("team",))},
        )
        new = Accepted(revision=revision, content=policy.digest(), issued_at=None)
        self.ledger.accept_policy(new, "test", json.dumps(policy_to_json(policy)))

    def revoke(self, text: str) -> None:
        """From now on no read that starts may show this text to Bob."""
        self.revoked.append((text, time.monotonic_ns()))

    def reads(self) -> list[tuple[int, list[str]]]:
        lines = [line for path in self.folder.glob("reads-*") for line in path.read_text().split("\n")]
        return sorted((start, texts) for start, texts in map(json.loads, filter(complete, lines)))

    def wait_for(self, what: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not what():
            assert time.monotonic() < deadline, "the processes did not get there in time"
            time.sleep(0.005)

    def wait_until_bob_sees(self, text: str) -> None:
        self.wait_for(lambda: any(text in texts for _, texts in self.reads()[-50:]))

    def wait_for_two_reads(self) -> None:
        now = time.monotonic_ns()
        self.wait_for(lambda: sum(start > now for start, _ in self.reads()[-50:]) >= 2)

    def wait_until_published(self) -> None:
        def done() -> bool:
            return self.ledger is not None and not self.ledger.status()["outbox"]

        self.wait_for(done)
        self.wait_for_two_reads()

    def anomalies(self) -> list[str]:
        """Reads that started after a revocation was acknowledged and still showed the text."""
        return [
            f"{text!r} was read {(start - revoked) / 1e6:.1f} ms after its revocation"
            for start, texts in self.reads()
            for text, revoked in self.revoked
            if text in texts and start > revoked
        ]


def complete(line: str) -> bool:
    """A killed process may leave half a line."""
    return line.startswith("[") and line.endswith("]]")


def old_list_on_new_content(play: Play, number: int) -> None:
    """Example B: Bob is removed from a document; then somebody adds content to it."""
    name = f"letter-{number}"
    public, secret = f"public {number}", f"secret {number}"
    play.write(name, 1, public, rights=BOTH)
    play.wait_until_bob_sees(public)
    play.revoke(secret)  # never to be seen by Bob
    play.write(name, 2, public, rights=STAFF)
    play.revoke(public)
    play.write(name, 3, secret, rights=STAFF)
    play.wait_for_two_reads()
    play.write(name, 4, f"clean {number}", rights=BOTH)
    play.wait_until_bob_sees(f"clean {number}")


def order_of_list_updates(play: Play, number: int) -> None:
    """Example A: Bob is removed from a folder; then a document that he must not see is moved into it."""
    welcome, moved = f"welcome {number}", f"moved {number}"
    folder = f"folder-{number}"
    play.admit(folder, "guest", "staff")
    play.write(f"inside-{number}", 1, welcome, rights=access("guest", "staff", parent=folder))
    play.wait_until_bob_sees(welcome)
    play.revoke(moved)
    play.admit(folder, "staff")
    play.revoke(welcome)
    play.write(f"moved-{number}", 1, moved, rights=access("guest", "staff", parent=folder))
    play.wait_until_published()


def an_ancestor_closes(play: Play, number: int) -> None:
    """Example A two levels up: Bob loses the folder above the folder; then a document is moved below both."""
    welcome, moved = f"kept {number}", f"shifted {number}"
    top, folder = f"top-{number}", f"top-{number}/folder"
    play.admit(top, "guest", "staff")
    play.admit(folder, "guest", "staff")
    play.write(f"below-{number}", 1, welcome, rights=access("guest", "staff", parent=folder))
    play.wait_until_bob_sees(welcome)
    play.revoke(moved)
    play.admit(top, "staff")
    play.revoke(welcome)
    play.write(f"shifted-{number}", 1, moved, rights=access("guest", "staff", parent=folder))
    play.wait_until_published()


def a_member_leaves(play: Play, number: int) -> None:
    """Both examples by groups: Bob leaves a team that is a member of the crew; then something new is shown to it."""
    plan, secret = f"plan-{number}", f"secret-{number}"
    crew = f"crew-{number}"
    play.policy(2 * number + 1, crew, "bob")
    play.write(plan, 1, plan, rights=access(crew))
    play.wait_until_bob_sees(plan)
    play.revoke(secret)
    play.policy(2 * number + 2, crew)
    play.revoke(plan)
    play.write(secret, 1, secret, rights=access(crew))
    play.wait_until_published()


@contextlib.contextmanager
def playing(play: Play) -> Iterator[Play]:
    play.start()
    try:
        yield play
    finally:
        (play.folder / "stop").touch()
        play.kill()


Example = Callable[[Play, int], None]


EXAMPLES = [old_list_on_new_content, order_of_list_updates, an_ancestor_closes, a_member_leaves]


@pytest.mark.parametrize("example", EXAMPLES)
def test_no_read_that_starts_after_a_revocation_uses_the_older_list(tmp_path: Path, example: Example) -> None:
    with playing(Play(folder=tmp_path)) as play:
        for number in range(ROUNDS):
            example(play, number)
        play.kill()
        play.start()
        for number in range(ROUNDS, 2 * ROUNDS):
            example(play, number)
        assert play.anomalies() == []
        assert len(play.reads()) > 20
        assert len(play.revoked) == 4 * ROUNDS


def test_control_an_index_that_holds_the_list_shows_revoked_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visible, "refresh", visible.refresh)
    break_both_sides()
    with playing(Play(folder=tmp_path, late=True)) as play:
        for number in range(ROUNDS):
            old_list_on_new_content(play, number)
        assert play.anomalies() != []


def test_control_a_cache_of_lists_without_a_position_shows_new_documents(tmp_path: Path) -> None:
    with playing(Play(folder=tmp_path, stale=True)) as play:
        order_of_list_updates(play, 0)
        assert any("moved" in anomaly for anomaly in play.anomalies())


def test_control_an_identity_that_is_trusted_for_ever_shows_what_its_group_was_shown_later(
    tmp_path: Path,
) -> None:
    with playing(Play(folder=tmp_path, trusting=True)) as play:
        found: list[str] = []
        for number in range(10):  # whether a reader asks in between is a matter of moments
            a_member_leaves(play, number)
            found = [*found, *play.anomalies()]
            if all(any(word in anomaly for anomaly in found) for word in ("secret", "plan")):
                return
        raise AssertionError(found)
