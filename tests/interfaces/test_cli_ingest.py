"""Taking documents in: again, interrupted, killed, from several folders; and the demo."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from tests.support.pdf import build_pdf
from tests.support.pdf import text as draw
from tests.support.shell import Done, clearcite, everything, fed, process, without, write

GROUP = ("--group", "staff")
WORDS = ("pump", "valve", "gate", "crane", "scale", "ramp", "lift", "truck", "dock", "yard", "fork", "belt")
MANY = 1_500


def text(number: int) -> str:
    words = " ".join(WORDS[(number * step) % len(WORDS)] for step in (1, 5, 7, 11))
    return f"# Sheet {number}\n\nThe {words} of sheet {number} costs EUR {number % 97} a day.\n"


def ingest(folder: Path, *args: str) -> Done:
    return clearcite(folder, "ingest", *args)


def test_unchanged_input_is_all_noop(empty: Path) -> None:
    write(empty, {f"docs/{i}.md": text(i) for i in range(20)})
    first, again = ingest(empty, "docs", *GROUP), ingest(empty, "docs", *GROUP)
    assert (first.code, again.code) == (0, 0)
    assert "20 created; 20 chunks indexed" in first.err
    assert "20 noop; 0 chunks indexed" in again.err


def test_an_empty_feed_and_an_empty_folder_are_no_fault_and_are_said(empty: Path) -> None:
    write(empty, {"feed.jsonl": ""})
    (empty / "docs").mkdir()
    for done in (ingest(empty, "feed.jsonl"), ingest(empty, "docs", "--group", "all")):
        assert done.code == 0
        assert "No document was found." in done.err
    write(empty, {"docs/a.md": "The valve opens at 7 bar."})
    assert "No document was found." not in ingest(empty, "docs", "--group", "all").err
    assert "No document was found." not in ingest(empty, "docs", "--group", "all").err


def test_one_is_no_plural(empty: Path) -> None:
    write(empty, {"docs/a.md": text(1)})
    assert "1 created; 1 chunk indexed" in ingest(empty, "docs", *GROUP).err
    said = clearcite(empty, "status", "--format", "text").out
    assert ("/default: 1 document\n" in said, "1 documents" in said) == (True, False)


def test_changes_renames_and_removals_are_followed(empty: Path) -> None:
    write(empty, {f"docs/{i}.md": text(i) for i in range(4)})
    ingest(empty, "docs", *GROUP)
    write(empty, {"docs/0.md": text(90), "docs/new.md": text(91)})
    (empty / "docs" / "1.md").unlink()
    (empty / "docs" / "2.md").rename(empty / "docs" / "two.md")
    done = ingest(empty, "docs", *GROUP)
    assert "2 created, 2 deleted, 1 noop, 1 revised" in done.err
    assert [item["document_id"] for item in everything(empty)] == ["0.md", "3.md", "new.md", "two.md"]


def test_many_files_gone_at_once_wait_for_a_yes(empty: Path) -> None:
    write(empty, {f"docs/{i}.md": text(i) for i in range(40)})
    ingest(empty, "docs", *GROUP)
    for i in range(30):
        (empty / "docs" / f"{i}.md").unlink()
    done = ingest(empty, "docs", *GROUP)
    assert (done.code, "wait for approval" in done.err) == (2, True)
    assert len(everything(empty)) == 40
    assert ingest(empty, "docs", *GROUP, "--approve-deletes").code == 0
    assert len(everything(empty)) == 10


def test_a_change_of_access_in_front_matter_is_one_and_the_revision_stays(empty: Path) -> None:
    board = "---\nallowed_groups: [staff, board]\n---\n"
    write(empty, {"docs/a.md": text(1)})
    ingest(empty, "docs", *GROUP)
    before = everything(empty)
    write(empty, {"docs/a.md": board + text(1)})
    assert "1 access_changed" in ingest(empty, "docs", *GROUP).err
    assert everything(empty) == before == everything(empty, group="board")
    write(empty, {"docs/a.md": board.replace("]", "]\nauthority: 70") + text(1)})
    assert "1 revised" in ingest(empty, "docs", *GROUP).err
    assert everything(empty) == before
    write(empty, {"docs/a.md": board + text(2)})
    assert "1 revised" in ingest(empty, "docs", *GROUP).err
    assert everything(empty)[0]["revision"] != before[0]["revision"]


FACT = {"fact_id": "days", "topic": "leave", "value": "25"}


def test_a_fact_must_stand_in_the_text_that_is_cited_whatever_the_format(empty: Path) -> None:
    """Markup, front matter and attributes are no text: a statement that stands only there cannot be cited."""
    page = "<html><body><p title='30 days in all'>Staff have <b>25</b> days.</p></body></html>"
    given = {"a.html": "Staff have 25 days.", "b.html": "30 days in all", "c.html": "<b>25</b>"}
    base = {"tenant_id": "default", "source_sequence": 1, "source_version": "1", "allowed_groups": ["staff"]}
    records = [
        base
        | {"document_id": name, "source_uri": name, "content_path": name}
        | {"facts": [FACT | {"statement": statement}]}
        for name, statement in given.items()
    ]
    front = (
        "---\nfacts:\n- {fact_id: days, topic: leave, value: '25', statement: %s}\n---\nStaff have 25 days.\n"
    )
    write(empty, {"docs/d.md": front % "Staff have 25 days.", "docs/e.md": front % "fact_id"})
    write(empty, {"feed.jsonl": fed(*records), **dict.fromkeys(given, page)})
    done = ingest(empty, "feed.jsonl")
    assert done.code == 2
    for name in ("b.html", "c.html"):
        assert (
            f"default/{name}: the statement of the fact days does not stand verbatim in its text" in done.err
        )
    assert ingest(empty, "docs", *GROUP, "--source", "folder").code == 2
    assert [item["document_id"] for item in everything(empty)] == ["a.html", "d.md"]


def test_two_folders_never_delete_each_other_s_documents(empty: Path) -> None:
    write(empty, {"a/a.md": text(1), "b/b.md": text(2)})
    assert ingest(empty, "a", *GROUP).code == 0
    refused = ingest(empty, "b", *GROUP)
    assert (refused.code, "--source NAME" in refused.err) == (2, True)
    assert ingest(empty, "b/b.md", *GROUP).code == 2
    assert ingest(empty, "b", *GROUP, "--source", "b").code == 0
    assert [item["document_id"] for item in everything(empty)] == ["b.md", "a.md"]
    (empty / "a").rename(empty / "moved")
    moved = ingest(empty, "moved", *GROUP)
    assert (moved.code, "1 noop" in moved.err) == (0, True)


def test_a_folder_with_its_own_configuration_is_taken_as_it_says(empty: Path) -> None:
    toml = '[[sources]]\npath = "docs"\ntenant = "acme"\nallowed_groups = ["board"]\n'
    write(empty, {"project/clearcite.toml": toml, "project/docs/a.md": text(1)})
    assert ingest(empty / "project", ".").code == 0
    assert len(everything(empty / "project", group="board", tenant="acme")) == 1
    assert ingest(empty, "project").code == 0
    assert len(everything(empty, group="board", tenant="acme")) == 1
    assert everything(empty, group="staff", tenant="acme") == []


def test_a_new_manifest_is_built_beside_and_then_served_alone(empty: Path) -> None:
    toml = '[[sources]]\npath = "docs"\nallowed_groups = ["staff"]\n'
    write(empty, {"clearcite.toml": toml, "docs/a.md": "# Rooms\n\nThe lodging allowance is EUR 140.\n"})
    ingest(empty)
    search = ("search", "inn", "--tenant", "default", *GROUP)
    assert clearcite(empty, *search).json["hits"] == []
    write(empty, {"clearcite.toml": toml + '[synonyms]\ninn = ["lodging"]\n'})
    assert clearcite(empty, *search).json["hits"] == [], "until it is built"
    done = ingest(empty)
    assert (done.code, "1 reprocessed" in done.err or "1 noop" in done.err) == (0, True)
    assert len(clearcite(empty, *search).json["hits"]) == 1
    generations = clearcite(empty, "status").json["generations"]
    assert [item["live"] for item in generations if item["state"] == "active"] == [True]


def state(folder: Path) -> list[Any]:
    """What somebody sees of a store, and how much an operator counts in it."""
    seen: list[Any] = [everything(folder)]
    for word in ("pump", "sheet 77", "crane yard", "EUR 96"):
        found = clearcite(
            folder, "search", word, "--tenant", "default", *GROUP, "-k", "100", "--collapse", "passage"
        )
        seen.append(without(found.json, ["trace_id"]))
    status = clearcite(folder, "status").json
    return [
        *seen,
        status["documents"],
        status["chunks"],
        status["revisions"],
        status["tombstones"],
        status["outbox"],
    ]


def wait_for(there: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not there() and time.monotonic() < end:
        time.sleep(0.01)
    assert there()


def interrupted(
    folder: Path, when: Callable[[], bool], how: signal.Signals = signal.SIGINT
) -> tuple[int, str]:
    """Start to take the folder in and send a signal at a moment."""
    child = subprocess.Popen(
        [sys.executable, "-m", "clearcite", "ingest", "docs", *GROUP],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    wait_for(when)
    os.killpg(child.pid, how)
    said = child.communicate(timeout=300)[1].decode()
    return child.returncode, said


def test_an_interrupted_run_goes_on_where_it_was_and_ends_in_the_same_state(empty: Path) -> None:
    sheets = {f"docs/{i:04}.md": text(i) for i in range(MANY)}
    for name in ("once", "twice"):
        write(empty / name, sheets)
    assert ingest(empty / "once", "docs", *GROUP).code == 0

    store = empty / "twice" / ".clearcite"
    code, said = interrupted(empty / "twice", lambda: any(store.glob("sources/*.jsonl")))
    # On a busy machine a run may end before the signal reaches it; where it was stopped does not matter.
    assert (code, "run the same command to go on" in said) in ((130, True), (0, False))
    assert "Traceback" not in said
    code, said = interrupted(empty / "twice", lambda: any(store.glob("index/*/*.seg*")))
    assert code in (130, 0), said
    done = ingest(empty / "twice", "docs", *GROUP)
    assert done.code == 0, done.err
    assert state(empty / "twice") == state(empty / "once")


def test_what_a_killed_run_had_is_taken_over_at_once(empty: Path) -> None:
    write(empty, {f"docs/{i:04}.md": text(i) for i in range(600)})
    store = empty / ".clearcite"
    interrupted(empty, lambda: any(store.glob("index/*/*.seg*")), signal.SIGKILL)
    done = ingest(empty, "docs", *GROUP)
    assert (done.code, len(everything(empty))) == (0, 600), done.err


def stopped_outside_a_write(group: int, ledger: Path) -> bool:
    """A run that is stopped inside a write would keep everybody else from writing; then it goes on, for another try."""
    os.killpg(group, signal.SIGSTOP)
    with closing(apsw.Connection(str(ledger))) as db:
        try:
            db.execute("BEGIN IMMEDIATE; ROLLBACK")
        except apsw.BusyError:
            os.killpg(group, signal.SIGCONT)
            return False
    return True


def test_what_a_stopped_run_still_has_is_left_to_it(empty: Path) -> None:
    write(empty, {f"docs/{i:04}.md": text(i) for i in range(600)})
    child = subprocess.Popen(
        [sys.executable, "-m", "clearcite", "ingest", "docs", *GROUP],
        cwd=empty,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    store = empty / ".clearcite"
    wait_for(lambda: (store / "ledger.db").exists() and clearcite(empty, "status").code == 0)
    wait_for(lambda: any(row["leased"] for row in clearcite(empty, "status").json["outbox"]))
    wait_for(lambda: stopped_outside_a_write(child.pid, store / "ledger.db"))
    leased = sum(row["leased"] for row in clearcite(empty, "status").json["outbox"])
    done = ingest(empty, "docs", *GROUP)
    os.killpg(child.pid, signal.SIGCONT)
    assert child.wait(timeout=300) == 0
    assert (done.code, "with another worker" in done.err) == ((3, True) if leased else (0, False)), done.err
    assert len(everything(empty)) == 600


@pytest.mark.skipif(sys.platform == "win32", reason="limits of files are POSIX only")
def test_a_disk_that_was_full_delays_nothing_once_there_is_room(empty: Path) -> None:
    write(empty, {f"docs/{i:04}.md": text(i) for i in range(600)})
    codes = []
    for size in (400_000, 900_000, 1_400_000, 1_800_000):
        limit = f"import resource, signal; resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, -1));"
        run = limit + "from clearcite.interfaces.cli.main import main; main()"
        done = process(empty, "ingest", "docs", *GROUP, python=("-c", run))
        assert "Traceback" not in done.err
        codes.append(done.code)
    assert 3 in codes, "the control: some run met its end"
    done = ingest(empty, "docs", *GROUP)
    assert (done.code, len(everything(empty))) == (0, 600), done.err


def test_a_broken_document_is_quarantined_at_the_first_try_with_its_reason(empty: Path) -> None:
    write(empty, {"docs/a.md": text(1), "docs/b.pdf": b"%PDF-1.7 broken", "docs/c.docx": b"PK broken"})
    done = ingest(empty, "docs", *GROUP)
    assert done.code == 2
    assert "not indexed: default/b.pdf: the PDF is damaged" in done.err
    found = clearcite(empty, "status").json
    assert [item["document_id"] for item in found["quarantine"]] == ["b.pdf", "c.docx"]
    assert found["failing"] == []
    assert "b.pdf: the PDF is damaged" in ingest(empty, "docs", *GROUP).err
    write(empty, {"docs/b.pdf": build_pdf([draw(72, 700, "The pump needs 3 bar.")])})
    (empty / "docs" / "c.docx").unlink()
    assert ingest(empty, "docs", *GROUP).code == 0
    assert clearcite(empty, "status").json["quarantine"] == []
    assert [item["document_id"] for item in everything(empty)] == ["a.md", "b.pdf"]


def test_the_demo_ends_as_its_questions_say(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEARCITE_STORE", str(empty / "real"))
    done = clearcite(empty, "demo", "--dir", "here")
    assert done.code == 0, done.err
    assert "8 questions asked" in done.out
    assert not (empty / "real").exists(), "the environment leads the demo nowhere else"
    again = clearcite(empty, "demo", "--dir", "here", "--failure", "retrieval_error")
    assert again.code == 0
    assert again.out.count("dependency_unavailable") == 7, "all but the question about live state"
    (empty / "mine").mkdir()
    write(empty, {"mine/policy.toml": "mine"})
    assert clearcite(empty, "demo", "--dir", "mine").code == 2
    assert (empty / "mine" / "policy.toml").read_text() == "mine"


def without_modules(*names: str) -> tuple[str, str]:
    """How to run the command where these cannot be imported."""
    blocked = f"import sys; sys.modules.update(dict.fromkeys({names}))"
    return "-c", f"{blocked}; from clearcite.interfaces.cli.main import main; main()"


POSIX = ("resource", "fcntl", "pwd", "grp", "termios")
OF_LONG_WORK = ("rich", "pydantic", "selectolax", "pypdfium2")
OF_FILLING_A_STORE = (
    *("clearcite.storing", "clearcite.keeping", "clearcite.ingest", "clearcite.adapters.parsers"),
    *("clearcite.adapters.ledgers.sqlite", "clearcite.adapters.ledgers.intake", "clearcite.wiring.workshop"),
    *("clearcite.adapters.indexes.local", "clearcite.adapters.indexes.local_build"),
    *("clearcite.domain.purge", "clearcite.domain.journal", "clearcite.domain.lifecycle"),
    *("clearcite.domain.reconcile", "clearcite.domain.sources", "clearcite.domain.panel"),
)
"""A question that starts a process of its own would wait for each of them."""


@pytest.mark.parametrize("names", [POSIX, OF_LONG_WORK, OF_FILLING_A_STORE])
def test_asking_needs_nothing_that_only_posix_or_only_other_work_has(
    company: Path, names: tuple[str, ...]
) -> None:
    python = without_modules(*names)
    question = "How many days of paid leave do employees have?"
    done = process(company, "ask", question, "--as", "ann", python=python)
    assert (done.code, done.json["status"]) == (0, "answered"), done.err
    ingesting = process(company, "ingest", python=python)
    assert "Traceback" not in ingesting.err
    assert names == POSIX or ingesting.code != 0, "the control: what ingestion needs is kept out"


def test_settings_that_go_there_and_back_build_again_and_go_on(tmp_path: Path) -> None:
    """A generation that was retired is not revived, and its name does not stand in the way."""
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("# Leave\n\nEvery employee has 25 days of leave.\n", encoding="utf-8")
    base = "[text]\nsemantic = 'off'\n[[sources]]\npath = 'docs'\nallowed_groups = ['staff']\n"
    for text in (base, base + "[synonyms]\nholiday = ['leave']\n", base):
        (tmp_path / "clearcite.toml").write_text(text, encoding="utf-8")
        (folder / f"{len(list(folder.iterdir()))}.md").write_text(f"# More\n\n{text}", encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-m", "clearcite", "ingest"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    done = subprocess.run(
        [sys.executable, "-m", "clearcite", "list", "--tenant", "default", "--group", "staff"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert len(done.stdout.splitlines()) == 4
