"""After a purge the text is in no byte of the store: raw scans for high-entropy words, in several encodings."""

from __future__ import annotations

import base64
import json
import random
import shutil
import urllib.parse
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from clearcite.adapters import remains
from clearcite.adapters.indexes.local import LocalIndex
from clearcite.adapters.ledgers import connection
from clearcite.adapters.ledgers.sqlite import SqliteLedger
from clearcite.adapters.remains import LENGTH, Fragments, fragments_of
from tests.support.pdf import build_pdf
from tests.support.shell import clearcite, write

SEED = 20260722


def canaries(number: int, seed: int = SEED) -> list[str]:
    """Words that stand nowhere by chance: 120 bits each."""
    random_ = random.Random(seed)
    return ["Q" + random_.randbytes(15).hex() for _ in range(number)]


def forms(word: str) -> Iterator[bytes]:
    """A word in the encodings in which it might be left somewhere."""
    raw = word.encode()
    yield from (raw, raw.lower(), word.encode("utf-16-le"), word.encode("utf-16-be"), raw.hex().encode())
    yield urllib.parse.quote(word + "é").encode()[:-6]
    for shift in range(3):
        yield base64.b64encode(b" " * shift + raw)[4:-4]


def scan(folder: Path, words: list[str]) -> dict[str, list[str]]:
    """File → the words found in it, in any form."""
    found: dict[str, list[str]] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            raw = path.read_bytes()
            hits = [word for word in words if any(form in raw for form in forms(word))]
            if hits:
                found[path.name] = hits
    return found


SECRET = canaries(12)
OLD = canaries(6, SEED + 1)
LIVING = canaries(2, SEED + 2)


def page(title: str, words: list[str], size: int = 1) -> str:
    lines = [f"The code number {i} is {word} for the vault." for i, word in enumerate(words)]
    filler = "".join(f"Line {i} of the register says little about boats.\n\n" for i in range(40 * size))
    return f"# {title}\n\n" + filler.join(line + "\n\n" for line in lines)


