"""Back up, take something away, put the backup back: nothing that was taken away comes back.

The control puts the same backup back without knowing what was taken away since.
"""

from __future__ import annotations

import json
import shutil
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from clearcite.adapters.ledgers import connection
from clearcite.adapters.ledgers.sqlite import open_sqlite_ledger
from clearcite.domain.access import Acl
from clearcite.wiring.parts import SystemClock
from tests.support.shell import clearcite, write

SECRET = "Qa63f0c2d9b7714e05c1"


def row(document: str, sequence: int, text: str, *groups: str, **more: Any) -> dict[str, Any]:
    return {
        "tenant_id": "default", "document_id": document, "source_sequence": sequence, "source_uri": document,
        "source_version": str(sequence), "allowed_groups": list(groups or ("staff", "guest")), "content": text, **more,
    }  # fmt: skip


def gone(document: str, sequence: int) -> dict[str, Any]:
    return {
        "tenant_id": "default", "document_id": document, "source_sequence": sequence, "operation": "delete",
        "source_uri": document, "source_version": "1", "reason": "user_request",
    }  # fmt: skip


def run(folder: Path, *args: str, code: int = 0) -> Any:
    done = clearcite(folder, *args)
    assert done.code == code, (done.out, done.err)
    return done


def feed(folder: Path, *rows: dict[str, Any], code: int = 0) -> None:
    write(folder, {"feed.jsonl": "".join(json.dumps(item) + "\n" for item in rows)})
    run(folder, "ingest", "feed.jsonl", code=code)


def shown(folder: Path, group: str = "guest") -> dict[str, str]:
    """What a reader sees, with its text."""
    args = ("--tenant", "default", "--group", group)
    names = [item["document_id"] for item in run(folder, "list", *args).lines]
    return {name: run(folder, "show", name, *args).json["text"].strip() for name in names}


START = {"a": "Boat A is red.", "b": f"Boat B is {SECRET}.", "c": "Boat C is blue."}


