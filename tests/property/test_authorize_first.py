"""I3: unreadable text crosses no port while a question is answered, and reaches no file that a question writes."""

from __future__ import annotations

import base64
import binascii
import secrets
import urllib.parse
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from clearcite.adapters.traces.sqlite import open_sqlite_traces
from tests.support.world import DAY, NOW, World, make_world, principal, record

QUESTION = "What is the retry limit of the worker queue?"


def canary() -> str:
    return f"Zq{secrets.token_hex(12)}"


def forms(word: str) -> list[bytes]:
    """A word as it might be hidden: as it is, folded, hex, base64 at any offset, percent-encoded."""
    raw = word.encode()
    coded = [base64.b64encode(b"x" * shift + raw)[4:-4] for shift in range(3)]
    return [raw, raw.lower(), binascii.hexlify(raw), urllib.parse.quote(word).encode(), *coded]


def leaks(where: bytes, words: list[str]) -> list[str]:
    return [word for word in words for form in forms(word) if form in where]


class Recorder:
    """Stands around a port and keeps everything that crosses it, both ways."""

    def __init__(self, real: Any, seen: list[bytes]) -> None:
        self._real, self._seen = real, seen

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._real, name)
        if not callable(value):
            return value

        def call(*args: Any, **kwargs: Any) -> Any:
            result = value(*args, **kwargs)
            self._seen.append(repr((name, args, kwargs, result)).encode())
            return result

        return call


class RecordingLedger:
    """Records what snapshots return; the questions' path reads text from nowhere else."""

    def __init__(self, real: Any, seen: list[bytes]) -> None:
        self._real, self._seen = real, seen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    @contextmanager
    def snapshot(self) -> Any:
        with self._real.snapshot() as real:
            yield Recorder(real, self._seen)


def filled(words: list[str]) -> World:
    world = make_world()
    text = "# Worker queue\n\nThe retry limit of the worker queue is 8 attempts. {}"
    world.put(record("open.md", text.format("Nothing more.")))
    hidden = [
        record("group.md", text.format(words[0]), ("board",), title=words[1]),
        record("tenant.md", text.format(words[2]), tenant="rival"),
        record("draft.md", text.format(words[3]), access={"status": "draft"}),
        record("old.md", text.format(words[4]), access={"effective_to": NOW - DAY}),
        record("untrusted.md", text.format(words[5]), access={"trusted": False}),
        record("denied.md", text.format(words[6]), access={"deny": ("staff",)}),
        record(words[7], text.format("x"), ("board",), source_uri=words[8], labels=(words[9],)),
    ]
    world.put(*hidden)
    return world


def recorded(world: World, seen: list[bytes]) -> World:
    parts = world.pipeline.parts
    world = world.with_parts(reranker=Recorder(parts.reranker, seen), writer=Recorder(parts.writer, seen))
    return world.with_services(
        ledger=RecordingLedger(world.services.ledger, seen), traces=Recorder(world.services.traces, seen)
    )


def test_no_port_sees_text_the_asker_may_not_read() -> None:
    words = [canary() for _ in range(10)]
    seen: list[bytes] = []
    world = recorded(filled(words), seen)
    reply = world.engine.reply(QUESTION, principal("staff"))
    world.engine.search(QUESTION, principal("staff"))
    assert reply.public.status == "answered"
    assert len(seen) > 5
    assert leaks(b"".join(seen) + repr(reply).encode(), words) == []


def test_control_the_recorder_sees_the_words_of_somebody_who_may_read_them() -> None:
    words = [canary() for _ in range(10)]
    seen: list[bytes] = []
    recorded(filled(words), seen).engine.ask(QUESTION, principal("staff", "board"))
    assert set(leaks(b"".join(seen), words)) >= {words[0], words[1]}


def test_no_file_a_question_writes_holds_a_document_s_words(tmp_path: Path) -> None:
    words = [canary() for _ in range(10)]
    world = filled(words)
    traces = open_sqlite_traces(tmp_path / "traces.db")
    world = world.with_services(traces=traces)
    for groups in (("staff",), ("staff", "board")):
        world.engine.ask(QUESTION, principal(*groups))
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert QUESTION.encode() in written
    assert leaks(written, words[:7] + words[8:]) == []  # a trace names documents by id, by nothing else
    assert b"8 attempts" not in written
    traces.close()


def test_an_error_and_a_log_hold_no_words_either(caplog: pytest.LogCaptureFixture) -> None:
    words = [canary() for _ in range(10)]
    world = filled(words)
    with pytest.raises(Exception) as caught:
        world.engine.document("group.md", principal("staff"))
    text = repr(caught.value) + str(caught.value) + caplog.text
    assert leaks(text.encode(), words) == []