@pytest.fixture(scope="module")
def stocked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which secret words stood in every kind of file, deleted; and old ones in older revisions."""
    folder = tmp_path_factory.mktemp("purge")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CLEARCITE_SEMANTIC", "off")
        fill(folder)
    return folder


def fill(folder: Path) -> None:
    write(
        folder,
        {
            "docs/plain.md": page("Vault", SECRET[:4]),
            "docs/large.md": page(f"Register {SECRET[4]}", SECRET[5:8], size=8),
            "docs/web.html": f"<h1>Web</h1><p>The web code is {SECRET[8]}.</p><!-- {SECRET[9]} -->",
            "docs/paper.pdf": build_pdf(
                [f"BT /F1 9 Tf 30 700 Td (The paper code is {SECRET[10]} today.) Tj ET"]
            ),
            "docs/wide.txt": f"The wide code of the cafe\u0301 is {SECRET[11]}.\r\n",
            "docs/lives.md": page("Boats", OLD[:3]),
            "docs/other.md": page("Harbour", LIVING, size=110),
        },
    )
    run(folder, "ingest", "docs", "--group", "staff")
    run(folder, "ask", f"What is the code {SECRET[0]} for?", "--tenant", "default", "--group", "staff")
    run(folder, "ask", "How many boats are there?", "--tenant", "default", "--group", "staff")
    write(folder, {"docs/lives.md": page("Boats", OLD[3:])})
    run(folder, "ingest", "docs", "--group", "staff")
    write(folder, {"docs/lives.md": page("Boats", ["none"])})
    for name in ("plain.md", "large.md", "web.html", "paper.pdf", "wide.txt"):
        (folder / "docs" / name).unlink()
    run(folder, "ingest", "docs", "--group", "staff")


@pytest.fixture
def folder(stocked: Path, tmp_path: Path) -> Path:
    shutil.copytree(stocked, tmp_path / "copy")
    return tmp_path / "copy"


@pytest.fixture(autouse=True)
def _words_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEARCITE_SEMANTIC", "off")


def run(folder: Path, *args: str, code: int = 0) -> Any:
    done = clearcite(folder, *args)
    assert done.code == code, done.err
    return done


def receipt(folder: Path, *args: str, code: int = 0) -> dict[str, Any]:
    return dict(run(folder, "purge", *args, "--format", "json", code=code).json)


def states(found: dict[str, Any]) -> dict[str, str]:
    return {line["store"].split(" g-")[0]: line["state"] for line in found["stores"]}


def test_after_a_purge_the_text_is_in_no_byte_of_the_store(folder: Path) -> None:
    store = folder / ".clearcite"
    before = scan(store, SECRET + OLD)
    assert {word for words in before.values() for word in words} == {*SECRET, *OLD}, (
        "the control: it was there"
    )
    found = receipt(folder, "--deleted", "--revisions-older-than", "0")
    assert scan(store, SECRET + OLD) == {}
    assert {word for words in scan(store, LIVING).values() for word in words} == set(LIVING)
    assert states(found)["ledger tables"] == states(found)["traces"] == "erased"
    assert {line["state"] for line in found["stores"]} <= {"erased", "absent", "unsupported"}
    revisions = {
        item["key"]["document_id"]: (item["revisions"], item["deleted"]) for item in found["documents"]
    }
    assert revisions == {
        **dict.fromkeys(("plain.md", "large.md", "web.html", "paper.pdf", "wide.txt"), (1, True)),
        "lives.md": (2, False),
    }
    assert found["fragments"] > 100 and found["bytes"] > 100_000 and found["not_proven"]
    run(folder, "reconcile")
    assert (
        LIVING[0] in run(folder, "show", "other.md", "--tenant", "default", "--group", "staff").json["text"]
    )


def without_secure_delete(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connection._PRAGMAS, "secure_delete", 0)


@pytest.mark.parametrize("rewriting", [False, True], ids=["alone", "and then the file is written anew"])
def test_control_without_secure_delete_the_scan_finds_it_and_the_receipt_says_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch, rewriting: bool
) -> None:
    without_secure_delete(monkeypatch)
    if not rewriting:
        scrub = SqliteLedger.scrub
        monkeypatch.setattr(SqliteLedger, "scrub", lambda self, rewrite=False: scrub(self))
    found = receipt(folder, "--deleted", "--revisions-older-than", "0", code=0 if rewriting else 1)
    left = scan(folder / ".clearcite", SECRET + OLD)
    assert (left == {}) is rewriting
    assert states(found)["ledger free pages and log"] == ("erased" if rewriting else "remains")


def test_control_a_log_that_is_read_still_has_it_and_the_receipt_says_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "BUSY_MS", 50)
    with closing(apsw.Connection(str(folder / ".clearcite" / "ledger.db"))) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM documents").fetchall()
        found = receipt(folder, "--deleted", code=1)
        assert states(found)["ledger free pages and log"] == "in_use"
        assert scan(folder / ".clearcite", SECRET) != {}
    found = receipt(folder, "--deleted")
    assert states(found)["ledger free pages and log"] == "absent"
    assert scan(folder / ".clearcite", SECRET) == {}


def test_no_entry_of_a_purged_document_stays_in_the_index(folder: Path) -> None:
    entries = run(folder, "reconcile", "--format", "json").json["checked"]["unmerged"]
    assert entries > 0, "the control: they were there"
    assert states(receipt(folder, "--deleted"))["index"] == "erased"
    assert run(folder, "reconcile", "--format", "json").json["checked"]["unmerged"] == 0
    assert states(receipt(folder, "--deleted"))["index"] == "absent"


def test_nothing_is_published_while_a_purge_sweeps_the_index(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A manifest published between reading which one counts and sweeping would be swept."""
    real, busy = LocalIndex.sweep, []

    def sweeping(index: LocalIndex, keep: Sequence[str]) -> None:
        busy.append(is_written())
        real(index, keep)

    def is_written() -> bool:
        with closing(apsw.Connection(str(folder / ".clearcite" / "ledger.db"))) as other:
            try:
                other.execute("BEGIN IMMEDIATE")
            except apsw.BusyError:
                return True
            return False

    monkeypatch.setattr(LocalIndex, "sweep", sweeping)
    assert not is_written(), "the control: nobody writes yet"
    receipt(folder, "--deleted")
    assert busy and all(busy)


