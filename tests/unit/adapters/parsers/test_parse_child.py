"""The parser process: limits, renewal, and that nothing a document does reaches the parent."""

import io
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from clearcite.adapters.parsers import frames, process, worker
from clearcite.adapters.parsers.child import ChildLimits, ChildParser
from clearcite.adapters.parsers.formats import parse_document
from clearcite.adapters.parsers.registry import parser_fingerprint
from clearcite.errors import InputError, TooLarge

MARKDOWN = "text/markdown"
UNSAFE = "could not be parsed safely"


def pid(parser: ChildParser) -> int:
    found = parser.pid
    assert found is not None
    return found


def test_a_document_crosses_the_process_unchanged() -> None:
    content = "# H\n\nÜ\u200b 😀.\n\n| a |\n|---|\n| 1 |\n".encode()
    with ChildParser() as parser:
        assert parser.parse(content, MARKDOWN) == parse_document(content, MARKDOWN)


def test_a_child_that_dies_is_an_input_error_and_the_next_document_has_a_new_one() -> None:
    with ChildParser() as parser:
        parser.parse(b"x", MARKDOWN)
        first = pid(parser)
        os.kill(first, signal.SIGSTOP)
        threading.Timer(0.2, os.kill, (first, signal.SIGKILL)).start()
        with pytest.raises(InputError, match=UNSAFE):
            parser.parse(b"y", MARKDOWN)
        assert parser.parse(b"z", MARKDOWN).text == "z"


def test_a_child_that_hangs_is_ended_after_the_wall_clock_limit() -> None:
    limits = ChildLimits(wall_seconds=3.0)
    with ChildParser(limits) as parser:
        parser.parse(b"x", MARKDOWN)
        os.kill(pid(parser), signal.SIGSTOP)
        started = time.monotonic()
        with pytest.raises(InputError, match=UNSAFE):
            parser.parse(b"y", MARKDOWN)
        assert time.monotonic() - started < 15
        assert parser.parse(b"z", MARKDOWN).text == "z"


def test_a_child_is_renewed_after_its_number_of_documents() -> None:
    with ChildParser(ChildLimits(documents=3)) as parser:
        seen = set()
        for _ in range(7):
            parser.parse(b"x", MARKDOWN)
            seen.add(pid(parser))
    assert len(seen) == 3


def test_closing_leaves_no_process_behind() -> None:
    parser = ChildParser()
    parser.parse(b"x", MARKDOWN)
    child: Any = parser._process._child
    parser.close()
    assert child.process.returncode is not None
    assert parser.pid is None


def test_a_batch_survives_the_death_of_its_child() -> None:
    documents = [(b"%d " % i + b"word " * 20_000, MARKDOWN) for i in range(20)]
    with ChildParser() as parser:
        results = parser.parse_many(documents)
        found = [next(results)]
        os.kill(pid(parser), signal.SIGKILL)
        found += list(results)
    assert len(found) == 20
    refused = [item for item in found if isinstance(item, InputError)]
    assert len(refused) <= 1
    assert all(
        item.text.startswith(f"{i} ") for i, item in enumerate(found) if not isinstance(item, InputError)
    )


def test_a_child_that_is_full_answers_what_it_was_sent_while_the_next_one_starts() -> None:
    documents = [(b"document %d" % i, MARKDOWN) for i in range(25)]
    with ChildParser(ChildLimits(documents=4)) as parser:
        seen = set()
        for i, item in enumerate(parser.parse_many(documents)):
            assert not isinstance(item, InputError)
            assert item.text == f"document {i}"
            seen.add(pid(parser))
    assert len(seen) >= 1


def test_documents_are_taken_no_further_ahead_than_the_bounds() -> None:
    taken = 0

    def documents() -> Iterator[tuple[bytes, str]]:
        nonlocal taken
        for _ in range(3 * process.AHEAD):
            taken += 1
            yield b"word " * 2000, MARKDOWN

    with ChildParser() as parser:
        results = parser.parse_many(documents())
        next(results)
        assert taken * 10_000 <= process.AHEAD_BYTES + 20_000
        results.close()


def test_a_document_that_ends_its_child_takes_no_other_with_it() -> None:
    child = process.ChildProcess("tests.support.fragile_worker")
    try:
        asked = [(b"die" if i % 5 == 3 else b"", b"%d" % i) for i in range(20)]
        answers = list(child.answers([None, *asked, None]))
    finally:
        child.close()
    assert answers[0] is None and answers[-1] is None
    for i, answer in enumerate(answers[1:-1]):
        assert isinstance(answer, InputError) if i % 5 == 3 else answer == b"%d" % i


