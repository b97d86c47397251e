"""A feed: checked whole before its first record, or line by line when told to skip bad ones."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from clearcite.adapters.connectors.files import ContentReader
from clearcite.adapters.connectors.jsonl import JsonlConnector
from clearcite.domain.corpus import SourceRecord
from clearcite.errors import DuplicateKey, InputError, TooLarge
from clearcite.wire.records import RecordRules


def line(document_id: str, **more: Any) -> bytes:
    base = {
        "tenant_id": "t", "document_id": document_id, "source_sequence": 1, "source_uri": document_id,
        "source_version": "1", "allowed_groups": ["g"], "content": "text",
    }  # fmt: skip
    return json.dumps({key: item for key, item in (base | more).items() if item is not None}).encode() + b"\n"


def ids(items: list[Any]) -> list[str]:
    return [item.key.document_id if isinstance(item, SourceRecord) else type(item).__name__ for item in items]


def test_records_come_in_the_order_of_the_feed_and_blank_lines_do_not_count() -> None:
    feed = line("b") + b"\n  \n" + line("a") + line("c").rstrip()
    assert ids(list(JsonlConnector(source=feed).records())) == ["b", "a", "c"]


def test_one_bad_line_keeps_every_record_back_and_is_named() -> None:
    feed = line("a") + line("b", allowed_groups=[]) + line("c") + b"{\n"
    found = list(JsonlConnector(source=feed).records())
    assert ids(found) == ["InputError", "InputError"]
    assert str(found[0]).startswith("line 2: ")
    assert str(found[1]).startswith("line 4: ")


def test_skip_bad_gives_each_good_record_in_its_turn() -> None:
    feed = line("a") + line("b", allowed_groups=[]) + line("c")
    found = list(JsonlConnector(source=feed, skip_bad=True).records())
    assert ids(found) == ["a", "InputError", "c"]


def test_the_kind_of_the_refusal_survives() -> None:
    feed = b'{"tenant_id":"a","tenant_id":"b"}\n' + b"[" * 100 + b"]" * 100 + b"\n"
    assert ids(list(JsonlConnector(source=feed).records())) == ["DuplicateKey", "TooLarge"]
    assert issubclass(DuplicateKey, InputError)
    assert issubclass(TooLarge, InputError)


def test_a_line_without_end_is_refused_without_being_held() -> None:
    rules = RecordRules(max_bytes=1000)
    feed = b"x" * 2_000_000 + b"\n" + line("a")
    found = list(JsonlConnector(source=feed, rules=rules, skip_bad=True).records())
    assert ids(found) == ["TooLarge", "a"]


def test_a_byte_order_mark_at_the_start_is_refused() -> None:
    assert ids(list(JsonlConnector(source=b"\xef\xbb\xbf" + line("a")).records())) == ["InputError"]


def test_a_feed_that_cannot_be_read_is_one_error_without_a_path(tmp_path: Path) -> None:
    found = list(JsonlConnector(source=tmp_path / "absent.jsonl").records())
    assert ids(found) == ["InputError"]
    assert str(tmp_path) not in str(found[0])


@pytest.mark.parametrize(
    "relative",
    ["../secret.md", "/etc/passwd", "a/../../secret.md", "link.md", "folder-link/secret.md", "C:/x.md", "a\\b.md",
     "a//b.md", "./a.md", "", "absent.md", "a\0.md", "pipe.md", "sub"],
)  # fmt: skip
def test_a_content_path_stays_inside_the_folder_of_the_feed(tmp_path: Path, relative: str) -> None:
    root = tmp_path / "feed"
    (root / "sub").mkdir(parents=True)
    (tmp_path / "secret.md").write_text("SECRET")
    (root / "link.md").symlink_to(tmp_path / "secret.md")
    (root / "folder-link").symlink_to(tmp_path)
    os.mkfifo(root / "pipe.md")
    with pytest.raises(InputError) as caught:
        ContentReader(root=root, max_bytes=100)(relative)
    assert str(tmp_path) not in str(caught.value)


def test_a_content_path_inside_is_read_up_to_the_limit(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.md").write_bytes(b"x" * 100)
    assert ContentReader(root=tmp_path, max_bytes=100)("a/b.md") == b"x" * 100
    with pytest.raises(TooLarge):
        ContentReader(root=tmp_path, max_bytes=99)("a/b.md")


def test_a_record_may_bring_its_content_as_a_file(tmp_path: Path) -> None:
    (tmp_path / "doc.txt").write_text("plain words")
    rules = RecordRules(read_content=ContentReader(root=tmp_path, max_bytes=1000))
    feed = line("a", content=None, content_path="doc.txt")
    (record,) = JsonlConnector(source=feed, rules=rules).records()
    assert isinstance(record, SourceRecord)
    assert record.text == "plain words"
    assert record.description is not None
    assert record.description.media_type == "text/plain"
