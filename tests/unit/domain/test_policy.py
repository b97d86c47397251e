"""Revisions only rise, groups nest and end, and an identity from before is refused."""

from __future__ import annotations

import pytest

from clearcite.domain.access import Principal
from clearcite.domain.policy import (
    LOCAL,
    MAX_GROUPS,
    Accepted,
    Directory,
    Group,
    Policy,
    Subject,
    check_current,
    decide_policy,
)
from clearcite.errors import ConfigError, StalePolicy


def accepted(revision: int, content: str | None = "a", issued_at: int | None = None) -> Accepted:
    return Accepted(revision=revision, content=content, issued_at=issued_at)


@pytest.mark.parametrize(
    ("last", "new", "decision"),
    [
        (None, accepted(1), "accepted"),
        (accepted(1), accepted(2, "b"), "accepted"),
        (accepted(1), accepted(2), "accepted"),
        (accepted(2), accepted(2), "unchanged"),
        (accepted(2, "a", 5), accepted(2, "a", 9), "reissued"),
        (accepted(2, "a", 9), accepted(2, "a", 5), "unchanged"),
        (accepted(2, "a", 9), accepted(2, "a"), "unchanged"),
        (accepted(2), accepted(1), None),
        (accepted(2), accepted(2, "b"), None),
        (accepted(2, None), accepted(2, "b"), "reissued"),
        (accepted(2, "b"), accepted(2, None), "unchanged"),
    ],
)
def test_a_revision_only_rises_and_stands_for_one_content(
    last: Accepted | None, new: Accepted, decision: str | None
) -> None:
    if decision is None:
        with pytest.raises(StalePolicy):
            decide_policy(last, new)
    else:
        assert decide_policy(last, new) == decision


def who(revision: str) -> Principal:
    return Principal(tenant_id="acme", subject_id="bob", groups=("staff",), authorization_revision=revision)


@pytest.mark.parametrize(
    ("revision", "last", "max_age", "current"),
    [
        ("3", accepted(3), None, True),
        ("4", accepted(3), None, True),
        ("2", accepted(3), None, False),
        ("10", accepted(9), None, True),
        ("9", accepted(10), None, False),
        ("2026-07-22", accepted(3), None, False),
        ("2026-07-22", None, None, True),
        ("", accepted(3), None, False),
        ("٣", accepted(3), None, False),
        ("9" * 5000, accepted(3), None, False),
        (LOCAL, accepted(3), None, True),
        (LOCAL, None, 10, True),
        ("3", None, 10, False),
        ("3", accepted(3, "a", 95), 10, True),
        ("3", accepted(3, "a", 90), 10, True),
        ("3", accepted(3, "a", 89), 10, False),
        ("3", accepted(3, "a", None), 10, False),
    ],
)
def test_an_identity_from_an_older_policy_or_under_an_aged_one_is_refused(
    revision: str, last: Accepted | None, max_age: int | None, current: bool
) -> None:
    if current:
        check_current(who(revision), last, 100, max_age)
    else:
        with pytest.raises(StalePolicy):
            check_current(who(revision), last, 100, max_age)


def directory(groups: dict[str, Group], *own: str) -> Directory:
    subjects = {"bob": Subject(tenant_id="acme", groups=own)}
    return Directory(Policy(revision=1, subjects=subjects, groups=groups))


def test_groups_nest_and_those_that_are_members_of_each_other_end() -> None:
    groups = {
        "b": Group(member_groups=("a",)),
        "c": Group(member_groups=("b", "d")),
        "d": Group(member_groups=("c",)),
        "self": Group(member_groups=("self",)),
        "other": Group(member_groups=("self",)),
    }
    found = directory(groups, "a").memberships("bob")
    assert found == {"a": (), "b": ("a",), "c": ("a", "b"), "d": ("a", "b", "c")}


def test_the_shortest_chain_is_told_and_a_tie_falls_by_name() -> None:
    groups = {
        "top": Group(member_groups=("left", "right")),
        "left": Group(members=("bob",)),
        "right": Group(members=("bob",)),
    }
    assert directory(groups).memberships("bob")["top"] == ("left",)


def test_too_many_groups_are_an_error_and_never_a_part_of_them() -> None:
    """One that is left out could be the one that is denied."""
    chain = {f"g{n}": Group(member_groups=(f"g{n - 1}",)) for n in range(1, MAX_GROUPS + 1)}
    with pytest.raises(ConfigError):
        directory(chain, "g0").resolve("bob")
    del chain[f"g{MAX_GROUPS}"]
    assert len(directory(chain, "g0").resolve("bob").groups) == MAX_GROUPS


def test_who_is_in_no_group_cannot_ask() -> None:
    with pytest.raises(ConfigError):
        directory({"empty": Group(members=())}).resolve("bob")


def test_the_digest_is_of_what_the_policy_says_and_not_of_its_order() -> None:
    one = Policy(
        revision=1,
        subjects={"a": Subject(tenant_id="t", groups=("x", "y"))},
        groups={"g": Group(members=("a",))},
    )
    same = Policy(
        revision=9,
        issued_at=5,
        subjects={"a": Subject(tenant_id="t", groups=("y", "x"))},
        groups={"g": Group(members=("a",))},
    )
    other = Policy(revision=1, subjects=one.subjects, groups={"g": Group(member_groups=("a",))})
    assert one.digest() == same.digest() != other.digest()
