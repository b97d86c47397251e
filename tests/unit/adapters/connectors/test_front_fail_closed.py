"""An access list that somebody wrote is obeyed or refused; it never vanishes."""

from pathlib import Path

import pytest

from clearcite.adapters.connectors.document import FileReader
from clearcite.adapters.connectors.folder import FolderConnector
from clearcite.adapters.connectors.state import MemoryFolderState
from clearcite.config import SourceSettings
from clearcite.domain.corpus import SourceRecord
from clearcite.errors import InputError

BODY = "# Pool\n\nThe pool is EUR 90,004.\n"


def taken(folder: Path, text: str) -> object:
    (folder / "a.md").write_text(text, encoding="utf-8")
    settings = SourceSettings(path=".", allowed_groups=("staff",), denied_groups=("contractors",))
    reader = FileReader(settings=settings, max_bytes=10_000_000)
    found, *_ = FolderConnector(root=folder, reader=reader, state=MemoryFolderState()).records()
    return found


@pytest.mark.parametrize(
    "front",
    [
        "---\nallowed_groups: [board]\n---\n",
        "--- \nallowed_groups: [board]\n---\n",
        "\n\n---\nallowed_groups: [board]\n---\n",
        "---\nallowed_groups: board\n--- \n",
    ],
)
def test_a_list_behind_any_fence_is_obeyed(tmp_path: Path, front: str) -> None:
    found = taken(tmp_path, front + BODY)
    assert isinstance(found, SourceRecord) and found.access is not None
    assert found.access.allow == ("board",)


@pytest.mark.parametrize(
    "front",
    [
        "---\nallowed_groups: [board]\n\n",
        "---\nallowed_groups:\n---\n",
        "---\nallowed_groups: ~\n---\n",
        "---\nallowed_groups: []\n---\n",
        "---\nAllowed_Groups: [board]\n---\n",
        "---\nallowed-groups: [board]\n---\n",
        "---\nallowed_group: [board]\n---\n",
        "---\nalowed_groups: [board]\n---\n",
        "---\ndenied_group: [interns]\n---\n",
        "---\nvalid_to: 2024-01-01\n---\n",
        "---\naccess:\n  allowed_groups: [board]\n---\n",
        "---\ndraft: true\n---\n",
        '+++\nallowed_groups = ["board"]\n+++\n',
        "---\ndenied_groups: ''\n---\n",
    ],
)
def test_a_list_that_cannot_be_read_refuses_the_file(tmp_path: Path, front: str) -> None:
    assert isinstance(taken(tmp_path, front + BODY), InputError)


def test_a_document_denies_more_than_its_source_and_never_less(tmp_path: Path) -> None:
    found = taken(tmp_path, "---\ndenied_groups: [interns]\n---\n" + BODY)
    assert isinstance(found, SourceRecord) and found.access is not None
    assert found.access.deny == ("contractors", "interns")


def test_a_rule_across_the_page_is_no_front_matter(tmp_path: Path) -> None:
    found = taken(tmp_path, "---\n\n" + BODY)
    assert isinstance(found, SourceRecord) and found.access is not None
    assert found.access.allow == ("staff",)