@pytest.fixture(scope="module")
def stocked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three documents for staff and guests, in a store and in a backup of it."""
    folder = tmp_path_factory.mktemp("restore")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CLEARCITE_SEMANTIC", "off")
        feed(folder, *(row(name, 1, text) for name, text in START.items()))
        run(folder, "backup", "safe")
    return folder


@pytest.fixture
def folder(stocked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CLEARCITE_SEMANTIC", "off")
    shutil.copytree(stocked, tmp_path / "copy")
    return tmp_path / "copy"


def delete(folder: Path) -> None:
    feed(folder, gone("b", 2))


def delete_by_hand_before_it_is_indexed(folder: Path) -> None:
    run(folder, "delete", "b", "--tenant", "default")


def revoke(folder: Path) -> None:
    feed(folder, row("b", 2, START["b"], "staff"))


def revoke_and_let_in_again_to_other_text(folder: Path) -> None:
    feed(folder, row("b", 2, START["b"], "staff"), row("b", 3, "Boat B is gone.", "staff", "guest"))


def archive(folder: Path) -> None:
    feed(folder, row("b", 2, START["b"], status="archived"))


def quarantine(folder: Path) -> None:
    with closing(open_sqlite_ledger(folder / ".clearcite" / "ledger.db", SystemClock())) as ledger:
        (key,) = [head for head in keys(ledger) if head.document_id == "b"]
        ledger.quarantine(key, "integrity")


def keys(ledger: Any) -> list[Any]:
    with ledger.snapshot() as snapshot:
        return [key for key, _ in snapshot.inventory("default")]


def purge(folder: Path) -> None:
    delete(folder)
    run(folder, "purge", "--deleted")


def purge_an_older_revision(folder: Path) -> None:
    feed(folder, row("b", 2, "Boat B is white."))
    run(folder, "purge", "--revisions-older-than", "0")


AWAY: dict[str, Callable[[Path], None]] = {
    function.__name__.replace("_", " "): function
    for function in (
        delete,
        delete_by_hand_before_it_is_indexed,
        revoke,
        revoke_and_let_in_again_to_other_text,
        archive,
        quarantine,
        purge,
        purge_an_older_revision,
    )
}


def lose_the_store(folder: Path) -> None:
    shutil.rmtree(folder / ".clearcite")


MOST = ("delete", "revoke", "quarantine", "purge", "purge an older revision")
CASES = [(what, "the store") for what in AWAY] + [(what, "the journal") for what in MOST]


@pytest.mark.parametrize(("what", "known_from"), CASES)
def test_what_was_taken_away_after_a_backup_does_not_come_back(
    folder: Path, what: str, known_from: str
) -> None:
    AWAY[what](folder)
    args = ["restore", "safe"]
    if known_from == "the journal":
        run(folder, "backup", "--journal", "journal.json")
        lose_the_store(folder)
        args += ["--journal", "journal.json"]
    run(folder, *args)
    run(folder, "audit", "verify")
    assert shown(folder) == {"a": START["a"], "c": START["c"]}
    if "purge" in what:
        assert holds(folder / ".clearcite", SECRET) == []
    again = clearcite(folder, "ingest", "feed.jsonl")
    assert again.code == (2 if "let in again" in what else 0), (
        "the older event is refused, the newer one taken"
    )
    assert START["b"] not in shown(folder).values()
    if known_from == "the store":
        run(folder, "reconcile", code=4 if what == "quarantine" else 0)
        run(folder, "integrity")


@pytest.mark.parametrize("what", MOST)
def test_control_without_knowing_what_was_taken_away_it_comes_back(folder: Path, what: str) -> None:
    AWAY[what](folder)
    assert START["b"] not in shown(folder).values()
    lose_the_store(folder)
    run(folder, "restore", "safe", "--accept-loss", "the journal burnt")
    assert shown(folder) == START
    assert run(folder, "status", "--format", "json").json["restores"][0]["reason"] == "the journal burnt"
    assert "what was taken away since: the journal burnt" in run(folder, "status", "--format", "text").out


def holds(store: Path, word: str) -> list[str]:
    return [path.name for path in store.rglob("*") if path.is_file() and word.encode() in path.read_bytes()]


def test_without_the_store_and_without_a_journal_nothing_is_restored(folder: Path) -> None:
    lose_the_store(folder)
    done = run(folder, "restore", "safe", code=2)
    assert "--journal" in done.err and "--accept-loss" in done.err
    run(folder, "restore", "safe", "--accept-loss", " ", code=2)
    assert not (folder / ".clearcite").exists() and not (folder / ".clearcite.restoring").exists()


def test_a_backup_cannot_be_asked_before_it_is_put_back(folder: Path) -> None:
    done = run(folder, "list", "--tenant", "default", "--group", "guest", "--store", "safe", code=2)
    assert "clearcite restore" in done.err
    run(folder, "ingest", "feed.jsonl", "--store", "safe", code=2)


def test_a_store_that_was_put_aside_cannot_be_asked(folder: Path) -> None:
    assert set(shown(folder)) == set(START), "the control: before, it can"
    done = run(folder, "restore", "safe")
    aside = ".clearcite.replaced-1"
    assert done.json["replaced"].endswith(aside)
    args = ("--tenant", "default", "--group", "guest", "--store", aside)
    assert "put aside" in run(folder, "list", *args, code=2).err
    run(folder, "ask", "Which boat is red?", *args, code=2)
    run(folder, "ingest", "feed.jsonl", "--store", aside, code=2)
    assert shown(folder) == START


def test_a_store_that_is_being_written_is_not_put_aside_unsealed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "BUSY_MS", 50)
    with closing(apsw.Connection(str(folder / ".clearcite" / "ledger.db"))) as writer:
        writer.execute("BEGIN IMMEDIATE")
        run(folder, "restore", "safe", code=3)
        writer.execute("ROLLBACK")
    assert not (folder / ".clearcite.replaced-1").exists() and not (folder / ".clearcite.restoring").exists()
    assert shown(folder) == START


def rename(folder: Path, old: str, new: str) -> None:
    (folder / f".clearcite{old}").rename(folder / f".clearcite{new}")


def test_a_restore_killed_after_the_store_was_moved_and_before_it_was_sealed_goes_on(folder: Path) -> None:
    delete(folder)
    rename(folder, "", ".replaced-1")  # what stands there after the kill
    run(folder, "restore", "safe")
    assert shown(folder) == {"a": START["a"], "c": START["c"]}, (
        "what the moved store knew is taken away again"
    )
    args = ("--tenant", "default", "--group", "guest", "--store", ".clearcite.replaced-1")
    assert "put aside" in run(folder, "list", *args, code=2).err


def test_a_restore_killed_before_the_restored_store_was_moved_goes_on(folder: Path) -> None:
    delete(folder)
    run(folder, "restore", "safe")
    rename(folder, "", ".restoring")
    run(folder, "restore", "safe")
    assert shown(folder) == {"a": START["a"], "c": START["c"]}
    assert (folder / ".clearcite.replaced-2").exists() and not (folder / ".clearcite.restoring").exists()


def test_a_store_that_was_sealed_long_ago_is_not_taken_for_the_one_that_is_lost(folder: Path) -> None:
    run(folder, "restore", "safe")
    delete(folder)
    lose_the_store(folder)
    assert "--journal" in run(folder, "restore", "safe", code=2).err
    assert (folder / ".clearcite.replaced-1").exists() and not (folder / ".clearcite").exists()


def test_a_journal_of_another_future_is_refused(folder: Path) -> None:
    run(folder, "backup", "--journal", "before.json")
    delete(folder)
    run(folder, "backup", "--journal", "one.json")
    run(folder, "delete", "c", "--tenant", "default")
    run(folder, "backup", "--journal", "one-later.json")
    lose_the_store(folder)
    run(folder, "restore", "safe", "--journal", "before.json")
    feed(folder, row("a", 2, START["a"], "staff"))  # the first thing taken away in the second future
    run(folder, "backup", "second")
    for journal in ("one.json", "one-later.json"):
        assert "another future" in run(folder, "restore", "safe", "--journal", journal, code=2).err
    assert "a" not in shown(folder) and not (folder / ".clearcite.replaced-1").exists(), "nothing was changed"
    lose_the_store(folder)
    assert (
        "does not fit the backup"
        in run(folder, "restore", "second", "--journal", "one-later.json", code=2).err
    )
    assert not (folder / ".clearcite").exists() and not (folder / ".clearcite.restoring").exists()
    run(folder, "restore", "safe", "--journal", "one-later.json")
    assert shown(folder) == {"a": START["a"]}, "the control: each fits its own"


def test_of_two_journals_with_the_same_entries_the_one_that_knows_the_lists_is_taken(folder: Path) -> None:
    feed(folder, row("d", 1, "Boat D is old.", parent="boats"))
    run(folder, "collection", "set", "boats", "--tenant", "default", "--group", "guest")
    run(folder, "backup", "listed")
    run(folder, "backup", "--journal", "before.json")
    assert "d" in shown(folder)
    run(folder, "collection", "set", "boats", "--tenant", "default", "--group", "staff")
    run(folder, "restore", "listed", "--journal", "before.json")
    assert "d" not in shown(folder)


def test_a_damaged_store_is_put_aside_nevertheless(folder: Path) -> None:
    run(folder, "backup", "--journal", "journal.json")
    for path in (folder / ".clearcite").glob("ledger.db*"):
        path.write_bytes(b"no database" * 400)
    run(folder, "restore", "safe", "--journal", "journal.json")
    assert shown(folder) == START
    run(folder, "list", "--tenant", "default", "--group", "guest", "--store", ".clearcite.replaced-1", code=4)


def test_what_was_let_in_after_a_backup_is_shown_when_its_source_sends_it_again(folder: Path) -> None:
    feed(folder, row("b", 2, START["b"], "staff"), row("b", 3, "Boat B is green.", "staff", "guest"))
    run(folder, "restore", "safe")
    assert "b" not in shown(folder)
    feed(folder, row("b", 2, START["b"]), code=2)
    feed(folder, row("b", 1, START["b"]))
    assert "b" not in shown(folder), "an older event does not widen"
    feed(folder, row("b", 3, "Boat B is green.", "staff", "guest"))
    assert shown(folder)["b"] == "Boat B is green."


def test_a_document_that_is_again_as_it_was_stays_shown(folder: Path) -> None:
    feed(folder, row("b", 2, START["b"], "staff"), row("b", 3, START["b"], source_version="1"))
    run(folder, "restore", "safe")
    assert shown(folder) == START


def test_a_deleted_document_the_backup_never_knew_stays_deleted(folder: Path) -> None:
    feed(folder, row("d", 1, "Boat D is old."), gone("d", 5))
    run(folder, "restore", "safe")
    feed(folder, row("d", 4, "Boat D is old."))
    assert shown(folder) == START
    feed(folder, row("d", 6, "Boat D is new."))
    assert shown(folder)["d"] == "Boat D is new."


def test_collections_stay_as_narrow_as_they_have_become(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLEARCITE_SEMANTIC", "off")

    def put(path: str, acl: Acl | None) -> None:
        with closing(open_sqlite_ledger(tmp_path / ".clearcite" / "ledger.db", SystemClock())) as ledger:
            ledger.put_collection("default", path, acl)

    feed(tmp_path, *(row(name, 1, f"Boat {name}.", parent=name) for name in "pqrs"))
    for path in "pqr":
        put(path, Acl(allow=("guest", "staff")))
    assert set(shown(tmp_path)) == {"p", "q", "r"}
    run(tmp_path, "backup", "safe")
    put("p", Acl(allow=("staff",)))
    put("q", None)
    put("r", Acl(allow=("staff",)))
    put("r", Acl(allow=None))
    put("s", Acl(allow=None))
    done = run(tmp_path, "restore", "safe", "--format", "json")
    assert done.json["reapplied"]["collections"] == 3
    assert done.json["reapplied"]["collections_to_set"] == ["default/s"]
    assert shown(tmp_path) == {}
    assert set(shown(tmp_path, "staff")) == {"p", "r"}


def policy(folder: Path, revision: int, *groups: str) -> None:
    lists = ", ".join(f'"{group}"' for group in groups)
    text = f'revision = "{revision}"\n\n[subjects.zoe]\ntenant = "default"\ngroups = [{lists}]\n'
    write(folder, {"policy.toml": text})


def seen_by_zoe(folder: Path) -> tuple[int, int]:
    done = clearcite(folder, "list", "--as", "zoe", "--policy", "policy.toml")
    return done.code, len(done.lines)


def test_a_policy_older_than_the_last_one_accepted_stays_refused(folder: Path) -> None:
    policy(folder, 1, "guest")
    assert seen_by_zoe(folder) == (0, 3)
    run(folder, "backup", "early")
    policy(folder, 2, "nobody")
    assert seen_by_zoe(folder) == (0, 0)
    run(folder, "backup", "--journal", "journal.json")
    lose_the_store(folder)
    run(folder, "restore", "early", "--journal", "journal.json")
    policy(folder, 1, "guest")
    assert seen_by_zoe(folder) == (2, 0)
    policy(folder, 2, "nobody")
    assert seen_by_zoe(folder) == (0, 0)
    lose_the_store(folder)
    run(folder, "restore", "early", "--accept-loss", "the control")
    policy(folder, 1, "guest")
    assert seen_by_zoe(folder) == (0, 3)


def test_an_even_older_backup_put_back_later_brings_nothing_back_either(folder: Path) -> None:
    delete(folder)
    run(folder, "backup", "later")
    feed(folder, gone("c", 2))
    run(folder, "restore", "later")
    assert set(shown(folder)) == {"a"}
    run(folder, "restore", "safe")
    assert set(shown(folder)) == {"a"}


def test_a_folder_goes_on_after_a_restore(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEARCITE_SEMANTIC", "off")
    write(tmp_path, {"docs/a.md": "# A\n\nOne.\n", "docs/b.md": "# B\n\nTwo.\n"})
    run(tmp_path, "ingest", "docs", "--group", "guest")
    run(tmp_path, "backup", "safe")
    run(tmp_path, "ingest", "docs", "--group", "staff")
    run(tmp_path, "ingest", "docs", "--group", "staff")
    write(tmp_path, {"docs/a.md": "# A\n\nThree.\n"})
    run(tmp_path, "ingest", "docs", "--group", "staff")
    run(tmp_path, "restore", "safe")
    assert shown(tmp_path, "guest") == {}
    run(tmp_path, "ingest", "docs", "--group", "staff")
    assert shown(tmp_path, "guest") == {}
    assert {text.split()[-1] for text in shown(tmp_path, "staff").values()} == {"Three.", "Two."}


DAMAGE: dict[str, tuple[Callable[[Path], None], int]] = {
    "a file was changed": (lambda safe: damage(safe / "ledger.db"), 4),
    "a file is missing": (lambda safe: next(safe.rglob("*.segment")).unlink(), 4),
    "a file was added": (lambda safe: (safe / "extra").touch(), 4),
    "it is no backup": (lambda safe: (safe / "backup.json").unlink(), 2),
}


def damage(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    raw[-1] ^= 1
    path.write_bytes(raw)


@pytest.mark.parametrize("what", DAMAGE)
def test_a_damaged_backup_is_refused_and_the_store_stays(folder: Path, what: str) -> None:
    harm, code = DAMAGE[what]
    harm(folder / "safe")
    run(folder, "restore", "safe", code=code)
    assert shown(folder) == START


def test_a_journal_of_another_store_an_older_one_and_a_changed_one_are_refused(
    folder: Path, tmp_path: Path
) -> None:
    run(folder, "backup", "--journal", "old.json")
    delete(folder)
    run(folder, "backup", "newer", "--journal", "new.json")
    write(tmp_path, {"other/docs/x.md": "# X\n\nOther.\n"})
    run(tmp_path / "other", "ingest", "docs", "--group", "guest")
    run(tmp_path / "other", "backup", "--journal", str(folder / "other.json"))
    lose_the_store(folder)
    run(folder, "restore", "newer", "--journal", "old.json", code=2)
    run(folder, "restore", "newer", "--journal", "other.json", code=2)
    (folder / "bent.json").write_text((folder / "new.json").read_text().replace('"delete"', '"purge"'))
    run(folder, "restore", "newer", "--journal", "bent.json", code=4)
    run(folder, "restore", "newer", "--journal", "new.json")
    assert set(shown(folder)) == {"a", "c"}


def test_a_backup_is_private_and_is_not_written_over_anything(folder: Path) -> None:
    for path in (folder / "safe", *(folder / "safe").rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
    run(folder, "backup", "safe", code=2)
    run(folder, "backup", code=2)


@pytest.mark.parametrize(
    "place", ["nowhere/journal.json", "feed.jsonl/journal.json", "safe", "/proc/journal.json"]
)
def test_a_place_where_no_journal_can_be_written_is_wrong_input(folder: Path, place: str) -> None:
    assert place in run(folder, "backup", "--journal", place, code=2).err


def test_a_journal_that_has_no_place_leaves_no_backup_either(folder: Path) -> None:
    run(folder, "backup", "more", "--journal", "nowhere/journal.json", code=2)
    assert not (folder / "more").exists() and not (folder / "nowhere").exists()
    run(folder, "backup", "more", "--journal", "journal.json")
    assert (folder / "more").is_dir() and (folder / "journal.json").is_file(), "the control"


def test_a_backup_made_while_documents_are_taken_in_is_whole(folder: Path) -> None:
    from threading import Thread

    rows = [row(f"n{i}", 1, f"Boat number {i} is here.") for i in range(300)]
    write(folder, {"many.jsonl": "".join(json.dumps(item) + "\n" for item in rows)})
    codes: list[int] = []
    worker = Thread(target=lambda: codes.append(clearcite_process(folder)))
    worker.start()
    made = 0
    while worker.is_alive() or made < 2:
        run(folder, "backup", f"live-{made}")
        made += 1
    worker.join()
    assert codes == [0]
    # Of all that were made while the worker ran, the last one and five from the first on.
    for number in sorted({*range(0, made, max(1, made // 5)), made - 1}):
        run(folder, "restore", f"live-{number}")
        run(folder, "integrity")
        run(folder, "reconcile", "--while-pending", "--format", "json", code=0 if settled(folder) else 4)


def clearcite_process(folder: Path) -> int:
    from tests.support.shell import process

    return process(folder, "ingest", "many.jsonl").code


def settled(folder: Path) -> bool:
    return all(entry["waiting"] == 0 for entry in run(folder, "status", "--format", "json").json["outbox"])


INTEGRITY: dict[str, Callable[[Path], None]] = {
    "a page of the ledger": lambda store: scratch(store / "ledger.db"),
    "a byte of a segment": lambda store: damage(next(store.rglob("*.segment"))),
    "a reference": lambda store: break_a_reference(store / "ledger.db"),
    "a mode": lambda store: (store / "traces.db").chmod(0o644),
}


def scratch(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    for at in range(4096 * 6, len(raw), 4096):
        raw[at + 8 : at + 40] = b"\xff" * 32
    path.write_bytes(raw)


def break_a_reference(path: Path) -> None:
    with closing(apsw.Connection(str(path))) as db:
        db.execute("PRAGMA foreign_keys = OFF; DELETE FROM partitions")


@pytest.mark.parametrize("what", INTEGRITY)
def test_integrity_finds_a_damaged_file(folder: Path, what: str) -> None:
    run(folder, "ask", "What is red?", "--tenant", "default", "--group", "guest")
    run(folder, "integrity")
    INTEGRITY[what](folder / ".clearcite")
    run(folder, "integrity", code=4)


def test_an_identity_of_before_the_policy_that_was_in_force_stays_refused(folder: Path) -> None:
    """The backup knows revision 1 only; the policy that took bob away came later."""
    policy = 'revision = {}\n[subjects.{}]\ntenant = "default"\ngroups = ["staff"]\n'
    write(folder, {"policy.toml": policy.format(1, "bob")})
    flags = ("--as", "bob", "--policy", "policy.toml")
    run(folder, "list", *flags)
    run(folder, "backup", "older")
    write(folder, {"policy.toml": policy.format(2, "ann")})
    run(folder, "list", "--as", "ann", "--policy", "policy.toml")
    run(folder, "restore", "older")
    write(folder, {"policy.toml": policy.format(1, "bob")})
    assert "stale_policy" in run(folder, "list", *flags, code=2).err
    found = run(folder, "status", "--format", "json").json["policy"]
    assert (found["revision"], found["origin"]) == (2, "restore")


def folder_store(place: Path) -> None:
    write(place, {"docs/key.md": "The key box stands in room 12.", "docs/leave.md": "Leave is 25 days."})
    run(place, "ingest", "docs", "--group", "guest")


@pytest.mark.parametrize("known", [True, False], ids=["in the backup", "made after it"])
def test_a_file_whose_document_was_deleted_by_hand_brings_nothing_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, known: bool
) -> None:
    monkeypatch.setenv("CLEARCITE_SEMANTIC", "off")
    folder_store(tmp_path)
    name = "key.md" if known else "new.md"
    run(tmp_path, "backup", "safe")
    for room in (13, 14):
        write(tmp_path, {f"docs/{name}": f"The key box stands in room {room}."})
        run(tmp_path, "ingest", "docs", "--group", "guest")
    run(tmp_path, "delete", name, "--tenant", "default")
    run(tmp_path, "restore", "safe")
    for _ in range(2):
        run(tmp_path, "ingest", "docs", "--group", "guest")
        assert name not in shown(tmp_path)
    write(tmp_path, {f"docs/{name}": "The key box stands in room 15."})
    run(tmp_path, "ingest", "docs", "--group", "guest")
    assert shown(tmp_path)[name] == "The key box stands in room 15."


def test_a_file_that_came_back_after_it_was_deleted_is_taken_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLEARCITE_SEMANTIC", "off")
    folder_store(tmp_path)
    run(tmp_path, "backup", "safe")
    run(tmp_path, "delete", "key.md", "--tenant", "default")
    write(tmp_path, {"docs/key.md": "The key box stands in room 13."})
    run(tmp_path, "ingest", "docs", "--group", "guest")
    run(tmp_path, "restore", "safe")
    assert "key.md" not in shown(tmp_path)
    run(tmp_path, "ingest", "docs", "--group", "guest")
    assert shown(tmp_path)["key.md"] == "The key box stands in room 13."


def test_a_backup_is_not_written_into_the_store_it_is_of(folder: Path) -> None:
    done = run(folder, "backup", ".clearcite/inside", code=2)
    assert "inside the store" in done.err
    assert not (folder / ".clearcite" / "inside").exists()
