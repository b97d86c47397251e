"""A folder as a source: ids, sequences, deletes, front matter, and what is refused."""

import json
import os
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from clearcite.adapters.connectors.deletions import Deletions
from clearcite.adapters.connectors.document import FileReader
from clearcite.adapters.connectors.folder import FolderConnector
from clearcite.adapters.connectors.state import FileState, JsonFolderState, MemoryFolderState
from clearcite.adapters.parsers.markdown import parse_markdown
from clearcite.config import SourceSettings
from clearcite.domain.corpus import SourceRecord
from clearcite.errors import ClearciteError, InputError, IntegrityFault

SETTINGS = SourceSettings(path=".", tenant="acme", source_id="wiki", allowed_groups=("staff",))


def connector(root: Path, state: Any = None, **more: Any) -> FolderConnector:
    reader = FileReader(settings=more.pop("settings", SETTINGS), max_bytes=more.pop("max_bytes", 10_000_000))
    return FolderConnector(root=root, reader=reader, state=state or MemoryFolderState(), **more)


def take(root: Path, state: Any = None, **more: Any) -> tuple[list[SourceRecord], list[ClearciteError]]:
    items = list(connector(root, state, **more).records())
    records = [item for item in items if isinstance(item, SourceRecord)]
    return records, [item for item in items if isinstance(item, ClearciteError)]


def events(records: list[SourceRecord]) -> list[tuple[str, str, int]]:
    return [(item.operation, item.key.document_id, item.source_sequence) for item in records]


def test_a_document_is_named_by_its_path_in_nfc(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / unicodedata.normalize("NFD", "café.md")).write_text("x")
    records, errors = take(tmp_path)
    assert not errors
    assert records[0].key.document_id == "sub/café.md"
    assert (records[0].key.tenant_id, records[0].key.source_id) == ("acme", "wiki")
    assert records[0].description is not None
    assert records[0].description.source_uri == "sub/café.md"


def test_what_is_wrong_with_the_bytes_of_a_file_names_the_file_and_no_field_of_a_feed(tmp_path: Path) -> None:
    (tmp_path / "empty.md").write_text("")
    (tmp_path / "blank.md").write_text(" \n")
    _, errors = take(tmp_path)
    assert sorted(
        fault for error in errors if isinstance(error, InputError) for fault in error.violations
    ) == [
        '"blank.md": the content is white space only',
        '"empty.md": the file is empty',
    ]


def test_the_sequence_rises_when_bytes_or_metadata_change_and_only_then(tmp_path: Path) -> None:
    state = MemoryFolderState()
    file = tmp_path / "a.md"
    file.write_text("one")
    assert events(take(tmp_path, state)[0]) == [("upsert", "a.md", 1)]
    os.utime(file, (0, 0))
    assert events(take(tmp_path, state)[0]) == [("upsert", "a.md", 1)]
    file.write_text("two")
    assert events(take(tmp_path, state)[0]) == [("upsert", "a.md", 3)]
    wider = SourceSettings(path=".", tenant="acme", source_id="wiki", allowed_groups=("public", "staff"))
    assert events(take(tmp_path, state, settings=wider)[0]) == [("upsert", "a.md", 5)]


def test_a_file_that_has_gone_is_deleted_once_and_may_come_back(tmp_path: Path) -> None:
    state = MemoryFolderState()
    (tmp_path / "a.md").write_text("one")
    (tmp_path / "b.md").write_text("two")
    take(tmp_path, state)
    (tmp_path / "a.md").unlink()
    records, _ = take(tmp_path, state)
    assert events(records) == [("upsert", "b.md", 1), ("delete", "a.md", 3)]
    assert records[1].delete_reason == "source_deleted"
    assert events(take(tmp_path, state)[0])[1] == ("delete", "a.md", 3)
    (tmp_path / "a.md").write_text("one")
    assert events(take(tmp_path, state)[0])[0] == ("upsert", "a.md", 5)


def test_a_rename_is_a_delete_and_a_create(tmp_path: Path) -> None:
    state = MemoryFolderState()
    (tmp_path / "a.md").write_text("one")
    take(tmp_path, state)
    (tmp_path / "a.md").rename(tmp_path / "b.md")
    assert events(take(tmp_path, state)[0]) == [("upsert", "b.md", 1), ("delete", "a.md", 3)]