def test_an_older_event_does_not_bring_a_purged_document_back_and_a_newer_one_does(tmp_path: Path) -> None:
    def feed(*sequences: int) -> None:
        rows = [
            {
                "tenant_id": "default", "document_id": "d", "source_sequence": sequence, "source_uri": "d",
                "source_version": "1", "allowed_groups": ["staff"], "content": f"State {sequence} of the boat.",
            }
            for sequence in sequences
        ]  # fmt: skip
        write(tmp_path, {"feed.jsonl": "".join(json.dumps(row) + "\n" for row in rows)})
        run(tmp_path, "ingest", "feed.jsonl")

    def shown() -> list[Any]:
        return list(run(tmp_path, "list", "--tenant", "default", "--group", "staff").lines)

    feed(1, 2, 3)
    run(tmp_path, "delete", "d", "--tenant", "default")  # sequence 4
    run(tmp_path, "ingest", "feed.jsonl")
    assert receipt(tmp_path, "d", "--tenant", "default")["documents"][0]["revisions"] == 3
    feed(2, 3)
    assert shown() == []
    assert scan(tmp_path / ".clearcite", ["State 3"]) == {}
    feed(5)
    assert len(shown()) == 1
    assert run(tmp_path, "show", "d", "--tenant", "default", "--group", "staff").json["text"].strip() == (
        "State 5 of the boat."
    )


def test_a_purge_is_refused_before_the_deletion_is_indexed_and_for_a_document_that_lives(
    folder: Path,
) -> None:
    assert clearcite(folder, "purge", "other.md", "--tenant", "default").code == 2
    assert clearcite(folder, "purge", "nothing.md", "--tenant", "default").code == 2
    assert clearcite(folder, "purge").code == 2
    run(folder, "delete", "other.md", "--tenant", "default")
    assert clearcite(folder, "purge", "other.md", "--tenant", "default").code == 3
    left = receipt(folder, "--deleted", code=1)
    assert (left["waiting"], left["complete"]) == (1, False)
    said = run(folder, "purge", "--deleted", "--format", "text", code=1).out
    assert "work the deletion off, and purge again: clearcite work" in said
    assert scan(folder / ".clearcite", LIVING) != {}
    run(folder, "ingest", "docs", "--group", "staff")
    assert receipt(folder, "other.md", "--tenant", "default")["documents"][0]["revisions"] == 1
    assert scan(folder / ".clearcite", LIVING) == {}
    assert receipt(folder, "other.md", "--tenant", "default")["documents"] == [], "twice does no harm"


def test_text_that_another_document_rightly_has_is_not_taken_for_a_remnant(folder: Path) -> None:
    write(folder, {"docs/copy.md": page("Harbour", LIVING, size=110)})
    run(folder, "ingest", "docs", "--group", "staff")
    (folder / "docs" / "copy.md").unlink()
    run(folder, "ingest", "docs", "--group", "staff")
    assert receipt(folder, "copy.md", "--tenant", "default")["documents"][0]["revisions"] == 1
    assert "ledger.db" in scan(folder / ".clearcite", LIVING)


def test_a_copy_that_lies_in_the_store_is_named(folder: Path) -> None:
    store = folder / ".clearcite"
    (store / "ledger.db.v1.1.backup").write_bytes((store / "ledger.db").read_bytes())
    found = receipt(folder, "--deleted", "--revisions-older-than", "0", code=1)
    line = next(line for line in found["stores"] if line["store"] == "other files of the store")
    assert line == {
        "store": "other files of the store", "state": "remains", "detail": "remove them: ledger.db.v1.1.backup",
    }  # fmt: skip
    assert set(scan(store, SECRET + OLD)) == {"ledger.db.v1.1.backup"}


def test_a_store_that_a_restore_has_put_aside_is_named_until_it_is_removed(folder: Path) -> None:
    aside = folder / ".clearcite.replaced-1"
    shutil.copytree(folder / ".clearcite", aside)
    name = "put aside .clearcite.replaced-1"
    assert states(receipt(folder, "--deleted", code=1))[name] == "remains"
    assert states(receipt(folder, "--deleted"))[name] == "unsupported", (
        "nobody knows any more what to look for"
    )
    shutil.rmtree(aside)
    assert name not in states(receipt(folder, "--deleted"))