def test_a_batch_that_is_left_early_does_not_confuse_the_next_one() -> None:
    with ChildParser() as parser:
        results = parser.parse_many([(b"%d" % i, MARKDOWN) for i in range(100)])
        next(results)
        results.close()
        assert parser.parse(b"after", MARKDOWN).text == "after"


@pytest.mark.skipif(sys.platform == "win32", reason="limits of resources are POSIX only")
def test_memory_and_processor_time_are_bounded() -> None:
    limits = (
        f"import resource as r; from clearcite.adapters.parsers import limits as l; l.limit_process({1 << 30});"
        "l.limit_cpu(7);"
    )
    code = limits + "print(r.getrlimit(r.RLIMIT_AS)[0], r.getrlimit(r.RLIMIT_CPU)[0])"
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert int(printed[0]) == 1 << 30
    assert 7 <= int(printed[1]) <= 10
    endless = code.replace("limit_cpu(7)", "limit_cpu(0)") + "\nwhile True: pass"
    ended = subprocess.run([sys.executable, "-c", endless], capture_output=True, check=False, timeout=30)
    assert ended.returncode == -signal.SIGXCPU


def test_the_environment_stays_with_the_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEARCITE_API_KEY", "CANARY")
    with ChildParser() as parser:
        parser.parse(b"x", MARKDOWN)
        file = Path(f"/proc/{pid(parser)}/environ")
        environment = file.read_bytes() if file.exists() else b""
    assert b"CANARY" not in environment


def test_a_fault_of_a_parser_stops_the_worker_after_a_plain_answer() -> None:
    def fail(_: bytes, __: bytes) -> bytes:
        raise RecursionError("CANARY")

    requests = io.BytesIO()
    for part in (b"text/plain", b"x", b"text/plain", b"y"):
        frames.write_frame(requests, part)
    requests.seek(0)
    answers = io.BytesIO()
    assert worker.serve(requests, answers, 1000, fail) == 3
    answers.seek(0)
    answer = frames.read_frame(answers)
    assert answer is not None
    assert answer[:1] == b"-"
    assert b"CANARY" not in answer
    assert frames.read_frame(answers) is None


@pytest.mark.parametrize(
    "answer",
    [
        b"", b"{", b"[]", b"{}", b'{"text":1}', b'{"error":{}', b'"x"',
        b'{"text":"ab","paths":[[]],"elements":[[0,0,3,0,0,null,null,null]],"title":null,"flags":[],"notes":[]}',
        b'{"text":"ab","paths":[[]],"elements":[[0,1,1,0,0,null,null,null]],"title":null,"flags":[],"notes":[]}',
        b'{"text":"ab","paths":[[]],"elements":[[9,0,1,0,0,null,null,null]],"title":null,"flags":[],"notes":[]}',
        b'{"text":"ab","paths":[],"elements":[[0,0,1,0,0,null,null,null]],"title":null,"flags":[],"notes":[]}',
        b'{"text":"ab","paths":[[]],"elements":[[0,true,1,0,0,null,null,null]],"title":null,"flags":[],"notes":[]}',
        b'{"text":"ab","paths":[[]],"elements":[[0,0,1,0,0,null,0,9]],"title":null,"flags":[],"notes":[]}',
        b'{"text":"ab","paths":[[]],"elements":[[0,1,2,0,0,null,null,null],[0,0,1,0,0,null,null,null]],"title":null,"flags":[],"notes":[]}',
        b'{"text":"ab","paths":[[]],"elements":[],"title":7,"flags":[],"notes":[]}',
    ],
)  # fmt: skip
def test_an_answer_that_is_not_well_formed_is_refused(answer: bytes) -> None:
    with pytest.raises(InputError):
        frames.decode_answer(answer)


def test_a_frame_that_claims_to_be_huge_is_not_read() -> None:
    with pytest.raises(TooLarge):
        frames.read_frame(io.BytesIO(b"\xff\xff\xff\xff"))


def test_a_document_too_large_to_pass_on_is_refused() -> None:
    parsed = parse_document(b"x", MARKDOWN)
    with pytest.raises(TooLarge):
        frames.encode_document(replace(parsed, text="x" * (frames.MAX_TEXT + 1)))


def test_the_fingerprint_names_the_libraries_by_version() -> None:
    assert parser_fingerprint().startswith("clearcite-parse-2;markdown-it-py=")
    assert "none" not in parser_fingerprint()
