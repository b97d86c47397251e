from pathlib import Path

import pytest

from clearcite.adapters.resolvers.policy_file import PolicyFile
from clearcite.errors import ConfigError, InputError, StalePolicy

GOOD = """
revision = "7"
issued_at = "2026-11-02T09:00:00Z"
[subjects.alice]
tenant = "acme"
groups = ["staff"]
[subjects.omar]
tenant = "acme"
groups = ["staff"]
roles = ["operator"]
[groups."pager:oncall"]
members = ["omar"]
"""


def policy(folder: Path, text: str = GOOD) -> Path:
    path = folder / "policy.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_subject_has_his_own_groups_and_those_that_list_him(tmp_path: Path) -> None:
    resolver = PolicyFile(policy(tmp_path))
    assert resolver.resolve("alice").groups == ("staff",)
    assert resolver.resolve("omar").groups == ("pager:oncall", "staff")
    assert resolver.resolve("omar").roles == ("operator",)
    assert resolver.resolve("alice").authorization_revision == "7"


def test_an_unknown_name_is_nobody(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        PolicyFile(policy(tmp_path)).resolve("mallory")


def test_a_revision_older_than_the_last_accepted_is_refused(tmp_path: Path) -> None:
    accepted = tmp_path / "accepted"
    PolicyFile(policy(tmp_path), accepted)
    PolicyFile(policy(tmp_path), accepted)
    with pytest.raises(StalePolicy):
        PolicyFile(policy(tmp_path, GOOD.replace('"7"', '"6"')), accepted)
    PolicyFile(policy(tmp_path, GOOD.replace('"7"', '"10"')), accepted)
    assert accepted.read_text() == "10"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('revision = "7"', ""),
        ('revision = "7"', 'revision = "seven"'),
        ('tenant = "acme"', 'tenat = "acme"'),
        ('groups = ["staff"]', "groups = []"),
        ('groups = ["staff"]', "groups = [' ']"),
        ('members = ["omar"]', 'members = ["omra"]'),
        ('members = ["omar"]', 'member = ["omar"]'),
        ('members = ["omar"]', 'members = ["omar"]\nroles = []'),
        ("[subjects.alice]", "[subject.alice]"),
    ],
)
def test_a_policy_that_is_not_sure_of_itself_is_refused(tmp_path: Path, old: str, new: str) -> None:
    with pytest.raises(ConfigError):
        PolicyFile(policy(tmp_path, GOOD.replace(old, new, 1))).resolve("alice")