def test_a_purge_that_was_interrupted_is_completed_by_the_next(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    def kill(*_: Any, **__: Any) -> bool:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(SqliteLedger, "scrub", kill)
        with pytest.raises(Killed):
            clearcite(folder, "purge", "--deleted", "--revisions-older-than", "0")
    assert [done for done, _ in purges(folder)] == [0], "the control: half done"
    receipt(folder, "--deleted")
    assert scan(folder / ".clearcite", SECRET + OLD) == {}
    rows = purges(folder)
    assert [done for done, _ in rows] == [1, 1]
    assert rows[0][1] == "completed by 2" and json.loads(rows[1][1])["purge"] == 2


def purges(folder: Path) -> list[Any]:
    with closing(apsw.Connection(str(folder / ".clearcite" / "ledger.db"))) as db:
        return db.execute("SELECT finished_at IS NOT NULL, receipt FROM purges ORDER BY number").fetchall()


def test_fragments_are_found_at_every_offset_and_across_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random_ = random.Random(SEED)
    text = random_.randbytes(3000).hex().encode()
    wanted = Fragments(fragments_of(text, 50))
    assert 25 <= len(wanted.all) <= 50
    assert wanted.found_in(text) == wanted.all
    assert wanted.found_in(text[::-1]) == Fragments([]).found_in(text) == set()
    monkeypatch.setattr(remains, "_BLOCK", 64)
    for one in sorted(wanted.all)[:20]:
        for shift in (0, 1, 7, 50, 63, 64):
            (tmp_path / "f").write_bytes(b"x" * shift + one + b"y" * 70)
            assert remains.scan(tmp_path / "f", wanted) == ({one}, shift + LENGTH + 70)


def test_fragments_hold_nothing_that_json_would_write_in_another_way() -> None:
    text = b'a "quoted" line that goes on\nand another\\one with more in it\n' * 9
    assert all(not set(one) & set(b'\n"\\') for one in fragments_of(text))


def test_a_receipt_says_that_a_text_was_too_short_to_be_looked_for(tmp_path: Path) -> None:
    write(tmp_path, {"docs/pin.md": "PIN 471", "docs/key.md": "The key box stands in room 12 below."})
    assert clearcite(tmp_path, "ingest", "docs", "--group", "staff").code == 0
    found = {}
    for name in ("pin.md", "key.md"):
        clearcite(tmp_path, "delete", name, "--tenant", "default")
        clearcite(tmp_path, "ingest", "docs", "--group", "staff")
        stores = clearcite(tmp_path, "purge", name, "--tenant", "default").json["stores"]
        found[name] = [line["state"] for line in stores if line["store"] == "short texts in traces"]
    assert found == {"pin.md": ["unsupported"], "key.md": []}


@pytest.mark.parametrize(
    ("question", "goes"),
    [
        ("Is it true that the pin is 4711?", True),
        ("Does THE  PIN\nIS 4711 open the door?", True),
        ("who HAS SEEN the grey lamp of room twelve lately", True),
        ("What is the PIN?", False),
        ("Is the harbour closed on Monday?", False),
    ],
)
def test_a_question_goes_that_repeats_a_short_line_or_a_line_in_other_case(
    tmp_path: Path, question: str, goes: bool
) -> None:
    """The last two are the control: no line of the text, and a line that a living document has too."""
    gone = "# Q\n\nThe PIN is 4711.\n\nWho has seen the grey lamp of room twelve?\n\nClosed on Monday.\n"
    write(tmp_path, {"docs/gone.md": gone, "docs/lives.md": "# Hours\n\nClosed on Monday.\n"})
    run(tmp_path, "ingest", "docs", "--group", "staff")
    run(tmp_path, "ask", question, "--tenant", "default", "--group", "staff")
    stored = json.dumps(question, ensure_ascii=False)[1:-1].encode()
    traces = tmp_path / ".clearcite" / "traces.db"

    def is_there() -> bool:
        return any(stored in path.read_bytes() for path in traces.parent.glob("traces.db*"))

    assert is_there(), "the control: it was there"
    (tmp_path / "docs" / "gone.md").unlink()
    run(tmp_path, "ingest", "docs", "--group", "staff", "--approve-deletes")
    found = receipt(tmp_path, "--deleted")
    assert states(found)["traces"] == ("erased" if goes else "absent")
    assert is_there() is not goes
    run(tmp_path, "audit", "verify")
