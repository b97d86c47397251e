"""A policy in TOML: what it says, and what is refused."""

from pathlib import Path

import pytest

from clearcite.adapters.resolvers.policy_file import PolicyFile
from clearcite.domain.policy import Directory
from clearcite.errors import ConfigError, InputError

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


def policy(folder: Path, text: str = GOOD) -> Directory:
    path = folder / "policy.toml"
    path.write_text(text, encoding="utf-8")
    return Directory(PolicyFile(path=path).read())


def test_a_subject_has_his_own_groups_and_those_that_list_him(tmp_path: Path) -> None:
    resolver = policy(tmp_path)
    assert resolver.resolve("alice").groups == ("staff",)
    assert resolver.resolve("omar").groups == ("pager:oncall", "staff")
    assert resolver.resolve("omar").roles == ("operator",)
    assert resolver.resolve("alice").authorization_revision == "7"
    assert resolver.names() == ("alice", "omar")


def test_an_unknown_name_is_nobody(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        policy(tmp_path).resolve("mallory")


def test_an_instant_of_toml_is_read_as_one(tmp_path: Path) -> None:
    text = GOOD.replace('"2026-11-02T09:00:00Z"', "2026-11-02T10:00:00+01:00")
    assert policy(tmp_path, text).policy.issued_at == policy(tmp_path).policy.issued_at


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('revision = "7"', ""),
        ('revision = "7"', 'revision = "seven"'),
        ('revision = "7"', 'revision = "-7"'),
        ('revision = "7"', f'revision = "{"7" * 5000}"'),
        ('revision = "7"', "revision = 7.0"),
        ('revision = "7"', "revision = true"),
        ("2026-11-02T09:00:00Z", "yesterday"),
        ("2026-11-02T09:00:00Z", "2026-11-02T09:00:00"),
        ('tenant = "acme"', 'tenat = "acme"'),
        ('tenant = "acme"', 'tenant = "ac\u200bme"'),
        ('tenant = "acme"', 'tenant = ""'),
        ('groups = ["staff"]', "groups = []"),
        ('groups = ["staff"]', "groups = [' ']"),
        ('groups = ["staff"]', 'groups = "staff"'),
        ('groups = ["staff"]', 'groups = ["staff "]'),
        ('groups = ["staff"]', 'groups = ["sta\u00adff"]'),
        ('groups = ["staff"]', 'groups = ["cafe\u0301"]'),
        ('groups = ["staff"]', 'groups = ["a\\u0007"]'),
        ('groups = ["staff"]', 'groups = ["user:omar"]'),
        ('groups = ["staff"]', 'groups = ["staff", "staff"]'),
        ("[subjects.alice]", '[subjects."ali\u202ece"]'),
        ("[subjects.alice]", '[subjects." alice"]'),
        ("[subjects.alice]", "[subject.alice]"),
        ('"pager:oncall"', '"pager:\u2060oncall"'),
        ('"pager:oncall"', '"user:alice"'),
        ('members = ["omar"]', 'members = ["omra"]'),
        ('members = ["omar"]', 'member_groups = ["staf"]'),
        ('members = ["omar"]', 'member = ["omar"]'),
        ('members = ["omar"]', ""),
        ('members = ["omar"]', 'members = ["omar"]\nroles = []'),
        ("[subjects.omar]", "[[subjects.omar]]"),
        ('revision = "7"', 'revision = "7'),
    ],
    ids=ascii,
)
def test_a_policy_that_is_not_sure_of_itself_is_refused(tmp_path: Path, old: str, new: str) -> None:
    with pytest.raises(ConfigError):
        policy(tmp_path, GOOD.replace(old, new, 1)).resolve("alice")


def test_a_file_that_cannot_be_read_is_a_fault_of_the_configuration(tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        PolicyFile(path=tmp_path / "absent.toml").read()
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError):
        PolicyFile(path=tmp_path / "bytes.toml").read()
    with pytest.raises(ConfigError):
        PolicyFile(path=tmp_path).read()