def test_nothing_is_deleted_when_a_folder_cannot_be_listed(tmp_path: Path) -> None:
    state = MemoryFolderState()
    (tmp_path / "a.md").write_text("one")
    take(tmp_path, state)
    records, errors = take(tmp_path / "absent", state)
    assert not records
    assert [error.message for error in errors] == [
        '"the folder": cannot be listed (FileNotFoundError)',
        "Some folders could not be listed, so nothing is deleted.",
    ]


def test_many_deletes_at_once_wait_for_approval_and_additions_still_apply(tmp_path: Path) -> None:
    state = MemoryFolderState()
    for i in range(50):
        (tmp_path / f"{i:02}.md").write_text("x")
    take(tmp_path, state)
    for i in range(30):
        (tmp_path / f"{i:02}.md").unlink()
    (tmp_path / "new.md").write_text("x")
    records, errors = take(tmp_path, state)
    assert [item.key.document_id for item in records if item.operation == "delete"] == []
    assert records[-1].key.document_id == "new.md"
    assert errors[0].message == (
        "30 of 51 documents of the source wiki have gone; their deletes wait for approval. To accept them:"
        " clearcite approve wiki --tenant acme --up-to 30"
    )
    assert take(tmp_path, state, deletions=Deletions(approved=29))[1], "an approval is a ceiling"
    approved, errors = take(tmp_path, state, deletions=Deletions(approved=30))
    assert sum(item.operation == "delete" for item in approved) == 30
    assert not errors


