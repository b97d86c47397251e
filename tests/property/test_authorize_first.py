"""I3: unreadable text crosses no port while a question is answered, and reaches no file that a question writes."""

from __future__ import annotations

import base64
import binascii
import secrets
import tempfile
import urllib.parse
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from clearcite.adapters.writers.extractive import ExtractiveWriter
from clearcite.testing.embedder import HashedEmbedder
from tests.support.world import DAY, LEGS, NOW, World, make_world, principal, record

QUESTION = "What is the retry limit of the worker queue?"


def canary() -> str:
    return f"Zq{secrets.token_hex(12)}"


def forms(word: str) -> list[bytes]:
    """A word as it might be hidden: as it is, folded, hex, base64 at any offset, percent-encoded."""
    raw = word.encode()
    coded = [base64.b64encode(b"x" * shift + raw)[4:-4] for shift in range(3)]
    return [raw, raw.lower(), binascii.hexlify(raw), urllib.parse.quote(word).encode(), *coded]


def leaks(where: bytes, words: list[str]) -> list[str]:
    return [word for word in words if any(form in where for form in forms(word))]


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


class RecordingIndex:
    """Records what is asked of the opened index, and what it returns."""

    def __init__(self, real: Any, seen: list[bytes]) -> None:
        self._real, self._seen = real, seen

    def open(self, manifest: str | None) -> Any:
        return Recorder(self._real.open(manifest), self._seen)


class RecordingLedger:
    """Records what snapshots return; the questions' path reads text from nowhere else."""

    def __init__(self, real: Any, seen: list[bytes]) -> None:
        self._real, self._seen = real, seen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    @contextmanager
    def snapshot(self, generation: str | None = None) -> Any:
        with self._real.snapshot(generation) as real:
            yield Recorder(real, self._seen)


def filled(words: list[str], embedder: Any, *, on_disk: bool = False) -> World:
    world = make_world(embedder=embedder, on_disk=on_disk)
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
    """The world with a recorder around every port that a question uses."""
    parts, embedder = world.pipeline.parts, None
    writer = parts.writer
    if parts.embedder is not None:
        embedder = Recorder(parts.embedder, seen)
        writer = ExtractiveWriter(parts.analyzer, embedder)
    world = world.with_index(RecordingIndex(world.pipeline.index, seen))
    world = world.with_parts(
        embedder=embedder, reranker=Recorder(parts.reranker, seen), writer=Recorder(writer, seen)
    )
    return world.with_services(
        ledger=RecordingLedger(world.services.ledger, seen), traces=Recorder(world.services.traces, seen)
    )


def crossed(seen: list[bytes]) -> set[str]:
    """The names of the calls that were recorded."""
    return {call.split(b"'")[1].decode() for call in seen}


@LEGS
def test_no_port_sees_text_the_asker_may_not_read(embedder: Any) -> None:
    words = [canary() for _ in range(10)]
    seen: list[bytes] = []
    world = recorded(filled(words, embedder), seen)
    reply = world.engine.reply(QUESTION, principal("staff"))
    world.engine.search(QUESTION, principal("staff"))
    assert reply.public.status == "answered"
    ports = {"chunks", "document", "search", "rerank", "compose", "append"}
    assert crossed(seen) >= ports | ({"embed_query", "embed_passage", "embed_words"} if embedder else set())
    assert leaks(b"".join(seen) + repr(reply).encode(), words) == []


@LEGS
def test_control_the_recorder_sees_the_words_of_somebody_who_may_read_them(embedder: Any) -> None:
    words = [canary() for _ in range(10)]
    seen: list[bytes] = []
    recorded(filled(words, embedder), seen).engine.ask(QUESTION, principal("staff", "board"))
    assert set(leaks(b"".join(seen), words)) >= {words[0], words[1]}
    if embedder:
        for name in (b"embed_passage", b"embed_words"):
            assert leaks(b"".join(call for call in seen if name in call), words[:1]) == words[:1]


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files go during the test."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    for name in ("TMPDIR", "TEMP", "TMP"):
        monkeypatch.setenv(name, str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def written_by_asking(world: World, scratch: Path, *groups: str) -> bytes:
    """Everything that stands in a file of the store, or in a temporary one, and was not there before."""
    before = files(world.folder)
    world.engine.ask(QUESTION, principal(*groups))
    world.engine.search(QUESTION, principal(*groups))
    after = files(world.folder) | files(scratch)
    return b"".join(content for name, content in after.items() if before.get(name) != content)


@LEGS
def test_no_file_a_question_writes_holds_a_document_s_words(embedder: Any, scratch: Path) -> None:
    """Every file of the store: what a question changes or adds holds no text of any document, also not of those
    that are quoted."""
    words = [canary() for _ in range(10)]
    world = filled(words, embedder, on_disk=True)
    for groups in (("staff",), ("staff", "board")):
        written = written_by_asking(world, scratch, *groups)
        assert QUESTION.encode() in written
        assert leaks(written, words[:7] + words[8:]) == []  # a trace names documents by id, by nothing else
        assert b"8 attempts" not in written


def test_control_a_part_that_keeps_what_it_embeds_in_a_file_is_found(scratch: Path) -> None:
    class Keeping(HashedEmbedder):
        def embed_passage(self, text: str) -> Any:
            with (scratch / "kept").open("ab") as file:
                file.write(base64.b64encode(text.encode()))
            return super().embed_passage(text)

    words = [canary() for _ in range(10)]
    world = filled(words, HashedEmbedder(), on_disk=True)
    writer = ExtractiveWriter(world.pipeline.parts.analyzer, Keeping())
    written = written_by_asking(world.with_parts(writer=writer), scratch, "staff", "board")
    assert words[0] in leaks(written, words)


def test_control_the_scan_finds_the_words_where_they_belong_and_in_each_disguise() -> None:
    words = [canary() for _ in range(10)]
    store = b"".join(files(filled(words, None, on_disk=True).folder).values())
    assert set(leaks(store, words)) == set(words)
    for form in forms(words[0]):
        assert leaks(b"..." + form + b"...", words) == words[:1]
    assert leaks(b"nothing", words) == []


def test_an_error_and_a_log_hold_no_words_either(caplog: pytest.LogCaptureFixture) -> None:
    words = [canary() for _ in range(10)]
    world = filled(words, None)
    with pytest.raises(Exception) as caught:
        world.engine.document("group.md", principal("staff"))
    text = repr(caught.value) + str(caught.value) + caplog.text
    assert leaks(text.encode(), words) == []