def test_the_state_is_durable_before_a_record_is_given_away(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("one")
    state = MemoryFolderState()
    next(iter(connector(tmp_path, state).records()))
    assert state.all()["a.md"].sequence == 1


def test_front_matter_overrides_the_source_and_other_keys_become_labels(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(
        "---\ntitle: T\nallowed_groups: [oncall, finance]\nauthority: 90\neffective_from: 2026-01-01\n"
        "supersedes: old.md\nowner: ops\ntags: [x, y]\nlabels: {topic: billing}\nproduct_version: 3.10\n---\nBody."
    )
    (record,), errors = take(tmp_path)
    assert not errors
    assert record.access is not None
    assert record.description is not None
    assert record.access.allow == ("finance", "oncall")
    assert record.access.effective_from is not None
    assert record.description.labels == ("owner:ops", "topic:billing", "x", "y")
    assert record.description.product_version == "3.10"
    assert (record.description.authority, record.description.title) == (90, "T")
    assert record.description.supersedes[0].document_id == "old.md"


def test_an_edit_of_front_matter_alone_leaves_text_and_version_as_they_were(tmp_path: Path) -> None:
    """Access and metadata are no content; what follows the front matter is, to the character."""
    body = "# Leave\n\nEvery employee has 25 days.\n"
    fronts = ["", "---\nallowed_groups: [board]\n---\n", "---\ntitle: T\nauthority: 90\n---\n"]
    taken = []
    state = MemoryFolderState()
    for front in fronts:
        (tmp_path / "a.md").write_text(front + body)
        taken += take(tmp_path, state)[0]
    assert [record.text for record in taken] == [body] * 3
    assert len({record.content_sha256 for record in taken}) == 1
    assert len({record.description.source_version for record in taken if record.description}) == 1
    assert [record.source_sequence for record in taken] == [1, 3, 5]
    (tmp_path / "a.md").write_text(fronts[1] + body.replace("25", "26"))
    (changed,), _ = take(tmp_path, state)
    assert changed.content_sha256 != taken[0].content_sha256


def test_text_that_looks_like_a_second_front_matter_is_not_lost(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("---\ntitle: T\n---\n---\nkind: example\n---\nBody.\n")
    (record,), _ = take(tmp_path)
    assert record.text is not None
    assert parse_markdown(record.text).text == "---\nkind: example\n---\nBody.\n"


@pytest.mark.parametrize(
    "front",
    ["tenant_id: other", "source_id: x", "document_id: x", "source_sequence: 9", "allowed_groups: []",
     "authority: high", "authority: 101", "status: live", "trusted: maybe", "effective_from: soon", "a: &x 1\nb: *x"],
)  # fmt: skip
def test_one_bad_file_is_reported_by_name_and_the_rest_go_on(tmp_path: Path, front: str) -> None:
    (tmp_path / "bad.md").write_text(f"---\n{front}\n---\nBody.")
    (tmp_path / "good.md").write_text("Body.")
    records, errors = take(tmp_path)
    assert [item.key.document_id for item in records] == ["good.md"]
    assert len(errors) == 1
    assert errors[0].message.startswith('"bad.md": ')


def test_a_broken_restriction_never_falls_back_to_the_wider_default(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("---\nallowed_groups: [board\n---\nSecret.")
    records, errors = take(tmp_path)
    assert not records
    assert len(errors) == 1


def test_an_untrusted_source_stays_untrusted_whatever_a_file_says(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("---\ntrusted: true\n---\nBody.")
    settings = SourceSettings(path=".", tenant="acme", allowed_groups=("staff",), trusted=False)
    (record,), _ = take(tmp_path, settings=settings)
    assert record.access is not None
    assert not record.access.trusted


def test_without_any_group_nothing_is_taken(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("Body.")
    records, errors = take(tmp_path, settings=SourceSettings(path="."))
    assert not records
    assert "allowed_groups" in errors[0].message


def test_links_hidden_files_and_strangers_are_kept_out(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / ".clearcite").mkdir(parents=True)
    (root / ".clearcite" / "ledger.md").write_text("x")
    (root / ".hidden.md").write_text("x")
    (root / "clearcite.toml").write_text("")
    (root / "picture.png").write_bytes(b"x")
    (root / "package.json").write_text("{}")
    (tmp_path / "secret.md").write_text("SECRET")
    (root / "link.md").symlink_to(tmp_path / "secret.md")
    (root / "out").symlink_to(tmp_path)
    (root / "inside.md").symlink_to(root / "a.md")
    (root / "a.md").write_text("Body.")
    os.mkfifo(root / "pipe.md")
    source = connector(root)
    items = list(source.records())
    assert [item.key.document_id for item in items if isinstance(item, SourceRecord)] == ["a.md", "inside.md"]
    assert sorted(item.message for item in items if isinstance(item, ClearciteError)) == [
        '"link.md": leads out of the folder of the source',
        '"out": a link to a folder is not followed',
        '"pipe.md": is not a regular file',
    ]
    assert source.reader.skipped == [
        ("package.json", "JSON that is not a forum thread"),
        ("picture.png", "unknown file type"),
    ]


def test_what_is_too_large_blank_binary_or_oddly_named_is_refused(tmp_path: Path) -> None:
    (tmp_path / "large.md").write_bytes(b"x" * 101)
    (tmp_path / "blank.md").write_text(" \n")
    (tmp_path / "nul.txt").write_bytes(b"a\x00b")
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9")
    (tmp_path / "zero\u200bwidth.md").write_text("x")
    (tmp_path / b"raw\xff.md".decode("utf-8", "surrogateescape")).write_text("x")
    records, errors = take(tmp_path, max_bytes=100)
    assert not records
    assert len(errors) == 6
    assert all(str(tmp_path) not in error.message for error in errors)


def test_a_thread_becomes_a_forum_document(tmp_path: Path) -> None:
    post = {"author": "a", "author_role": "staff", "created_at": "2026-01-02T03:04:05Z", "body": "How?"}
    thread = {"thread_id": "7", "title": "T", "url": "https://forum.example/7", "tags": ["x"], "posts": [post],
              "product_version": "2", "created_at": "2026-01-02T03:04:05Z"}  # fmt: skip
    (tmp_path / "7.json").write_text(json.dumps(thread))
    (record,), _ = take(tmp_path)
    assert record.description is not None
    assert record.description.source_type == "forum"
    assert record.description.source_uri == "https://forum.example/7"
    assert record.description.labels == ("x",)
    assert record.description.published_at == 1767323045000000


def test_state_on_disk_survives_a_cut_last_line_and_refuses_a_changed_one(tmp_path: Path) -> None:
    file = tmp_path / "state" / "wiki.jsonl"
    first = FileState(content="c", metadata="m", sequence=1)
    JsonFolderState(file).put({"a": first})
    JsonFolderState(file).put({"b": first, "a": FileState(content="d", metadata="m", sequence=2)})
    whole = file.read_bytes()
    file.write_bytes(whole + b'{"id": "c", "sta')
    assert {name: item.sequence for name, item in JsonFolderState(file).all().items()} == {"a": 2, "b": 1}
    JsonFolderState(file).put({"c": first})
    assert sorted(JsonFolderState(file).all()) == ["a", "b", "c"]
    file.write_bytes(b"not json\n" + whole)
    with pytest.raises(IntegrityFault):
        JsonFolderState(file).all()


def test_a_long_history_of_states_is_compacted(tmp_path: Path) -> None:
    file = tmp_path / "wiki.jsonl"
    for i in range(1, 200):
        JsonFolderState(file).put({"a": FileState(content=str(i), metadata="m", sequence=i)})
    assert JsonFolderState(file).all()["a"].sequence == 199
    assert file.read_bytes().count(b"\n") == 1
